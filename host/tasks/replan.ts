/**
 * Replans: what an agent may do by itself after a stop, without a new word of its user.
 *
 * Three per chain, each with guidance that was not tried before, only after stops that are known and certain. The goal,
 * the field values, the target and the authority stay; guidance goes beside them.
 */
import { createHash } from 'node:crypto';
import type { TaskRecord } from '../../core/receipts/task-record.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Notice } from '../../sdk/contract/task.ts';
import { isReplannable } from './known-stops.ts';

export const MAX_REPLANS = 3;
export const MAX_GUIDANCE_CHARS = 4000;

/** The notice under which an agent acts, when its user has not spoken since (DECISIONS 9). */
export function noticeOver(
  task: TaskRecord,
  notices: readonly Notice[],
  noticeId: string | undefined,
): Notice | undefined {
  const mine = notices.filter(
    ({ taskId, kind }) => taskId === task.taskId || (taskId === undefined && kind === 'message'),
  );
  if (noticeId !== undefined) {
    return mine.find((notice) => notice.noticeId === noticeId) ?? refuse('INVALID_INPUT', { path: 'notice_id' });
  }
  return mine.find((notice) => notice.revision === task.revision && notice.kind !== 'message');
}

/** @throws REPLAN_NOT_ALLOWED, REPLAN_LIMIT, REPLAN_REPEATED, INVALID_INPUT. */
export function replanned(task: TaskRecord, guidance: string): TaskRecord['replans'] {
  if (!isReplannable(task)) refuse('REPLAN_NOT_ALLOWED', { state: task.state });
  return counted(task, guidance);
}

/** One more move of the agent since its user last spoke. @throws REPLAN_LIMIT, REPLAN_REPEATED, INVALID_INPUT. */
export function counted(task: TaskRecord, guidance: string): TaskRecord['replans'] {
  if (guidance.length > MAX_GUIDANCE_CHARS) refuse('INVALID_INPUT', { path: 'instruction' });
  if (task.replans.used >= MAX_REPLANS) refuse('REPLAN_LIMIT', {});
  const print = fingerprint(guidance);
  if (task.replans.guidance.includes(print)) refuse('REPLAN_REPEATED', {});
  return { used: task.replans.used + 1, guidance: [...task.replans.guidance, print] };
}

/** A new word of the user begins a new chain. */
export const newChain = (): TaskRecord['replans'] => ({ used: 0, guidance: [] });

function fingerprint(guidance: string): string {
  const plain = guidance
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\p{P}\s]+/gu, ' ')
    .trim();
  return createHash('sha256').update(plain).digest('hex').slice(0, 16);
}
