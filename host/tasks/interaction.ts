/**
 * What the next command of a task is told about the ones before it: their words, what they did, and the page they ended
 * on. Reference only. No typed text, no control references, and no address beyond its path.
 */
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { clip } from '../../sdk/commands/graphemes.ts';
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';

/** Rounds that are told, the newest. */
const ROUNDS = 3;
/** UTF-16 units of the whole, of an address and of a title. */
const MAX_CHARS = 4000;
const MAX_PAGE_CHARS = 300;

export function interactionOf(task: TaskRecord, result: BrowserRunResult | undefined): string | undefined {
  const rounds = task.actionLog.slice(-ROUNDS);
  if (rounds.length === 0) return undefined;
  const page = pageOf(result?.observation);
  const lines = rounds.map(
    ({ command, result: line }, index) =>
      `${index === rounds.length - 1 ? 'Previous command' : 'Earlier command'}: ${oneLine(command)} -> ${oneLine(line)}`,
  );
  return clip([...lines, ...(page === undefined ? [] : [`It ended on: ${page}`])].join('\n'), MAX_CHARS);
}

function pageOf(observation: BrowserRunResult['observation']): string | undefined {
  const { url, title } = observation ?? {};
  if (typeof url !== 'string') return undefined;
  const address = url.replace(/[?#].*$/s, '');
  const named = typeof title === 'string' && title.trim() !== '' ? ` (${oneLine(title)})` : '';
  return clip(`${oneLine(address)}${named}`, MAX_PAGE_CHARS);
}

const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
