/**
 * Recorded evaluators: keep what a real run was asked and answered, and replay it later without a model.
 *
 * A replay compares each request with the recorded one. The first that differs ends it with its number and what differs, so
 * that a change in a plugin is seen at the first decision that it changes, not at the last.
 */
import type { JevRequest, JevResult } from '../contract/jev.ts';
import type { Evaluate } from './evaluators.ts';

export interface RecordedStep {
  request: Omit<JevRequest, 'requestId'>;
  result?: JevResult;
  /** The code that the evaluation failed with. */
  code?: string;
}

export interface Recording {
  version: 1;
  steps: RecordedStep[];
}

/** Passes requests on, and keeps what came back. `recording` is plain JSON, to be written to a file. */
export function recordingEvaluator(evaluate: Evaluate): Evaluate & { readonly recording: Recording } {
  const recording: Recording = { version: 1, steps: [] };
  const recorded: Evaluate = async (request, signal) => {
    const { requestId: _drawnByChance, ...asked } = request;
    const step: RecordedStep = { request: structuredClone(asked) };
    recording.steps.push(step);
    try {
      step.result = await evaluate(request, signal);
      return step.result;
    } catch (error) {
      const { code } = error as { code?: unknown };
      step.code = typeof code === 'string' ? code : 'FAILED';
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

/** @throws ReplayDiffers at the first request that is not the recorded one. `finished()` throws when some were not asked. */
export function replayEvaluator(recording: Recording): Evaluate & { finished(): void } {
  let at = 0;
  const replay: Evaluate = async (request, signal) => {
    signal.throwIfAborted();
    at += 1;
    const step = recording.steps[at - 1];
    if (!step) throw new ReplayDiffers(at, 'the run', `the recording ends after ${recording.steps.length}`);
    const { requestId, ...asked } = request;
    const found = difference(step.request, asked, '');
    if (found) throw new ReplayDiffers(at, found.path || 'the request', found.detail);
    if (!step.result) throw Object.assign(new Error(step.code), { name: 'HostError', code: step.code });
    return { ...step.result, ...(requestId === undefined ? {} : { requestId }) };
  };
  const finished = (): void => {
    if (at < recording.steps.length) {
      throw new ReplayDiffers(at + 1, 'the run', `it ended after ${at} of ${recording.steps.length} decisions`);
    }
  };
  return Object.assign(replay, { finished });
}

function difference(before: unknown, now: unknown, path: string): { path: string; detail: string } | undefined {
  if (Object.is(before, now)) return undefined;
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isObject(before) || !isObject(now) || Array.isArray(before) !== Array.isArray(now)) {
    return { path, detail: `${shown(before)} was recorded, ${shown(now)} is asked` };
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const found = difference(before[key], now[key], path ? `${path}.${key}` : key);
    if (found) return found;
  }
  return undefined;
}

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 120));
