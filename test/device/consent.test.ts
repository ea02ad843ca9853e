import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { remoteBrowser } from '../../sdk/devices/remote-browser.ts';
import { find, OWNER_KEY, startDevice, type TestDevice } from '../fixtures/device.ts';
import { type Site, startSite } from '../fixtures/site/site.ts';

let site: Site;
let device: TestDevice;
let tabId: string;
beforeAll(async () => {
  site = await startSite();
  device = await startDevice({ approve: 'owner' });
});
afterAll(async () => {
  await device?.close();
  await site?.close();
});

interface GrantList {
  grants: { id: string; deviceId: string; ready: boolean; policy: { control: boolean; tabs: { id: string }[] } }[];
}
const grants = async () => ((await device.request('GET', '/v1/grants')).body as GrantList).grants;
const owner = async <T>(method: string, path: string, body?: unknown) =>
  (await device.request(method, path, { key: OWNER_KEY, body })).body as T;
const approve = async (control: boolean, ttlMs = 60_000) =>
  (await owner<{ grant: { id: string } }>('POST', '/v1/grants', { tab_id: tabId, control, ttlMs })).grant.id;

beforeEach(async () => {
  for (const grant of await grants()) await owner('DELETE', `/v1/grants/${grant.id}`);
  const { tabs } = await owner<{ tabs: { id: string }[] }>('GET', '/v1/tabs');
  tabId = tabs[0]?.id ?? '';
});

function clientFor(grantId: string) {
  const scope = { device_id: device.scope.device_id, grant_id: grantId, tab_id: tabId };
  return remoteBrowser(
    {
      call: async (name, args) => ({
        content: [{ type: 'text', text: JSON.stringify(await device.call(name, args)) }],
      }),
    },
    scope,
    { uuid: randomUUID },
  );
}

describe('the owner’s consent', () => {
  it('comes before everything: without it there is no tab', async () => {
    const [pending] = await grants();
    expect(pending).toMatchObject({ ready: false, policy: { control: false, tabs: [] } });
    expect(await clientFor(pending?.id ?? '').acquire()).toMatchObject({ ok: false, code: 'CONSENT_REQUIRED' });
  });

  it('is asked for, waited for, and given from the owner’s side only', async () => {
    const [pending] = await grants();
    const asked = device.call('browser_request_access', {
      device_id: pending?.deviceId,
      grant_id: pending?.id,
      wait_ms: 10_000,
    });
    const id = await approve(true);
    expect(await asked).toEqual({ access: { state: 'granted' } });
    expect(await grants()).toMatchObject([{ id, ready: true, policy: { control: true, tabs: [{ id: tabId }] } }]);
  });

  it('to look is not consent to act', async () => {
    const browser = clientFor(await approve(false));
    expect(await browser.acquire()).toMatchObject({ ok: true });
    expect(await browser.navigate(randomUUID(), { url: `${site.url}/next` })).toMatchObject({
      outcome: 'not_executed',
      code: 'CONTROL_DENIED',
    });
    expect(await browser.observe()).toMatchObject({ ok: true });
    expect(site.documents).toEqual([]);
  });

  it('ends when its time is over', async () => {
    const browser = clientFor(await approve(true, 1000));
    expect(await browser.acquire()).toMatchObject({ ok: true });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await browser.observe()).toMatchObject({ ok: false, code: 'CONSENT_REQUIRED' });
  });

  it('taken back ends what is under way, and what comes after it', async () => {
    const id = await approve(true);
    const browser = clientFor(id);
    await browser.acquire();
    await browser.navigate(randomUUID(), { url: `${site.url}/buttons` });
    const page = await browser.observe();
    if (!page.ok) throw new Error(page.code);
    const waiting = browser.click(randomUUID(), {
      ref: find(page.value, 'Request 800').ref,
      generation: page.value.generation,
    });
    const next = browser.click(randomUUID(), {
      ref: find(page.value, 'At once').ref,
      generation: page.value.generation,
    });
    site.clear();
    await owner('DELETE', `/v1/grants/${id}`);
    // The first may have been sent already; then it is known, and its page is not shown any more.
    const first = await waiting;
    if (first.outcome === 'confirmed') expect(first.observation).toBeUndefined();
    expect(await next).toMatchObject({ outcome: 'not_executed', code: 'CONSENT_REQUIRED' });
    expect(site.effects).toEqual([]);
    expect(await browser.observe()).toMatchObject({ ok: false, code: 'CONSENT_REQUIRED' });
  });

  it('cannot be seen or given by a page, whatever address it finds', async () => {
    const id = await approve(true);
    const browser = clientFor(id);
    await browser.acquire();
    await browser.navigate(randomUUID(), { url: `${site.url}/next` });
    const tab = await device.server.browser.tab(tabId);
    const tried = await tab.send('Runtime.evaluate', {
      awaitPromise: true,
      returnByValue: true,
      expression: `Promise.all([
        fetch('${device.server.url}/v1/tabs').then((r) => r.status, () => 'refused'),
        fetch('${device.server.url}/v1/grants', { method: 'POST', body: '{}', headers: { authorization: 'Bearer x' } }).then((r) => r.status, () => 'refused'),
        fetch('${device.server.url}/healthz', { mode: 'no-cors' }).then((r) => r.type, () => 'refused'),
        Promise.resolve(typeof __device)])`,
    });
    const [tabs, granting, , world] = tried.result.value;
    expect([tabs, granting, world]).toEqual(['refused', 'refused', 'undefined']);
  });
});
