import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { find, seen, startDevice, type TestDevice } from '../fixtures/device.ts';
import { serveThirdParty, thirdPartyPages } from '../fixtures/site/third-party.ts';

let site: Awaited<ReturnType<typeof serveThirdParty>>;
let device: TestDevice;
beforeAll(async () => {
  site = await serveThirdParty();
  device = await startDevice();
});
afterAll(async () => {
  await device?.close();
  await site?.close();
});

const WORKED = new Set([
  'button',
  'link',
  'textbox',
  'searchbox',
  'checkbox',
  'radio',
  'combobox',
  'spinbutton',
  'switch',
  'tab',
  'menuitem',
  'slider',
]);
const plain = (text: string) =>
  text
    .replace(/[\ue000-\uf8ff]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** What Chromium's own accessibility tree says: an account of the page that shares nothing with the device's. */
async function byChromium(): Promise<{ name: string; node: number }[]> {
  const tab = await device.server.browser.tab(device.scope.tab_id);
  const { nodes } = await tab.send('Accessibility.getFullAXTree');
  await tab.send('Accessibility.disable');
  const found = [];
  for (const node of nodes) {
    if (node.ignored || !WORKED.has(node.role?.value)) continue;
    const visible = await isInView(node.backendDOMNodeId);
    if (visible) found.push({ name: plain(node.name?.value ?? ''), node: node.backendDOMNodeId });
  }
  return found;
}

async function isInView(backendNodeId: number): Promise<boolean> {
  const tab = await device.server.browser.tab(device.scope.tab_id);
  const { object } = await tab.send('DOM.resolveNode', { backendNodeId });
  const { result } = await tab.send('Runtime.callFunctionOn', {
    objectId: object.objectId,
    returnByValue: true,
    functionDeclaration: `function () {
      const r = this.getBoundingClientRect();
      return r.width > 2 && r.height > 2 && r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth && this.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    }`,
  });
  return result.value === true;
}

describe('on pages that nobody here wrote', () => {
  it.each(thirdPartyPages)(
    'every visible control is found, named and hit: %s',
    async (name, path) => {
      await device.open(`${site.url}${path}`);
      const page = await device.observe();
      const theirs = await byChromium();
      expect(theirs.length).toBeGreaterThan(2);
      const tab = await device.server.browser.tab(device.scope.tab_id);

      const missing = [];
      for (const control of theirs) {
        const ref = await tab.frames.refOfNode(tab.frames.main, control.node);
        const ours = page.elements.find((element) => element.ref === ref);
        if (!ours) missing.push(control.name);
        // Where the author named it, the name is the same; where Chromium finds none, ours may still say what is seen.
        else if (control.name) expect.soft(plain(ours.label), control.name).toBe(control.name.slice(0, 250));
      }
      expect(missing).toEqual([]);

      const inView = page.elements.filter(
        (element) => element.in_viewport && element.operations.length > 0 && !element.obscured,
      );
      expect(
        inView.filter((element) => !element.label && element.tag !== 'div').map((element) => JSON.stringify(element)),
      ).toEqual([]);
      let hit = 0;
      for (const element of inView) {
        const seenBy = tab.generations.get(page.generation)?.byToken.get(tab.frames.main.token);
        const aim = await tab.look<{ point?: { x: number; y: number }; refused?: string }>(
          tab.frames.main,
          `__device.aim(${seenBy?.generation},${JSON.stringify(element.ref)},false)`,
        );
        if (!aim.point) throw new Error(`${name}: ${element.label}: ${aim.refused}`);
        // The browser's own hit test, at the very point.
        const touched = await tab.frames.run<boolean>(
          tab.frames.main,
          `(() => { const e = __device.element(${JSON.stringify(element.ref)}); const h = document.elementFromPoint(${aim.point.x}, ${aim.point.y}); return e.contains(h) || [...(e.labels ?? [])].some((l) => l.contains(h)); })()`,
        );
        expect.soft(touched, `${name}: ${element.label}`).toBe(true);
        if (touched) hit++;
      }
      console.log(`| ${name} | ${theirs.length} | ${theirs.length - missing.length} | ${inView.length} | ${hit} |`);
    },
    60_000,
  );

  it('an operation of the API explorer is opened, and its parameter filled', async () => {
    await device.open(`${site.url}/api-explorer`);
    let page = await device.observe();
    const list = page.elements.find((element) => /get.*\/orders/i.test(element.label) && element.role === 'button');
    page = seen(await device.browser.click(randomUUID(), { ref: list?.ref ?? '', generation: page.generation }));
    page = seen(await device.click(page, /try it out/i));
    const typed = seen(await device.type(page, /limit/, '5'));
    expect(find(typed, /limit/).value).toBe('5');
  });

  it('the editor takes a text, and its toolbar makes it bold', async () => {
    await device.open(`${site.url}/editor`);
    let page = await device.observe();
    const field = page.elements.find((element) => element.operations.includes('TYPE_TEXT') && element.tag === 'div');
    page = seen(
      await device.browser.type(randomUUID(), {
        ref: field?.ref ?? '',
        generation: page.generation,
        text: 'Dear all,\nกระโจม is dry.',
      }),
    );
    expect(page.text).toContain('Dear all,\nกระโจม is dry.');
    page = seen(await device.click(page, 'bold'));
    expect(find(page, 'bold').checked).toBe(true);
  });

  it('the grid is searched and its pages are turned', async () => {
    await device.open(`${site.url}/grid`);
    let page = await device.observe();
    // It draws its rows a moment after its frame.
    while (find(page, /next/i).disabled) page = await device.observe();
    page = seen(await device.click(page, /next/i));
    expect(page.text).toContain('Person 10');
    page = seen(await device.type(page, /type a keyword|search/i, 'Person 33'));
    expect(page.text).toContain('person33@site.test');
    expect(page.text).not.toContain('person10@site.test');
  });
});
