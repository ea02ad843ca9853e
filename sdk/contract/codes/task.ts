import type { CodeEntry } from '../codes.ts';

export const taskCodes = {
  TASK_NOT_FOUND: {
    says: 'There is no such task in this conversation.',
    next: 'List the tasks of the conversation with task_status.',
    retry: 'useless',
  },
  IDEMPOTENCY_CONFLICT: {
    says: 'This id was used before with other contents.',
    next: 'Use a new id for a new request; the earlier one stands as it was.',
    retry: 'useless',
  },
  REVISION_CONFLICT: {
    says: ({ revision }) => `The task is at another revision${revision === undefined ? '' : ` (${revision})`}.`,
    next: 'Read the task and send the call again with its current revision, if it is still wanted.',
    retry: 'useless',
  },
  STATE_CONFLICT: {
    says: ({ state }) => `The task’s state${state ? ` (${state})` : ''} does not allow this.`,
    next: 'Read the task; its outcome and code say what is possible next.',
    retry: 'useless',
  },
  AUTOMATION_SESSION_EXISTS: {
    says: ({ taskId, state }) => `The target is in use by task ${taskId} (${state}).`,
    next: 'Continue that task with task_update, or end it with task_cancel.',
    retry: 'useless',
  },
  AUTOMATION_SESSION_CLOSED: {
    says: 'The task’s session is closed.',
    next: 'Start a new task for the target.',
    retry: 'useless',
  },
  COMMAND_QUEUE_FULL: {
    says: ({ limit }) => `${limit ?? 20} commands are already waiting.`,
    next: 'Wait until some have run.',
    retry: 'safe',
  },
  NOTHING_TO_RESUME: {
    says: 'There is no work that was paused.',
    next: 'Send a new command with revise.',
    retry: 'useless',
  },
  ORCHESTRATION_DISABLED: {
    says: 'Tasks are switched off here.',
    next: 'Ask the operator to enable them.',
    retry: 'useless',
  },
  TASK_QUESTION: {
    says: 'The running task asks its owner something and waits for the answer.',
    next: 'Answer with task_answer, naming the pendingQuestion; the same run goes on with it.',
    retry: 'useless',
  },
  QUESTION_NOT_FOUND: {
    says: 'That question is not open.',
    next: 'Read the task; its pendingQuestion names the open one.',
    retry: 'useless',
  },
  FIELD_TEXT_NEEDED: {
    says: 'The question asks for the exact text of a field.',
    next: 'Send it as field_text (at most 2000 characters).',
    retry: 'useless',
  },
  REPLAN_LIMIT: {
    says: 'Three replans of this goal have been used.',
    next: 'Ask the user how to go on; a new update by the user starts afresh.',
    retry: 'useless',
  },
  REPLAN_REPEATED: {
    says: 'The same guidance was already tried.',
    next: 'Give other guidance, or report what stands in the way.',
    retry: 'useless',
  },
  REPLAN_NOT_ALLOWED: {
    says: 'This stop cannot be replanned by an agent on its own.',
    next: 'Read the task; settle an unknown outcome first, or ask the user.',
    retry: 'useless',
  },
  AGENT_HANDOFF: {
    says: 'The user’s command came to nothing and was handed to the agent.',
    next: 'Read fresh evidence. Send at most one command with task_update (when_ready), or answer the user.',
    retry: 'useless',
  },
  AGENT_HANDOFF_ONE_COMMAND: {
    says: 'Words that were handed to the agent allow exactly one command on the same task, and nothing else.',
    next: 'Send one task_update with mode when_ready at the task’s revision, or answer the user.',
    retry: 'useless',
  },
  AGENT_HANDOFF_USED: {
    says: 'The one command for these words of the user was already sent.',
    next: 'Report to the user and wait for the next word.',
    retry: 'useless',
  },
  COMMAND_NOT_SENT: {
    says: 'The command waited behind one that ended the queue, and was not sent.',
    next: 'Look at the page, then send it again if it is still wanted.',
    retry: 'safe',
  },
  DUPLICATE_VOICE_ECHO: {
    says: 'The same words were just spoken to the task; their typed echo runs nothing.',
    next: 'Nothing is needed. Wait a moment and send it again if it was meant twice.',
    retry: 'safe',
  },
  READ_REQUEST_ONLY: {
    says: 'The user asked only to read; nothing may be done under this notice.',
    next: 'Read fresh evidence and answer the user.',
    retry: 'useless',
  },
  GATEWAY_ADAPTER_UNAVAILABLE: {
    says: ({ adapter }) => `No controller for "${adapter}" is running.`,
    next: 'Enable a controller plugin for it. `jev-host plugin list` shows why none is running.',
    retry: 'safe',
  },
  GATEWAY_REQUEST_DENIED: {
    says: 'The run was refused before anything was sent.',
    next: 'Read the task’s failure; correct what it names and start a new revision.',
    retry: 'safe',
  },
  GATEWAY_REQUEST_UNCONFIRMED: {
    says: 'It is not certain whether the run was taken up.',
    next: 'Read fresh evidence before acting again.',
    retry: 'unsafe',
  },
  TASK_DEADLINE: {
    says: 'The task’s time is over.',
    next: 'Read the page; continue with a new revision if it is still wanted.',
    retry: 'unsafe',
  },
  TASK_CANCELLED: {
    says: 'The task was cancelled.',
    next: 'Start a new task if it is still wanted.',
    retry: 'useless',
  },
  REVISION_SUPERSEDED: {
    says: 'A newer instruction took the place of this one.',
    next: 'Follow the task; the newer instruction runs.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
