import { describe, expect, it } from 'vitest';
import type { Observation } from '../../sdk/devices/remote-browser-contract.ts';
import { find, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';

const { site, device, open, effectsOf } = await deviceOnSite();
const asked = (page: Observation) => (page.notices ?? []).filter(({ kind }) => kind === 'FILE_CHOOSER');
const FILE_INPUTS = [/Plain file/, /Styled file/, /Covering file/, /Folder/];

describe('a control that takes files', () => {
  it.each(FILE_INPUTS)('is shown as such, without anything that can be done with it: %s', async (label) => {
    expect(find(await open('uploads'), label)).toMatchObject({ role: 'file', type: 'file', operations: [] });
  });

  it.each(FILE_INPUTS.flatMap((label) => ['page_click', 'page_type'].map((tool) => [label, tool] as const)))(
    'is neither pressed nor typed into: %s by %s',
    async (label, tool) => {
      const page = await open('uploads');
      const answer = await device.callLeased(tool, {
        ref: find(page, label).ref,
        generation: page.generation,
        ...(tool === 'page_type' ? { text: '/etc/passwd' } : {}),
      });
      expect(answer).toEqual({ error: 'FILE_CHOOSER_REFUSED', action_executed: false });
      expect(asked(await device.observe())).toEqual([]);
      expect(site.effects).toEqual([]);
    },
  );
});

describe('a control that asks for files some other way', () => {
  it.each(['Part of a label', 'By script'])('is told of, and no chooser is left open: %s', async (label) => {
    const press = async (from: Observation) => {
      const { ref = '' } = from.elements.find((element) => element.label === label && element.role === 'button') ?? {};
      return seen(await device.browser.click(crypto.randomUUID(), { ref, generation: from.generation }));
    };
    const page = await press(await open('uploads'));
    expect(asked(page)).toHaveLength(1);
    expect(page.text).toContain('Cancelled');
    // The page can be worked on: nothing stands in front of it.
    expect(asked(await press(page))).toHaveLength(1);
    expect(effectsOf('uploads')).toEqual(['click', 'click']);
  });

  it('is told of where it is in a frame, of the same or another site', async () => {
    const page = await open('uploads-framed');
    const [near, far] = page.elements.filter(({ label }) => label === 'By script');
    for (const button of [near, far]) {
      const fresh = await device.observe();
      const { ref = '' } = button ?? {};
      const done = await device.browser.click(crypto.randomUUID(), { ref, generation: fresh.generation });
      expect(asked(seen(done))).toHaveLength(1);
    }
  });

  it('gets no file by the page’s own picker either', async () => {
    const page = seen(await device.click(await open('uploads'), 'By picker'));
    expect(asked(page)).toHaveLength(1);
    expect(site.effects).not.toContain('uploads: picked');
    seen(await device.click(page, 'By picker'));
  });
});
