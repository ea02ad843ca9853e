/**
 * Recorded evaluators: keep what a run was asked and answered, and replay it later without a model.
 *
 * A replay compares each request with the recorded one. The first that differs ends it with its number and what differs, so
 * that a change in a plugin is seen at the first decision that it changes, not at the last. Recordings are the same as the
 * host's own (sdk/contract/recording.ts): of one that holds a whole run, the evaluations are used.
 */
import type { JevResult } from '../contract/jev.ts';
import { differenceOf, type Recording } from '../contract/recording.ts';
import type { Evaluate } from './evaluators.ts';

const EVALUATE = 'jev.evaluate';

/** Passes requests on, and keeps what came back. `recording` is plain JSON, to be written to a file. */
export function recordingEvaluator(evaluate: Evaluate): Evaluate & { readonly recording: Recording } {
  const recording: Recording = {
    format: 1,
    plugin: { id: 'test', version: '0.0.0' },
    handler: 'run',
    runId: 'test-run',
    at: 0,
    features: {},
    settings: {},
    seed: '0'.repeat(64),
    events: [],
  };
  let asked = 0;
  const recorded: Evaluate = async (request, signal) => {
    const call = ++asked;
    recording.events.push({ asked: call, name: EVALUATE, args: [JSON.stringify(request)] });
    try {
      const result = await evaluate(request, signal);
      recording.events.push({ answered: call, result: JSON.stringify(result) });
      return result;
    } catch (error) {
      const { code, message } = error as { code?: unknown; message?: unknown };
      recording.events.push({
        failed: call,
        code: typeof code === 'string' ? code : 'FAILED',
        message: String(message ?? ''),
        details: '{}',
      });
      throw error;
    }
  };
  return Object.assign(recorded, { recording });
}

/** A replayed run asked something else than the recorded one. */
export class ReplayDiffers extends Error {
  override readonly name = 'ReplayDiffers';
  /** Number of the first request that differs, from 1. */
  readonly step: number;
  /** Path of what differs in it, such as `questions.target.criteria.buy`. */
  readonly path: string;

  constructor(step: number, path: string, detail: string) {
    super(`Decision ${step} differs at ${path}: ${detail}`);
    this.step = step;
    this.path = path;
  }
}

interface RecordedDecision {
  asked: number;
  request: unknown;
  result?: JevResult;
  code?: string;
}

/** @throws ReplayDiffers at the first request that is not the recorded one. `finished()` throws when some were not asked. */
export function replayEvaluator(recording: Recording): Evaluate & { finished(): void } {
  const decisions = decisionsOf(recording);
  let at = 0;
  const replay: Evaluate = async (request, signal) => {
    signal.throwIfAborted();
    at += 1;
    const decision = decisions[at - 1];
    if (!decision) throw new ReplayDiffers(at, 'the run', `the recording ends after ${decisions.length}`);
    const { requestId } = request;
    const found = differenceOf(decision.request, withoutId(request));
    if (found) {
      const detail = `${found.before} was recorded, ${found.now} is asked`;
      throw new ReplayDiffers(at, found.path || 'the request', detail);
    }
    if (!decision.result) throw Object.assign(new Error(decision.code), { name: 'HostError', code: decision.code });
    return { ...decision.result, ...(requestId === undefined ? {} : { requestId }) };
  };
  const finished = (): void => {
    if (at < decisions.length) {
      throw new ReplayDiffers(at + 1, 'the run', `it ended after ${at} of ${decisions.length} decisions`);
    }
  };
  return Object.assign(replay, { finished });
}

function decisionsOf({ events }: Recording): RecordedDecision[] {
  const decisions: RecordedDecision[] = [];
  const byCall = new Map<number, RecordedDecision>();
  for (const event of events) {
    if ('asked' in event && event.name === EVALUATE) {
      const decision = { asked: event.asked, request: withoutId(JSON.parse(String(event.args[0]))) };
      decisions.push(decision);
      byCall.set(event.asked, decision);
    }
    if ('answered' in event) {
      const decision = byCall.get(event.answered);
      if (decision) decision.result = JSON.parse(String(event.result));
    }
    if ('failed' in event) {
      const decision = byCall.get(event.failed);
      if (decision) decision.code = event.code;
    }
  }
  return decisions;
}

/** The id is drawn by chance in a run that is not a host's. */
function withoutId(request: object): unknown {
  const { requestId: _drawn, ...asked } = request as { requestId?: unknown };
  return JSON.parse(JSON.stringify(asked));
}
