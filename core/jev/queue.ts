/** A bounded number of evaluations at a time, a bounded number waiting, first come first served. */
import { refuse } from '../../sdk/contract/errors.ts';
import type { EndSignal } from './deadline.ts';

export interface QueueLimits {
  maxConcurrentRequests: number;
  maxQueueSize: number;
}

export interface EvaluationQueue {
  /**
   * Waits for a slot. The limits are those of the moment, so a reload takes effect at once.
   * @returns gives the slot back; to be called exactly once.
   * @throws JEV_QUEUE_FULL at once when too many wait; the signal's reason when it aborts while waiting.
   */
  enter(limits: QueueLimits, signal: EndSignal): Promise<() => void> | (() => void);
  readonly active: number;
  readonly waiting: number;
}

interface Waiting {
  start(): void;
}

export function createQueue(live: () => QueueLimits): EvaluationQueue {
  const waiting = new Set<Waiting>();
  let active = 0;

  const leave = (): void => {
    active -= 1;
    // More than one may start when a reload has raised the limit.
    for (const next of waiting) {
      if (active >= live().maxConcurrentRequests) return;
      next.start();
    }
  };
  const take = (): (() => void) => {
    active += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      leave();
    };
  };

  return {
    get active() {
      return active;
    },
    get waiting() {
      return waiting.size;
    },
    enter(limits, signal) {
      if (active < limits.maxConcurrentRequests && waiting.size === 0) return take();
      if (waiting.size >= limits.maxQueueSize) refuse('JEV_QUEUE_FULL', { waiting: waiting.size });
      return new Promise((resolve, reject) => {
        const entry: Waiting = {
          start() {
            waiting.delete(entry);
            signal.removeEventListener('abort', giveUp);
            resolve(take());
          },
        };
        const giveUp = (): void => {
          waiting.delete(entry);
          reject(signal.reason);
        };
        waiting.add(entry);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}
