import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Observation } from '../../sdk/devices/remote-browser-contract.ts';
import { find, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';
import { eventually } from '../fixtures/processes.ts';

const { site, device } = await deviceOnSite();
beforeEach(() => site.clear());

const open = (name: string) => device.open(`${site.url}/${name}`);
const kinds = (page: Observation) => (page.notices ?? []).map((notice) => notice.kind);

describe('a dialog of the browser', () => {
  it('is a state with controls, and going on after it works', async () => {
    let page = seen(await device.click(await open('dialogs'), 'Alert'));
    expect(page.text).toBe('Saved well');
    expect(page.elements.map((element) => element.ref)).toEqual(['dialog-accept']);
    page = seen(await device.click(page, 'OK'));
    expect(page.text).toContain('Alert closed');
    page = seen(await device.click(page, 'Where am I'));
    expect(page.text).toContain('Place refused');
  });

  it.each([
    ['OK', 'Yes'],
    ['Cancel', 'No'],
  ])('that asks is answered with %s', async (label, said) => {
    const asked = seen(await device.click(await open('dialogs'), 'Confirm'));
    expect(asked.text).toBe('Delete all?');
    expect(seen(await device.click(asked, label)).text).toContain(said);
    expect(site.effects).toEqual([`dialogs: ${said}`]);
  });

  it('that asks for text gets it', async () => {
    const asked = seen(await device.click(await open('dialogs'), 'Prompt'));
    expect(find(asked, 'Your name?')).toMatchObject({ ref: 'dialog-text', value: 'nobody', operations: ['TYPE_TEXT'] });
    const typed = seen(await device.type(asked, 'Your name?', 'แอดา'));
    expect(seen(await device.click(typed, 'OK')).text).toContain('Name: แอดา');
  });

  it('about leaving the page is answered both ways', async () => {
    const armed = seen(await device.click(await open('dialogs'), 'Guard the page'));
    const asked = seen(await device.click(armed, 'Leave'));
    expect(asked.elements.map((element) => element.label)).toEqual(['Leave', 'Stay']);
    const stayed = seen(await device.click(asked, 'Stay'));
    expect(stayed.url).toBe(`${site.url}/dialogs`);
    const again = seen(await device.click(stayed, 'Leave'));
    const left = seen(await device.click(again, 'Leave'));
    expect(left.url).toBe(`${site.url}/next`);
  });

  it('makes what was observed before it stale', async () => {
    const page = await open('dialogs');
    const asked = seen(await device.click(page, 'Confirm'));
    expect(await device.click(page, 'Print')).toMatchObject({ outcome: 'not_executed', cause: 'DIALOG_OPENED' });
    seen(await device.click(asked, 'Cancel'));
  });

  it('of printing does not hold the page', async () => {
    expect(seen(await device.click(await open('dialogs'), 'Print')).text).toContain('Printed');
  });
});

describe('what happens around the page', () => {
  it('is told: a request for files, without any file being given', async () => {
    const page = seen(await device.click(await open('files'), 'Choose files'));
    expect(kinds(page)).toContain('FILE_CHOOSER');
    expect(site.effects).toEqual([]);
  });

  it('is told: a download, with its size and hash, once', async () => {
    let page = seen(await device.click(await open('files'), 'Download report'));
    if (!kinds(page).includes('DOWNLOAD')) page = await device.observe();
    const [notice] = (page.notices ?? []).filter(({ kind }) => kind === 'DOWNLOAD');
    expect(notice?.text).toMatch(/^Downloaded report\.bin, 2048 bytes, sha256 [0-9a-f]{64}\.$/);
    expect(site.effects).toEqual(['file: served']);
    expect(kinds(await device.observe())).toEqual([]);
  });

  it.each(['Open a window', 'Opens elsewhere'])(
    'is told: another window, which is nobody’s to work: %s',
    async (label) => {
      const done = await device.click(await open('popup'), label);
      const page = kinds(seen(done)).length > 0 ? seen(done) : await device.observe();
      expect(kinds(page)).toContain('NEW_WINDOW');
      const { grants } = (await device.request('GET', '/v1/grants')).body as {
        grants: { policy: { tabs: unknown[] } }[];
      };
      expect(grants[0]?.policy.tabs).toHaveLength(1);
    },
  );
});

describe('navigation', () => {
  it('into the machine or its files is refused before anything is sent', async () => {
    await open('next');
    for (const [url, code] of [
      ['http://[::1]:1/', 'NAVIGATION_DENIED'],
      ['http://10.0.0.1/', 'NAVIGATION_DENIED'],
      ['file:///etc/passwd', 'URL_NOT_ALLOWED'],
      ['javascript:effect("no")', 'URL_NOT_ALLOWED'],
    ] as const)
      expect(await device.browser.navigate(randomUUID(), { url })).toMatchObject({ outcome: 'not_executed', code });
  });

  it('through a redirect or a frame is held to the same rules', async () => {
    const page = await device.open(`${site.url}/redirect?to=${encodeURIComponent('http://10.0.0.1/')}`);
    expect(kinds(page)).toContain('NAVIGATION_DENIED');
    const framed = await open('bad-frame');
    const told = kinds(framed).includes('NAVIGATION_DENIED') ? framed : await device.observe();
    expect(kinds(told)).toContain('NAVIGATION_DENIED');
    expect(site.documents.filter((path) => path.includes('passwd'))).toEqual([]);
  });

  it('to a redirect inside the allowed arrives where it leads', async () => {
    const page = await device.open(`${site.url}/redirect?to=/next`);
    expect(page.url).toBe(`${site.url}/next`);
  });

  it('stamps no page with the refs of another, however fast they follow each other', async () => {
    for (let round = 0; round < 12; round++) {
      const name = round % 2 ? 'next' : 'buttons';
      const [observed] = await Promise.all([device.browser.observe(), open(name)]);
      if (!observed.ok) continue;
      const outcome = await device.browser.click(randomUUID(), {
        ref: observed.value.elements[0]?.ref ?? '',
        generation: observed.value.generation,
      });
      if (outcome.outcome === 'confirmed') expect(outcome.observation?.url).toBeDefined();
      else expect(outcome).toMatchObject({ outcome: 'not_executed', code: 'STALE_OBSERVATION' });
    }
    expect(site.effects.filter((effect) => effect === 'next: pressed').length).toBeLessThanOrEqual(0);
  });
});

describe('a page that fails', () => {
  it('by hanging is named, its last action is unknown, and another address brings the tab back', async () => {
    const page = await open('frozen');
    const id = randomUUID();
    const done = await device.browser.click(id, { ref: find(page, 'Freeze').ref, generation: page.generation });
    expect(done).toMatchObject({ outcome: 'unknown', code: 'OUTCOME_UNKNOWN', cause: 'PAGE_UNRESPONSIVE' });
    expect(await device.browser.operationStatus(id)).toMatchObject({ value: { state: 'unknown' } });
    expect(await device.browser.observe()).toMatchObject({ ok: false, code: 'PAGE_UNRESPONSIVE' });
    await device.browser.release();
    expect((await open('next')).text).toContain('Next page');
  }, 60_000);

  it('by crashing is named, and another address brings the tab back', async () => {
    await open('next');
    const tab = await device.server.browser.tab(device.scope.tab_id);
    await Promise.race([
      tab.send('Page.navigate', { url: 'chrome://crash' }).catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, 3000)),
    ]);
    await eventually(() => tab.crashed, 'the page crashed');
    expect(await device.browser.observe()).toMatchObject({ ok: false, code: 'PAGE_CRASHED' });
    expect((await open('next')).text).toContain('Next page');
  });
});
