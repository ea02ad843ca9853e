/**
 * A Remote Browser device in memory: pages with elements, the replies of the wire contract, and faults on demand.
 *
 * It keeps the contract's own rules (leases, generations, operation ids that are never used twice), so a controller that
 * works here meets a real device's answers, not a test's idea of them.
 */
import type { ToolReply } from '../contract/capabilities.ts';
import type { Observation, ObservedElement } from '../devices/remote-browser-contract.ts';
import { browserLeaseTools, browserMutations } from '../devices/remote-browser-contract.ts';
import { faultList, ONE_PIXEL, toolReply as reply, type ScriptedFault } from './scripted-faults.ts';

export interface ScriptedElement extends Partial<Omit<ObservedElement, 'options'>> {
  ref: string;
  label: string;
  options?: readonly { ref: string; label: string; disabled?: boolean; selected?: boolean }[];
  /** Name of the page that a click leads to. */
  goto?: string;
  /** Runs when the element was clicked, typed into or selected from, before any `goto`. */
  then?(browser: ScriptedBrowserState): void;
}

export interface ScriptedPage {
  url: string;
  title?: string;
  text?: string;
  elements?: readonly ScriptedElement[];
  scroll?: { up: boolean; down: boolean };
}

/** What a page's own behaviour may change. */
export interface ScriptedBrowserState {
  /** Name of the page that is shown. */
  page: string;
  /** Text that the page shows besides its own. */
  addText(text: string): void;
  /** Value of a text field or the chosen option's label, by ref. */
  values: Map<string, string>;
}

export interface ScriptedBrowserOptions {
  pages: Record<string, ScriptedPage>;
  /** Name of the first page. Default: the first of `pages`. */
  start?: string;
  faults?: readonly ScriptedFault[];
}

