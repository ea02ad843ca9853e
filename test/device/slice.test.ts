import { describe, expect, it } from 'vitest';
import { find, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';

const { site, device } = await deviceOnSite();
describe('the browser device', () => {
  it('fills and sends a form, and the server receives exactly what was meant', async () => {
    let page = await device.open(`${site.url}/form-plain`);
    page = seen(await device.type(page, 'Full name', 'ทดสอบ Ada 猫 😀'));
    expect(find(page, 'Full name').value).toBe('ทดสอบ Ada 猫 😀');
    page = seen(await device.type(page, 'Street', 'Harbour Street 12'));
    page = seen(await device.type(page, 'Note', 'two\nlines'));
    const size = find(page, 'Size');
    const option = size.options?.find((candidate) => candidate.label === 'Medium');
    page = seen(
      await device.browser.select(crypto.randomUUID(), {
        ref: size.ref,
        generation: page.generation,
        optionRef: option?.ref ?? '',
      }),
    );
    expect(find(page, 'Size').value).toBe('Medium');
    page = seen(await device.click(page, 'Card'));
    expect(find(page, 'Card').checked).toBe(true);
    page = seen(await device.click(page, 'I accept the terms'));
    page = seen(await device.click(page, 'Place order'));
    expect(page.url).toBe(`${site.url}/form`);
    expect(site.forms).toEqual([
      {
        name: 'ทดสอบ Ada 猫 😀',
        street: 'Harbour Street 12',
        note: 'two\r\nlines',
        size: 'm',
        pay: 'card',
        terms: 'yes',
      },
    ]);
  });

  it.each(['At once', 'Timer 150', 'Timer 400', 'Request 150', 'Request 800'])(
    'sees what the button "%s" brings',
    async (label) => {
      const page = await device.open(`${site.url}/buttons`);
      const next = seen(await device.click(page, label));
      expect(next.text).not.toContain('Nothing');
    },
  );

  it('refuses a covered button by the name of what covers it, and the page hears nothing', async () => {
    const page = await device.open(`${site.url}/covered`);
    expect(find(page, 'Buy now').obscured).toContain('Cookie notice');
    site.clear();
    expect(await device.click(page, 'Buy now')).toMatchObject({
      outcome: 'not_executed',
      code: 'STALE_OBSERVATION',
      cause: 'TARGET_OBSCURED',
    });
    const free = seen(await device.click(page, 'Only what is needed'));
    seen(await device.click(free, 'Buy now'));
    expect(site.effects).toEqual(['covered: closed', 'covered: bought']);
  });
});
