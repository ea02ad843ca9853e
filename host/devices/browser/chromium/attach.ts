/** Joins a Chrome that its owner started with a debugging port. It is never closed from here. */
import { refuse } from '../../../../sdk/contract/errors.ts';
import type { Chromium } from './launch.ts';
import { Protocol } from './protocol.ts';
import { socketWire } from './wires.ts';

/** Milliseconds for the debugging port to answer, from its address to the browser's version. */
const ANSWER_MS = 10_000;

/**
 * @param address such as `http://127.0.0.1:9222`.
 * @param signal gives up a join that is under way.
 * @throws DEVICE_ATTACH_FAILED
 */
export async function attachChromium(address: string, signal: AbortSignal): Promise<Chromium> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  let protocol: Protocol | undefined;
  try {
    const response = await fetch(new URL('/json/version', address), { redirect: 'error', signal: limit });
    const version = (await response.json()) as { webSocketDebuggerUrl?: string };
    const url = new URL(version.webSocketDebuggerUrl ?? '');
    // The port's own address is what the owner named; what the answer says about the host is not followed.
    url.host = new URL(address).host;
    const joined = new Protocol(await socketWire(url.href, limit));
    protocol = joined;
    const { product } = await orAborted(joined.send('Browser.getVersion'), limit);
    return { protocol: joined, product: String(product), close: async () => joined.close() };
  } catch (error) {
    protocol?.close();
    return refuse('DEVICE_ATTACH_FAILED', { address, problem: problemOf(error, limit) });
  }
}

function problemOf(error: unknown, limit: AbortSignal): string {
  if (limit.aborted) return 'it did not answer in time';
  return error instanceof Error ? error.message : String(error);
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
