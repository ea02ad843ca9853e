import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolReply } from '../contract/capabilities.ts';
import { remoteBrowser } from './remote-browser.ts';
import { MAX_REPLY_CHARS } from './remote-browser-contract.ts';

const scope = { device_id: 'd', grant_id: 'g', tab_id: 't' };
const uuid = '7f0c8f0e-58a5-4c5e-8d53-0a4f3f1f6a10';
const page = {
  protocol_version: 1,
  generation: 'g1',
  url: 'http://shop.test/',
  title: 'Shop',
  text: 'Hello',
  elements: [],
  scroll: { up: false, down: false },
  truncated: { text: false, elements: false },
};

const said = (value: unknown, isError?: boolean): ToolReply => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
  ...(isError === undefined ? {} : { isError }),
});

function client(answer: (name: string, args: Record<string, unknown>) => ToolReply | Promise<ToolReply>) {
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  const browser = remoteBrowser(
    {
      async call(name, args) {
        calls.push({ name, args });
        return answer(name, args);
      },
    },
    scope,
    { uuid: () => uuid },
  );
  return { browser, calls };
}

const click = (answer: () => ToolReply | Promise<ToolReply>) =>
  client(answer).browser.click(uuid, { ref: 'e1', generation: 'g1' });

describe('the outcome of a mutation', () => {
  it('is confirmed only by the word "completed"', async () => {
    expect(await click(() => said({ state: 'completed', result: { observation: page } }))).toMatchObject({
      outcome: 'confirmed',
      observation: { generation: 'g1' },
    });
  });

  it.each([
    ['no state', said({ result: {} })],
    ['another state', said({ state: 'running' })],
    ['the state unknown', said({ state: 'unknown' })],
    ['a replayed reply', said({ state: 'completed', replayed: true, result: {} })],
    ['no JSON', said('done')],
    ['an array', said([])],
    ['two texts', { content: [...said({ state: 'completed' }).content, ...said({}).content] }],
    ['no text', { content: [] }],
    ['too long a text', said(JSON.stringify({ state: 'completed', x: 'x'.repeat(MAX_REPLY_CHARS) }))],
    ['an error without a name', said({ state: 'completed' }, true)],
    ['an error that does not say whether it acted', said({ error: 'DEVICE_FAILED' }, true)],
    ['an error that says it acted', said({ error: 'DEVICE_FAILED', action_executed: true }, true)],
    ['an error that says it in another way', said({ error: 'DEVICE_FAILED', action_executed: 'false' }, true)],
  ])('is unknown after %s', async (_, reply) => {
    expect(await click(() => reply)).toMatchObject({ outcome: 'unknown' });
  });

  it('is unknown after a lost connection, and not executed when the host refused to send', async () => {
    const broken = await click(() => Promise.reject(new Error('socket closed')));
    expect(broken).toEqual({ outcome: 'unknown', code: 'ADAPTER_FAILURE' });
    const refused = await click(() => Promise.reject(Object.assign(new Error(), { code: 'BROWSER_SCOPE_DENIED' })));
    expect(refused).toEqual({ outcome: 'not_executed', code: 'BROWSER_SCOPE_DENIED' });
  });

  it('is not executed when the device says so, with the cause', async () => {
    const reply = said({ error: 'STALE_OBSERVATION', action_executed: false, cause: 'TARGET_OBSCURED' }, true);
    expect(await click(() => reply)).toEqual({
      outcome: 'not_executed',
      code: 'STALE_OBSERVATION',
      cause: 'TARGET_OBSCURED',
    });
  });

  it('is not executed while consent is asked for', async () => {
    expect(await click(() => said({ access: { state: 'pending' } }))).toEqual({
      outcome: 'not_executed',
      code: 'CONSENT_REQUIRED',
    });
  });

  it('is never confirmed by a reply that is not the contract’s', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.boolean(), async (value, isError) => {
        const outcome = (await click(() => said(JSON.stringify(value), isError))).outcome;
        const proper = !isError && (value as { state?: unknown } | null)?.state === 'completed';
        if (!proper) expect(outcome).not.toBe('confirmed');
      }),
    );
  });
});

describe('the calls', () => {
  it('carry scope, lease and operation id flat', async () => {
    const { browser, calls } = client((name) =>
      name === 'browser_task_acquire'
        ? said({ protocol_version: 1, lease_token: uuid })
        : said({ state: 'completed', result: { completed_action: 'FOCUS', text_inserted: false } }),
    );
    expect(await browser.acquire()).toEqual({ ok: true, value: null });
    const typed = await browser.type('00000000-0000-4000-8000-000000000001', {
      ref: 'e2',
      generation: 'g1',
      text: 'แมว',
      submit: true,
    });
    expect(typed).toMatchObject({ outcome: 'confirmed', completedAction: 'FOCUS' });
    expect(calls[1]).toEqual({
      name: 'page_type',
      args: {
        ...scope,
        lease_token: uuid,
        operation_id: '00000000-0000-4000-8000-000000000001',
        detail: 'full',
        ref: 'e2',
        generation: 'g1',
        text: 'แมว',
        replace: true,
        accept_focus_only: true,
        submit: true,
      },
    });
    await browser.release();
    await browser.observe();
    expect(calls.at(-1)?.args).not.toHaveProperty('lease_token');
  });

  it('refuse a lease that is no UUID', async () => {
    const { browser } = client(() => said({ protocol_version: 1, lease_token: 'x' }));
    expect(await browser.acquire()).toEqual({ ok: false, code: 'INVALID_CONTRACT' });
  });

  it('name a page that is not the contract’s, and the browser’s own new-tab page', async () => {
    const other = client(() => said({ ...page, protocol_version: 2 }));
    expect(await other.browser.observe()).toEqual({ ok: false, code: 'INVALID_CONTRACT' });
    const fresh = client(() => said({ native_new_tab: true }));
    expect(await fresh.browser.observe()).toEqual({ ok: false, code: 'START_URL_REQUIRED' });
  });
});
