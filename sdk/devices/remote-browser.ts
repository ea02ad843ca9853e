/**
 * The typed client of one approved tab: what a controller calls instead of tool names.
 *
 * A mutation ends in one of three words. `confirmed`: the device completed it. `not_executed`: it is certain that nothing
 * reached the page. `unknown`: everything else, and nothing here ever sends it again.
 */
import * as v from 'valibot';
import type { BrowserScope } from '../contract/browser-run.ts';
import type { ToolReply } from '../contract/capabilities.ts';
import {
  type BrowserKey,
  type BrowserMutation,
  Observation,
  OperationStatus,
  SCROLL_PIXELS,
  Screenshot,
} from './remote-browser-contract.ts';
import { CODE, isObject, readReply } from './remote-browser-reply.ts';

/** Milliseconds that one call may take. */
export const CALL_TIMEOUT_MS = 35_000;
/** Milliseconds that giving the lease back may take. */
export const RELEASE_TIMEOUT_MS = 3000;

export interface ToolCaller {
  call(name: string, args: Record<string, unknown>): Promise<ToolReply>;
}

export interface RemoteBrowserOptions {
  /** Fresh random UUIDs, for lease calls. */
  uuid(): string;
  /** Resolves after the time; lets a call end with ADAPTER_TIMEOUT. Without it, calls wait for the host's own limit. */
  sleep?(ms: number): Promise<void>;
}

export interface Refusal {
  code: string;
  cause?: string;
}

export type Read<T> = { ok: true; value: T } | ({ ok: false } & Refusal);

export type Dispatched =
  | {
      outcome: 'confirmed';
      /** What was done: the tool's name, or FOCUS when a click-only field took the focus and no text. */
      completedAction?: 'FOCUS';
      /** The page after it, when the device sent it along. */
      observation?: Observation;
      result: Record<string, unknown>;
    }
  | ({ outcome: 'not_executed' } & Refusal)
  | ({ outcome: 'unknown' } & Refusal);

export interface RemoteBrowser {
  /** Takes the tab's lease. @returns ok with no value, or the refusal (for instance BROWSER_BUSY). */
  acquire(): Promise<Read<null>>;
  renew(): Promise<Read<null>>;
  /** Gives the lease back, best effort. The token is not used again, whatever the answer. */
  release(): Promise<Read<null>>;
  readonly leased: boolean;

  observe(): Promise<Read<Observation>>;
  /** @param maxSide pixels. A stale generation answers STALE_OBSERVATION. */
  screenshot(options: { generation: string; format?: 'png' | 'jpeg'; maxSide?: number }): Promise<Read<Screenshot>>;
  /** What the device has on record of an operation. */
  operationStatus(operationId: string): Promise<Read<OperationStatus>>;

  click(operationId: string, target: { ref: string; generation: string }): Promise<Dispatched>;
  /** Replaces the field's text. With `submit`, Enter follows under the same operation id. */
  type(
    operationId: string,
    target: { ref: string; generation: string; text: string; submit?: boolean },
  ): Promise<Dispatched>;
  select(operationId: string, target: { ref: string; generation: string; optionRef: string }): Promise<Dispatched>;
  scroll(
    operationId: string,
    target: { direction: 'up' | 'down'; generation: string; pixels?: number },
  ): Promise<Dispatched>;
  press(operationId: string, target: { key: BrowserKey; generation: string; repeat?: number }): Promise<Dispatched>;
  history(operationId: string, target: { direction: 'back' | 'forward'; generation: string }): Promise<Dispatched>;
  navigate(operationId: string, target: { url: string }): Promise<Dispatched>;
}

const Uuid = v.pipe(v.string(), v.uuid());

/** Codes of the host's own refusals that are certain to have come before anything was sent. */
const NOT_SENT = new Set([
  'BROWSER_SCOPE_DENIED',
  'BROWSER_CHECKPOINT_UNAVAILABLE',
  'CAPABILITY_DENIED',
  'ACCESS_DENIED',
  'EXECUTION_DENIED',
  'INVALID_INPUT',
  'STORE_WRITE_FAILED',
]);

type Answer = { ok: true; value: Record<string, unknown> } | ({ ok: false; executed: boolean } & Refusal);

