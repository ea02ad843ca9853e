import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { ObservationChanges, withChanges } from '../../sdk/devices/observation-changes.ts';
import type { Observation } from '../../sdk/devices/remote-browser-contract.ts';
import { find, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';

const { site, device, open, effectsOf } = await deviceOnSite();
const labels = (page: Observation) => page.elements.map((element) => element.label);

describe('names', () => {
  it('follow the standard computation, and what a person sees where the author said nothing', async () => {
    expect(labels(await open('names'))).toEqual([
      'Billing street',
      'Close the panel',
      'Wrapped',
      'Bound',
      'Company home',
      'Only a placeholder',
      'Only a title',
      'Ring',
      'Settings',
      'trash',
      'shopping cart',
      'Delete report.pdf',
      'report.pdf',
      'Loop A',
      'minutes',
      'Remind me in 15 minutes',
      'quarter',
      'Two words',
      'Block lines',
      'Nickname',
      'Submit',
      'Go on',
      'price list',
    ]);
  });

  it('and contexts make equal buttons different things', async () => {
    const page = await open('duplicates');
    const buttons = page.elements.filter((element) => element.label === 'Delete');
    const contexts = buttons.map((element) => element.context ?? '');
    expect(new Set(contexts).size).toBe(buttons.length);
    for (const [index, words] of [
      'Ada Lovelace',
      'Grace Hopper',
      'Milk',
      'Bread',
      'Tent',
      'Stove',
      'Lamp',
      'Archive',
    ].entries())
      expect(contexts[index]).toContain(words);
    const radios = page.elements.filter((element) => element.label === 'Standard');
    expect(radios.map((element) => element.context)).toEqual(['Shipping', 'Billing']);
    for (const button of buttons.slice(0, 5)) {
      const fresh = await device.observe();
      const target = fresh.elements.find((element) => element.ref === button.ref);
      expect(target).toBeDefined();
      seen(await device.browser.click(crypto.randomUUID(), { ref: button.ref, generation: fresh.generation }));
    }
    expect(site.effects).toEqual(
      ['row Ada', 'row Grace', 'item Milk', 'item Bread', 'card Tent'].map((name) => `duplicates: ${name}`),
    );
  });
});

describe('roles and states', () => {
  it('are those of the page', async () => {
    const page = await open('roles');
    const expected: [string, Record<string, unknown>][] = [
      ['Wifi', { role: 'switch', checked: true, operations: ['CLICK'] }],
      ['First tab', { role: 'tab', selected: 'true' }],
      ['Second tab', { role: 'tab', selected: 'false' }],
      ['Some', { role: 'checkbox', checked: 'mixed' }],
      ['Menu', { role: 'button', expanded: 'false' }],
      ['Bold', { role: 'button', checked: true }],
      ['Volume', { role: 'slider', value_now: '30', value_text: '30 percent', operations: ['CLICK', 'TYPE_TEXT'] }],
      ['Country', { role: 'combobox', value: 'Thailand', expanded: 'false' }],
      ['Guests', { role: 'spinbutton', value_now: '2' }],
      ['Root', { role: 'treeitem', expanded: 'true' }],
      ['Home', { role: 'link', selected: 'page' }],
      ['Age', { value: '7', context: 'Must be at least 18' }],
      ['Part', { checked: 'mixed' }],
      ['More', { role: 'button', expanded: 'false' }],
      ['Off', { disabled: true, operations: [] }],
      ['Fixed', { readonly: true, operations: ['CLICK'], value: 'fixed' }],
    ];
    for (const [label, states] of expected) expect(find(page, label), label).toMatchObject(states);
    expect(labels(page)).not.toContain('Inside details');
  });
});

describe('controls', () => {
  it('made of plain elements are found and worked', async () => {
    let page = await open('plain');
    for (const label of ['Like this', 'By attribute', 'Nested words', 'No address', 'Add', 'A link in a pointer frame'])
      find(page, label);
    expect(page.elements.filter((element) => element.label === 'A link in a pointer frame')).toHaveLength(1);
    page = seen(await device.click(page, 'Like this'));
    page = seen(await device.click(page, 'By attribute'));
    page = seen(await device.click(page, 'Nested words'));
    page = seen(await device.click(page, 'No address'));
    page = seen(await device.click(page, 'Add'));
    page = seen(await device.click(page, 'In a label'));
    const card = page.elements.find((element) => element.label.startsWith('Red kite'));
    await device.browser.click(crypto.randomUUID(), { ref: card?.ref ?? '', generation: page.generation });
    expect(site.effects).toEqual(
      ['liked', 'attribute', 'nested', 'no href', 'card button', 'checked', 'card'].map((name) => `plain: ${name}`),
    );
  });

  it('that only listen, without any sign, are found too', async () => {
    const page = await open('plain');
    seen(await device.click(page, 'Listener only'));
    expect(site.count('plain: listener')).toBe(1);
  });

  it.each([10, 500, 3000])(
    'that only listen, among %d buttons that listen, are found in a while and keep their refs',
    { timeout: 90_000 },
    async (buttons) => {
      let page = await open(`listened?${buttons}`);
      const first = find(page, 'First listener').ref;
      // It comes last in the document, and at most 250 are marked in one go; later looks know the others.
      await vi.waitFor(
        async () => {
          page = await device.observe();
          find(page, 'Last listener');
          expect(find(page, 'First listener').ref).toBe(first);
        },
        { timeout: 80_000, interval: 500 },
      );
      const last = find(page, 'Last listener').ref;
      page = seen(await device.click(page, 'Last listener'));
      expect(site.effects).toEqual(['listened: last']);
      expect([find(page, 'First listener').ref, find(page, 'Last listener').ref]).toEqual([first, last]);
    },
  );

  it('that only listen and are put in the place of one that did are others', async () => {
    const page = await open('listened?10');
    const renewed = seen(await device.click(page, 'Last listener'));
    const renew = seen(await device.click(renewed, 'Renew'));
    const fresh = find(renew, 'First listener');
    expect(fresh.ref).not.toBe(find(page, 'First listener').ref);
    expect(await device.click(renewed, 'First listener')).toMatchObject({
      outcome: 'not_executed',
      cause: 'TARGET_GONE',
    });
    seen(await device.click(await device.observe(), 'First listener'));
    expect(effectsOf('listened')).toEqual(['last', 'early again']);
  });

  it('whose input is see-through or not drawn are worked through what is drawn', async () => {
    let page = await open('styled');
    page = seen(await device.click(page, 'Fancy box'));
    expect(find(page, 'Fancy box').checked).toBe(true);
    page = seen(await device.click(page, 'Large'));
    expect(find(page, 'Large').checked).toBe(true);
    page = seen(await device.click(page, 'Toggle'));
    expect(site.effects).toEqual(['fancy true', 'large', 'toggle true'].map((name) => `styled: ${name}`));
    expect(find(page, /Upload a photo/)).toMatchObject({ role: 'file', operations: [] });
  });

  it.each([
    ['Deep button', 'deep'],
    ['Middle button', 'middle'],
    ['Slotted', 'slotted'],
    ['Own button', 'own'],
    ['Closed button', 'closed'],
  ])('in shadow roots are found and worked: %s', async (label, effect) => {
    const page = await open('shadow');
    expect(page.text).toContain('Words in the third root');
    seen(await device.click(page, label));
    expect(site.count(`shadow: ${effect}`)).toBe(1);
  });

  it('in SVG are found and worked', async () => {
    let page = await open('svg');
    page = seen(await device.click(page, 'Red area'));
    page = seen(await device.click(page, 'Blue'));
    find(page, 'Map link');
    expect(site.effects).toEqual(['svg: red', 'svg: blue']);
  });

  it('that are drawn on a canvas are one control each, pressed in the middle; what stands in for a canvas is none', async () => {
    const page = await open('canvas');
    expect(page.elements.map(({ label, tag }) => [tag, label])).toEqual([
      ['canvas', 'Drawn button'],
      ['canvas', 'Titled drawing'],
      // Without a name, an author's own word for it.
      ['canvas', 'bare'],
      ['canvas', 'full'],
      ['canvas', 'Role button'],
    ]);
    expect(page.text).not.toMatch(/Fallback|Old browser|Nothing to work/);
    for (const { ref } of page.elements) {
      const { generation } = await device.observe();
      seen(await device.browser.click(crypto.randomUUID(), { ref, generation }));
    }
    expect(site.effects).toEqual(['named', 'titled', 'bare', 'full', 'role'].map((id) => `canvas: ${id} 100,30`));
  });

  it.each(['frames', 'nested', 'scaled'])(
    'in frames of the same and of another origin are found and worked: %s',
    async (name) => {
      const page = await open(name);
      const buttons = page.elements.filter((element) => element.label === 'Frame button');
      expect(buttons).toHaveLength(2);
      expect(page.text.match(/Words of the frame/g)).toHaveLength(2);
      for (const button of buttons) {
        const fresh = await device.observe();
        const done = await device.browser.click(crypto.randomUUID(), { ref: button.ref, generation: fresh.generation });
        expect(done.outcome).toBe('confirmed');
      }
      expect(site.count('inner: in frame')).toBe(2);
      const fresh = await device.observe();
      for (const field of fresh.elements.filter((element) => element.label === 'Frame field')) {
        const now = await device.observe();
        const typed = await device.browser.type(crypto.randomUUID(), {
          ref: field.ref,
          generation: now.generation,
          text: 'ok',
        });
        expect(typed.outcome).toBe('confirmed');
      }
      expect(site.count('inner: typed ok')).toBe(2);
    },
  );

  it('that nobody can see or reach are left out, and those that can be are there', async () => {
    const page = await open('hidden');
    expect(labels(page)).toEqual([
      'Plain',
      'In the legend',
      'In a disabled fieldset',
      'Closed',
      'Under glass',
      'Far below',
    ]);
    expect(find(page, 'In a disabled fieldset')).toMatchObject({ disabled: true, operations: [] });
    expect(find(page, 'Under glass').obscured).toContain('Glass pane');
    expect(find(page, 'Far below').in_viewport).toBe(false);
  });

  it('in a container that scrolls are reached wherever they are', async () => {
    let page = await open('scroller');
    expect(find(page, 'Item 2').in_viewport).toBe(true);
    expect(find(page, 'Item 50').in_viewport).toBe(false);
    page = seen(await device.click(page, 'Item 50'));
    expect(site.effects).toEqual(['scroller: item 50']);
    expect(find(page, 'Item 50').in_viewport).toBe(true);
  });

  it('of a virtual list come with scrolling, and a row that was drawn again is another', async () => {
    const page = await open('virtual');
    const first = find(page, 'Row 1');
    const scrolled = seen(
      await device.browser.scroll(crypto.randomUUID(), { direction: 'down', generation: page.generation }),
    );
    expect(labels(scrolled)).toContain('Row 20');
    expect(scrolled.elements.map((element) => element.ref)).not.toContain(first.ref);
    expect(
      await device.browser.click(crypto.randomUUID(), { ref: first.ref, generation: page.generation }),
    ).toMatchObject({
      outcome: 'not_executed',
      cause: 'TARGET_GONE',
    });
    seen(await device.click(scrolled, 'Row 20'));
    expect(site.effects).toEqual(['virtual: row 20']);
  });

  it('under a sticky bar are brought into the open first', async () => {
    let page = await open('sticky');
    page = seen(await device.click(page, 'Row 60'));
    page = seen(await device.click(page, 'Row 2'));
    page = seen(await device.click(page, 'Help'));
    expect(site.effects).toEqual(['row 60', 'row 2', 'footer'].map((name) => `sticky: ${name}`));
  });
});

describe('secrets', () => {
  it('never leave the page, however it shows them', async () => {
    const before = await open('secrets');
    const shown = seen(await device.click(before, 'Show'));
    const secrets = ['hunter2', '4111111111111111', '998877', '7391', 'thai-secret-77'];
    for (const page of [before, shown]) {
      const text = JSON.stringify(page);
      for (const secret of secrets) expect(text).not.toContain(secret);
      for (const label of ['Password', 'Card', 'Code', 'CVV', 'รหัสผ่านเดิม'])
        expect(find(page, label)).toMatchObject({ sensitive: true });
      expect(find(page, 'Name')).toMatchObject({ value: 'Ada' });
    }
  });

  it('that were typed do not come back', async () => {
    const page = await open('secrets');
    const typed = await device.type(page, 'Password', 'a-new-secret-phrase');
    expect(JSON.stringify(typed)).not.toContain('a-new-secret-phrase');
  });

  it('are painted out of pictures', async () => {
    const page = await open('secrets');
    const picture = await device.browser.screenshot({ generation: page.generation, format: 'png', maxSide: 800 });
    expect(picture).toMatchObject({ ok: true, value: { masked: 5, mimeType: 'image/png' } });
    const unchanged = await device.observe();
    expect(find(unchanged, 'Password').ref).toBe(find(page, 'Password').ref);
  });
});

describe('text', () => {
  it('is what a person would read, in order', async () => {
    const page = await open('text');
    expect(page.text).toBe(
      'Reading order\nFirst bold and spaced.\nSecond\nline\nOne\nTwo\nA B\nC D\nkeep\n  these\nlone \ufffd half and 😀 whole\nแมวกินปลา 猫 مرحبا\nBelow the fold',
    );
    expect(page.viewport_text).toContain('แมวกินปลา');
    expect(page.viewport_text).not.toContain('Below the fold');
  });

  it('and controls stay within their limits on a page of sixty thousand elements', async () => {
    const page = await open('huge');
    expect(page.truncated).toMatchObject({ text: true, elements: true });
    expect(page.elements).toHaveLength(150);
    expect(page.text.length).toBeLessThanOrEqual(24_000);
    expect(page.text.isWellFormed?.()).toBe(true);
    expect(page.elements[0]?.label).toBe('B0');
  });
});

describe('an observation', () => {
  it('keeps the ref of what stayed and gives none of it to what came instead', async () => {
    const first = await open('replaced');
    const again = await device.observe();
    expect(again.elements.map((element) => element.ref)).toEqual(first.elements.map((element) => element.ref));
    const replaced = seen(await device.click(again, 'Replace'));
    expect(find(replaced, 'Confirm').ref).not.toBe(find(first, 'Confirm').ref);
    expect(await device.click(first, 'Confirm')).toMatchObject({ outcome: 'not_executed', code: 'STALE_OBSERVATION' });
    expect(site.effects).toEqual([]);
  });

  it('after going back has refs that work', async () => {
    const start = await device.open(`${site.url}/`);
    const next = seen(await device.click(start, 'Next page'));
    const back = seen(
      await device.browser.history(crypto.randomUUID(), { direction: 'back', generation: next.generation }),
    );
    expect(back.url).toBe(`${site.url}/`);
    expect(back.navigation).toMatchObject({ can_go_forward: true });
    const again = seen(await device.click(back, 'Next page'));
    expect(again.url).toBe(`${site.url}/next`);
  });

  it('can be had in outline, at a look and after an act, with refs that work', async () => {
    const page = await open('many?n=100');
    const full = JSON.stringify(page).length;
    const { outline, generation, elements } = await device.callLeased('page_observe', { detail: 'outline' });
    expect(elements).toBe(undefined);
    expect(String(outline).length).toBeLessThan(full / 2);
    for (const { ref, label } of page.elements) expect(outline).toMatch(new RegExp(`^${ref} .*: ${label}$`, 'm'));
    const [, ref] = /^(\S+) button: Delete$/m.exec(String(outline)) ?? [];
    const args = { ref, generation, operation_id: crypto.randomUUID(), detail: 'outline' };
    const clicked = await device.callLeased('page_click', args);
    expect(clicked).toMatchObject({ state: 'completed', result: { observation: { outline: expect.any(String) } } });
  });

  it('can be fetched as what changed since another', async () => {
    const page = await open('many?n=100');
    const same = await device.callLeased('page_observe', {
      detail: 'changes',
      since: page.generation,
    });
    expect(same).toMatchObject({ unchanged: true, since: page.generation });
    expect(JSON.stringify(same).length).toBeLessThan(200);
    const edit = page.elements.find(({ label, context }) => label === 'Edit' && context?.includes('Person 3'));
    const pressed = await device.callLeased('page_click', { ref: edit?.ref, generation: page.generation });
    expect(pressed).toMatchObject({ state: 'completed', result: { page_changed: true } });
    const small = await device.callLeased('page_observe', { detail: 'changes', since: page.generation });
    expect(JSON.stringify(small).length).toBeLessThan(600);
    const after = withChanges(page, v.parse(ObservationChanges, small));
    const { generation: _, ...whole } = await device.observe();
    expect(after).toMatchObject(whole);
    const delta = await device.callLeased('page_observe', {
      detail: 'changes',
      since: 'never-given',
    });
    expect(delta.elements).toHaveLength(100);
  });
});
