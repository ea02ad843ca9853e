/** The harness against a real browser, over a connection that can be cut. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startChromium } from '../../test/support/chromium.ts';
import { BrowserHarness, MAX_OUTSTANDING } from './browser-harness.ts';

const allowedMethods = ['Target.createTarget', 'Target.attachToTarget', 'Target.getTargets', 'Runtime.evaluate'];
const signal = new AbortController().signal;

/** As much of the browser's answers as is read here. */
interface Answer {
  targetId: string;
  sessionId: string;
  targetInfos: unknown[];
  result: { value: unknown };
}

describe('programs in a real browser', () => {
  let chromium: Awaited<ReturnType<typeof startChromium>>;
  let proxy: Server;
  const connections = new Set<Socket>();
  let harness: BrowserHarness;
  let wsUrl: string;

  beforeAll(async () => {
    chromium = await startChromium();
    const browser = new URL(chromium.wsUrl);
    const port = Number(browser.port);
    proxy = createServer((near) => {
      const far = connect(port, browser.hostname);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        connections.add(one);
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          connections.delete(one);
          other.destroy();
        });
      }
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    browser.port = String((proxy.address() as AddressInfo).port);
    wsUrl = browser.href;
  });
  afterAll(async () => {
    cut();
    proxy?.close();
    await chromium?.stop();
  });
  beforeEach(() => {
    harness = harnessWith(10_000);
  });
  afterEach(() => harness.close());

  const harnessWith = (callTimeoutMs: number) =>
    new BrowserHarness({ id: 'browser', wsUrl, allowedMethods, callTimeoutMs });
  const cut = () => {
    for (const socket of connections) socket.destroy();
  };
  const cdp = (method: string, params: Record<string, unknown> = {}, sessionId?: string) =>
    harness.cdp(
      { method, params, ...(sessionId === undefined ? {} : { sessionId }) },
      new AbortController().signal,
    ) as Promise<Answer>;
  const why = (work: Promise<unknown>) =>
    work.then(
      () => 'answered',
      (error: Error) => error.message,
    );
  async function page(title: string): Promise<string> {
    const { targetId } = await cdp('Target.createTarget', { url: `data:text/html,<title>${title}</title>` });
    const { sessionId } = await cdp('Target.attachToTarget', { targetId, flatten: true });
    return sessionId;
  }
  const evaluate = (expression: string, sessionId: string) =>
    cdp('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true }, sessionId);

  it('reach each page by its own session, however their calls are mixed', async () => {
    await harness.connect(signal);
    const sessions = [await page('one'), await page('two')] as const;
    const asked = Array.from({ length: 10 }, (_, n) => evaluate(`${n}`, sessions[n % 2] as string));
    expect((await Promise.all(asked)).map(({ result }) => result.value)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (const [n, session] of sessions.entries()) {
      await evaluate(`globalThis.mark = ${n}`, session);
      expect((await evaluate('globalThis.mark', session)).result.value).toBe(n);
    }
  });

  it('get nothing without a session, and nothing that the operator did not list', async () => {
    await harness.connect(signal);
    expect(await why(cdp('Runtime.evaluate', { expression: '1' }))).toBe(
      'Page-scoped CDP calls require an explicit sessionId',
    );
    expect(await why(cdp('Browser.close'))).toBe('Invalid browser.cdp arguments: method');
    expect(await why(cdp('Runtime.evaluate', { expression: '1' }, 'not-a-session'))).toMatch(/^CDP: /);
    expect((await cdp('Target.getTargets')).targetInfos.length).toBeGreaterThan(0);
  });

  it('wait for no page for ever, and crowd no browser', async () => {
    harness = harnessWith(1000);
    await harness.connect(signal);
    const session = await page('slow');
    const never = Array.from({ length: MAX_OUTSTANDING }, () => why(evaluate('new Promise(() => {})', session)));
    expect(await why(evaluate('1', session))).toBe('Browser Harness outstanding call limit reached');
    expect(new Set(await Promise.all(never))).toEqual(
      new Set(['Browser Harness call timed out; its effect is not known']),
    );
    expect((await evaluate('1 + 1', session)).result.value).toBe(2);
  });

  it('are told when the connection is lost, connect again when they say so, and find their old sessions gone', async () => {
    await harness.connect(signal);
    const session = await page('lost');
    const pending = why(evaluate('new Promise(() => {})', session));
    cut();
    const lost = 'Browser Harness disconnected; explicitly reconnect before retrying';
    expect(await pending).toBe(lost);
    expect(await why(cdp('Target.getTargets'))).toBe(lost);
    await harness.connect(signal);
    expect(await why(evaluate('1', session))).toMatch(/^CDP: .*session/i);
    expect((await evaluate('2', await page('found'))).result.value).toBe(2);
  });
});
