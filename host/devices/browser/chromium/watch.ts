/** Looks after a running Chromium: whether it answers, and how much memory it takes. */
import type { Chromium } from './launch.ts';
import { memoryOfGroup } from './memory.ts';

/** Milliseconds between two questions whether it is there. */
const ASK_MS = 5000;
/**
 * Questions in a row that may stay open. Counted, and not timed from the first: after a machine that slept, one look finds
 * a question open that nobody had the time to answer.
 */
const MAX_OPEN = 3;
/** Milliseconds between two looks at its memory. */
const MEMORY_MS = 10_000;

export type Sickness = 'hung' | 'memory';

/**
 * Calls once, when the browser hangs or outgrows its limit; then it should be ended.
 *
 * @param memoryBytes of all its processes; not looked at without a process of our own.
 */
export function watchChromium(chromium: Chromium, memoryBytes: number, onSick: (sickness: Sickness) => void): void {
  const { protocol, pid } = chromium;
  let open = 0;
  const asking = every(ASK_MS, () => {
    if (open >= MAX_OPEN) return sick('hung');
    open += 1;
    protocol.send('Browser.getVersion').then(
      () => {
        open = 0;
      },
      () => {},
    );
  });
  const weighing =
    pid === undefined
      ? undefined
      : every(MEMORY_MS, () => {
          if (memoryOfGroup(pid) > memoryBytes) sick('memory');
        });
  protocol.onGone(stop);

  function sick(sickness: Sickness): void {
    stop();
    onSick(sickness);
  }
  function stop(): void {
    clearInterval(asking);
    clearInterval(weighing);
  }
}

function every(ms: number, look: () => void): NodeJS.Timeout {
  return setInterval(look, ms).unref();
}
