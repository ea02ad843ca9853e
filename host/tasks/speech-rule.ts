/**
 * What confirmed speech does to a task that is at work (wire-contracts 4.10): while the agent drives, it pauses new actions
 * until the words are written down; while the user's own command runs, the words are simply the next command.
 */
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import type { SpeechRule } from './service.ts';
import { isActive } from './transitions.ts';

/** @param revision the one that is at work. */
export function speechRule(task: TaskRecord, revision: TaskRevision | undefined): SpeechRule {
  if (!isActive(task.state) && task.state !== 'queued') return 'runs';
  return revision?.directCommand && !revision.agentHandoff ? 'queues' : 'pauses';
}
