/**
 * Carries out one call of a tool: arguments, consent, lease, operation id, the act, its record, the reply.
 *
 * The order is the promise: nothing is sent before the record "dispatched" is on disk, and no reply says "completed"
 * before its record does.
 */
import * as v from 'valibot';
import { changesSince } from '../../../sdk/devices/observation-changes.ts';
import type { Acted, ActionContext } from './acting/action.ts';
import { click } from './acting/click.ts';
import { history, navigate } from './acting/navigate.ts';
import { keypress, scroll, select } from './acting/others.ts';
import { type } from './acting/type.ts';
import type { Browser } from './browser.ts';
import { ChromiumGone, ProtocolError, SessionGone } from './chromium/protocol.ts';
import type { Grants } from './records/grants.ts';
import type { Leases } from './records/leases.ts';
import type { OpenOperation, Operations } from './records/operations.ts';
import { Refusal } from './refusal.ts';
import { observe } from './tab/observation.ts';
import { outlined } from './tab/outline.ts';
import { remember } from './tab/remembered.ts';
import { screenshot } from './tab/screenshot.ts';
import { settle } from './tab/settle.ts';
import type { Tab } from './tab/tab.ts';
import { isToolName, type ToolArguments, type ToolName, toolArguments } from './tools.ts';

export interface ToolCallDependencies {
  browser: Browser;
  grants: Grants;
  leases: Leases;
  operations: Operations;
}

export interface ToolCallReply {
  body: Record<string, unknown>;
  isError: boolean;
}

type Mutation =
  | 'page_click'
  | 'page_type'
  | 'page_select'
  | 'page_scroll'
  | 'page_keypress'
  | 'tab_history'
  | 'tab_navigate';

export class ToolCalls {
  readonly #deps: ToolCallDependencies;

  constructor(deps: ToolCallDependencies) {
    this.#deps = deps;
  }

  /** @param signal aborts when the caller went away: work that has not begun never begins. */
  async call(name: string, args: unknown, signal?: AbortSignal): Promise<ToolCallReply> {
    try {
      if (!isToolName(name)) throw new Refusal('UNKNOWN_TOOL');
      const parsed = v.safeParse(toolArguments[name], args ?? {});
      if (!parsed.success) throw invalidInput(parsed.issues[0]);
      return { body: await this.#dispatch(name, parsed.output, signal), isError: false };
    } catch (error) {
      return { body: asRefusal(error).toReply(), isError: true };
    }
  }

  async #dispatch(
    name: ToolName,
    args: ToolArguments<ToolName>,
    signal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    switch (name) {
      case 'browser_task_acquire':
      case 'browser_task_renew':
      case 'browser_task_release':
        return this.#lease(name, args as ToolArguments<'browser_task_renew'>);
      case 'browser_request_access': {
        const { wait_ms } = args as ToolArguments<'browser_request_access'>;
        const granted = await this.#deps.grants.request(wait_ms);
        return { access: { state: granted ? 'granted' : 'pending' } };
      }
      case 'operation_status':
        return { ...(await this.#deps.operations.status((args as ToolArguments<'operation_status'>).operation_id)) };
      case 'page_observe':
        return this.#observe(args as ToolArguments<'page_observe'>, signal);
      case 'page_screenshot':
        return this.#screenshot(args as ToolArguments<'page_screenshot'>, signal);
      default:
        return this.#mutate(name, args as ToolArguments<Mutation>, signal);
    }
  }

  #lease(name: ToolName, args: ToolArguments<'browser_task_renew'>): Record<string, unknown> {
    const { grants, leases, operations } = this.#deps;
    if (name === 'browser_task_release') {
      // Giving back is always allowed; a second time it changes nothing.
      leases.release(args.tab_id, args.lease_token);
      return { state: 'completed', result: { protocol_version: 1 } };
    }
    grants.check(args, false);
    if (operations.isKnown(args.operation_id)) return { replayed: true };
    if (name === 'browser_task_acquire') {
      const token = leases.acquire(args.tab_id, args.grant_id);
      operations.remember(args.operation_id, name);
      return { state: 'completed', result: { protocol_version: 1, lease_token: token } };
    }
    const expiresAt = leases.renew(args.tab_id, args.lease_token);
    operations.remember(args.operation_id, name);
    return { state: 'completed', result: { protocol_version: 1, expires_at: expiresAt } };
  }

  async #observe(args: ToolArguments<'page_observe'>, signal?: AbortSignal): Promise<Record<string, unknown>> {
    this.#deps.grants.check(args, false);
    this.#deps.leases.checkForReading(args.tab_id, args.lease_token);
    const tab = await this.#tab(args.tab_id);
    return tab.serial.run(async () => {
      assertWanted(signal);
      tab.halted = false;
      if (isOwnNewTab(tab)) return { native_new_tab: true };
      await calm(tab);
      const observation = await observe(tab);
      const previous = args.since === undefined ? undefined : tab.remembered.get(args.since);
      remember(tab, observation);
      if (args.detail === 'changes' && previous) return changesSince(previous, observation);
      return args.detail === 'outline' ? outlined(observation) : observation;
    });
  }

