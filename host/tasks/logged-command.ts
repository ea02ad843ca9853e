/** A command as the action log shows it: in short, and with the text that it types as `[text]`. */
import type { TaskRevision } from '../../core/receipts/task-record.ts';
import { searchText, typeText } from '../../sdk/commands/payload.ts';
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';

/** The words that a round stood for. */
export function wordsOf(revision: TaskRevision): string {
  return revision.words ?? revision.correction?.texts[0] ?? revision.guidance ?? revision.instructions;
}

export function loggedCommand(revision: TaskRevision, result: BrowserRunResult | undefined): string {
  const words = wordsOf(revision);
  const text = searchText(words) ?? typeText(words);
  if (text !== undefined) return words.replace(text, () => '[text]');
  const kind = result?.commandOutcome?.action?.kind;
  // The words hold somewhere in them what was typed; where, only the decision knew.
  return revision.directCommand && (kind === 'type' || kind === 'search') ? '[text]' : words;
}
