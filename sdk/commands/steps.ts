/**
 * A message that is a list of steps, split into its steps.
 *
 * A list is the user's own authorization for everything in it, so it has to be one beyond doubt: conditions, text behind
 * a list, two lists, mixed marks or a gap in the numbers make the message one ordinary command. No word of a step is
 * ever lost or moved.
 *
 * Runs inside the plugin sandbox.
 */
import { canonical, withoutQuotations } from './canonical-text.ts';
import { OPEN_VERBS, SEARCH_VERBS, TYPE_VERBS } from './phrases.ts';

/** UTF-16 units of a message that may be a list. */
export const MAX_MESSAGE = 4000;
export const MIN_STEPS = 2;
export const MAX_STEPS = 12;
/** UTF-16 units of one step. */
export const MAX_STEP = 300;
/** UTF-16 units of a header in front of the first step on its line. */
const MAX_HEADER = 120;

/** The steps of a message, or undefined where it is one ordinary command. */
export function splitSteps(message: string): string[] | undefined {
  if (message.length > MAX_MESSAGE) return undefined;
  const lines = message.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => (isPacingNote(line) ? '' : line.trim()));
  if (lines.some(hasCondition)) return undefined;
  const listed = listedItems(lines);
  if (listed === 'not a list') return undefined;
  const steps = (listed ?? unlistedSteps(lines) ?? []).map(tidy);
  const fits = steps.length >= MIN_STEPS && steps.length <= MAX_STEPS;
  return fits && steps.every((step) => step !== '' && step.length <= MAX_STEP) ? steps : undefined;
}

/** The parts of one step that connecting words join, in order; one part where there are none. */
export function splitParts(step: string): string[] {
  const parts = cut(step, CONNECTOR).map(tidy).filter(Boolean);
  return parts.length > 0 ? parts : [step];
}

const tidy = (step: string) =>
  step
    .trim()
    .replace(/^(?:และ|and)\s+/i, '')
    .replace(/[.。]$/, '')
    .trim();

const ENGLISH_PACE =
  /^(?:please\s+)?(?:(?:start|begin)\s+(?:with|from|at)\s+step\s*1(?!\d)|(?:do|run|perform)\s+(?:them|these|it|the\s+steps|each\s+step)\s+one\s+(?:by\s+one|at\s+a\s+time)\s*[.!]?\s*$|one\s+step\s+at\s+a\s+time\s*[.!]?\s*$)/i;
const THAI_PACE = /^(?:เริ่ม(?:จาก|ที่|ทำ)?ขั้น(?:ตอน)?ที่\s*[1๑](?![\d๐-๙])|ทำ(?:ที)?ละ\s*(?:ขั้น|ข้อ|step)(?!.*[:：]\s*\S))/i;

/** A line that says how to go about the list, and is no part of it. */
function isPacingNote(line: string): boolean {
  const text = canonical(line).trim();
  return ENGLISH_PACE.test(text) || THAI_PACE.test(text);
}

const CONDITION = /(?<![\p{L}\p{N}_])(?:if|unless|until|when|while)(?![\p{L}\p{N}_])|ถ้า|หาก|จนกว่า|เมื่อ/iu;
const hasCondition = (line: string) => CONDITION.test(canonical(withoutQuotations(line)));

const NUMBERED = /^([\d๐-๙]{1,2})[.)](?=\s|$|[^\d\s])\s*/;
const BULLETED = /^(?:[-*](?:\s+|$)|•\s*)/;
const toNumber = (digits: string) => Number(digits.replace(/[๐-๙]/g, (digit) => String(digit.charCodeAt(0) - 0x0e50)));

/** The items of a numbered or bulleted list; undefined where there is none at all. */
function listedItems(lines: readonly string[]): string[] | 'not a list' | undefined {
  const first = lines.findIndex((line) => NUMBERED.test(line) || BULLETED.test(line) || INLINE_START.test(line));
  if (first < 0) return undefined;
  const region = lines.slice(first).filter((line) => line !== '');
  if (region.every((line) => BULLETED.test(line))) return region.map((line) => line.replace(BULLETED, ''));
  if (region.some((line) => BULLETED.test(line))) return 'not a list';
  return numberedLines(region) ?? inlineNumbers(region) ?? 'not a list';
}

/** One item a line, numbered from one without a gap. */
function numberedLines(region: readonly string[]): string[] | undefined {
  if (region.length < 2) return undefined;
  const items: string[] = [];
  for (const line of region) {
    const mark = NUMBERED.exec(line);
    if (!mark || toNumber(mark[1] ?? '') !== items.length + 1) return undefined;
    items.push(line.slice(mark[0].length));
  }
  return items;
}

