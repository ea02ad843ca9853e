/**
 * Entry of a plugin's worker, built into one strict CommonJS file. Piscina runs `serve` once per worker; it ends when the
 * plugin was deactivated, and a worker whose `serve` has ended is never used again.
 */
import 'ses';
import { Socket } from 'node:net';
import type { MessagePort } from 'node:worker_threads';
import { framedWires } from '../frames.ts';
import type { Wire } from '../guarded-endpoint.ts';
import { connect, failureOf, serve as serveCalls } from '../peer.ts';
import { portWire } from '../port-wire.ts';
import { callTable, hostReports, MAX_WIRE_SIZE } from '../protocol.ts';
import { abortClasses } from './abort-classes.ts';
import { PluginService } from './service.ts';
import { webClasses } from './web-classes.ts';

/** Ports of a thread, or the pipe of a process. */
export type ServeTask =
  | { calls: MessagePort; capabilities: MessagePort; check?: boolean }
  | { fd: number; check?: boolean };

export async function serve(task: ServeTask): Promise<'stopped'> {
  lockdown({
    // `check` shows an author where an error arose; everywhere else stacks stay out of the plugin's reach.
    errorTaming: task.check ? 'unsafe' : 'safe',
    consoleTaming: 'unsafe',
    overrideTaming: 'severe',
    domainTaming: 'unsafe',
    reporting: 'none',
    errorTrapping: 'none',
    unhandledRejectionTrapping: 'none',
  });
  const shared = { ...webClasses(), ...abortClasses() };
  const { calls, capabilities } =
    'fd' in task ? pipeWires(task.fd) : { calls: portWire(task.calls), capabilities: portWire(task.capabilities) };

  let stop: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  // A message outside the contract from the host's side is dropped: there is nobody to complain to.
  const options = { maxSize: MAX_WIRE_SIZE, violated: () => {} };
  const host = connect(capabilities, [...callTable.keys(), ...Object.keys(hostReports)], options);
  // The answer to `deactivate` must leave before the worker ends.
  const service = new PluginService(host, shared, () => setTimeout(stop, 0));
  process.on('uncaughtException', (error) => service.stray('uncaught', error));
  process.on('unhandledRejection', (error) => service.stray('rejection', error));

  const plainly =
    <A extends string[], R>(work: (...args: A) => R) =>
    async (...args: A) => {
      try {
        if (!args.every((arg) => typeof arg === 'string')) throw new TypeError('Arguments are text.');
        return await work(...args);
      } catch (error) {
        throw describe(error, task.check === true);
      }
    };
  serveCalls(
    calls,
    {
      activate: plainly((text: string) => service.activate(text)),
      run: plainly((text: string) => service.run(text)),
      abort: plainly((runId: string, reason: string) => service.abort(runId, reason)),
      ping: plainly(() => null),
      deactivate: plainly(() => service.deactivate()),
    },
    options,
  );
  await stopped;
  calls.close();
  capabilities.close();
  return 'stopped';
}

function pipeWires(fd: number): { calls: Wire; capabilities: Wire } {
  const [calls, capabilities] = framedWires(new Socket({ fd, readable: true, writable: true }), () => process.exit(79));
  return { calls, capabilities };
}

/** What the host learns of an error that left the plugin. Reading one may run plugin code. */
function describe(error: unknown, withStack: boolean): { code: string; message: string; details: string } {
  const failure = failureOf(error);
  try {
    const { code, stack } = error as { code?: unknown; stack?: unknown };
    return {
      code: typeof code === 'string' ? code.slice(0, 100) : failure.code,
      message: failure.message,
      details: withStack && typeof stack === 'string' ? JSON.stringify({ stack: stack.slice(0, 8000) }) : '{}',
    };
  } catch {
    return failure;
  }
}
