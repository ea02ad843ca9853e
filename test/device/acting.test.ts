import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { Protocol } from '../../host/devices/browser/chromium/protocol.ts';
import type { Observation } from '../../sdk/devices/remote-browser-contract.ts';
import { find, OWNER_KEY, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';

const { site, device, open, effectsOf } = await deviceOnSite();
const press = (page: Observation, key: 'Enter' | 'ArrowDown' | 'Escape' | 'Tab' | 'Backspace', repeat = 1) =>
  device.browser.press(randomUUID(), { key, generation: page.generation, repeat });

/** How many motions have begun and not ended, as the page and its frames of other sites have counted them. */
async function moving(): Promise<number> {
  const [info] = device.server.browser.tabs();
  const { frames } = await device.server.browser.tab(info?.id ?? '');
  const all = [frames.main, ...frames.childrenOf(frames.main)].filter((frame) => frames.isOutermost(frame));
  const counts = await Promise.all(
    all.map((frame) => frames.send(frame, 'Runtime.evaluate', { expression: 'moving', returnByValue: true })),
  );
  return counts.reduce((sum, { result }) => sum + result.value, 0);
}

describe('a click', () => {
  it('reaches a target that moved, where it is now', async () => {
    const page = await open('moving');
    seen(await device.click(page, 'Move it'));
    seen(await device.click(page, 'Moving'));
    expect(effectsOf('moving')).toEqual(['caught']);
  });

  it('that would land on something else at the last moment is held back, and the page hears nothing', async () => {
    const page = await open('moving');
    expect(await device.click(page, 'Shy')).toMatchObject({
      outcome: 'not_executed',
      code: 'STALE_OBSERVATION',
      cause: 'TARGET_OBSCURED',
    });
    expect(site.effects).toEqual([]);
  });

  it('whose target is replaced under the pointer does not work what came instead', async () => {
    const page = await open('replaced');
    await device.click(page, 'Pay');
    expect(site.effects).toEqual([]);
  });

  it('is not refused because something unrelated changed', async () => {
    const page = await open('unrelated');
    seen(await device.click(page, 'Change the ad'));
    expect(await device.click(page, 'Buy')).toMatchObject({ outcome: 'confirmed' });
    expect(site.count('unrelated: bought')).toBe(1);
  });

  it('is refused because what it rested on changed: the price beside the button', async () => {
    const page = await open('unrelated');
    seen(await device.click(page, 'Raise the price'));
    expect(await device.click(page, 'Buy')).toMatchObject({
      outcome: 'not_executed',
      code: 'STALE_OBSERVATION',
      cause: 'CONTEXT_CHANGED',
    });
    expect(site.effects).toEqual([]);
  });

  it('is refused because a field of its form changed, and not because one of another form did', async () => {
    const page = await open('form-state');
    seen(await device.click(page, 'Change the newsletter'));
    const typed = seen(await device.type(page, 'To', 'Grace'));
    seen(await device.click(typed, 'Change the amount'));
    expect(await device.click(typed, 'Send money')).toMatchObject({
      outcome: 'not_executed',
      cause: 'FORM_STATE_CHANGED',
    });
    expect(site.forms).toEqual([]);
  });

  it('on a fading dialog waits for it', async () => {
    const page = seen(await device.click(await open('fade'), 'Open'));
    seen(await device.click(page, 'Agree'));
    expect(effectsOf('fade')).toEqual(['agreed']);
  });

  it('is told what it brought, and that it brought nothing', async () => {
    const page = await open('effects');
    const more = await device.click(page, 'See more');
    expect(more).toMatchObject({ outcome: 'confirmed', result: { page_changed: true } });
    const idle = await device.click(seen(more), 'Does nothing');
    expect(idle).toMatchObject({ outcome: 'confirmed', result: { page_changed: false } });
    const failed = await device.click(seen(idle), 'Fails');
    expect(seen(failed).notices).toEqual([expect.objectContaining({ kind: 'REQUEST_FAILED' })]);
  });
});

describe('what comes late', () => {
  it.each([
    ['ripple', 'Ripple', 'After'],
    ['debounce', 'Only in stock', '7 results'],
  ])('after a look of being pressed is seen: %s', async (name, label, words) => {
    const page = seen(await device.click(await open(name), label));
    expect(page.text).toContain(words);
  });

  it('after typing into a filter is seen', async () => {
    const page = seen(await device.type(await open('debounce'), 'Filter', 'lamp'));
    expect(page.text).toContain('Found lamp');
  });

  it.each([
    ...['Itself', 'Attribute', 'Paragraph', 'Label', 'Body', 'Document', 'Window', 'Handler', 'Focus'],
    ...['Left', 'Hovered', 'Shadow', 'Closed'],
  ])('after a tick is seen, whoever listens to it: %s', async (way) => {
    // The field is where the focus and the pointer come from.
    const page = seen(await device.click(await open(`listeners?${way}`), 'Free'));
    expect(seen(await device.click(page, way)).text).toContain(`Late: ${way}`);
  });

  it('is not watched for where nothing listens', async () => {
    const settled: boolean[] = [];
    const send = Protocol.prototype.send;
    Protocol.prototype.send = function (this: Protocol, ...args: Parameters<typeof send>) {
      const { expression } = (args[1] ?? {}) as { expression?: string };
      const ask = /__device\.settle\(\{.*?"ask":(true|false)/.exec(expression ?? '');
      if (ask) settled.push(ask[1] === 'true');
      return send.apply(this, args);
    } as typeof send;
    try {
      for (const [name, label, watched] of [
        ['listeners', 'Plain', [true]],
        ['listeners?Document', 'Document', [true, false]],
      ] as const) {
        // Where the pointer and the focus come from hears clicks, and nothing of being left.
        const page = seen(await device.click(await open(name), 'Near'));
        settled.length = 0;
        expect(find(seen(await device.click(page, label)), label).checked).toBe(true);
        expect(settled).toEqual(watched);
      }
    } finally {
      Protocol.prototype.send = send;
    }
  });

  it('of styles alone is waited for, though nothing listens: what a tick hides is gone, what ends a motion is told', async () => {
    const page = seen(await device.click(await open('hideaway'), 'Hide the offer'));
    expect(page.text).not.toContain('Half price');
    expect(page.elements.map(({ label }) => label)).toEqual(['Hide the offer', 'Fade the note']);
    const told = await device.click(page, 'Fade the note');
    expect(seen(told).text).toContain('Faded');
    expect(told).toMatchObject({ result: { page_changed: true } });
  });

  it.each([
    ['Own transition', 'Own shown'],
    ['Own animation', 'Own grown'],
    ['Open transition', 'Open shown'],
    ['Closed transition', 'Closed shown'],
    ['Near transition', 'Near shown'],
    ['Far transition', 'Far shown'],
  ])('as a motion is waited for, wherever it is: %s', async (label, shown) => {
    const page = seen(await device.click(await open('motion'), label));
    expect(await moving()).toBe(0);
    seen(await device.click(page, shown));
  });

  it('as a motion is waited for in a frame of another site that was only told of the input', async () => {
    const page = seen(await device.click(await open('motion-outer'), 'Move in the frame'));
    expect(page.text).toContain('Told');
    expect(await moving()).toBe(0);
    seen(await device.click(page, 'Told shown'));
  });

  it('to a field without a sign, after the change that was awaited, is in the observation', async () => {
    const page = seen(await device.click(await open('quietly'), 'Fill in'));
    expect(page.text).toContain('Filled');
    expect([find(page, 'Name').value, find(page, 'On').checked]).toEqual(['Ada', true]);
  });

  it('frame by frame is seen in a tab behind another one', async () => {
    const opened = await device.request('POST', '/v1/tabs', { key: OWNER_KEY, body: { url: `${site.url}/plain` } });
    expect(opened.status).toBeLessThan(300);
    const page = seen(await device.click(await open('drawing'), 'Count frames'));
    expect(page.text).toContain('Three frames drawn');
    // Also after the tab went to another site, which another process draws.
    site.clear();
    const other = await device.open(`${site.otherUrl}/drawing`);
    expect(seen(await device.click(other, 'Count frames')).text).toContain('Three frames drawn');
  });

  it('from a request that never ends does not hold the reply, and is said', async () => {
    const page = seen(await device.click(await open('loading'), 'Load for ever'));
    expect(page.notices).toContainEqual(expect.objectContaining({ kind: 'LOADING' }));
    expect(page.text).toContain('Loading');
  });

  it('from the page’s own polling is not waited for', async () => {
    const page = seen(await device.click(await open('loading'), 'Poll'));
    // The device knows a habit when it has seen it more than once before the input.
    const before = site.polls();
    await vi.waitFor(() => expect(site.polls()).toBeGreaterThan(before + 5), { timeout: 10_000 });
    const quick = seen(await device.click(page, 'Quick'));
    expect(quick.text).toContain('Quick');
    expect(quick.notices ?? []).not.toContainEqual(expect.objectContaining({ kind: 'LOADING' }));
  });

  it('as another document is waited for, and an answer without content is not', async () => {
    const page = await open('loading');
    const stays = seen(await device.click(page, 'Answer without content'));
    expect(stays.url).toBe(`${site.url}/loading`);
    const slow = seen(await device.click(stays, 'Slow page'));
    expect(slow.text).toContain('Arrived at last');
  });
});

describe('typing', () => {
  it('reaches a field that a framework controls', async () => {
    const page = seen(await device.type(await open('controlled'), 'Controlled', 'after แมว'));
    expect(find(page, 'Controlled').value).toBe('after แมว');
    expect(page.text).toContain('State: after แมว');
  });

  it('replaces what a masked field holds', async () => {
    const done = await device.type(await open('masked'), 'Phone', '98 765 4321');
    expect(seen(done).text).toContain('raw 987654321');
    expect(find(seen(done), 'Phone').value).toBe('+66 (98) 765-4321');
  });

  it.each([
    ['Day', '2026-12-24', 'date 2026-12-24'],
    ['Hour', '07:45', 'time 07:45'],
    ['Month', '2027-02', 'month 2027-02'],
    ['Guests', '4', 'number 4'],
    ['Volume', '7', 'range 7'],
    ['Colour', '#FF8800', 'color #ff8800'],
  ])('sets the field "%s" to %s', async (label, text, effect) => {
    const page = await open('special');
    const done = seen(await device.type(page, label, text));
    // A number tells its change when it is left.
    if (label === 'Guests') await press(done, 'Tab');
    expect(effectsOf('special')).toEqual([effect]);
  });

  it('of what a date field does not take is refused, and the field keeps what it had', async () => {
    const page = await open('special');
    expect(await device.type(page, 'Day', 'next Friday')).toMatchObject({
      outcome: 'not_executed',
      code: 'VALUE_NOT_ACCEPTED',
    });
    expect(site.effects).toEqual([]);
  });

  it('moves a slider of plain elements to the value, read back', async () => {
    const done = await device.type(await open('special'), 'Brightness', '80');
    expect(done).toMatchObject({ outcome: 'confirmed', result: { exact: true } });
    expect(find(seen(done), 'Brightness').value_now).toBe('80');
  });

  it('into a field that is only clicked gives it the focus and says so', async () => {
    const page = await open('special');
    const done = await device.type(page, 'Picked', '2026-12-24');
    expect(done).toMatchObject({ outcome: 'confirmed', completedAction: 'FOCUS', result: { text_inserted: false } });
    const chosen = seen(await device.click(seen(done), '24 December'));
    expect(find(chosen, 'Picked').value).toBe('2026-12-24');
  });

  it('keeps the lines of an editor that takes no line breaks in text', async () => {
    const page = seen(await device.type(await open('editor'), 'Message', 'Dear all,\nthe tent is dry.\nAda'));
    expect(find(page, 'Message').value?.replace(/\n+/g, '/')).toBe('Dear all,/the tent is dry./Ada');
  });

  it.each(['กดทำต่อ ปุ่มสีแดง', 'すし 한국 猫', 'שלום עולם مرحبا', 'x😀👩‍👩‍👧y', 'It\'s 100% <b>&amp;"quoted"</b> \\ ok'])(
    'enters exactly: %s',
    async (text) => {
      const page = seen(await device.type(await open('international'), 'Say', text));
      expect(find(page, 'Say').value).toBe(text);
    },
  );

  it('with Enter after it sends once, with the whole text', async () => {
    seen(await device.type(await open('international'), 'Chat', 'すし please', true));
    expect(effectsOf('international')).toEqual(['sent すし please']);
  });

  it('of three hundred characters arrives in order', async () => {
    const text = `https://site.test/?q=${'abcdefghij'.repeat(28)}`;
    const page = seen(await device.type(await open('international'), 'Say', text));
    expect(find(page, 'Say').value).toBe(text);
  });

  it('into a search field with submit is one operation', async () => {
    const page = seen(await device.type(await open('search'), 'Search', 'แมว', true));
    expect(page.url).toContain('/form?q=');
    expect(site.forms).toEqual([{ q: 'แมว' }]);
  });

  it('nothing empties the field', async () => {
    const page = seen(await device.type(await open('form-state'), 'Amount', ''));
    expect(find(page, 'Amount').value).toBe('');
  });
});

describe('choosing', () => {
  it('from a combobox that filters late and drops free text', async () => {
    let page = seen(await device.type(await open('combobox'), 'City', 'Ban'));
    const city = find(page, 'City');
    expect(city).toMatchObject({ expanded: 'true' });
    expect(city.options?.map((option) => option.label)).toEqual(['Bangkok', 'Bangalore']);
    page = seen(
      await device.browser.select(randomUUID(), {
        ref: city.ref,
        generation: page.generation,
        optionRef: city.options?.[0]?.ref ?? '',
      }),
    );
    expect(page.text).toContain('Chosen Bangkok');
    expect(effectsOf('combobox')).toEqual(['city Bangkok']);
  });

  it('from an ARIA list box, and never a disabled option', async () => {
    const page = await open('listbox');
    const list = find(page, 'Fruit');
    expect(list.options).toMatchObject([
      { label: 'Apple', selected: false },
      { label: 'Pear', selected: true },
      { label: 'Quince', disabled: true },
    ]);
    const choose = (index: number) =>
      device.browser.select(randomUUID(), {
        ref: list.ref,
        generation: page.generation,
        optionRef: list.options?.[index]?.ref ?? '',
      });
    expect(await choose(2)).toMatchObject({ outcome: 'not_executed' });
    expect(await choose(0)).toMatchObject({ outcome: 'confirmed' });
    expect(effectsOf('listbox')).toEqual(['fruit Apple']);
  });

  it('several from a native list, and from one longer than what is shown', async () => {
    let page = await open('listbox');
    for (const label of ['red', 'blue']) {
      const tags = find(page, 'Tags');
      const ref = tags.options?.find((option) => option.label === label)?.ref ?? '';
      page = seen(
        await device.browser.select(randomUUID(), { ref: tags.ref, generation: page.generation, optionRef: ref }),
      );
    }
    expect(effectsOf('listbox')).toEqual(['tags red', 'tags red,blue']);
    const long = find(page, 'Long list');
    expect(long.options).toHaveLength(100);
    expect(long.options_truncated).toBe(true);
    expect(long.options?.some((option) => option.selected && option.label === 'Option 250')).toBe(true);
  });
});

describe('keys, history and scrolling', () => {
  it('work a menu by the keyboard', async () => {
    let page = seen(await device.click(await open('keys'), 'Menu'));
    page = seen(await press(page, 'ArrowDown', 2));
    page = seen(await press(page, 'Enter'));
    expect(effectsOf('keys')).toEqual(['chose Cut']);
    page = seen(await press(page, 'Escape'));
    expect(find(page, 'Menu').expanded).toBe('false');
  });

  it('follow a page that changes its address by itself', async () => {
    let page = seen(await device.click(await open('spa'), 'Route A'));
    page = seen(await device.click(page, 'Route B'));
    expect(page.text).toContain('Route B');
    page = seen(await device.browser.history(randomUUID(), { direction: 'back', generation: page.generation }));
    expect(page.url).toContain('route=a');
    expect(page.text).toContain('\nRoute a');
  });

  it('say when there is nothing to go to or to scroll', async () => {
    const page = await open('next');
    expect(
      await device.browser.history(randomUUID(), { direction: 'forward', generation: page.generation }),
    ).toMatchObject({
      outcome: 'not_executed',
      code: 'HISTORY_UNAVAILABLE',
    });
    expect(await device.browser.scroll(randomUUID(), { direction: 'up', generation: page.generation })).toMatchObject({
      outcome: 'not_executed',
      code: 'NOTHING_TO_SCROLL',
    });
  });

  it('scroll the page by what was asked, and the container where the page does not scroll', async () => {
    const page = await open('sticky');
    expect(await device.browser.scroll(randomUUID(), { direction: 'down', generation: page.generation })).toMatchObject(
      { result: { scrolled: 500 } },
    );
    const list = await open('scroller');
    expect(list.scroll).toMatchObject({ up: false, down: true });
    const down = seen(await device.browser.scroll(randomUUID(), { direction: 'down', generation: list.generation }));
    expect(down.scroll).toMatchObject({ up: true, y: 500 });
  });
});
