/** Where a tab may go, with a real browser: what is refused never reaches the refused server. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../host/devices/browser/chromium/executable.ts';
import type { Observation } from '../../sdk/devices/remote-browser-contract.ts';
import { jevHost } from '../cli.ts';
import { OWNER_KEY, seen, startDevice, type TestDevice } from '../fixtures/device.ts';
import { going, startServers } from '../fixtures/outside-inside.ts';
import { eventually } from '../fixtures/processes.ts';
import { startChromium } from '../support/chromium.ts';

const servers = await startServers();
afterAll(() => servers.close());
const folder = mkdtempSync(join(tmpdir(), 'device-rules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const allow = [servers.outside, servers.outsideByName];

/** Observes until a refusal is told. @returns its text. */
async function refusalOf(device: TestDevice, page?: Observation): Promise<string> {
  for (let look = 0; look < 100; look++) {
    const now = look === 0 && page ? page : await device.observe();
    const told = now.notices?.find(({ kind }) => kind === 'NAVIGATION_DENIED' || kind === 'URL_NOT_ALLOWED');
    if (told) return told.text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`No refusal was told; reached: ${servers.reached.join(', ')}`);
}

async function go(device: TestDevice, html: string): Promise<string> {
  servers.show(html);
  const page = await device.open(`${servers.outside}/page`);
  return refusalOf(device, seen(await device.click(page, 'Go')));
}

const ADDRESS = 'An address was not opened: PRIVATE_ADDRESS.';
const FRAME = 'A frame was not opened: PRIVATE_ADDRESS.';
const WINDOW = 'A window that the page opened was not opened: PRIVATE_ADDRESS.';
const framed = (attributes: string) => `const frame = document.createElement('iframe');
  Object.assign(frame, ${attributes}); document.body.append(frame);`;

const WAYS: [name: string, html: string, told: string][] = [
  ['location', going(`location = 'INSIDE/location'`), ADDRESS],
  ['a link', going(`document.links[0].click()`, `<a href="INSIDE/link">x</a>`), ADDRESS],
  ['a redirect', going(`location = '/to?url=INSIDE/redirect'`), ADDRESS],
  ['a chain of redirects', going(`location = '/to?url=/to?url=OTHER/to?url=INSIDE/chain'`), ADDRESS],
  ['a refreshing page', going(`location = '/refresh?url=INSIDE/refresh'`), ADDRESS],
  ['a sent form', going(`f.submit()`, `<form id=f method=post action="INSIDE/form"></form>`), ADDRESS],
  [
    'a form that is sent on',
    going(`f.submit()`, `<form id=f method=post action="/keep?url=INSIDE/form"></form>`),
    ADDRESS,
  ],
  ['IPv6 with an IPv4 address in it', going(`location = 'http://[::ffff:127.0.0.1]:PORT/mapped'`), ADDRESS],
  ['a number as address', going(`location = 'http://2130706433:PORT/number'`), ADDRESS],
  ['a download', going(`location = 'INSIDE/file'`), ADDRESS],
  ['a link that downloads', going(`document.links[0].click()`, `<a download href="INSIDE/download">x</a>`), ADDRESS],
  ['a PDF', going(`location = 'INSIDE/pdf'`), ADDRESS],
  [
    'an embedded PDF',
    going(`document.body.insertAdjacentHTML('beforeend', '<embed type=application/pdf src=INSIDE/pdf>')`),
    FRAME,
  ],
  ['an object', going(`document.body.insertAdjacentHTML('beforeend', '<object data=INSIDE/object></object>')`), FRAME],
  ['a frame', going(framed(`{ src: 'INSIDE/frame' }`)), FRAME],
  ['a frame by redirect', going(framed(`{ src: '/to?url=INSIDE/frame' }`)), FRAME],
  ['a frame in a frame of another site', going(framed(`{ src: 'OTHER/framing?url=INSIDE/nested' }`)), FRAME],
  ['a frame in a frame without address', going(framed(`{ srcdoc: '<iframe src=INSIDE/srcdoc></iframe>' }`)), FRAME],
  ['a frame in data', going(framed(`{ src: 'data:text/html,<iframe src=INSIDE/data></iframe>' }`)), FRAME],
  [
    'a frame in what the page made',
    going(
      framed(`{ src: URL.createObjectURL(new Blob(['<iframe src=INSIDE/blob></iframe>'], { type: 'text/html' })) }`),
    ),
    FRAME,
  ],
  ['a window', going(`window.open('INSIDE/window')`), WINDOW],
  ['a window by redirect', going(`window.open('/to?url=INSIDE/window')`), WINDOW],
  [
    'an empty window that is sent on',
    going(`const w = window.open('about:blank'); w.location = 'INSIDE/later'`),
    WINDOW,
  ],
  [
    'a form into a window',
    going(`f.submit()`, `<form id=f method=post target=_blank action="INSIDE/form"></form>`),
    WINDOW,
  ],
  [
    'a service worker',
    going(`await navigator.serviceWorker.register('/worker.js'); await navigator.serviceWorker.ready;
      if (!navigator.serviceWorker.controller)
        await new Promise((done) => { navigator.serviceWorker.oncontrollerchange = done; });
      location = '/by-worker'`),
    ADDRESS,
  ],
];

const chrome = await startChromium();
afterAll(() => chrome.stop());

