/**
 * `tasks.control`: the tasks of whoever called this plugin's tool, read and steered in that caller's name.
 *
 * Threat: the plugin serves many callers. The port is one caller's and ends with the call; the task service asks again
 * whether that caller may. A plugin cannot start tasks, and a run of a task cannot steer tasks at all.
 */
import * as v from 'valibot';
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { answered, atMost, checked } from './json.ts';

/** Commands that one call may have under way. */
const MAX_AT_ONCE = 4;

const TaskId = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const steer = {
  /** A UUID; the same command under the same id changes nothing. */
  id: v.pipe(v.string(), v.uuid()),
  taskId: TaskId,
  expectedRevision: v.pipe(v.number(), v.integer(), v.minValue(0)),
};

export const TasksCommand = v.variant('action', [
  v.strictObject({ action: v.literal('status'), taskId: v.optional(TaskId) }),
  v.strictObject({ action: v.literal('cancel'), taskId: TaskId }),
  v.strictObject({
    action: v.literal('revise'),
    ...steer,
    text: v.pipe(v.string(), v.minLength(1), v.maxLength(4000)),
  }),
  v.strictObject({ action: v.picklist(['pause', 'resume', 'agent', 'user']), ...steer }),
]);
export type TasksCommand = v.InferOutput<typeof TasksCommand>;

export const tasksControl: Capability<'tasks.control'> = {
  id: 'tasks.control',
  create({ ports: { control }, cancelled }) {
    if (!control) return undefined;
    const inTurn = atMost(MAX_AT_ONCE);
    return {
      async control([text]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        const command = checked(TasksCommand, text);
        return answered('tasks.control', await inTurn(() => control(command, cancelled)));
      },
    };
  },
};
