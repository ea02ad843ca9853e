/** Numbers and calculator words, spoken in Thai or English. */
import { commandKey } from './normalise.ts';
import { DIGITS, MULTIPLIERS, OPERATORS } from './phrases.ts';

/** One press: any of these labels, compared without case. */
export type Press = readonly string[];

const PRESS_WORDS = /^(?:(?:press|click|tap) ?|กด|คลิก|แตะ)/;
const NOUN_WORDS = /^(?:(?:button|number) ?|ปุ่ม|ตัวเลข|เลข|เครื่องหมาย)/;

function withoutLeadingWords(key: string): string {
  let rest = key.replace(PRESS_WORDS, '').trimStart();
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replace(NOUN_WORDS, '').trimStart();
  }
  return rest;
}

const WORD = new RegExp(
  [...Object.keys(DIGITS), ...Object.keys(MULTIPLIERS), 'เอ็ด', 'ยี่'].sort((a, b) => b.length - a.length).join('|'),
  'y',
);

/** The number words that a text consists of, in order; undefined where it holds anything else. */
function numberWords(text: string): string[] | undefined {
  const words: string[] = [];
  for (let index = 0; index < text.length; ) {
    if (text[index] === ' ') {
      index++;
      continue;
    }
    WORD.lastIndex = index;
    const word = WORD.exec(text)?.[0];
    if (!word) return undefined;
    words.push(word);
    index += word.length;
  }
  return words.length > 0 ? words : undefined;
}

/**
 * The digits of one clear number.
 *
 * A run of digit words is these digits in order. With multipliers they must strictly descend; a multiplier alone counts
 * one. A plain digit behind a multiplier over ten is two numbers at once (105 or 150), so it is not read.
 *
 * @param key a command key.
 * @returns e.g. `150`, or undefined where the text is not one clear number.
 */
export function readNumber(key: string): string | undefined {
  const ascii = key.replace(/[๐-๙]/g, (digit) => String(digit.charCodeAt(0) - 0x0e50));
  if (/^\d+$/.test(ascii)) return ascii;
  if (/^\d(?: \d)+$/.test(ascii)) return ascii.replaceAll(' ', '');
  if (/^\d{1,3}(?:,\d{3})+$/.test(ascii)) return ascii.replaceAll(',', '');

  const words = numberWords(ascii);
  if (!words) return undefined;
  if (words.every((word) => Object.hasOwn(DIGITS, word))) return words.map((word) => DIGITS[word]).join('');
  return readMultiplied(words)?.toString();
}

function readMultiplied(words: readonly string[]): number | undefined {
  let total = 0;
  let scale = Number.POSITIVE_INFINITY;
  for (let index = 0; index < words.length; ) {
    const word = words[index] ?? '';
    const behind = words[index + 1] ?? '';
    if (Object.hasOwn(MULTIPLIERS, word)) {
      const multiplier = MULTIPLIERS[word] ?? 0;
      if (multiplier >= scale) return undefined;
      total += multiplier;
      scale = multiplier;
      index += 1;
    } else if (Object.hasOwn(MULTIPLIERS, behind)) {
      const multiplier = MULTIPLIERS[behind] ?? 0;
      const unit = word === 'ยี่' ? (behind === 'สิบ' ? 2 : 0) : (DIGITS[word] ?? 0);
      if (unit === 0 || multiplier >= scale) return undefined;
      total += unit * multiplier;
      scale = multiplier;
      index += 2;
    } else {
      if (index !== words.length - 1 || scale === Number.POSITIVE_INFINITY) return undefined;
      if (word === 'เอ็ด') return total + 1;
      const unit = DIGITS[word];
      // "ร้อยห้า" is 105 or 150; only behind ten is a plain digit clear.
      if (scale !== 10 || !unit) return undefined;
      return total + unit;
    }
  }
  return total;
}

const OPERATOR_LABELS = new Map(OPERATORS.flatMap(({ said, labels }) => said.map((word) => [word, labels] as const)));

/**
 * The buttons of a keypad that a command names, one press each.
 *
 * Whether a keypad is there, each label is unique, and no text field has the focus is for the caller to see.
 */
export function calculatorPresses(text: string): Press[] | undefined {
  const key = withoutLeadingWords(commandKey(text));
  const labels = OPERATOR_LABELS.get(key);
  if (labels) return [labels];
  const digits = readNumber(key);
  return digits ? Array.from(digits, (digit) => [digit]) : undefined;
}
