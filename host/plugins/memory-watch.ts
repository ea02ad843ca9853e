/**
 * Ends the worker thread that makes the process grow.
 *
 * Threat: V8 counts no buffers, and near a low heap limit it aborts the whole process instead of ending the worker. So the
 * workers' V8 limit is high, and the process's resident size is watched from here: when it grew by more than a plugin may
 * take, and the host's own heap did not, the worker that did it is found (by its heap where Node can tell, else as the one
 * whose event loop is busy) and ended. Growth slower than `DRIFT` is taken for the process's own settling; on Nodes that
 * cannot measure a worker, V8's limit is what stops a slow one. The `process` tier has none of these gaps.
 */
import type { Execution } from './execution.ts';

/** Milliseconds between two looks. */
const LOOK_EVERY_MS = 10;
/** Bytes of growth per second that are nobody's fault. */
const DRIFT = 8 * 1024 * 1024;
/** Bytes that a worker takes by starting. */
const START_BYTES = 24 * 1024 * 1024;
/** Milliseconds over which the workers' busy time is compared, twice. Short: memory goes on growing meanwhile. */
const COMPARE_MS = 15;
/** Bytes by which the process must have grown further between the two: else what grew has had what it wanted. */
const STILL_GROWING = 4 * 1024 * 1024;
/** Milliseconds in which a worker is not suspected for being busy: starting is busy work, and others may grow meanwhile. */
const YOUNG_MS = 500;
/** Share of busy time from which a worker can be the one. A worker that is only called often pauses between calls. */
const BUSY = 0.95;

interface Watched {
  since: number;
  execution: Pick<Execution, 'memory' | 'busy'>;
  limit: number;
  exceeded: () => void;
}

const watched = new Set<Watched>();
let timer: NodeJS.Timeout | undefined;
let expected = 0;
let hostPart = 0;
let looking = false;

/** @returns a function that ends the watch. @param exceeded called at most once. */
export function watchMemory(
  execution: Pick<Execution, 'memory' | 'busy'>,
  limitMb: number,
  exceeded: () => void,
): () => void {
  const entry: Watched = { since: performance.now(), execution, limit: limitMb * 1024 * 1024, exceeded };
  watched.add(entry);
  if (timer) expected += START_BYTES;
  else {
    settle(process.memoryUsage.rss() + START_BYTES);
    timer = setInterval(look, LOOK_EVERY_MS).unref();
  }
  return () => {
    watched.delete(entry);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function look(): void {
  const rss = process.memoryUsage.rss();
  expected = Math.min(rss, expected + (DRIFT * LOOK_EVERY_MS) / 1000);
  const smallest = Math.min(...[...watched].map(({ limit }) => limit));
  if (rss - expected < smallest || looking) return;
  const growth = rss - expected - Math.max(0, ownPart() - hostPart);
  if (growth < smallest) return;
  looking = true;
  accuse(growth).then((found) => {
    looking = false;
    if (!found) settle(process.memoryUsage.rss());
  });
}

/** @returns whether somebody was found, or may be found at the next look. */
async function accuse(growth: number): Promise<boolean> {
  const all = [...watched];
  // The first look only starts the measure.
  for (const { execution } of all) execution.busy();
  await pause(COMPARE_MS);
  const between = process.memoryUsage.rss();
  const first = new Map(all.map((entry) => [entry, entry.execution.busy() ?? 0]));
  await pause(COMPARE_MS);
  const growing = process.memoryUsage.rss() - between > STILL_GROWING;
  const old = performance.now() - YOUNG_MS;
  const suspects = await Promise.all(
    all.map(async (entry) => {
      const both = Math.min(first.get(entry) ?? 0, entry.execution.busy() ?? 0);
      const busy = growing && entry.since < old ? both : 0;
      return { entry, busy, bytes: await Promise.race([entry.execution.memory(), pause(50)]) };
    }),
  );
  const measured = suspects.filter(({ bytes, entry }) => bytes !== undefined && bytes > entry.limit);
  const guessed = suspects.filter(
    ({ bytes, busy, entry }) => bytes === undefined && busy > BUSY && growth > entry.limit,
  );
  const [worst] = [
    ...measured.sort((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0)),
    ...guessed.sort((a, b) => b.busy - a.busy),
  ];
  if (!worst || !watched.delete(worst.entry)) return false;
  worst.entry.exceeded();
  // What it took goes only when its thread is gone; until then it is expected.
  settle(process.memoryUsage.rss());
  return true;
}

const ownPart = (): number => {
  const { heapTotal, external } = process.memoryUsage();
  return heapTotal + external;
};

function settle(rss: number): void {
  expected = rss;
  hostPart = ownPart();
}

const pause = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms, undefined));
