/**
 * What is said about a command that came to nothing: one short line in Thai or English.
 *
 * Threat: what is spoken comes back as if the host had said it. So it repeats the user's own words and nothing from the
 * page; what goes into the conversation's history repeats not even these. The one exception is the question before a
 * high-impact command, which has to name the control: as one short line without anything invisible.
 */

import { canonical, collapse } from '../../sdk/commands/canonical-text.ts';
import { clip } from '../../sdk/commands/graphemes.ts';
import { withoutFillers, withoutPoliteEnding } from '../../sdk/commands/normalise.ts';
import type { CommandOutcome } from '../../sdk/contract/browser-run.ts';

export type Language = 'th' | 'en';

export interface Reply {
  language: Language;
  spoken: string;
  /** The generic form for the conversation's history: without the user's words. */
  history: string;
}

/** Messages of a conversation that tell its language. */
export const LANGUAGE_MESSAGES = 5;
/** UTF-16 units of the user's words in a line, and of a control's name. */
const MAX_WORDS = 60;
const MAX_LABEL = 80;

const THAI = /[\u0e00-\u0e7f]/;

/** Thai for a Thai command, else as the voice session says, else Thai where one of the last messages is. */
export function languageOf(words: string, recent: readonly string[], voiceLanguage?: string): Language {
  if (THAI.test(words)) return 'th';
  if (voiceLanguage !== undefined) return /^th\b/i.test(voiceLanguage) ? 'th' : 'en';
  return recent.slice(-LANGUAGE_MESSAGES).some((message) => THAI.test(message)) ? 'th' : 'en';
}

type Line = Readonly<Record<Language, string>>;
/** `{}` stands for the user's words. */
const changing: Line = { th: 'หน้าจอกำลังเปลี่ยน ลองพูดใหม่อีกครั้ง', en: 'The screen is changing. Say it again.' };
const notFound: Line = { th: 'ไม่เจอปุ่ม {} บนหน้าจอ', en: 'I cannot find {} on the screen.' };
const unclear: Line = { th: 'ไม่แน่ใจว่าหมายถึงอะไร ลองพูดอีกแบบ', en: 'I am not sure what you mean. Say it another way.' };
const slow: Line = { th: 'ระบบตอบไม่ทัน ลองพูดใหม่อีกครั้ง', en: 'That took too long. Say it again.' };
const noSite: Line = { th: 'ไม่รู้ที่อยู่ของเว็บนี้ บอกที่อยู่เว็บด้วย', en: 'I do not know that site’s address. Say the address.' };
const notAllowed: Line = { th: 'เปิดเว็บนี้ที่นี่ไม่ได้', en: 'That site may not be opened here.' };

const lines: Readonly<Record<string, Line>> = {
  STALE_OBSERVATION: changing,
  STALE_RETRY_BUDGET: changing,
  WAIT_BUDGET: changing,
  NO_SUPPORTED_ACTION: notFound,
  LOW_TARGET_CONFIDENCE: notFound,
  LOW_OPERATION_CONFIDENCE: unclear,
  UNCLEAR: unclear,
  NEW_TAB_OUT_OF_SCOPE: {
    th: 'เปิดแท็บใหม่ไม่ได้ บอกชื่อเว็บแทน',
    en: 'I cannot open a new tab. Say the site’s name instead.',
  },
  KEY_UNSUPPORTED: { th: 'กดปุ่มนี้ในเบราว์เซอร์นี้ไม่ได้', en: 'This browser cannot press keys.' },
  TARGET_OBSCURED: { th: 'มีอะไรบังอยู่ ปิดก่อนแล้วลองใหม่', en: 'Something covers it. Close that first.' },
  FIELD_TEXT_REQUIRED: { th: 'บอกข้อความที่จะพิมพ์ด้วย', en: 'Say what to type.' },
  PAGE_CONTENT_UNAVAILABLE: { th: 'หน้านี้ยังว่างอยู่ ลองพูดใหม่อีกครั้ง', en: 'The page is still empty. Say it again.' },
  COMPLETION_CANDIDATE: { th: 'หน้าจอเป็นแบบนั้นอยู่แล้ว', en: 'It looks that way already.' },
  NAVIGATION_UNRESOLVED: noSite,
  START_URL_REQUIRED: noSite,
  NAVIGATION_DENIED: notAllowed,
  URL_NOT_ALLOWED: notAllowed,
  ADAPTER_TIMEOUT: slow,
  DEADLINE_EXCEEDED: slow,
  RATE_LIMITED: slow,
  QUEUE_FULL: slow,
  PROVIDER_UNAVAILABLE: slow,
};
const atTop: Line = { th: 'อยู่บนสุดแล้ว', en: 'This is the top of the page.' };
const atEnd: Line = { th: 'อยู่ล่างสุดแล้ว', en: 'This is the end of the page.' };
const noBack: Line = { th: 'ไม่มีหน้าก่อนหน้านี้', en: 'There is no page to go back to.' };
const noForward: Line = { th: 'ไม่มีหน้าถัดไป', en: 'There is no page to go forward to.' };
const other: Line = { th: 'ยังไม่ได้ทำ {}', en: 'Not done: {}.' };
const unknown: Line = {
  th: 'ไม่แน่ใจว่า {} ทำไปแล้วหรือยัง ดูหน้าจอก่อนสั่งใหม่',
  en: 'I am not sure whether {} was done. Check the screen before you repeat it.',
};
const stopped: Line = {
  th: 'ยังไม่ได้ทำ {} งานนี้หยุดแล้ว ต้องเริ่มงานใหม่',
  en: 'Not done: {}. The task has stopped; a new one is needed.',
};
const it: Line = { th: 'คำสั่งนี้', en: 'this command' };