  async #screenshot(args: ToolArguments<'page_screenshot'>, signal?: AbortSignal): Promise<Record<string, unknown>> {
    this.#deps.grants.check(args, false);
    this.#deps.leases.checkForReading(args.tab_id, args.lease_token);
    const tab = await this.#tab(args.tab_id);
    return tab.serial.run(async () => {
      assertWanted(signal);
      return { ...(await screenshot(tab, args)) };
    });
  }

  async #mutate(name: Mutation, args: ToolArguments<Mutation>, signal?: AbortSignal): Promise<Record<string, unknown>> {
    const { grants, leases, operations } = this.#deps;
    if (operations.isKnown(args.operation_id)) return replayed(operations, args.operation_id);
    grants.check(args, true);
    leases.check(args.tab_id, args.lease_token);
    const operation = operations.accept(args.operation_id, name);
    if (!operation) return replayed(operations, args.operation_id);
    let sent = false;
    try {
      const tab = await this.#tab(args.tab_id);
      return await tab.serial.run(async () => {
        assertWanted(signal);
        // Consent and lease may have ended while this call waited for its turn.
        grants.check(args, true);
        leases.check(args.tab_id, args.lease_token);
        tab.halted = false;
        const context: ActionContext = {
          tab,
          dispatching: async () => {
            await operation.dispatched();
            grants.check(args, true);
            sent = true;
            tab.activity.beginInput();
          },
        };
        const acted = await this.#act(name, context, args);
        return await this.#finish(tab, operation, acted, args.detail === 'outline');
      });
    } catch (error) {
      throw await this.#failed(operation, error, sent);
    }
  }

  #act(name: Mutation, context: ActionContext, args: ToolArguments<Mutation>): Promise<Acted> {
    switch (name) {
      case 'page_click':
        return click(context, args as ToolArguments<'page_click'>);
      case 'page_type':
        return type(context, args as ToolArguments<'page_type'>);
      case 'page_select':
        return select(context, args as ToolArguments<'page_select'>);
      case 'page_scroll':
        return scroll(context, args as ToolArguments<'page_scroll'>);
      case 'page_keypress':
        return keypress(context, args as ToolArguments<'page_keypress'>);
      case 'tab_history':
        return history(context, args as ToolArguments<'tab_history'>);
      case 'tab_navigate':
        return navigate(context, args as ToolArguments<'tab_navigate'>, this.#deps.browser.navigation);
    }
  }

  /** The input is made. Its record and the look at what it did go on side by side. */
  async #finish(
    tab: Tab,
    operation: OpenOperation,
    acted: Acted,
    inOutline: boolean,
  ): Promise<Record<string, unknown>> {
    const recorded = operation.end('completed');
    const rest = await settle(tab, { frames: acted.frames, ...(acted.expects ? { expects: acted.expects } : {}) });
    const observation = await observe(tab, { loading: rest.loading }).catch(() => undefined);
    await recorded;
    if (observation) remember(tab, observation);
    return {
      state: 'completed',
      result: {
        ...acted.result,
        page_changed: rest.changed,
        ...(rest.loading ? { loading: true } : {}),
        ...(observation ? { observation: inOutline ? outlined(observation) : observation } : {}),
      },
    };
  }

  async #failed(operation: OpenOperation, error: unknown, sent: boolean): Promise<Refusal> {
    const refusal = asRefusal(error);
    // A refusal that was thrown on purpose knows whether anything was done; any other failure after the first input does not.
    const executed = error instanceof Refusal ? refusal.executed : sent;
    await operation.end(executed ? 'unknown' : 'not_executed', refusal.code, refusal.cause_).catch(() => {});
    return new Refusal(refusal.code, {
      executed,
      facts: refusal.facts,
      ...(refusal.cause_ === undefined ? {} : { cause: refusal.cause_ }),
    });
  }

  async #tab(tabId: string): Promise<Tab> {
    await this.#deps.browser.start();
    return this.#deps.browser.tab(tabId);
  }
}

/** Milliseconds that a look waits for a document that is on its way. */
const CALM_MS = 3000;

async function calm(tab: Tab): Promise<void> {
  const { activity } = tab;
  await activity.until(() => (!activity.navigating && activity.parsed) || tab.interrupted, CALM_MS);
  if (activity.navigating && !tab.interrupted) throw new Refusal('STALE_OBSERVATION', { cause: 'NAVIGATION_PENDING' });
}

const isOwnNewTab = (tab: Tab) => /^(?:chrome|edge|brave):\/\/(?:newtab|new-tab-page)/.test(tab.url);

function assertWanted(signal?: AbortSignal): void {
  if (signal?.aborted) throw new Refusal('CANCELLED');
}

async function replayed(operations: Operations, id: string): Promise<Record<string, unknown>> {
  return { replayed: true, operation: await operations.status(id) };
}

function invalidInput(issue: v.BaseIssue<unknown> | undefined): Refusal {
  const path = issue ? v.getDotPath(issue) : null;
  return new Refusal('INVALID_INPUT', {
    facts: { message: `${path ?? 'arguments'}: ${issue?.message ?? 'not valid'}` },
  });
}

function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ChromiumGone) return new Refusal('DEVICE_BROWSER_LOST', { executed: true });
  if (error instanceof SessionGone) return new Refusal('TAB_CLOSED', { executed: true });
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && /^[A-Z][A-Z_0-9]{2,80}$/.test(code)) return new Refusal(code);
  return new Refusal('DEVICE_FAILURE', {
    executed: true,
    facts: error instanceof ProtocolError ? { method: error.method } : {},
  });
}
