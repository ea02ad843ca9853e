/**
 * The typed client of one approved computer: what a controller calls instead of tool names.
 *
 * An action ends in one of three words, as on the browser device. After a reply that says nothing certain the device is
 * asked what it has on record, at most three times; the action itself is never sent again.
 */
import * as v from 'valibot';
import type { ToolReply } from '../contract/capabilities.ts';
import type { Read, Refusal, ToolCaller } from './remote-browser.ts';
import { MAX_REPLY_CHARS } from './remote-browser-contract.ts';
import { CODE, isObject } from './remote-browser-reply.ts';
import {
  COMPUTER_CONTRACT_VERSION,
  COMPUTER_MUTATION,
  type ComputerAction,
  ComputerActionReply,
  ComputerObservation,
  ComputerOperationStatus,
  type ComputerScope,
  ComputerScreenshot,
  MAX_COMPUTER_REPLY_CHARS,
  type StandardCommand,
} from './remote-computer-contract.ts';

/** Times that the device is asked what became of an action, and milliseconds between two of them. */
export const STATUS_READS = 3;
export const STATUS_EVERY_MS = 250;
/** Times that giving the lease back is tried. */
const RELEASE_TRIES = 2;
/** Characters of a goal that `observe` may hand on to choose among applications. */
const MAX_APP_QUERY = 4000;

/** Codes that a device gives before it has done anything, and that its record must not contradict. */
const BEFORE_DISPATCH = new Set([
  'DEVICE_OFFLINE',
  'CONSENT_REQUIRED',
  'OBSERVATION_DENIED',
  'CONTROL_DENIED',
  'APPLICATION_NOT_ALLOWED',
  'COMPUTER_BUSY',
]);
/** The host's own refusals: certain to have come before anything was sent. */
const NOT_SENT = new Set([
  'CAPABILITY_DENIED',
  'BROWSER_SCOPE_DENIED',
  'BROWSER_CHECKPOINT_UNAVAILABLE',
  'ACCESS_DENIED',
  'EXECUTION_DENIED',
  'INVALID_INPUT',
  'STORE_WRITE_FAILED',
]);

export type ComputerOutcome =
  | { outcome: 'confirmed' }
  | { outcome: 'not_executed'; code: string }
  | {
      outcome: 'unknown';
      code: string;
      /** The device has settled it: the run may go on and look, without sending it again. */
      mayContinue?: true;
      /** The owner knows about it. */
      acknowledged?: true;
    };

export type ComputerLease = { ok: true } | ({ ok: false; operationId?: string } & Refusal);

export interface RemoteComputerOptions {
  /** Waits between two looks at an operation; `ctx.clock.sleep`. Without it they follow one another at once. */
  sleep?(ms: number): Promise<void>;
}

export interface RemoteComputer {
  /**
   * Takes the computer. A device that holds an operation of unknown outcome answers
   * `COMPUTER_RECONCILIATION_REQUIRED` with its id: nothing may be done then.
   */
  acquire(): Promise<ComputerLease>;
  /** Gives it back, best effort. The token is not used again, whatever the answer. */
  release(): Promise<void>;
  readonly leased: boolean;

  /**
   * What is on the screen. `COMPUTER_CONTRACT_UNSUPPORTED` for a device of another major version.
   * @param appQuery the goal, so that the device can put the applications it names first. Cut to 4000 characters; a device
   *   that does not know it is asked again without.
   */
  observe(options?: { standardCommand?: StandardCommand; appQuery?: string }): Promise<Read<ComputerObservation>>;
  screenshot(options: { generation: string }): Promise<Read<ComputerScreenshot>>;
  operationStatus(operationId: string): Promise<Read<ComputerOperationStatus>>;
  /** @param operationId a fresh UUID for every action. */
  act(operationId: string, action: ComputerAction & { generation: string }): Promise<ComputerOutcome>;
}

type Answer = { ok: true; value: Record<string, unknown> } | ({ ok: false; sent: boolean } & Refusal);

