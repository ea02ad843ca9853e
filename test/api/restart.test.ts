/** What a client of the API keeps over a restart of the host: its place in the events. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startJevHost } from '../../scripts/demo/stack.mjs';

const KEY = 'restart-test-key';
let folder: string;
let stop: (() => Promise<unknown>) | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'restart-'));
});
afterEach(async () => {
  await stop?.();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function start(): Promise<string> {
  const file = join(folder, 'config.json');
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  writeFileSync(
    file,
    JSON.stringify({
      dataDir: join(folder, 'data'),
      agents: [{ id: 'assistant' }],
      gateway: { api: { port: 0, keys: [{ id: 'a', sha256, agents: '*', access: 'write' }] } },
    }),
  );
  const host = await startJevHost(['serve', '--config', file, '--port', '0'], {});
  stop = () => host.stop();
  return host.url;
}

interface Event {
  id: number;
  type: string;
  text: string;
}

/** Events until there are `count`, beginning after the last one that was seen. */
async function events(url: string, after: number | undefined, count: number): Promise<Event[]> {
  const found: Event[] = [];
  const gone = new AbortController();
  const response = await fetch(`${url}/api/v1/agents/assistant/sessions/default/events`, {
    headers: {
      authorization: `Bearer ${KEY}`,
      accept: 'text/event-stream',
      ...(after === undefined ? {} : { 'last-event-id': String(after) }),
    },
    signal: gone.signal,
  });
  expect(response.status).toBe(200);
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const id = /^id: (\d+)$/m.exec(block)?.[1];
      if (id === undefined) continue;
      found.push({ id: Number(id), type: /^event: (.+)$/m.exec(block)?.[1] ?? '', text: block });
    }
    if (found.length >= count) break;
  }
  gone.abort();
  return found.slice(0, count);
}

const say = async (url: string, text: string) => {
  const response = await fetch(`${url}/api/v1/agents/assistant/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  });
  expect(response.status).toBeLessThan(300);
};

it('keeps a client’s place in the events over a restart: nothing twice, nothing missing, ids that go on', async () => {
  const first = await start();
  for (const text of ['one', 'two', 'three']) await say(first, text);
  const seen = await events(first, undefined, 2);
  await stop?.();
  const second = await start();
  await say(second, 'four');
  const all = await events(second, undefined, seen.length);
  expect(all).toEqual(seen);
  const rest = await events(second, seen.at(-1)?.id, 2);
  const whole = await events(second, 0, seen.length + rest.length);
  expect([...seen, ...rest]).toEqual(whole);
  expect(whole.map(({ id }) => id)).toEqual([...whole.map(({ id }) => id)].sort((a, b) => a - b));
});
