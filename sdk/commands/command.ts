/**
 * A short command read without a decision, where it is one of the phrases of the grammar and nothing else.
 *
 * Threat: a wrong reading acts on a signed-in page without anybody having thought about it. So only whole commands
 * match, never a part of one, never a quoted text; everything else is `undefined` and goes to the decision unchanged.
 *
 * Pure, and runs inside the plugin sandbox.
 */
import { givenAddress, knownSite } from './address.ts';
import { canonical, collapse, QUOTE, restAfter, withoutThaiSpacing } from './canonical-text.ts';
import { backspaceCount, eraseCount } from './erase.ts';
import { commandKey, withoutFillers, withoutPoliteEnding } from './normalise.ts';
import { searchText, typeText } from './payload.ts';
import * as phrases from './phrases.ts';

export type Key = keyof typeof phrases.KEYS | 'Backspace';

export type Command =
  | { kind: 'scroll'; direction: 'up' | 'down' }
  | { kind: 'key'; key: Key; count: number }
  | { kind: 'history'; direction: 'back' | 'forward' }
  /** `text` is exactly what the user wrote; it is typed and sent. */
  | { kind: 'search'; text: string }
  /** `text` is exactly what the user wrote; which field takes it is a decision. */
  | { kind: 'type'; text: string }
  /** `address` is what to type into an address bar, `url` what to open. */
  | { kind: 'open'; url: string; address: string }
  | { kind: 'new_tab'; site?: string }
  | { kind: 'new_window' }
  | { kind: 'close_tab' }
  | { kind: 'close_window' }
  | { kind: 'quit' }
  | { kind: 'erase'; count: number };

export type Surface = 'browser' | 'computer';

type Reading = (key: string) => Command | undefined;

const table = (entries: Iterable<readonly [string, Command]>): Map<string, Command> =>
  new Map(Array.from(entries, ([phrase, command]) => [withoutThaiSpacing(phrase), command]));

const each = (list: readonly string[], command: Command) => list.map((phrase) => [phrase, command] as const);

const keys = Object.entries(phrases.KEYS).flatMap(([key, names]) =>
  names.flatMap((name) =>
    ['', ...phrases.PRESS].map((press) => [press + name, { kind: 'key', key: key as Key, count: 1 }] as const),
  ),
);

const shared = [
  ...each(phrases.SCROLL.up, { kind: 'scroll', direction: 'up' }),
  ...each(phrases.SCROLL.down, { kind: 'scroll', direction: 'down' }),
  ...keys,
  ...each(phrases.BACK, { kind: 'history', direction: 'back' }),
  ...each(phrases.FORWARD, { kind: 'history', direction: 'forward' }),
];

const exact: Record<Surface, Map<string, Command>> = {
  browser: table([
    ...shared,
    ...each(phrases.BROWSER_SCROLL.up, { kind: 'scroll', direction: 'up' }),
    ...each(phrases.BROWSER_SCROLL.down, { kind: 'scroll', direction: 'down' }),
    ...each(phrases.BROWSER_BACK, { kind: 'history', direction: 'back' }),
    ...each(phrases.BROWSER_FORWARD, { kind: 'history', direction: 'forward' }),
  ]),
  computer: table([
    ...shared,
    ...each(phrases.NEW_WINDOW, { kind: 'new_window' }),
    ...each(phrases.CLOSE_TAB, { kind: 'close_tab' }),
    ...each(phrases.CLOSE_WINDOW, { kind: 'close_window' }),
  ]),
};

const newTab = new Set(phrases.NEW_TAB.map(withoutThaiSpacing));

const THAI_BACK = /^(?:ย้อนกลับ|ย้อน|กลับ)(?:ไป)?(?:ที่)?หน้า(?:ก่อนหน้านี้|ก่อนหน้า|ก่อนนี้|ก่อน|ที่แล้ว|เดิม)$/;
const ENGLISH_BACK = /^(?:go )?back(?: to)?(?: the)? previous page$/;
const readBack: Reading = (key) =>
  THAI_BACK.test(key) || ENGLISH_BACK.test(key) ? { kind: 'history', direction: 'back' } : undefined;

