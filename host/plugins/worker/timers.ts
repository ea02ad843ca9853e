/**
 * Timers that belong to one sandbox and end with it.
 *
 * Threat: a timer that outlives its run would act in the next one's time; a timer object of Node's leads to its lists. So
 * ids are numbers, the number of live timers is bounded, and a throw inside one is the run's failure, not the worker's.
 */

const realSet = setTimeout;
const realClear = clearTimeout;

/** Live timers of one sandbox. */
const MAX_TIMERS = 1000;
const MAX_DELAY_MS = 2 ** 31 - 1;

export interface OwnTimers {
  globals: Record<string, unknown>;
  /** Resolves after the time. Rejects never; ends silently with the sandbox. */
  sleep(ms: number): Promise<void>;
  end(): void;
}

export function ownTimers(stray: (error: unknown) => void): OwnTimers {
  const live = new Map<number, NodeJS.Timeout>();
  let lastId = 0;
  let ended = false;

  const start = (work: unknown, ms: unknown, repeat: boolean, args: unknown[]): number => {
    if (typeof work !== 'function') throw new TypeError('A timer needs a function.');
    if (ended) return 0;
    if (live.size >= MAX_TIMERS) throw new RangeError(`A plugin may have ${MAX_TIMERS} timers.`);
    const id = ++lastId;
    const delay = Math.min(Math.max(Number(ms) || 0, repeat ? 1 : 0), MAX_DELAY_MS);
    const fire = (): void => {
      if (repeat) live.set(id, realSet(fire, delay));
      else live.delete(id);
      try {
        work(...args);
      } catch (error) {
        stray(error);
      }
    };
    live.set(id, realSet(fire, delay));
    return id;
  };
  const clear = (id: unknown): void => {
    if (typeof id !== 'number') return;
    const timer = live.get(id);
    if (timer) realClear(timer);
    live.delete(id);
  };

  return {
    globals: {
      setTimeout: (work: unknown, ms?: unknown, ...args: unknown[]) => start(work, ms, false, args),
      setInterval: (work: unknown, ms?: unknown, ...args: unknown[]) => start(work, ms, true, args),
      clearTimeout: clear,
      clearInterval: clear,
      queueMicrotask: (work: unknown) => {
        if (typeof work !== 'function') throw new TypeError('queueMicrotask needs a function.');
        Promise.resolve()
          .then(() => work())
          .catch(stray);
      },
    },
    sleep: (ms) => new Promise((resolve) => start(resolve, ms, false, [])),
    end() {
      ended = true;
      for (const timer of live.values()) realClear(timer);
      live.clear();
    },
  };
}
