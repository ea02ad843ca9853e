import { describe, expect, it } from 'vitest';
import { find, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';

const { site, device, open } = await deviceOnSite();

describe('a field takes', () => {
  it.each([
    ['Text', 'twelve chars', 'twelve chars'],
    ['Lines', 'one\r\ntwo', 'one\ntwo'],
    ['Mail', 'ada@site.test', 'ada@site.test'],
    ['Number', '8', '8'],
    ['Plain number', '-2.5', '-2.5'],
    ['Plain number', '', ''],
    ['Range', '10', '10'],
    ['Plain range', '0', '0'],
    ['Colour', '#FF8800', '#ff8800'],
    ['Colour', '#000000', '#000000'],
    ['Date', ' 2026-12-24 ', '2026-12-24'],
    ['Date', '', ''],
    ['Weekly date', '2026-12-28', '2026-12-28'],
    ['Moment', '2026-12-24T07:45', '2026-12-24T07:45'],
    ['Month', '2027-02', '2027-02'],
    ['Week', '2026-W53', '2026-W53'],
    ['Time', '18:00', '18:00'],
    ['Phone', '987654321', '(98) 765-4321'],
    ['Kept date', '2026-12-24', '2026-12-24'],
    ['Note', 'new words', 'new words'],
    ['Made slider', '80%', '80'],
  ])('%s: "%s"', async (label, text, held) => {
    const page = await open('fields');
    const done = await device.type(page, label, text);
    const { value, value_now } = find(seen(done), label);
    expect(value ?? value_now).toBe(held);
    expect(done).toMatchObject({
      outcome: 'confirmed',
      result: { completed_action: 'TYPE_TEXT', text_inserted: true },
    });
    if (label !== 'Phone') expect(done).toMatchObject({ result: { exact: true } });
    expect(site.effects).toEqual(expect.arrayContaining([`fields: focusin ${label}`, `fields: input ${label}`]));
    if (label === 'Kept date') expect(seen(done).text).toContain('Kept: 2026-12-24');
  });

  it.each([
    ['Text', 'thirteen chars', 'VALUE_TOO_LONG', 'at most 12 characters'],
    ['Lines', 'one\ntwo\nthree', 'VALUE_TOO_LONG', 'at most 9 characters'],
    ['Number', 'four', 'VALUE_MALFORMED', 'a number from 2 to 10 in steps of 2'],
    ['Number', '12', 'VALUE_OUT_OF_RANGE', 'a number from 2 to 10 in steps of 2'],
    ['Number', '5', 'VALUE_OFF_STEP', 'a number from 2 to 10 in steps of 2'],
    ['Plain number', '1,5', 'VALUE_MALFORMED', 'a number'],
    ['Range', 'loud', 'VALUE_MALFORMED', 'a number from 0 to 10 in steps of 2'],
    ['Range', '', 'VALUE_MALFORMED', 'a number from 0 to 10 in steps of 2'],
    ['Range', '11', 'VALUE_OUT_OF_RANGE', 'a number from 0 to 10 in steps of 2'],
    ['Range', '3', 'VALUE_OFF_STEP', 'a number from 0 to 10 in steps of 2'],
    ['Plain range', '101', 'VALUE_OUT_OF_RANGE', 'a number from 0 to 100'],
    ['Colour', 'bogus', 'VALUE_MALFORMED', 'a colour such as #ff8800'],
    ['Colour', '', 'VALUE_MALFORMED', 'a colour such as #ff8800'],
    ['Date', 'next Friday', 'VALUE_MALFORMED', 'a date such as 2026-12-24 from 2026-01-01 to 2026-12-31'],
    ['Date', '2026-02-30', 'VALUE_MALFORMED', 'a date such as 2026-12-24 from 2026-01-01 to 2026-12-31'],
    ['Date', '2027-01-01', 'VALUE_OUT_OF_RANGE', 'a date such as 2026-12-24 from 2026-01-01 to 2026-12-31'],
    ['Weekly date', '2026-12-24', 'VALUE_OFF_STEP', 'a date such as 2026-12-24 from 2026-01-05 in steps of 7'],
    ['Moment', '2026-12-24', 'VALUE_MALFORMED', 'a date and time such as 2026-12-24T07:45'],
    ['Month', '2026-13', 'VALUE_MALFORMED', 'a month such as 2026-12'],
    ['Week', '2025-W53', 'VALUE_MALFORMED', 'a week such as 2026-W52'],
    ['Time', '7 pm', 'VALUE_MALFORMED', 'a time such as 07:45 from 08:00 to 18:00'],
    ['Time', '19:00', 'VALUE_OUT_OF_RANGE', 'a time such as 07:45 from 08:00 to 18:00'],
    ['Made slider', 'loud', 'VALUE_MALFORMED', 'a number from 20 to 80'],
    ['Made slider', '', 'VALUE_MALFORMED', 'a number from 20 to 80'],
    ['Made slider', '81', 'VALUE_OUT_OF_RANGE', 'a number from 20 to 80'],
    ['Phone', '+66 (98) 765-4321', 'VALUE_TOO_LONG', 'at most 14 characters'],
  ])('not what it cannot hold, and is left as it was: %s: "%s"', async (label, text, cause, accepts) => {
    const before = await open('fields');
    const { ref } = find(before, label);
    const answer = await device.callLeased('page_type', { ref, generation: before.generation, text });
    expect(answer).toEqual({ error: 'VALUE_NOT_ACCEPTED', action_executed: false, cause, accepts });
    const after = find(await device.observe(), label);
    expect(after).toEqual(find(before, label));
    expect(site.effects).toEqual([]);
  });

  it('what its page puts back only by name: the reply says that it holds something else', async () => {
    const done = await device.type(await open('fields'), 'Put back', '2026-12-24');
    expect(done).toMatchObject({ outcome: 'confirmed', result: { exact: false, value_differs: true } });
    expect(find(seen(done), 'Put back').value).toBe('2026-03-04');
  });
});
