/** The owner's view of a stored task. */
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import type { TaskSnapshot } from '../../sdk/contract/task.ts';
import { sessionOf } from './session.ts';

export function snapshotOf(task: TaskRecord, revision: TaskRevision | undefined, now: number): TaskSnapshot {
  const { target } = task;
  return {
    taskId: task.taskId,
    conversationId: task.conversationId,
    agentId: task.agentId,
    agentSessionId: task.sessionId,
    ownerPrincipalId: task.principalId,
    title: task.title,
    targetProfile: 'gateway-managed',
    state: task.state,
    stateVersion: task.stateVersion,
    revision: task.revision,
    appliedRevision: task.appliedRevision,
    gatewayTarget: {
      adapter: target.adapter,
      sessionId: target.targetId,
      name: target.name,
      ...(target.startUrl === undefined ? {} : { startUrl: target.startUrl }),
    },
    automationController: task.controller,
    automationSession: sessionOf(task, now),
    actionLog: task.actionLog,
    currentInstructions: revision?.instructions ?? task.goal,
    createdAt: task.createdAt,
    updatedAt: task.updatedAt,
    ...(task.activeAttemptId ? { activeAttemptId: task.activeAttemptId } : {}),
    ...(task.dispatch ? { gatewayDispatch: task.dispatch } : {}),
    ...(task.control ? { executionControl: task.control } : {}),
    ...(task.report ? { browserReport: task.report } : {}),
    ...(task.progress ? { latestProgress: task.progress } : {}),
    ...(task.question ? { pendingQuestion: task.question } : {}),
    ...(task.cancellation ? { cancellation: task.cancellation } : {}),
    ...(task.replacedByTaskId ? { replacedByTaskId: task.replacedByTaskId } : {}),
    ...(task.result ? { result: task.result } : {}),
    ...(task.failure ? { failure: task.failure } : {}),
    ...(task.outcome ? { outcome: task.outcome } : {}),
    ...(task.queue.length > 0 ? { queuedCommands: task.queue.map((command) => command.text) } : {}),
  };
}