/** A first number behind a header on the same line. */
const INLINE_START = /^[^:：]*[:：]\s*[1๑][.)](?!\d)/;
const INLINE_MARK = /(?:^|(?<=\s)|(?<=[:：]))([\d๐-๙]{1,2})[.)](?=\s|$|[^\d\s])/g;

/** Several items on a line. What stands before the first number must be a header. */
function inlineNumbers(region: readonly string[]): string[] | undefined {
  const text = region.join('\n');
  const marks = [...withoutQuotations(text).matchAll(INLINE_MARK)];
  const before = text.slice(0, marks[0]?.index).trim();
  if (marks.length < 2 || (before !== '' && !/[:：]$/.test(before))) return undefined;
  if (marks.some((mark, index) => toNumber(mark[1] ?? '') !== index + 1)) return undefined;
  const items = marks.map((mark, index) => text.slice(mark.index + mark[0].length, marks[index + 1]?.index).trim());
  return items.some((item) => item.includes('\n')) ? undefined : items;
}

const ROLE = /^(?:you\s+are|you['’]re)(?![\p{L}\p{N}])|^(?:คุณกำลัง|คุณคือ|คุณเป็น)/iu;

/** Steps separated by commas, lines and connecting words, behind at most one header and a sentence about the role. */
function unlistedSteps(lines: readonly string[]): string[] | undefined {
  const headers = lines.flatMap((line, index) => (/[:：]$/.test(line) ? [index] : []));
  if (headers.length > 1) return undefined;
  let blocks = toBlocks(headers[0] === undefined ? lines : lines.slice(headers[0] + 1));
  if (headers[0] === undefined) {
    while (blocks.length > 1 && isRole(blocks[0]?.[0])) blocks = blocks.slice(1);
  }
  if (blocks.length !== 1) return undefined;
  const block = headers[0] === undefined ? withoutRole(blocks[0] ?? []) : (blocks[0] ?? []);
  const text = withoutInlineHeader(block.join('\n'));
  return cut(text, SEPARATOR).filter((step) => tidy(step) !== '');
}

function toBlocks(lines: readonly string[]): string[][] {
  const blocks: string[][] = [[]];
  for (const line of lines) {
    if (line === '') blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.filter((block) => block.length > 0);
}

const isRole = (line: string | undefined) => line !== undefined && ROLE.test(canonical(line));

/** Drops leading sentences about who the reader is: up to the end of the sentence, else the line. */
function withoutRole(block: readonly string[]): string[] {
  let [first, ...others] = block;
  while (isRole(first)) {
    const end = /[.!?。](?:\s+|$)/.exec(withoutQuotations(first ?? ''));
    first = end ? (first ?? '').slice(end.index + end[0].length) : '';
    if (first === '') [first, ...others] = others;
  }
  return first === undefined ? others : [first, ...others];
}

const VERBS = new Set<string>([...[...SEARCH_VERBS, ...TYPE_VERBS].map(({ word }) => word), ...OPEN_VERBS]);
const INLINE_HEADER = new RegExp(`^([^,，、:：\\n]{1,${MAX_HEADER}})(?::\\s+|：\\s*)(?=\\S)`);

/** Drops a short header on the line of the first step. Never the verb of a command, an address or a time. */
function withoutInlineHeader(text: string): string {
  const header = INLINE_HEADER.exec(withoutQuotations(text));
  const words = header?.[1]?.trim() ?? '';
  const kept = !header || words.includes('//') || /\d$/.test(words) || VERBS.has(canonical(words).toLowerCase());
  return kept ? text : text.slice(header[0].length);
}

const CONNECTOR = /(?<=^|\s)(?:แล้วก็|แล้ว|จากนั้นก็|จากนั้น)|(?<=^|\s)(?:and\s+)?then(?=\s|$)/gi;
const SEPARATOR = new RegExp(`(?<!\\d),|,(?!\\d)|[、，\\n]|${CONNECTOR.source}`, 'gi');

/** Cuts a text at separators, never inside a quotation. */
function cut(text: string, separator: RegExp): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const found of withoutQuotations(text).matchAll(separator)) {
    pieces.push(text.slice(from, found.index));
    from = found.index + found[0].length;
  }
  pieces.push(text.slice(from));
  return pieces.map((piece) => piece.trim());
}
