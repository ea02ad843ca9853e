/**
 * Processor time of the calling thread.
 *
 * A program is held to processor time, not to the clock, so that a crowded machine ends nobody's program. The process's
 * time will not do: it counts every neighbour, and a program that waits for the processor would pay for theirs. Newer
 * Nodes know the thread's own time; for the others the kernel counts it, in a file that is opened once and read again.
 */
import { openSync, readSync } from 'node:fs';

/** Nanoseconds on the processor, before the first space. */
const KERNEL_COUNT = '/proc/thread-self/schedstat';
const MAX_DIGITS = 32;
const SPACE = 0x20;

/** @returns milliseconds, of this thread where it can be told and else of the process: never less than the thread's. */
export function cpuClock(): () => number {
  const own = (process as { threadCpuUsage?(): NodeJS.CpuUsage }).threadCpuUsage;
  if (own) return inMs(own);
  return kernelClock() ?? inMs(process.cpuUsage);
}

function inMs(usage: () => NodeJS.CpuUsage): () => number {
  return () => {
    const { user, system } = usage.call(process);
    return (user + system) / 1000;
  };
}

/** Nothing where there is no such file: another system, or a process that may not read it. */
function kernelClock(): (() => number) | undefined {
  try {
    const file = openSync(KERNEL_COUNT, 'r');
    const text = new Uint8Array(MAX_DIGITS);
    const read = (): number => {
      const length = readSync(file, text, 0, MAX_DIGITS, 0);
      let count = 0;
      for (let at = 0; at < length && text[at] !== SPACE; at++) count = count * 10 + ((text[at] ?? 0) - 48);
      return count / 1e6;
    };
    return read() > 0 ? read : undefined;
  } catch {
    return undefined;
  }
}
