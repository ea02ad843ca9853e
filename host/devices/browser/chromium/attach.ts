/** Joins a Chrome that its owner started with a debugging port. It is never closed from here. */
import { refuse } from '../../../../sdk/contract/errors.ts';
import type { Chromium } from './launch.ts';
import { Protocol } from './protocol.ts';
import { socketWire } from './wires.ts';

/** Milliseconds for the debugging port to answer. */
const ANSWER_MS = 10_000;

/** @param address such as `http://127.0.0.1:9222`. @throws DEVICE_ATTACH_FAILED */
export async function attachChromium(address: string): Promise<Chromium> {
  try {
    const response = await fetch(new URL('/json/version', address), {
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const version = (await response.json()) as { webSocketDebuggerUrl?: string };
    const url = new URL(version.webSocketDebuggerUrl ?? '');
    // The port's own address is what the owner named; what the answer says about the host is not followed.
    url.host = new URL(address).host;
    const protocol = new Protocol(await socketWire(url.href));
    const { product } = await protocol.send('Browser.getVersion');
    return { protocol, product, close: async () => protocol.close() };
  } catch (error) {
    return refuse('DEVICE_ATTACH_FAILED', { address, problem: error instanceof Error ? error.message : String(error) });
  }
}
