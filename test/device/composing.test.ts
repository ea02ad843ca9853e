import { describe, expect, it } from 'vitest';
import { find, seen } from '../fixtures/device.ts';
import { deviceOnSite } from '../fixtures/device-site.ts';

const { site, device, open, effectsOf } = await deviceOnSite();
const heard = (label: string) =>
  effectsOf('composing')
    .filter((effect) => effect.startsWith(`${label} `))
    .map((effect) => effect.slice(label.length + 1));

describe('text of Chinese, Japanese and Korean', () => {
  it.each(['Line', 'Area', 'Rich'])('is composed and committed, as with a user’s input method: %s', async (label) => {
    const page = seen(await device.type(await open('composing'), label, '猫 한국'));
    expect(find(page, label).value).toBe('猫 한국');
    const events = heard(label);
    const types = events.map((event) => event.split(' ')[0]);
    expect(types.filter((type) => type === 'compositionstart')).toHaveLength(2);
    expect(events).toEqual(
      expect.arrayContaining(['keydown Process', 'compositionupdate 猫', 'compositionend 猫', 'compositionend 한국']),
    );
    for (const [from, to] of [
      ['keydown', 'compositionstart'],
      ['compositionstart', 'compositionupdate'],
      ['compositionupdate', 'compositionend'],
    ] as const)
      expect(types.indexOf(from)).toBeLessThan(types.indexOf(to));
    expect(events).not.toContain('beforeinput insertText 猫');
  });

  it('reaches an editor that takes composed text only', async () => {
    const done = await device.type(await open('composing'), 'Only composed', 'ok すし');
    expect(done).toMatchObject({ result: { exact: true } });
    expect(seen(done).text).toContain('[すし]');
  });

  it('reaches a field that keeps nothing composed', async () => {
    const done = await device.type(await open('composing'), 'Only inserted', '寿司');
    expect(done).toMatchObject({ result: { exact: true } });
    expect(find(seen(done), 'Only inserted').value).toBe('寿司');
  });

  it.each([
    ['Secret', 'รหัส猫한국'],
    ['Short', '猫猫猫猫'],
  ])('reaches a field that no input method works in, or that it fills: %s', async (label, text) => {
    expect(await device.type(await open('composing'), label, text)).toMatchObject({ result: { exact: true } });
  });

  it('is committed before Enter, which is never part of it', async () => {
    seen(await device.type(await open('composing'), 'Chat', 'すし', true));
    expect(heard('Chat').filter((event) => event.startsWith('sent'))).toEqual(['sent すし']);
    expect(heard('Chat').indexOf('compositionend すし')).toBeLessThan(heard('Chat').indexOf('keydown Enter'));
  });

  it.each(['すし 猫', 'กดทำต่อ', 'x😀👩‍👩‍👧y'])(
    'and of others reaches a field in a frame of another site: %s',
    async (text) => {
      const page = seen(await device.type(await open('composing-framed'), 'Line', text));
      expect(find(page, 'Line').value).toBe(text);
    },
  );
});

describe('text of scripts that are typed without composing', () => {
  it.each(['กดทำต่อ', 'مرحبا', 'Grüße', '😀👩‍👩‍👧'])('is inserted, and no composition is told: %s', async (text) => {
    const page = seen(await device.type(await open('composing'), 'Rich', text));
    expect(find(page, 'Rich').value).toBe(text);
    expect(site.effects.filter((effect) => effect.includes('composition'))).toEqual([]);
  });
});
