/**
 * The `thread` tier: one worker of the host's own process, as a Piscina pool of one.
 *
 * A pool is used for one worker and never again: after an abort, and after a start that failed, Piscina keeps a worker
 * that serves nothing, and the next run on it would wait for ever. V8's own limit is set high, because V8 aborts the whole
 * process when a large block does not fit the slack under a low one; the real limit is the watchdog's (memory-watch.ts).
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { EndCause, Execution, ExecutionOptions, ExecutionService } from './execution.ts';
import { watchMemory } from './memory-watch.ts';
import { permissionFlags } from './permission-flags.ts';
import { portWire } from './port-wire.ts';
import { runtimeFile } from './runtime-files.ts';

/** Megabytes of V8 heap after which V8 itself ends the worker. */
const V8_HEAP_MB = 4096;
/** Megabytes for young objects: half of this cost a third more time a loop turn, twice as much 8 MB over 16 workers. */
const YOUNG_HEAP_MB = 4;

interface HeapStatistics {
  used_heap_size: number;
  external_memory?: number;
  malloced_memory?: number;
}

export const threadTier: ExecutionService = {
  tier: 'thread',
  start(options: ExecutionOptions): Execution {
    const [calls, capabilities] = [new MessageChannel(), new MessageChannel()];
    const pool = new Piscina({
      filename: runtimeFile('worker.cjs'),
      minThreads: 1,
      maxThreads: 1,
      atomics: 'disabled',
      env: {},
      argv: [],
      execArgv: permissionFlags([`${runtimeFile('')}*`, `${dirname(fileURLToPath(import.meta.resolve('piscina')))}/*`]),
      resourceLimits: { maxOldGenerationSizeMb: V8_HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB, stackSizeMb: 2 },
      trackUnmanagedFds: true,
      closeTimeout: 1000,
      recordTiming: false,
      workerHistogram: false,
    });
    // Reported through the task as well; without a listener it would be an exception of the host's.
    pool.on('error', () => {});
    const [worker] = pool.threads;
    // Nothing of a plugin writes to the host's own streams.
    worker?.stdout.unpipe(process.stdout).resume();
    worker?.stderr.unpipe(process.stderr).resume();
    const abort = new AbortController();
    const ports = [calls.port2, capabilities.port2];
    const served: Promise<unknown> = pool.run(
      { calls: calls.port2, capabilities: capabilities.port2, check: options.check === true },
      { signal: abort.signal, transferList: ports },
    );
    const ended = served
      .then(
        (): EndCause => ({ kind: 'stopped', text: 'it was stopped' }),
        (error): EndCause => (full ? { kind: 'memory', text: 'it took too much memory' } : causeOf(error)),
      )
      .finally(() => {
        unwatch();
        calls.port1.close();
        capabilities.port1.close();
        // Not awaited: a worker inside an uninterruptible builtin may take long to go.
        pool.destroy().catch(() => {});
      });
    let seen = worker?.performance.eventLoopUtilization();
    let full = false;
    const execution: Execution = {
      calls: portWire(calls.port1),
      capabilities: portWire(capabilities.port1),
      ended,
      terminate: () => abort.abort(),
      async memory() {
        const sample = (worker as unknown as { getHeapStatistics?(): Promise<HeapStatistics> }).getHeapStatistics;
        const heap = await sample?.call(worker).catch(() => undefined);
        return heap && heap.used_heap_size + (heap.external_memory ?? 0) + (heap.malloced_memory ?? 0);
      },
      busy() {
        if (!worker) return undefined;
        const before = seen;
        seen = worker.performance.eventLoopUtilization();
        return before && worker.performance.eventLoopUtilization(seen, before).utilization;
      },
    };
    const unwatch = watchMemory(execution, options.memoryMb, () => {
      full = true;
      abort.abort();
    });
    return execution;
  },
};

function causeOf(error: unknown): EndCause {
  const { code, name, message } = error as { code?: string; name?: string; message?: string };
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return { kind: 'memory', text: 'its heap was full' };
  if (name === 'AbortError') return { kind: 'lost', text: 'it was ended' };
  return { kind: 'lost', text: String(message).slice(0, 300) };
}
