/** The calls of a run that is recorded: served as ever, and written down as the plugin meets them. */
import { isHostError } from '../../../sdk/contract/errors.ts';
import { failureOf } from '../peer.ts';
import type { RunCalls } from '../slot.ts';
import type { RunRecorder } from './recorder.ts';
import { Turnstile } from './turnstile.ts';

/** @param arrived resolves when the worker has got what was sent so far. */
export function recordedCalls(calls: RunCalls, recorder: RunRecorder, arrived: () => Promise<unknown>): RunCalls {
  const turnstile = new Turnstile(arrived);
  return {
    get current() {
      return calls.current;
    },
    async dispatch(name, args) {
      const call = recorder.asked(name, args);
      try {
        const result = await calls.dispatch(name, args);
        await turnstile.pass();
        recorder.answered(call, result);
        return result;
      } catch (error) {
        await turnstile.pass();
        recorder.failed(call, failureOf(error));
        throw error;
      }
    },
    async sleep(ms) {
      const call = recorder.asked('clock.sleep', [ms]);
      await recorder.sleep(ms);
      await turnstile.pass();
      recorder.answered(call, null);
    },
    drew: (clock) => recorder.drew(clock),
    end: () => calls.end(),
  };
}

/** Writes down how a run ended: its own result or failure, or that the host ended it. */
export async function recordEnd(run: Promise<unknown>, recorder: RunRecorder): Promise<unknown> {
  try {
    const text = await run;
    recorder.ended(endOf(text));
    return text;
  } catch (error) {
    if (isHostError(error)) recorder.ended({ cut: error.code });
    else {
      const { code, message } = error as { code?: unknown; message?: unknown };
      recorder.ended({ code: String(code ?? ''), message: String(message ?? '') });
    }
    throw error;
  }
}

function endOf(text: unknown): { result: unknown } | { cut: string } {
  if (typeof text !== 'string') return { result: undefined };
  try {
    return { result: JSON.parse(text) };
  } catch {
    return { cut: 'PLUGIN_PROTOCOL' };
  }
}