describe.each([
  ['in a browser of its own', {}],
  ['in a browser that it joined', { attach: `http://${new URL(chrome.wsUrl).host}` }],
])('a page cannot reach inside: %s', async (_name, config) => {
  const device = await startDevice({ ...config, navigation: { allow } });
  afterAll(() => device.close());

  it.each(WAYS)('by %s', async (_way, html, told) => {
    expect(await go(device, html.replaceAll('PORT', `${servers.insidePort}`))).toBe(told);
    expect(servers.reached).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'data:text/html,x', 'javascript:document.title'])(
    'nor is it led by a redirect to %s',
    async (address) => {
      servers.show('');
      const gone = await device.browser.navigate(randomUUID(), {
        url: `${servers.outside}/to?url=${encodeURIComponent(address)}`,
      });
      expect(gone).toMatchObject({
        outcome: 'confirmed',
        result: { navigation_error: expect.stringMatching(/^net::ERR_(UNSAFE_REDIRECT|ABORTED)$/) },
      });
      expect((await device.observe()).url).not.toContain(address.slice(0, 6));
    },
  );

  it('but shows frames that it makes itself', async () => {
    servers.show(`<iframe srcdoc="<p>From srcdoc</p>"></iframe><iframe src="data:text/html,<p>From data</p>"></iframe>
      <iframe id=f></iframe>
      <script>f.src = URL.createObjectURL(new Blob(['<p>From a blob</p>'], { type: 'text/html' }))</script>`);
    const page = await device.open(`${servers.outside}/page`);
    for (const text of ['From srcdoc', 'From data', 'From a blob']) expect(page.text).toContain(text);
  });
});

describe('the address that the owner opens', async () => {
  const device = await startDevice({ navigation: { allow } });
  afterAll(() => device.close());
  const keyFile = join(folder, 'owner.key');
  writeFileSync(keyFile, OWNER_KEY);
  const open = (url: string) => device.request('POST', '/v1/tabs', { key: OWNER_KEY, body: { url } });
  const tabs = async () =>
    ((await device.request('GET', '/v1/tabs', { key: OWNER_KEY })).body as { tabs: { url: string }[] }).tabs;

  it.each([
    ['inside', `${servers.inside}/open`, 'NAVIGATION_DENIED', 'PRIVATE_ADDRESS'],
    ['inside by redirect', `${servers.outside}/to?url=INSIDE/open`, 'NAVIGATION_DENIED', 'PRIVATE_ADDRESS'],
    ['a file', 'file:///etc/passwd', 'URL_NOT_ALLOWED', 'SCHEME'],
  ])('is refused: %s', async (_name, url, error, cause) => {
    servers.show('');
    const before = (await tabs()).length;
    expect(await open(url)).toEqual({ status: 403, body: { error, cause } });
    const { code, stderr } = await jevHost([
      ...['device', 'open', url, '--url', device.server.url, '--owner-key-file', keyFile],
    ]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(`${error} (${cause})`);
    expect(servers.reached).toEqual([]);
    expect(await tabs()).toHaveLength(before);
  });

  it('is opened where it is allowed', async () => {
    expect(await open(`${servers.outside}/to?url=/welcome`)).toMatchObject({ status: 201 });
    const opened = async () => (await tabs()).some(({ url }) => url === `${servers.outside}/welcome`);
    await eventually(opened, 'the tab shows where the redirect led');
  });
});

describe('a name', async () => {
  /** A browser that finds every name of `.test` on this machine, whatever the device was told. */
  const executable = join(folder, 'chromium');
  const found = findChromium(undefined, process.env.PATH);
  writeFileSync(executable, `#!/bin/sh\nexec "${found}" --host-resolver-rules="MAP *.test 127.0.0.1" "$@"\n`);
  chmodSync(executable, 0o755);
  const names: Record<string, string[] | 'late'> = { 'turning.test': ['93.184.216.34'], 'silent.test': 'late' };
  const device = await startDevice(
    { executable, navigation: { allow } },
    { resolve: async (name) => names[name] ?? [] },
  );
  afterAll(() => device.close());
  const at = (name: string) => `http://${name}:${servers.insidePort}/`;

  it.each([
    ['nowhere.test', 'NAME_NOT_FOUND'],
    ['silent.test', 'NAME_LOOKUP_TIMEOUT'],
  ])('that this machine does not find is refused, though the browser would find it: %s', async (name, cause) => {
    expect(await go(device, going(`location = '${at(name)}'`))).toBe(`An address was not opened: ${cause}.`);
    expect(await device.browser.navigate(randomUUID(), { url: at(name) })).toMatchObject({
      outcome: 'not_executed',
      code: 'NAVIGATION_DENIED',
      cause,
    });
    expect(servers.reached).toEqual([]);
  });

  it('that leads elsewhere the second time shows nothing of what answered', async () => {
    servers.show('');
    const page = await device.open(at('turning.test'));
    expect(await refusalOf(device, page)).toBe(ADDRESS);
    expect(page.text).not.toContain('Nobody');
    expect(await device.observe()).toMatchObject({ url: 'about:blank', text: '' });
  });

  it('that leads elsewhere the second time shows nothing in a frame either', async () => {
    expect(await go(device, going(framed(`{ src: '${at('turning.test')}' }`)))).toBe(FRAME);
    expect((await device.observe()).text).not.toContain('Nobody');
  });
});
