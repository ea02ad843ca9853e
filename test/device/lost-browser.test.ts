/** What connectors and the owner are told when the browser, or one of its tabs, goes away under them. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { remoteBrowser } from '../../sdk/devices/remote-browser.ts';
import { find, OWNER_KEY, startDevice, type TestDevice } from '../fixtures/device.ts';
import { eventually } from '../fixtures/processes.ts';
import { type Site, startSite } from '../fixtures/site/site.ts';

let site: Site;
let device: TestDevice;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());
afterEach(() => device.close());

/** The whole group, as a crash or the system's memory killer would. */
const killBrowser = () => process.kill(-(device.server.browser.pid as number), 'SIGKILL');

interface Grants {
  grants: { id: string; deviceId: string; policy: { tabs: { id: string }[] } }[];
}

/** A client of the tab that the device offers now, and the first look at a page in it. */
async function onceMore(): Promise<string> {
  const { grants } = (await device.request('GET', '/v1/grants')).body as Grants;
  const scope = {
    device_id: grants[0]?.deviceId ?? '',
    grant_id: grants[0]?.id ?? '',
    tab_id: grants[0]?.policy.tabs[0]?.id ?? '',
  };
  expect(scope.tab_id).not.toBe(device.scope.tab_id);
  const call = async (name: string, args: Record<string, unknown>) => ({
    content: [{ type: 'text' as const, text: JSON.stringify(await device.call(name, args)) }],
  });
  const browser = remoteBrowser({ call }, scope, { uuid: randomUUID });
  await browser.acquire();
  const gone = await browser.navigate(randomUUID(), { url: `${site.url}/form` });
  return gone.outcome === 'confirmed' ? (gone.observation?.text ?? '') : gone.code;
}

describe('a browser that dies', () => {
  it('is told to who worked in it, as lost and not as forbidden, and another one takes over', async () => {
    device = await startDevice();
    const page = await device.open(`${site.url}/`);
    killBrowser();
    await eventually(() => !device.server.browser.running, 'the device knows that Chromium is gone');
    const lost = { error: 'DEVICE_BROWSER_LOST', action_executed: false };
    const { scope } = device;
    const mine = { ...scope, operation_id: randomUUID() };
    for (const [name, args] of [
      ['page_observe', scope],
      ['page_screenshot', { ...scope, lease_token: randomUUID(), generation: page.generation }],
      ['browser_task_acquire', mine],
      ['browser_task_renew', { ...mine, lease_token: randomUUID() }],
      ['tab_navigate', { ...mine, lease_token: randomUUID(), url: site.url }],
      ['page_click', { ...mine, lease_token: randomUUID(), ref: 'd1e1', generation: page.generation }],
    ] as const) {
      expect(await device.call(name, args), name).toMatchObject(lost);
    }
    // Giving back is always allowed.
    expect(await device.call('browser_task_release', { ...mine, lease_token: randomUUID() })).toMatchObject({
      state: 'completed',
    });
    expect(await onceMore()).toContain('Sent');
    expect(device.server.browser.restarts).toBe(1);
    // The old tab is not the new one's, even now.
    expect(await device.call('page_observe', scope)).toMatchObject({ error: 'DEVICE_BROWSER_LOST' });
  });

  it.each([
    ['a click', 'frozen', 'Freeze'],
    ['a click on what loads for ever', 'never-link', 'For ever'],
  ])('leaves %s that was under way unknown, on record, and never repeated', async (_name, path, label) => {
    device = await startDevice();
    const page = await device.open(`${site.url}/${path}`);
    const id = randomUUID();
    const target = { ref: find(page, label).ref, generation: page.generation };
    const clicked = device.browser.click(id, target);
    await eventually(async () => {
      const status = await device.browser.operationStatus(id);
      return status.ok && ['dispatched', 'completed'].includes(status.value.state);
    }, 'the click was sent');
    killBrowser();
    const outcome = await clicked;
    const status = await device.browser.operationStatus(id);
    if (!status.ok) throw new Error(status.code);
    // Neither says that nothing was done, and the caller is never told more than the record knows.
    expect(['unknown', 'completed']).toContain(status.value.state);
    expect(outcome.outcome === 'confirmed' ? status.value.state : outcome.outcome).toMatch(/^(?:completed|unknown)$/);
    if (status.value.state === 'unknown') expect(outcome.outcome).toBe('unknown');
    expect(
      await device.call('page_click', { ...device.scope, ...target, lease_token: randomUUID(), operation_id: id }),
    ).toMatchObject({
      replayed: true,
    });
    expect(await onceMore()).toContain('Sent');
  });
});

describe('a browser that hangs', () => {
  it('is ended after a while; what was sent is unknown, what was not is not done, and another takes over', async () => {
    device = await startDevice();
    const page = await device.open(`${site.url}/buttons`);
    const group = -(device.server.browser.pid as number);
    process.kill(group, 'SIGSTOP');
    try {
      const look = device.browser.observe();
      const clicked = device.click(page, 'At once');
      expect(await look).toMatchObject({
        ok: false,
        code: expect.stringMatching(/^(?:DEVICE_BROWSER_LOST|PAGE_UNRESPONSIVE|STALE_OBSERVATION)$/),
      });
      expect(['unknown', 'not_executed']).toContain((await clicked).outcome);
      await eventually(() => !device.server.browser.running, 'the browser is ended', 45_000);
      expect(await onceMore()).toContain('Sent');
    } finally {
      try {
        process.kill(group, 'SIGCONT');
      } catch {
        // It was ended, as it should be.
      }
    }
  }, 90_000);
});

describe('a tab that is closed', () => {
  it('is told to who was allowed in it, and to nobody else', async () => {
    device = await startDevice({ approve: 'owner' });
    const owner = async <T>(method: string, path: string, body?: unknown) =>
      (await device.request(method, path, { key: OWNER_KEY, body })).body as T;
    const kept = (await owner<{ tabs: { id: string }[] }>('GET', '/v1/tabs')).tabs[0]?.id ?? '';
    const closing = (await owner<{ id: string }>('POST', '/v1/tabs', {})).id;
    const approve = async (tab_id: string) =>
      (await owner<{ grant: { id: string } }>('POST', '/v1/grants', { tab_id, control: true })).grant.id;
    const [mine, another] = [await approve(closing), await approve(kept)];
    const { protocol, info } = await device.server.browser.tab(closing);
    await protocol.send('Target.closeTarget', { targetId: info.targetId });
    await eventually(() => !device.server.browser.tabs().some(({ id }) => id === closing), 'the tab is gone');
    const look = (grant_id: string, tab_id = closing) =>
      device.call('page_observe', { device_id: device.scope.device_id, grant_id, tab_id });
    expect(await look(mine)).toMatchObject({ error: 'TAB_CLOSED', action_executed: false });
    expect(await look(another)).toMatchObject({ error: 'CONSENT_REQUIRED' });
    expect(await look(randomUUID())).toMatchObject({ error: 'CONSENT_REQUIRED' });
    expect(await look(mine, 'tab-that-never-was')).toMatchObject({ error: 'CONSENT_REQUIRED' });
    expect(await look(another, kept)).toMatchObject({ url: 'about:blank' });
  });
});
