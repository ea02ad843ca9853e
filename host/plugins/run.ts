/** One run from start to end: deadline, cancellation, the time to clean up, and what comes back. */
import { isCode } from '../../sdk/contract/codes.ts';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { Broker, type BrokerDeps } from './broker.ts';
import type { Generation } from './generation.ts';
import type { RunCall } from './ports.ts';
import { recordEnd, recordedCalls } from './recording/recorded-calls.ts';
import type { RunRecorder } from './recording/recorder.ts';
import type { Slot } from './slot.ts';

/** Milliseconds that a cancelled run has to clean up and return. */
export const CANCEL_GRACE_MS = 5000;
/** The same for a run past its deadline. */
export const DEADLINE_GRACE_MS = 1000;

export interface RunGraces {
  cancelMs: number;
  deadlineMs: number;
}

/** @param record begins a recording of the run. @returns the plugin's answer, parsed from JSON and not yet checked. @throws PLUGIN_… codes. */
export async function performRun(
  generation: Generation,
  handler: string,
  call: RunCall,
  deps: BrokerDeps,
  graces: RunGraces,
  record?: () => RunRecorder | undefined,
): Promise<unknown> {
  // A run that is cancelled while it waits for a slot leaves no recording behind.
  return generation.use(call.signal, (slot) => onSlot(slot, generation, handler, call, deps, graces, record?.()));
}

async function onSlot(
  slot: Slot,
  generation: Generation,
  handler: string,
  call: RunCall,
  deps: BrokerDeps,
  graces: RunGraces,
  recorder: RunRecorder | undefined,
): Promise<unknown> {
  const { manifest, grants, limits } = generation.is;
  const plugin = manifest.id;
  const cancelled = new AbortController();
  const { runId, authority, ports } = call;
  const broker = new Broker(
    { runId, pluginId: plugin, authority, ports, cancelled: cancelled.signal },
    grants,
    deps,
    (problem) => slot.kill(new HostError('PLUGIN_PROTOCOL', { plugin, problem })),
  );

  const timers: NodeJS.Timeout[] = [];
  let giveUp: (reason: HostError) => void = () => {};
  const abandoned = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  abandoned.catch(() => {});
  /** Asks the run to end, and ends it when it does not. */
  const end = (why: string, graceMs: number, otherwise: HostError): void => {
    if (cancelled.signal.aborted) return;
    cancelled.abort(new HostError('RUN_CANCELLED'));
    recorder?.aborted(why);
    slot.abort(runId, why);
    timers.push(
      setTimeout(() => {
        // A slot that serves others is not ended for one of them; this call loses its powers and its caller.
        if (manifest.kind === 'controller') slot.kill(otherwise);
        broker.end();
        giveUp(otherwise);
      }, graceMs),
    );
  };
  const onAbort = (): void =>
    end(
      'cancelled',
      graces.cancelMs,
      new HostError('PLUGIN_UNRESPONSIVE', { plugin, call: `cancellation of ${broker.current}` }),
    );
  const deadline = Math.min(call.deadlineMs ?? limits.runDeadlineMs, limits.runDeadlineMs);
  timers.push(
    setTimeout(
      () => end('deadline', graces.deadlineMs, new HostError('PLUGIN_DEADLINE', { plugin, ms: deadline })),
      deadline,
    ),
  );
  call.signal.addEventListener('abort', onAbort, { once: true });

  try {
    const message = {
      runId,
      handler,
      ...(call.input === undefined ? {} : { input: call.input }),
      ...(recorder ? { tape: { seed: recorder.seed } } : {}),
    };
    const running = recorder
      ? recordEnd(
          slot.run(
            message,
            recordedCalls(broker, recorder, () => slot.ping()),
          ),
          recorder,
        )
      : slot.run(message, broker);
    running.catch(() => {});
    return answerOf(await Promise.race([running, abandoned]), plugin, slot);
  } catch (error) {
    if (error instanceof HostError) throw error;
    const { code, message } = error as { code?: unknown; message?: unknown };
    // What a program's author must hear word for word; every other failure of a plugin is told as the plugin's.
    if (isCode(code) && code.startsWith('PROGRAM_') && typeof message === 'string')
      throw new HostError(code, { message: message.replace(/^HostError: /, '') });
    throw new HostError('PLUGIN_FAILED', {
      plugin,
      problem: typeof message === 'string' ? message : 'it threw',
      ...(typeof code === 'string' && code ? { cause: code } : {}),
    });
  } finally {
    for (const timer of timers) clearTimeout(timer);
    call.signal.removeEventListener('abort', onAbort);
    // Only for a run that was given up; any other has told its end.
    recorder?.ended({ cut: 'RUN_ENDED' });
    broker.end();
  }
}

function answerOf(text: unknown, plugin: string, slot: Slot): unknown {
  if (text === null || text === undefined) return undefined;
  try {
    if (typeof text === 'string') return JSON.parse(text);
  } catch {
    // Falls through: an honest worker sends JSON.
  }
  const violation = new HostError('PLUGIN_PROTOCOL', { plugin, problem: 'an answer that is not JSON' });
  slot.kill(violation);
  return refuse('PLUGIN_PROTOCOL', violation.details);
}
