/**
 * Main thread of a plugin's own process. It starts the one worker, watches the memory, and ends the process when the worker
 * or the host is gone. It never touches the plugin's pipe (descriptor 3): the worker reads that itself.
 *
 * Threat: the plugin may have taken over the worker. It cannot block this thread, so the memory check here always runs; and
 * `resourceLimits` cannot count buffers, so it is the resident size that is checked.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { Piscina } from 'piscina';

/** Milliseconds between two looks at the memory: a fast allocator takes about 5 MB in that time. */
const LOOK_EVERY_MS = 10;
/** Megabytes of V8 heap; set high, because V8 aborts near a low limit, and the check here comes first. */
const V8_HEAP_MB = 4096;

const { memoryBytes, flags, check } = JSON.parse(process.argv[2] ?? '{}') as {
  memoryBytes: number;
  flags: string[];
  check: boolean;
};

setInterval(() => {
  if (process.memoryUsage.rss() <= memoryBytes) return;
  writeSync(2, '\nMEMORY\n');
  process.kill(process.pid, 'SIGKILL');
}, LOOK_EVERY_MS);

// The host holds the other end of stdin for as long as it lives, and writes nothing.
const orphaned = (): never => process.exit(78);
process.stdin.on('end', orphaned).on('error', orphaned).resume();

const pool = new Piscina({
  filename: join(__dirname, 'worker.cjs'),
  minThreads: 1,
  maxThreads: 1,
  atomics: 'disabled',
  env: {},
  argv: [],
  execArgv: flags,
  trackUnmanagedFds: false,
  resourceLimits: { maxOldGenerationSizeMb: V8_HEAP_MB, maxYoungGenerationSizeMb: 8, stackSizeMb: 2 },
  recordTiming: false,
  workerHistogram: false,
});
pool.on('error', () => process.exit(77));
pool.run({ fd: 3, check }).then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`\n${error.message}\n`, () => process.exit(77));
  },
);
