/** What stands in for a room that is switched off: every request is refused with a code, nothing is pretended. */
import { refuse } from '../sdk/contract/errors.ts';
import type { TaskService } from './tasks/service.ts';

const disabled = async (): Promise<never> => refuse('ORCHESTRATION_DISABLED');

export function noTasks(): TaskService {
  return {
    start: async () => undefined,
    stop: async () => undefined,
    discover: async () => ({ targets: [], nextOffset: null }),
    spawn: disabled,
    status: async (_caller, { taskId }) =>
      taskId === undefined ? { tasks: [], notices: [] } : refuse('ACCESS_DENIED'),
    update: disabled,
    answer: disabled,
    cancel: disabled,
    control: disabled,
    async *events(_caller, _afterId, signal) {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
  };
}
