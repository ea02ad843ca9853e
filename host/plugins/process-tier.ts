/**
 * The `process` tier: one worker in a process of its own, for plugins that the operator does not trust.
 *
 * Threat: what a thread can do to its process (an abort of the engine, memory that V8 does not count, an uninterruptible
 * builtin) it does to the host. Here it does it to a child with an empty environment, one pipe, and a memory ceiling, which
 * can be killed at any instruction. What the child writes is read as frames within limits, never deserialised by Node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import type { EndCause, Execution, ExecutionOptions, ExecutionService } from './execution.ts';
import { framedWires } from './frames.ts';
import { permissionFlags } from './permission-flags.ts';
import { runtimeFile } from './runtime-files.ts';

/** Megabytes that Node and the sandbox take before a plugin has done anything. */
const BASE_MB = 96;
/** Characters of the child's own words that are kept. */
const MAX_WORDS = 4096;
const PAGE_BYTES = 4096;
/** The kernel ends the process with the highest number first when memory runs out. */
const OOM_SCORE = '1000';

export const processTier: ExecutionService = {
  tier: 'process',
  start(options: ExecutionOptions): Execution {
    const child = spawnChild(options);
    let words = '';
    let protocol: string | undefined;
    child.stdout?.resume();
    child.stderr?.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-MAX_WORDS);
    });
    // Nothing is ever written there; the child ends when it closes. An early death may still break it.
    child.stdin?.on('error', () => {});
    const pipe = child.stdio[3] as Duplex;
    const [calls, capabilities] = framedWires(pipe, (reason) => {
      if (reason !== 'the pipe closed' && reason !== 'the pipe broke') protocol = reason;
      child.kill('SIGKILL');
    });
    const ended = new Promise<EndCause>((resolve) => {
      child.once('error', (error) => resolve({ kind: 'lost', text: error.message }));
      child.once('exit', (code, signal) => {
        pipe.destroy();
        resolve(causeOf(code, signal, words, protocol));
      });
    });
    return {
      calls,
      capabilities,
      ended,
      terminate: () => child.kill('SIGKILL'),
      memory: () => residentBytes(child.pid),
      // Another process's event loop cannot be seen from here; the pings tell whether it turns.
      busy: () => undefined,
    };
  },
};

function spawnChild({ memoryMb, check }: ExecutionOptions): ChildProcess {
  const script = runtimeFile('child.cjs');
  const readable = [`${runtimeFile('')}*`];
  const flags = permissionFlags(readable);
  const memoryBytes = (memoryMb + BASE_MB) * 1024 * 1024;
  const argument = JSON.stringify({ memoryBytes, flags, check: check === true });
  const command = [process.execPath, ...flags, ...(flags.length > 0 ? ['--allow-worker'] : []), script, argument];
  // A core file would hold page text.
  const shell = existsSync('/bin/sh') ? ['/bin/sh', '-c', 'ulimit -c 0; exec "$@"', 'sh'] : [];
  const [file = process.execPath, ...args] = [...shell, ...command];
  const child = spawn(file, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  if (child.pid !== undefined) writeFile(`/proc/${child.pid}/oom_score_adj`, OOM_SCORE).catch(() => {});
  return child;
}

function causeOf(code: number | null, signal: string | null, words: string, protocol: string | undefined): EndCause {
  if (protocol) return { kind: 'protocol', text: protocol };
  if (code === 0) return { kind: 'stopped', text: 'it was stopped' };
  if (/^MEMORY$/m.test(words) || /heap out of memory|ERR_WORKER_OUT_OF_MEMORY|memory limit/i.test(words)) {
    return { kind: 'memory', text: 'it took too much memory' };
  }
  return { kind: 'lost', text: signal ? `its process ended with ${signal}` : `its process ended with status ${code}` };
}

async function residentBytes(pid: number | undefined): Promise<number | undefined> {
  const statistics = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => undefined);
  const pages = statistics?.split(' ')[1];
  return pages === undefined ? undefined : Number(pages) * PAGE_BYTES;
}
