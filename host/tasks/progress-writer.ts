/**
 * Progress of runs on its way to the event log: what each decision measured and one line per step, written in batches that
 * nobody waits for.
 */
import * as v from 'valibot';
import { BrowserProgress } from '../../sdk/contract/browser-run.ts';
import { quoted } from './done-text.ts';
import type { NewEvent } from './event-log.ts';
import type { TaskBook } from './task-book.ts';

/** Lines of one run that wait for the disk; a controller that floods loses its own. */
const MAX_WAITING = 256;

export interface RunProgress {
  /** @param event as the plugin sent it. */
  report(event: unknown): void;
  flushed(): Promise<void>;
}

export function createRunProgress(
  book: TaskBook,
  where: { conversationId: string; agentId: string; taskId: string },
): RunProgress {
  let waiting: NewEvent[] = [];
  let writing: Promise<void> | undefined;
  let decided: Partial<BrowserProgress> = {};

  async function write(): Promise<void> {
    // The controller's next call is on its way and goes first.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await book.tell(where, batch);
    }
  }

  const begin = (): void => {
    writing ??= write()
      .catch(() => {})
      .finally(() => {
        writing = undefined;
      });
  };

  return {
    report(event) {
      // Most events only say that something begins; they leave no line.
      const phase = (event as { phase?: unknown } | null | undefined)?.phase;
      if (phase !== 'decided' && phase !== 'acted') return;
      const checked = v.safeParse(BrowserProgress, event);
      if (!checked.success || waiting.length >= MAX_WAITING) return;
      const progress = checked.output;
      if (progress.phase === 'decided') {
        decided = progress;
        // Goes to the disk with the action that follows, or at the end of the run.
        waiting.push({ type: 'browser.decision', taskId: where.taskId, data: measuredOf(progress) });
        return;
      }
      // The line of a step names what was decided, how sure it was, and how long it took.
      const step = { ...decided, ...progress };
      decided = {};
      waiting.push({ type: 'task.progress', taskId: where.taskId, data: { ...step, text: lineOf(step) } });
      begin();
    },
    flushed: async () => {
      if (waiting.length > 0) begin();
      await writing;
    },
  };
}

/** What a decision measured, for later diagnosis: no label, since that is the page's text. */
function measuredOf({ contractVersion: _version, phase: _phase, label: _label, ...measured }: BrowserProgress) {
  return measured;
}

function lineOf({ operation, label, outcome }: Partial<BrowserProgress>): string {
  const target = label ? ` ${quoted(label, 80)}` : '';
  return `${operation ?? 'step'}${target}${outcome && outcome !== 'confirmed' ? ` (${outcome})` : ''}`;
}
