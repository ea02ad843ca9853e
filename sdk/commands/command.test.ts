import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonical } from './canonical-text.ts';
import { parseCommand, type Surface } from './command.ts';
import { describeCommand } from './describe-command.ts';
import { goldenCommands } from './golden/commands.ts';
import { goldenNumbers } from './golden/numbers.ts';
import { calculatorPresses } from './numbers.ts';

const surfaces: Surface[] = ['browser', 'computer'];
const rows = goldenCommands.flatMap(({ about, browser, computer = browser, phrases }) =>
  phrases.map((phrase) => ({ about, phrase, browser, computer })),
);
const presses = (phrase: string) =>
  calculatorPresses(phrase)
    ?.map((labels) => labels[0])
    .join(' ') ?? 'decision';

describe('the golden table', () => {
  it('holds at least 400 different phrases', () => {
    const phrases = [...rows.map(({ phrase }) => phrase), ...goldenNumbers.flatMap(([, list]) => list)];
    expect(new Set(phrases).size).toBeGreaterThanOrEqual(400);
    expect(new Set(rows.map(({ phrase }) => phrase)).size).toBe(rows.length);
  });

  for (const { about, phrase, browser, computer } of rows) {
    it(`${about}: ${JSON.stringify(phrase)} → ${browser}${computer === browser ? '' : ` (computer: ${computer})`}`, () => {
      expect(describeCommand(parseCommand(phrase, 'browser'))).toBe(browser);
      expect(describeCommand(parseCommand(phrase, 'computer'))).toBe(computer);
    });
  }

  for (const [wanted, phrases] of goldenNumbers) {
    it(`calculator: ${phrases.slice(0, 3).join(', ')} → ${wanted}`, () => {
      expect(phrases.map((phrase) => [phrase, presses(phrase)])).toEqual(phrases.map((phrase) => [phrase, wanted]));
    });
  }
});

/** Another way to write the same characters. */
const forms = {
  NFC: (text: string) => text.normalize('NFC'),
  NFD: (text: string) => text.normalize('NFD'),
  'SARA AM apart': (text: string) => text.replace(/([\u0e48-\u0e4b]?)\u0e33/g, '\u0e4d$1\u0e32'),
  'SARA AM apart, mark first': (text: string) => text.replace(/\u0e33/g, '\u0e4d\u0e32'),
};
const kind = (phrase: string, surface: Surface) => {
  const command = parseCommand(phrase, surface);
  // A text stays as it was written, so only its form may differ.
  return canonical(describeCommand(command)).toLowerCase().replace(/\s+/g, ' ');
};
const anyRow = fc.constantFrom(...rows);
const anySurface = fc.constantFrom(...surfaces);
/** Whether spaces or letter case inside the text are the user's own and so part of what the command does. */
const carriesText = (meaning: string) => /^(?:search|type|open)/.test(meaning);

describe('matching', () => {
  it('does not depend on the Unicode normal form', () => {
    fc.assert(
      fc.property(anyRow, anySurface, fc.constantFrom(...Object.values(forms)), ({ phrase }, surface, form) => {
        expect(kind(form(phrase), surface)).toBe(kind(phrase, surface));
      }),
      { numRuns: 2000 },
    );
  });

  it('does not depend on letter case', () => {
    fc.assert(
      fc.property(anyRow, anySurface, fc.infiniteStream(fc.boolean()), ({ phrase }, surface, upper) => {
        const mixed = Array.from(phrase, (character) =>
          upper.next().value ? character.toUpperCase() : character.toLowerCase(),
        ).join('');
        expect(kind(mixed, surface)).toBe(kind(phrase, surface));
      }),
      { numRuns: 2000 },
    );
  });

  it('does not depend on how much or which white space stands between words or around them', () => {
    const space = fc.stringMatching(/^[ \t\u00a0\u3000]{1,3}$/);
    fc.assert(
      fc.property(anyRow, anySurface, fc.infiniteStream(space), ({ phrase, browser, computer }, surface, spaces) => {
        const meaning = surface === 'browser' ? browser : computer;
        const spaced = phrase.trim().replace(/ +/g, () => spaces.next().value);
        const around = spaces.next().value + spaced + spaces.next().value;
        // Inside a quotation spaces are text.
        if (!carriesText(meaning) || !/["“”「]/.test(phrase)) expect(kind(around, surface)).toBe(kind(phrase, surface));
      }),
      { numRuns: 2000 },
    );
  });

  it('does not depend on invisible characters between words', () => {
    fc.assert(
      fc.property(
        anyRow,
        anySurface,
        fc.constantFrom('\u200b', '\ufeff', '\u200e'),
        ({ phrase, browser, computer }, surface, mark) => {
          if (carriesText(surface === 'browser' ? browser : computer)) return;
          expect(kind(phrase.replaceAll(' ', ` ${mark}`), surface)).toBe(kind(phrase, surface));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('reads nothing from a quoted command', () => {
    const quotes = fc.constantFrom(['"', '"'], ['“', '”'], ['「', '」'], ['«', '»']);
    fc.assert(
      fc.property(
        anyRow,
        anySurface,
        quotes,
        fc.constantFrom('', ' ', '.'),
        ({ phrase }, surface, [open, close], end) => {
          expect(parseCommand(`${open}${phrase}${close}${end}`, surface)).toBeUndefined();
          expect(calculatorPresses(`${open}${phrase}${close}${end}`)).toBeUndefined();
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('reads nothing from a command with other words around it', () => {
    const words = fc.constantFrom('please do', 'the', 'ปุ่ม', 'หน้า', 'もう', 'x9');
    fc.assert(
      fc.property(anyRow, anySurface, words, words, ({ phrase }, surface, before, after) => {
        expect(parseCommand(`${before} ${phrase} ${after}`, surface)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('takes any text for a search exactly as it was written when it is quoted', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(text, (words) => {
        fc.pre(words.trim() !== '' && !/["“”„«»「」『』]/.test(words));
        expect(parseCommand(`search "${words}"`, 'browser')).toEqual({ kind: 'search', text: words });
        expect(parseCommand(`พิมพ์ “${words}”`, 'browser')).toEqual({ kind: 'type', text: words });
      }),
      { numRuns: 2000 },
    );
  });

  it('never fails, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), anySurface, (text, surface) => {
        parseCommand(text, surface);
        calculatorPresses(text);
      }),
      { numRuns: 5000 },
    );
  });

  it('reads nothing from a command over 4,000 characters', () => {
    expect(parseCommand(`search ${'a'.repeat(400)}`, 'browser')).toBeDefined();
    expect(parseCommand(`${' '.repeat(4000)}scroll down`, 'browser')).toBeUndefined();
  });
});
