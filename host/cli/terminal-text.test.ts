import { describe, expect, it } from 'vitest';
import { HostError } from '../../sdk/contract/errors.ts';
import { print, say } from './command.ts';
import { plain, textTable } from './text-table.ts';

function terminal() {
  const out = { text: '' };
  const sink = {
    write: (text: string) => {
      out.text += text;
    },
  } as unknown as NodeJS.WritableStream;
  return { out, io: { stdout: sink, stderr: sink } };
}

const hostile: [string, string][] = [
  ['an escape sequence', '\u001b[2K\u001b[1Aapproved'],
  ['an escape sequence of one character', '\u009b2Kapproved'],
  ['an operating system command', '\u001b]0;title\u0007'],
  ['a carriage return', 'real\rfake'],
  ['a backspace', 'evil\b\b\b\bgood'],
  ['a turn of the reading direction', 'safe\u202eexe.nigulp'],
  ['an isolate', '\u2067abc\u2069'],
  ['an Arabic letter mark', '\u061cabc'],
  ['a line separator', 'one\u2028two'],
];
const unseen: [string, string][] = [
  ['a space without width', 'form\u200b-filler'],
  ['a joiner', 'form\u200d-filler'],
  ['a byte order mark', '\ufefffiller'],
  ['a soft hyphen', 'form\u00adfiller'],
  ['a filler', 'form\u3164filler'],
  ['a tag', 'filler\u{e0041}'],
  ['a variation', 'filler\ufe00'],
  ['a private character', 'filler\ue000'],
  ['half a character', 'filler\ud83d'],
  ['a line break', 'one\ntwo'],
  ['a tab', 'one\ttwo'],
];
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const MOVES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

describe('somebody else’s words in a line for a terminal', () => {
  it.each([...hostile, ...unseen])('show %s', (_what, text) => {
    expect(plain(text)).not.toBe(text);
    expect(plain(text)).toMatch(/·|\ufffd/);
    expect(textTable(['name'], [[text]]).split('\n')).toHaveLength(3);
  });

  it('stay as they are when there is nothing to hide', () => {
    for (const text of ['form-filler', 'กรอกแบบฟอร์ม น้ำ', 'שלום', '日本語', 'naïve “x” …', '👍🏽 ok'])
      expect(plain(text)).toBe(text);
  });
});

describe('whatever a command writes', () => {
  it.each(hostile)('does not move the terminal: %s', (_what, text) => {
    const { out, io } = terminal();
    print(io, `plugin ${text}`);
    say(io, new HostError('PLUGIN_ACTIVATION_FAILED', { plugin: 'x', problem: text }).message);
    expect(out.text).not.toMatch(MOVES);
    expect(out.text.split('\n')).toHaveLength(3);
  });

  it.each(hostile)('is the same data as JSON: %s', (_what, text) => {
    const { out, io } = terminal();
    print(io, JSON.stringify({ reason: text }));
    expect(out.text).not.toMatch(MOVES);
    expect(JSON.parse(out.text)).toEqual({ reason: text });
  });
});
