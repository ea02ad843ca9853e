/**
 * Connectors: whether their server answers at all, and whether its clock agrees. Evidence carries the server's time, and a
 * proof is at most five minutes old. No credential is sent and nothing is called.
 */
import { request } from 'undici';
import { type Check, type Finding, fail, ok, warn } from './check.ts';

const TIMEOUT_MS = 3000;
const CLOCK_WARN_MS = 30_000;

export const connectors: Check = async ({ config, now }) =>
  Promise.all(config.gateway.connectors.map(({ id, url }) => lookAt(`connector.${id}`, url, now)));

async function lookAt(id: string, url: string, now: () => number): Promise<Finding> {
  try {
    const response = await request(url, {
      method: 'GET',
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body.dump({ limit: 64 * 1024, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => undefined);
    const date = Date.parse(String(response.headers.date ?? ''));
    const skew = Number.isNaN(date) ? 0 : date - now();
    if (Math.abs(skew) > CLOCK_WARN_MS) {
      return warn(
        id,
        `${new URL(url).origin} answers, but its clock differs by ${Math.round(skew / 1000)} s.`,
        'Set both clocks with a time service: evidence would look too old or from the future.',
      );
    }
    return ok(id, `${new URL(url).origin} answers. Its credential was not tried.`);
  } catch {
    return fail(
      id,
      `${new URL(url).origin} does not answer.`,
      'Start the connector’s server, or correct gateway.connectors.',
    );
  }
}