/** @param tools the run's `tools` facet. @param scope the approved computer, as the run's input names it. */
export function remoteComputer(
  tools: ToolCaller,
  scope: ComputerScope,
  options: RemoteComputerOptions = {},
): RemoteComputer {
  let lease: string | undefined;
  const here = () => (lease === undefined ? { ...scope } : { ...scope, lease_token: lease });

  async function ask(name: string, args: Record<string, unknown>, maxChars = MAX_COMPUTER_REPLY_CHARS) {
    try {
      return readReply(await tools.call(name, args), maxChars);
    } catch (error) {
      const code = codeOfError(error);
      return { ok: false, code, sent: !NOT_SENT.has(code) } as const;
    }
  }

  async function status(operationId: string): Promise<Read<ComputerOperationStatus>> {
    // The device keeps its records whoever holds the lease.
    const args = { ...scope, operation_id: operationId };
    const read = readAs(await ask('computer_operation_status', args), ComputerOperationStatus);
    const other = read.ok && read.value.state !== 'not_found' && read.value.operation_id !== operationId;
    return other ? { ok: false, code: 'COMPUTER_RESPONSE_INVALID' } : read;
  }

  /** What became of an action whose reply said nothing certain. */
  async function settled(operationId: string, code: string): Promise<ComputerOutcome> {
    let readable = false;
    for (let read = 0; read < STATUS_READS; read += 1) {
      if (read > 0) await options.sleep?.(STATUS_EVERY_MS);
      const record = await status(operationId);
      if (!record.ok) continue;
      readable = true;
      if (record.value.state === 'not_found') {
        if (BEFORE_DISPATCH.has(code)) return { outcome: 'not_executed', code };
        continue;
      }
      return outcomeOf(record.value);
    }
    const refused = BEFORE_DISPATCH.has(code) && code !== 'DEVICE_OFFLINE' && !readable;
    return refused ? { outcome: 'not_executed', code } : { outcome: 'unknown', code: 'OUTCOME_UNKNOWN' };
  }

  return {
    get leased() {
      return lease !== undefined;
    },

    async acquire() {
      const answer = await ask('computer_acquire', scope as unknown as Record<string, unknown>);
      if (!answer.ok) return { ok: false, code: answer.code };
      const { lease_token: token, recovery_required: stuck, operation_id: operationId } = answer.value;
      if (stuck === true && typeof operationId === 'string')
        return { ok: false, code: 'COMPUTER_RECONCILIATION_REQUIRED', operationId };
      if (typeof token !== 'string' || token === '') return { ok: false, code: 'COMPUTER_RESPONSE_INVALID' };
      lease = token;
      return { ok: true };
    },

    async release() {
      if (lease === undefined) return;
      const args = here();
      lease = undefined;
      for (let tries = 0; tries < RELEASE_TRIES; tries += 1) {
        if ((await ask('computer_release', args)).ok) return;
      }
    },

    async observe({ standardCommand, appQuery } = {}) {
      const args = { ...here(), ...(standardCommand === undefined ? {} : { standard_command: standardCommand }) };
      const query = appQuery === undefined ? {} : { app_query: cut(appQuery) };
      let answer = await ask('computer_observe', { ...args, ...query });
      if (!answer.ok && answer.code === 'INVALID_REQUEST' && appQuery !== undefined)
        answer = await ask('computer_observe', args);
      if (answer.ok && !speaks(answer.value.contractVersion))
        return { ok: false, code: 'COMPUTER_CONTRACT_UNSUPPORTED' };
      return readAs(answer, ComputerObservation);
    },

    screenshot: async ({ generation }) =>
      readAs(await ask('computer_screenshot', { ...here(), generation }, MAX_REPLY_CHARS), ComputerScreenshot),

    operationStatus: status,

    async act(operationId, action) {
      const answer = await ask(COMPUTER_MUTATION, { ...here(), ...action, operation_id: operationId });
      if (!answer.ok) {
        if (!answer.sent) return { outcome: 'not_executed', code: answer.code };
        return settled(operationId, answer.code);
      }
      const reply = v.safeParse(ComputerActionReply, answer.value);
      return reply.success ? outcomeOf(reply.output) : settled(operationId, 'COMPUTER_RESPONSE_INVALID');
    },
  };
}

function outcomeOf(record: {
  state: 'completed' | 'not_executed' | 'unknown' | 'not_found';
  error?: string | undefined;
  owner_acknowledged?: boolean | undefined;
  continuation_ready?: boolean | undefined;
}): ComputerOutcome {
  if (record.state === 'completed') return { outcome: 'confirmed' };
  if (record.state === 'not_executed') return { outcome: 'not_executed', code: record.error ?? 'ACTION_REJECTED' };
  if (record.owner_acknowledged === true)
    return { outcome: 'unknown', code: 'OWNER_ACKNOWLEDGED_UNKNOWN', acknowledged: true };
  const ready = record.continuation_ready === true ? { mayContinue: true as const } : {};
  return { outcome: 'unknown', code: record.error ?? 'OUTCOME_UNKNOWN', ...ready };
}

/** One text that is a JSON object; `error` in it, or the mark of an error on it, is a refusal. */
function readReply({ content, isError }: ToolReply, maxChars: number): Answer {
  const [part] = content;
  if (part?.type !== 'text' || content.length !== 1 || part.text.length > maxChars) return invalid;
  let value: unknown;
  try {
    value = JSON.parse(part.text);
  } catch {
    return invalid;
  }
  if (!isObject(value)) return invalid;
  // A reply about an action or its record has a state, and then `error` says why.
  if (isError !== true && (!('error' in value) || 'state' in value)) return { ok: true, value };
  const code = typeof value.error === 'string' && CODE.test(value.error) ? value.error : 'COMPUTER_TOOL_FAILED';
  return { ok: false, code, sent: true };
}

const invalid: Answer = { ok: false, code: 'COMPUTER_RESPONSE_INVALID', sent: true };

function readAs<T>(answer: Answer, schema: v.GenericSchema<unknown, T>): Read<T> {
  if (!answer.ok) return { ok: false, code: answer.code };
  const parsed = v.safeParse(schema, answer.value);
  return parsed.success ? { ok: true, value: parsed.output } : { ok: false, code: 'COMPUTER_RESPONSE_INVALID' };
}

/** A version that cannot be read counts as none. */
function speaks(version: unknown): boolean {
  const major = /^\d+/.exec(typeof version === 'number' || typeof version === 'string' ? String(version) : '')?.[0];
  return major === undefined || Number(major) === COMPUTER_CONTRACT_VERSION;
}

/** Whole code points only. */
const cut = (text: string): string =>
  text.length <= MAX_APP_QUERY ? text : text.slice(0, MAX_APP_QUERY).replace(/[\ud800-\udbff]$/u, '');

function codeOfError(error: unknown): string {
  const code = isObject(error) || error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && CODE.test(code) ? code : 'ADAPTER_FAILURE';
}