const THAI_TAB_WITH_SITE = /^เปิด(?:tab|แท็บ) ?([^\s,，、]+) ?ใหม่$/;
const ENGLISH_TAB_WITH_SITE = /^open (?:a )?new tab (?:for |with |to )?([^\s,，、]+)$/;
const readNewTab: Reading = (key) => {
  // Speech recognition writes แท็ก for แท็บ.
  const said = key.replace('แท็ก', 'แท็บ').replace(/^(?:กด|press ?)/, '');
  if (newTab.has(said)) return { kind: 'new_tab' };
  const site = (THAI_TAB_WITH_SITE.exec(said) ?? ENGLISH_TAB_WITH_SITE.exec(said))?.[1];
  // "เปิดแท็บนี้ใหม่" reloads a tab: what stands in the middle must be a site.
  return site && (knownSite(site) || /^[a-z0-9][a-z0-9.-]*$/.test(site)) ? { kind: 'new_tab', site } : undefined;
};

const SHORTCUT = /^(?:กด|press ?)?(cmd|command|ctrl|⌘) ?\+? ?([tnwq])$/;
const shortcuts = { t: 'new_tab', n: 'new_window', w: 'close_tab', q: 'quit' } as const;
const readShortcut =
  (surface: Surface): Reading =>
  (key) => {
    const [, modifier, letter] = SHORTCUT.exec(key) ?? [];
    if (!letter) return undefined;
    if (surface === 'browser') return letter === 't' ? { kind: 'new_tab' } : undefined;
    return modifier === 'ctrl' ? undefined : { kind: shortcuts[letter as keyof typeof shortcuts] };
  };

/** A site or an address, with or without a verb; a path keeps its letter case. */
function readOpen(command: string, key: string): Command | undefined {
  if (QUOTE.test(key)) return undefined;
  const said = withoutPoliteEnding(collapse(canonical(withoutFillers(command)))).trim();
  const found = restAfter(said, phrases.OPEN_VERBS);
  // An English verb stands apart from what it opens.
  if (found && (/^\s/.test(found.rest) || !/^[a-z]/.test(found.word))) {
    const site = knownSite(key.slice(found.word.length).trim());
    if (site) return { kind: 'open', url: `https://${site}`, address: site };
    const address = found.rest.trim();
    const url = givenAddress(address);
    if (url) return { kind: 'open', url, address };
  }
  const url = givenAddress(said);
  return url ? { kind: 'open', url, address: said } : undefined;
}

const readBackspace: Reading = (key) => {
  const count = backspaceCount(key);
  return count ? { kind: 'key', key: 'Backspace', count } : undefined;
};

const readErase: Reading = (key) => {
  const count = eraseCount(key);
  return count ? { kind: 'erase', count } : undefined;
};

const readings: Record<Surface, readonly Reading[]> = {
  browser: [readBack, readNewTab, readShortcut('browser'), readBackspace],
  computer: [readBack, readNewTab, readShortcut('computer'), readErase],
};

/** How a command that carries a text or a place begins; one look spares every other command the closer reading. */
const CARRIES = new RegExp(
  `^(?:${[...phrases.SEARCH_VERBS, ...phrases.TYPE_VERBS].map(({ word }) => word).join('|')}|${phrases.OPEN_VERBS.join('|')})|[.:]`,
);

/**
 * @param command the user's words, verbatim.
 * @param surface what is being driven; a few phrases belong to one of the two only.
 * @returns the command, or undefined where a decision has to read it.
 */
export function parseCommand(command: string, surface: Surface): Command | undefined {
  if (command.length > 4000) return undefined;
  const key = commandKey(command);
  const found = exact[surface].get(key);
  if (found) return found;
  for (const read of readings[surface]) {
    const reading = read(key);
    if (reading) return reading;
  }
  if (!CARRIES.test(key)) return undefined;
  const text = searchText(command);
  if (text !== undefined) return { kind: 'search', text };
  const typed = typeText(command);
  if (typed !== undefined) return { kind: 'type', text: typed };
  return readOpen(command, key);
}
