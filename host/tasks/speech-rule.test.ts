import { expect, it } from 'vitest';
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import { speechRule } from './speech-rule.ts';

const rule = (state: TaskRecord['state'], revision: Partial<TaskRevision>) =>
  speechRule({ state } as TaskRecord, revision as TaskRevision);

it('speech waits behind the user’s own command, pauses what the agent drives, and otherwise just runs', () => {
  expect(rule('running', { directCommand: true })).toBe('queues');
  expect(rule('running', { directCommand: true, agentHandoff: true })).toBe('pauses');
  expect(rule('running', {})).toBe('pauses');
  expect(rule('queued', { directCommand: true })).toBe('queues');
  expect(rule('waiting_input', { directCommand: true })).toBe('runs');
  expect(rule('failed', {})).toBe('runs');
});
