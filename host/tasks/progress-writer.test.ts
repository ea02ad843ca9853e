import { describe, expect, it } from 'vitest';
import type { NewEvent } from './event-log.ts';
import { createRunProgress } from './progress-writer.ts';
import type { TaskBook } from './task-book.ts';

function writer() {
  const batches: NewEvent[][] = [];
  const book = { tell: async (_where: unknown, events: NewEvent[]) => void batches.push(events) };
  const where = { conversationId: 'c', agentId: 'a', taskId: 't' };
  return { progress: createRunProgress(book as unknown as TaskBook, where), batches };
}

const decided = (more = {}) => ({
  contractVersion: 1,
  phase: 'decided',
  steps: 0,
  evaluations: 1,
  requestId: 'r',
  model: 'm',
  operation: 'CLICK',
  label: 'SECRET OF THE PAGE',
  operation_confidence: 0.9,
  target_confidence: 0.2,
  decision_ms: 180,
  ...more,
});

describe('the events of a run', () => {
  it('tell of a decision that nothing came of, with how sure it was and without the page’s words', async () => {
    const { progress, batches } = writer();
    progress.report(decided());
    await progress.flushed();
    expect(batches.flat()).toMatchObject([
      {
        type: 'browser.decision',
        taskId: 't',
        data: { operation: 'CLICK', operation_confidence: 0.9, target_confidence: 0.2 },
      },
    ]);
    expect(JSON.stringify(batches)).not.toContain('SECRET');
  });

  it('write a decision together with the action that followed it', async () => {
    const { progress, batches } = writer();
    progress.report(decided());
    progress.report({
      contractVersion: 1,
      phase: 'acted',
      steps: 1,
      evaluations: 1,
      operation: 'CLICK',
      outcome: 'confirmed',
    });
    await progress.flushed();
    expect(batches.map((batch) => batch.map(({ type }) => type))).toEqual([['browser.decision', 'task.progress']]);
  });

  it('stay bounded for a controller that reports without end', async () => {
    const { progress, batches } = writer();
    for (let i = 0; i < 10_000; i++) progress.report(decided());
    await progress.flushed();
    expect(batches.flat().length).toBeLessThanOrEqual(256);
  });
});