/** Reasons at which nothing is said: they have an answer of their own, or need none. */
const SILENT = new Set(['READ_REQUEST', 'SESSION_READY', 'CONFIRMATION_DECLINED']);

export interface Spoken {
  /** What the user said, verbatim. */
  words: string;
  language: Language;
  outcome: CommandOutcome | undefined;
  /** The action may have run. */
  unknown: boolean;
  /** The task still takes commands. */
  open: boolean;
}

/** @returns undefined for a command that ran: the user can see what it did. */
export function replyFor(spoken: Spoken): Reply | undefined {
  const line = lineFor(spoken);
  if (!line) return undefined;
  const { language, words } = spoken;
  const said = (named: string) => line[language].replace('{}', () => named);
  const history = said(it[language]);
  return {
    language,
    spoken: said(ownWords(words)),
    history:
      line === other || line === stopped ? history : `${other[language].replace('{}', () => it[language])} ${history}`,
  };
}

function lineFor({ outcome, unknown: doubt, open }: Spoken): Line | undefined {
  if (doubt) return unknown;
  if (!outcome || outcome.done || SILENT.has(outcome.reason ?? '')) return open ? undefined : stopped;
  if (!open) return stopped;
  const reason = (outcome.reason ?? '').replace(/^(?:JEV|THINKING)_/, '');
  if (reason === 'SCROLL_LIMIT') return outcome.action?.direction === 'up' ? atTop : atEnd;
  if (reason === 'HISTORY_UNAVAILABLE') return outcome.action?.direction === 'forward' ? noForward : noBack;
  return Object.hasOwn(lines, reason) ? lines[reason] : other;
}

function ownWords(words: string): string {
  const bare = withoutPoliteEnding(withoutFillers(oneLine(words)));
  return clip(bare.trim() || oneLine(words), MAX_WORDS);
}

const oneLine = (text: string) => collapse(canonical(text).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' '));

type Action = CommandOutcome['action'];

/** The one question before the agent's high-impact command, naming the control that was chosen. */
export function confirmationQuestion(action: Action, language: Language): Reply {
  const label = clip(oneLine(action?.label ?? ''), MAX_LABEL);
  const spoken = label === '' ? wordless[language] : asking(action?.kind, label)[language];
  return { language, spoken, history: wordless[language] };
}

const wordless: Line = { th: 'จะทำคำสั่งนี้ใช่ไหม', en: 'Carry out this command?' };
function asking(kind: NonNullable<Action>['kind'] | undefined, label: string): Line {
  if (kind === 'type' || kind === 'search') return { th: `จะพิมพ์ในช่อง ${label} ใช่ไหม`, en: `Type into ${label}?` };
  if (kind === 'select') return { th: `จะเลือก ${label} ใช่ไหม`, en: `Select ${label}?` };
  return { th: `จะกด ${label} ใช่ไหม`, en: `Press ${label}?` };
}
