/**
 * The keyboard, as a user's. Plain characters go as keys, because some pages listen to single keys. Chinese, Japanese and
 * Korean are composed and committed, as by an input method; what no input method composes (Thai, Arabic, emoji) is inserted.
 * Keys are sent in one go and handled in order.
 */
import type { BrowserKey } from '../../../../sdk/devices/remote-browser-contract.ts';
import type { Tab } from '../tab/tab.ts';

/** Milliseconds within which the page must have handled the keys: a ground, and for each. */
const HANDLED_MS = 5000;
const HANDLED_EACH_MS = 20;
/** Characters beyond which text is inserted whole. */
const MAX_KEYS = 300;

interface Key {
  key: string;
  code: string;
  windowsVirtualKeyCode: number;
  text?: string;
}

export const KEYS: Record<BrowserKey | 'Delete' | 'Home' | 'End' | 'ArrowLeft' | 'ArrowRight', Key> = {
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
  Tab: { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 },
  Escape: { key: 'Escape', code: 'Escape', windowsVirtualKeyCode: 27 },
  Backspace: { key: 'Backspace', code: 'Backspace', windowsVirtualKeyCode: 8 },
  Delete: { key: 'Delete', code: 'Delete', windowsVirtualKeyCode: 46 },
  Home: { key: 'Home', code: 'Home', windowsVirtualKeyCode: 36 },
  End: { key: 'End', code: 'End', windowsVirtualKeyCode: 35 },
  ArrowUp: { key: 'ArrowUp', code: 'ArrowUp', windowsVirtualKeyCode: 38 },
  ArrowDown: { key: 'ArrowDown', code: 'ArrowDown', windowsVirtualKeyCode: 40 },
  ArrowLeft: { key: 'ArrowLeft', code: 'ArrowLeft', windowsVirtualKeyCode: 37 },
  ArrowRight: { key: 'ArrowRight', code: 'ArrowRight', windowsVirtualKeyCode: 39 },
};

/** @returns false when the page did not answer in time, or a dialog or crash came between. */
export function pressKey(tab: Tab, name: keyof typeof KEYS, repeat = 1): Promise<boolean> {
  const sent: Promise<unknown>[] = [];
  for (let i = 0; i < repeat; i++) sent.push(...stroke(tab, KEYS[name]));
  return handled(tab, sent);
}

/** Characters sent in one go; between two goes the owner's stop is heard. */
const RUN = 40;

export async function typeText(
  tab: Tab,
  text: string,
  options: { multiline: boolean; whole?: boolean },
): Promise<boolean> {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const asKeys = !options.whole && text.length <= MAX_KEYS;
  for (const [index, line] of lines.entries()) {
    // A line break is a key of its own where there are lines, and a space where there is one.
    if (index > 0) {
      const sent = options.multiline ? stroke(tab, KEYS.Enter) : [tab.send('Input.insertText', { text: ' ' })];
      if (!(await handled(tab, sent))) return false;
    }
    for (const { 0: run, groups } of line.matchAll(RUNS)) {
      const enter = !asKeys ? insert : groups?.plain ? typeKeys : groups?.composed ? compose : insert;
      if (!(await enter(tab, run))) return false;
    }
  }
  return true;
}

/** Runs of one kind: of plain keys, of scripts that are composed, of anything else. */
const COMPOSED = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}ー';
const RUNS = new RegExp(`(?<plain>[\\x20-\\x7e]+)|(?<composed>[${COMPOSED}]+)|[^\\x20-\\x7e${COMPOSED}]+`, 'gu');

/** What an input method does: a key that it keeps to itself, the text in progress, the text. */
function compose(tab: Tab, text: string): Promise<boolean> {
  const key = { key: 'Process', code: '', windowsVirtualKeyCode: 229 };
  return handled(tab, [
    tab.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key }),
    tab.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length }),
    tab.send('Input.insertText', { text }),
    tab.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key }),
  ]);
}

const insert = (tab: Tab, text: string) => handled(tab, [tab.send('Input.insertText', { text })]);

async function typeKeys(tab: Tab, text: string): Promise<boolean> {
  for (let at = 0; at < text.length; at += RUN) {
    const keys = [...text.slice(at, at + RUN)].flatMap((character) => stroke(tab, characterKey(character)));
    if (!(await handled(tab, keys))) return false;
  }
  return true;
}

function stroke(tab: Tab, key: Key): Promise<unknown>[] {
  const { text, ...rest } = key;
  return [
    tab.send('Input.dispatchKeyEvent', {
      type: text === undefined ? 'rawKeyDown' : 'keyDown',
      ...rest,
      ...(text === undefined ? {} : { text, unmodifiedText: text }),
    }),
    tab.send('Input.dispatchKeyEvent', { type: 'keyUp', ...rest }),
  ];
}

const SIGNS: Record<string, [code: string, keyCode: number]> = {
  ' ': ['Space', 32],
  '-': ['Minus', 189],
  '=': ['Equal', 187],
  '[': ['BracketLeft', 219],
  ']': ['BracketRight', 221],
  '\\': ['Backslash', 220],
  ';': ['Semicolon', 186],
  "'": ['Quote', 222],
  ',': ['Comma', 188],
  '.': ['Period', 190],
  '/': ['Slash', 191],
  '`': ['Backquote', 192],
};

function characterKey(character: string): Key {
  if (/[a-z]/i.test(character)) {
    const upper = character.toUpperCase();
    return { key: character, code: `Key${upper}`, windowsVirtualKeyCode: upper.charCodeAt(0), text: character };
  }
  if (/\d/.test(character))
    return {
      key: character,
      code: `Digit${character}`,
      windowsVirtualKeyCode: character.charCodeAt(0),
      text: character,
    };
  const [code, keyCode] = SIGNS[character] ?? ['', 0];
  return { key: character, code, windowsVirtualKeyCode: keyCode, text: character };
}

async function handled(tab: Tab, sent: Promise<unknown>[]): Promise<boolean> {
  const all = Promise.all(sent).then(() => true);
  return (await tab.activity.orUntil(all, () => tab.interrupted, HANDLED_MS + sent.length * HANDLED_EACH_MS)) ?? false;
}
