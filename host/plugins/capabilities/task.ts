/**
 * `task`: progress, and questions to the task's owner.
 *
 * Threat: a plugin could drown the owner in events or questions. Events beyond the rate are dropped, not queued; a run has
 * one open question at a time.
 */
import * as v from 'valibot';
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

/** Progress events that one run may report per second; more are dropped. */
export const PROGRESS_PER_SECOND = 50;
/** Characters of one progress event. */
const MAX_EVENT_CHARS = 16_384;

const Question = v.strictObject({
  text: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
  fieldLabel: v.optional(v.pipe(v.string(), v.maxLength(250))),
});

export const task: Capability<'task'> = {
  id: 'task',
  create({ ports, cancelled }, { now }) {
    let windowStart = 0;
    let inWindow = 0;
    let asking = false;
    const asked = async <T>(
      text: string,
      put: ((question: never, signal: AbortSignal) => Promise<T>) | undefined,
    ): Promise<T> => {
      if (!put) refuse('CAPABILITY_DENIED', { capability: 'task' });
      if (cancelled.aborted) refuse('RUN_CANCELLED');
      if (asking) refuse('PLUGIN_TOO_MANY_CALLS', { limit: 1 });
      const question = v.safeParse(Question, parsed(text));
      if (!question.success) {
        refuse('PLUGIN_CALL_INVALID', {
          path: v.getDotPath(question.issues[0]) ?? 'the question',
          problem: question.issues[0].message,
        });
      }
      asking = true;
      try {
        return await put(question.output as never, cancelled);
      } finally {
        asking = false;
      }
    };
    return {
      progress([text]) {
        if (text.length > MAX_EVENT_CHARS)
          refuse('PLUGIN_CALL_INVALID', { path: 'event', problem: `it is over ${MAX_EVENT_CHARS} characters` });
        const at = now();
        if (at - windowStart >= 1000) [windowStart, inWindow] = [at, 0];
        inWindow += 1;
        if (inWindow <= PROGRESS_PER_SECOND) ports.progress?.(parsed(text));
        return null;
      },
      ask: ([text]) => asked(text, ports.ask),
      confirm: ([text]) => asked(text, ports.confirm),
    };
  },
};