export interface ScriptedBrowser {
  readonly scope: { device_id: string; grant_id: string; tab_id: string };
  /** Serves as the `callTool` port of a run. */
  callTool(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  readonly calls: { name: string; args: Record<string, unknown> }[];
  /** Mutations of the page that were really done, in order: `page_click buy`. */
  readonly done: string[];
  readonly state: ScriptedBrowserState;
  leaseHeld(): boolean;
}

const SCOPE = { device_id: 'device-1', grant_id: 'grant-1', tab_id: 'tab-1' };
const LEASE = '00000000-0000-4000-8000-000000000001';
const mutations: readonly string[] = browserMutations;
const leaseTools: readonly string[] = browserLeaseTools;

class Refusal {
  readonly body: Record<string, unknown>;
  constructor(error: string, cause?: string) {
    this.body = { error, action_executed: false, ...(cause ? { cause } : {}) };
  }
}

export function scriptedBrowser(options: ScriptedBrowserOptions): ScriptedBrowser {
  const strike = faultList(options.faults);
  const calls: ScriptedBrowser['calls'] = [];
  const done: string[] = [];
  const operations = new Map<string, 'completed' | 'not_executed' | 'unknown'>();
  const history: string[] = [];
  const extraText = new Map<string, string[]>();
  let forward: string[] = [];
  let generation = 1;
  let lease: string | undefined;

  const state: ScriptedBrowserState = {
    page: options.start ?? Object.keys(options.pages)[0] ?? '',
    values: new Map(),
    addText: (text) => extraText.set(state.page, [...(extraText.get(state.page) ?? []), text]),
  };
  const current = (): ScriptedPage => {
    const page = options.pages[state.page];
    if (!page) throw new Error(`The scripted browser has no page "${state.page}".`);
    return page;
  };
  const element = (ref: unknown): ScriptedElement => {
    const found = current().elements?.find((candidate) => candidate.ref === ref);
    if (!found) throw new Refusal('STALE_OBSERVATION');
    return found;
  };
  const goto = (name: string): void => {
    history.push(state.page);
    forward = [];
    state.page = name;
  };

  function observe(): Observation {
    const page = current();
    const text = [page.text ?? '', ...(extraText.get(state.page) ?? [])].join('\n').trim();
    return {
      protocol_version: 1,
      generation: `g${generation}`,
      url: page.url,
      title: page.title ?? state.page,
      text,
      viewport_text: text.slice(0, 6000),
      elements: (page.elements ?? []).map((item) => observed(item, state.values.get(item.ref))),
      scroll: { y: 0, ...(page.scroll ?? { up: false, down: false }) },
      truncated: { text: false, elements: false },
      navigation: { can_go_back: history.length > 0, can_go_forward: forward.length > 0 },
    };
  }

  function act(name: string, args: Record<string, unknown>): Record<string, unknown> {
    switch (name) {
      case 'page_click': {
        const target = element(args.ref);
        target.then?.(state);
        if (target.goto !== undefined) goto(target.goto);
        return {};
      }
      case 'page_type': {
        const target = element(args.ref);
        state.values.set(target.ref, String(args.text));
        target.then?.(state);
        if (args.submit === true && target.goto !== undefined) goto(target.goto);
        return {};
      }
      case 'page_select': {
        const target = element(args.ref);
        const option = target.options?.find((candidate) => candidate.ref === args.option_ref);
        if (!option) throw new Refusal('STALE_OBSERVATION');
        state.values.set(target.ref, option.label);
        target.then?.(state);
        return {};
      }
      case 'tab_navigate': {
        const found = Object.entries(options.pages).find(([, page]) => page.url === args.url);
        if (!found) throw new Refusal('URL_NOT_ALLOWED');
        goto(found[0]);
        return {};
      }
      case 'tab_history': {
        const [from, to] = args.direction === 'back' ? [history, forward] : [forward, history];
        const target = from.pop();
        if (target === undefined) throw new Refusal('HISTORY_UNAVAILABLE');
        to.push(state.page);
        state.page = target;
        return {};
      }
      default:
        return {};
    }
  }

  function serve(name: string, args: Record<string, unknown>): Record<string, unknown> {
    if (name === 'operation_status') {
      return { operation_id: args.operation_id, state: operations.get(String(args.operation_id)) ?? 'not_found' };
    }
    for (const [key, value] of Object.entries(SCOPE)) if (args[key] !== value) throw new Refusal('CONSENT_REQUIRED');
    const operationId = typeof args.operation_id === 'string' ? args.operation_id : undefined;
    if (operationId !== undefined && operations.has(operationId)) return { replayed: true };
    if (leaseTools.includes(name)) {
      if (operationId === undefined) throw new Refusal('INVALID_INPUT');
      operations.set(operationId, 'completed');
      if (name === 'browser_task_acquire') lease = LEASE;
      else if (args.lease_token !== lease) throw new Refusal('LEASE_LOST');
      if (name === 'browser_task_release') lease = undefined;
      return { state: 'completed', result: { protocol_version: 1, lease_token: LEASE } };
    }
    if (lease === undefined || args.lease_token !== lease) throw new Refusal('LEASE_LOST');
    if (name === 'page_observe') return { ...observe() };
    if (name === 'page_screenshot')
      return {
        generation: `g${generation}`,
        mimeType: 'image/png',
        data: ONE_PIXEL,
        width: 1,
        height: 1,
        scale: 1,
        viewport: { width: 1, height: 1 },
        masked: 0,
        capturedAt: 0,
      };
    if (!mutations.includes(name) || operationId === undefined) throw new Refusal('INVALID_INPUT');
    if (name !== 'tab_navigate' && args.generation !== `g${generation}`) throw new Refusal('STALE_OBSERVATION');
    const result = act(name, args);
    operations.set(operationId, 'completed');
    generation += 1;
    done.push(
      [name, args.ref ?? args.url ?? args.direction ?? args.key].filter((part) => part !== undefined).join(' '),
    );
    return { state: 'completed', result: { ...result, observation: observe() } };
  }

  return {
    scope: SCOPE,
    calls,
    done,
    state,
    leaseHeld: () => lease !== undefined,
    async callTool(name, args, signal) {
      signal.throwIfAborted();
      calls.push({ name, args });
      const fault = strike(name);
      if (fault?.does === 'hang')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (fault?.does === 'stale') return reply(new Refusal('STALE_OBSERVATION', fault.cause).body, true);
      if (typeof fault?.does === 'object') return reply(fault.does, 'error' in fault.does);
      try {
        const body = serve(name, args);
        if (fault?.does === 'lost') throw new Error('The connection to the device was lost.');
        if (fault?.does === 'unknown') {
          operations.set(String(args.operation_id), 'unknown');
          return reply({ state: 'unknown' });
        }
        return reply(body);
      } catch (error) {
        if (error instanceof Refusal) {
          if (typeof args.operation_id === 'string') operations.set(args.operation_id, 'not_executed');
          return reply(error.body, true);
        }
        throw error;
      }
    },
  };
}

function observed(
  { goto: _goto, then: _then, options, ...item }: ScriptedElement,
  value: string | undefined,
): ObservedElement {
  const operations =
    item.operations ??
    (options ? ['SELECT' as const] : item.tag === 'input' ? ['TYPE_TEXT' as const] : ['CLICK' as const]);
  return {
    tag: options ? 'select' : 'button',
    in_viewport: true,
    ...item,
    operations,
    ...(value !== undefined ? { value, ...(options ? { selected: value } : {}) } : {}),
    ...(options
      ? {
          options: options.map((option) => ({
            ref: option.ref,
            label: option.label,
            disabled: option.disabled ?? false,
            selected: value === undefined ? (option.selected ?? false) : option.label === value,
          })),
        }
      : {}),
  };
}
