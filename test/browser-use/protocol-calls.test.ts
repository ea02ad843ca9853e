import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Protocol } from '../../host/devices/browser/chromium/protocol.ts';
import type { JevRequest } from '../../sdk/contract/jev.ts';
import { resultFor, runPlugin } from '../../sdk/testing/index.ts';
import { type Device, startDevice } from '../fixtures/browser-tasks/rig.ts';

const { signal } = new AbortController();
/** Asking which elements listen, and marking them, is counted apart; so is giving a handle back. */
const LISTENER_SCAN =
  /^(?:DOMDebugger\.getEventListeners|DOM\.(?:resolveNode|describeNode)|Runtime\.(?:callFunctionOn|getProperties|releaseObject|releaseObjectGroup))$/;
/** So is the question, every few seconds, whether the browser is still there. */
const WATCH = 'Browser.getVersion';
const LISTENER_ROOT = 'document.documentElement';
const LIMIT = 8;

const inner = (depth: number): string =>
  depth === 0
    ? ''
    : `<iframe width="700" height="${depth * 150}" srcdoc="${escaped(`<p>Level ${depth}</p><button>B${depth}</button>${inner(depth - 1)}`)}"></iframe>`;
const escaped = (html: string) => html.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
const buttons = Array.from({ length: 200 }, (_, i) => `<button onclick="p.textContent=${i}">Control ${i}</button>`);
const pages: Record<string, string> = {
  '/plain': `<!doctype html><title>Plain</title><p id="p">Nothing yet</p>${buttons.join(' ')}`,
  '/frames': `<!doctype html><title>Frames</title><p id="p">x</p><div><button onclick="p.textContent+='y'">Top</button></div>${inner(3)}`,
};

let device: Device;
let origin: string;
const server = createServer((request, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end(pages[request.url ?? ''] ?? ''),
);
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  device = await startDevice(origin);
});
afterAll(async () => {
  await device.close();
  server.close().closeAllConnections();
});

const send = Protocol.prototype.send;
afterEach(() => {
  Protocol.prototype.send = send;
});

/** Everything that leaves for Chromium, by the device call that it was for. */
function counted() {
  const calls: { name: string; sent: { method: string; expression: string }[] }[] = [];
  Protocol.prototype.send = function (this: Protocol, ...args: Parameters<typeof send>) {
    const [method, params] = args;
    const expression = String((params as { expression?: unknown } | undefined)?.expression ?? '');
    calls.at(-1)?.sent.push({ method, expression });
    return send.apply(this, args);
  } as typeof send;
  const callTool: Device['call'] = (name, args, signal) => {
    calls.push({ name, sent: [] });
    return device.call(name, args, signal);
  };
  return { calls, callTool };
}

const own = (sent: { method: string; expression: string }[]) =>
  sent.filter(
    ({ method, expression }) => !LISTENER_SCAN.test(method) && method !== WATCH && expression !== LISTENER_ROOT,
  );
const evaluates = (sent: { method: string; expression: string }[]) =>
  own(sent).filter(({ method }) => method === 'Runtime.evaluate');

function drive(callTool: Device['call'], evaluate: (request: JevRequest) => Record<string, string>, startUrl?: string) {
  const requests: JevRequest[] = [];
  const run = runPlugin({
    plugin: 'plugins/browser-use',
    tier: 'inline',
    input: { contractVersion: 1, goal: 'Press.', scope: device.scope, ...(startUrl ? { startUrl } : {}), maxSteps: 8 },
    ports: {
      async evaluate(request) {
        requests.push(request);
        return resultFor(request, evaluate(request));
      },
      callTool,
      progress: () => {},
    },
  });
  return { run, requests };
}

describe('what a decision costs in calls to the browser', () => {
  it.each([['/plain'], ['/frames']])('is at most eight an action, and one reading of the page for %s', async (path) => {
    const { calls, callTool } = counted();
    let at = 0;
    const pressed = drive(
      callTool,
      (request) => {
        const question = request.questions.click_target;
        const keys = question?.type === 'choice' ? Object.keys(question.criteria) : [];
        return ++at > 4
          ? { operation: 'BLOCKED' }
          : { operation: 'CLICK', click_target: keys[path === '/plain' ? at : 0] ?? '' };
      },
      origin + path,
    );
    await pressed.run;
    const clicks = calls.filter(({ name }) => name === 'page_click');
    expect(clicks.length).toBeGreaterThanOrEqual(3);
    for (const { sent } of clicks) {
      expect(
        own(sent).length,
        own(sent)
          .map(({ method, expression }) => `${method} ${expression.slice(0, 60)}`)
          .join('\n'),
      ).toBeLessThanOrEqual(LIMIT);
    }
    // The frames of one process are read together.
    for (const { sent } of calls.filter(({ name }) => name === 'page_observe')) expect(evaluates(sent)).toHaveLength(1);
  });

  it('reads a page of nested frames whole in that one call', async () => {
    const { calls, callTool } = counted();
    const seen = drive(callTool, () => ({ operation: 'BLOCKED' }), `${origin}/frames`);
    await seen.run;
    const text = JSON.stringify(seen.requests[0]);
    for (const label of ['Top', 'B1', 'B2', 'B3']) expect(text).toContain(`"${label}"`);
    for (const { sent } of calls.filter(({ name }) => name === 'page_observe')) expect(evaluates(sent)).toHaveLength(1);
  });
});

describe('the request of a decision', () => {
  it('has the same bytes for the same page and history, run after run', async () => {
    await drive(device.call, () => ({ operation: 'BLOCKED' }), `${origin}/plain`).run;
    const bytes: string[] = [];
    for (let run = 0; run < 3; run++) {
      const { run: ended, requests } = drive(device.call, () => ({ operation: 'BLOCKED' }));
      await ended;
      expect(requests).toHaveLength(1);
      bytes.push(JSON.stringify(requests[0]));
      // Time passes, generations move on.
      await device.call('page_observe', { ...device.scope, detail: 'full' }, signal);
    }
    expect(new Set(bytes).size).toBe(1);
  });
});