/** @param tools the run's `tools` facet. @param scope the approved tab, as the run's input names it. */
export function remoteBrowser(tools: ToolCaller, scope: BrowserScope, options: RemoteBrowserOptions): RemoteBrowser {
  let lease: string | undefined;

  async function ask(name: string, args: Record<string, unknown>, timeoutMs = CALL_TIMEOUT_MS): Promise<Answer> {
    let reply: ToolReply | 'late';
    try {
      const call = tools.call(name, args);
      reply = await (options.sleep ? Promise.race([call, options.sleep(timeoutMs).then(late)]) : call);
    } catch (error) {
      const code = codeOfError(error);
      return { ok: false, code, executed: !NOT_SENT.has(code) };
    }
    if (reply === 'late') return { ok: false, code: 'ADAPTER_TIMEOUT', executed: true };
    const reading = readReply(reply);
    if (reading.kind === 'value') return { ok: true, value: reading.value };
    if (reading.kind === 'invalid') return { ok: false, code: reading.code, executed: true };
    return { ok: false, ...refusal(reading), executed: reading.executed };
  }

  /** Scope and lease of a call on the tab. */
  const here = () => (lease === undefined ? { ...scope } : { ...scope, lease_token: lease });

  async function mutate(
    tool: BrowserMutation,
    operationId: string,
    args: Record<string, unknown>,
  ): Promise<Dispatched> {
    const answer = await ask(tool, { ...here(), ...args, operation_id: operationId, detail: 'full' });
    if (!answer.ok) {
      const known = answer.executed === false || answer.code === 'CONSENT_REQUIRED';
      return { outcome: known ? 'not_executed' : 'unknown', ...refusal(answer) };
    }
    const { state, result } = answer.value;
    if (state !== 'completed') return { outcome: 'unknown', code: 'OUTCOME_UNKNOWN' };
    const body = isObject(result) ? result : {};
    const page = v.safeParse(Observation, body.observation);
    const focused = tool === 'page_type' && body.completed_action === 'FOCUS' && body.text_inserted === false;
    return {
      outcome: 'confirmed',
      result: body,
      ...(page.success ? { observation: page.output } : {}),
      ...(focused ? { completedAction: 'FOCUS' as const } : {}),
    };
  }

  async function read<T>(name: string, args: Record<string, unknown>, schema: v.GenericSchema<unknown, T>) {
    return readAs(await ask(name, args), schema);
  }

  return {
    get leased() {
      return lease !== undefined;
    },

    async acquire() {
      const answer = await ask('browser_task_acquire', { ...scope, operation_id: options.uuid() });
      if (!answer.ok) return failed(answer);
      // Devices answer with the lease itself, or wrapped like every other mutation.
      const granted = isObject(answer.value.result) ? answer.value.result : answer.value;
      const token = v.safeParse(Uuid, granted.lease_token);
      if (granted.protocol_version !== 1 || !token.success) return { ok: false, code: 'INVALID_CONTRACT' };
      lease = token.output;
      return { ok: true, value: null };
    },

    async renew() {
      const answer = await ask('browser_task_renew', { ...here(), operation_id: options.uuid() });
      return answer.ok ? { ok: true, value: null } : failed(answer);
    },

    async release() {
      if (lease === undefined) return { ok: true, value: null };
      const args = { ...here(), operation_id: options.uuid() };
      lease = undefined;
      const answer = await ask('browser_task_release', args, RELEASE_TIMEOUT_MS);
      return answer.ok ? { ok: true, value: null } : failed(answer);
    },

    async observe() {
      const answer = await ask('page_observe', { ...here(), detail: 'full' });
      // Chrome's own new-tab page: there is nothing to read on it, so the caller must know where to go first.
      if (answer.ok && answer.value.native_new_tab === true) return { ok: false, code: 'START_URL_REQUIRED' };
      return readAs(answer, Observation);
    },

    screenshot: ({ generation, format = 'jpeg', maxSide }) =>
      read(
        'page_screenshot',
        { ...here(), generation, format, ...(maxSide === undefined ? {} : { max_side: maxSide }) },
        Screenshot,
      ),

    async operationStatus(operationId) {
      const status = await read('operation_status', { operation_id: operationId }, OperationStatus);
      // A record that says "unknown" reads like any reply that does (wire-contracts 1.3); here it is the answer.
      if (!status.ok && status.code === 'OUTCOME_UNKNOWN') {
        return { ok: true, value: { operation_id: operationId, state: 'unknown' } };
      }
      return status;
    },

    click: (operationId, { ref, generation }) => mutate('page_click', operationId, { ref, generation }),

    type: (operationId, { ref, generation, text, submit }) =>
      mutate('page_type', operationId, {
        ref,
        generation,
        text,
        replace: true,
        accept_focus_only: true,
        ...(submit ? { submit: true } : {}),
      }),

    select: (operationId, { ref, generation, optionRef }) =>
      mutate('page_select', operationId, { ref, generation, option_ref: optionRef }),

    scroll: (operationId, { direction, generation, pixels = SCROLL_PIXELS }) =>
      mutate('page_scroll', operationId, { direction, pixels, generation }),

    press: (operationId, { key, generation, repeat }) =>
      mutate('page_keypress', operationId, {
        key,
        generation,
        ...(repeat !== undefined && repeat > 1 ? { repeat } : {}),
      }),

    history: (operationId, { direction, generation }) =>
      mutate('tab_history', operationId, { direction, generation, observe: true }),

    navigate: (operationId, { url }) => mutate('tab_navigate', operationId, { url, observe: true }),
  };
}

function readAs<T>(answer: Answer, schema: v.GenericSchema<unknown, T>): Read<T> {
  if (!answer.ok) return failed(answer);
  const parsed = v.safeParse(schema, answer.value);
  return parsed.success ? { ok: true, value: parsed.output } : { ok: false, code: 'INVALID_CONTRACT' };
}

const late = () => 'late' as const;

function failed(answer: Extract<Answer, { ok: false }>): { ok: false } & Refusal {
  return { ok: false, ...refusal(answer) };
}

function refusal({ code, cause }: Refusal): Refusal {
  return cause === undefined ? { code } : { code, cause };
}

/** Errors cross the sandbox's border with their code; one without is a fault of the way, not of the page. */
function codeOfError(error: unknown): string {
  const code = isObject(error) || error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && CODE.test(code) ? code : 'ADAPTER_FAILURE';
}
