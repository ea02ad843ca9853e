/** `jev-host task`: spawn, look at, follow and cancel tasks of a running host. */
import { readFileSync } from 'node:fs';
import type { TaskSnapshot } from '../../sdk/contract/task.ts';
import { type Command, type CommandIo, print, say, UsageError } from './command.ts';
import { connectHost, type HostClient, hostOptions, hostOptionsHelp } from './host-client.ts';
import { needed, parseOptions } from './options.ts';
import { sessionPath } from './session-path.ts';
import { plain, textTable } from './text-table.ts';

const kinds = {
  ...hostOptions,
  json: 'flag',
  title: 'text',
  target: 'text',
  'start-url': 'text',
  field: 'list',
  'request-id': 'text',
  wait: 'flag',
} as const;
type TaskOptions = ReturnType<typeof parseOptions<typeof kinds>>['options'];

const endStates = new Set(['completed', 'failed', 'cancelled', 'needs_reconciliation', 'waiting_input']);

export const command: Command = {
  name: 'task',
  summary: 'Spawns, shows, follows and cancels tasks of a running host.',
  usage: [
    'Usage: jev-host task spawn "INSTRUCTIONS" --target ID [--title TEXT] [--start-url URL] [--field "LABEL=TEXT" …]',
    '                                          [--request-id ID] [--wait]',
    '       jev-host task status [TASK] [--json]',
    '       jev-host task watch [TASK]',
    '       jev-host task cancel TASK',
    '       jev-host task targets [--json]',
    '',
    'spawn    Starts a task. --field may be given more than once; "@FILE" as TEXT reads the text from a file.',
    '         --wait follows it and exits with 0 only if it completed.',
    'status   One task, or all of the session.',
    'watch    Prints each step as it happens, until the task settles (or, without TASK, until you stop it).',
    'targets  What tasks can act on.',
    '',
    hostOptionsHelp,
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, kinds);
    const [action, subject, ...more] = positionals;
    const work = action === undefined ? undefined : actions[action];
    if (!work)
      throw new UsageError(
        action ? `There is no "task ${action}".` : 'Name what to do: spawn, status, watch, cancel or targets.',
      );
    if (more.length > 0) throw new UsageError(`"${more[0]}" was not expected.`);
    const host = await connectHost(options);
    try {
      return await work({ host, session: await sessionPath(host, options), subject, options, io });
    } finally {
      await host.close();
    }
  },
};

interface Call {
  host: HostClient;
  /** `/agents/…/sessions/…` */
  session: string;
  subject: string | undefined;
  options: TaskOptions;
  io: CommandIo;
}

const actions: Record<string, (call: Call) => Promise<number>> = {
  async spawn(call) {
    const { host, session, subject, options, io } = call;
    if (!subject) throw new UsageError('Say what is to be done, in quotes.');
    const body = {
      title: options.title ?? subject.slice(0, 80),
      instructions: subject,
      target_profile: 'gateway-managed',
      gateway_target: {
        adapter: 'browser',
        session_id: needed(options.target, 'target'),
        ...(options['start-url'] === undefined ? {} : { start_url: options['start-url'] }),
      },
      ...(options.field.length === 0 ? {} : { browser_fields: options.field.map(fieldOf) }),
      ...(options['request-id'] === undefined ? {} : { request_id: options['request-id'] }),
    };
    const { task } = (await host.post(`${session}/tasks`, body)) as { task: TaskSnapshot };
    if (!options.wait) return show(io, options, task);
    say(io, `Task ${task.taskId}`);
    return watch({ ...call, subject: task.taskId });
  },

  async status({ host, session, subject, options, io }) {
    if (subject) {
      const { task } = (await host.get(`${session}/tasks/${encodeURIComponent(subject)}`)) as { task: TaskSnapshot };
      return show(io, options, task);
    }
    const { tasks } = (await host.get(`${session}/tasks`)) as { tasks: TaskSnapshot[] };
    if (options.json) print(io, JSON.stringify({ tasks }));
    else if (tasks.length === 0) say(io, 'No tasks.');
    else
      print(
        io,
        textTable(
          ['task', 'state', 'revision', 'outcome', 'title', 'last word'],
          tasks.map((task) => [
            task.taskId,
            task.state,
            task.revision,
            task.outcome,
            task.title.slice(0, 40),
            task.latestProgress?.text,
          ]),
        ),
      );
    return 0;
  },

  watch,

  async cancel({ host, session, subject, options, io }) {
    if (!subject) throw new UsageError('Name the task.');
    const { task } = (await host.post(`${session}/tasks/${encodeURIComponent(subject)}/cancel`, {})) as {
      task: TaskSnapshot;
    };
    return show(io, options, task);
  },

  async targets({ host, session, options, io }) {
    const { targets } = (await host.get(`${session}/targets`)) as {
      targets: { adapter: string; session_id: string; name: string }[];
    };
    if (options.json) print(io, JSON.stringify({ targets }));
    else if (targets.length === 0) say(io, 'No targets. Approve a browser tab first.');
    else
      print(
        io,
        textTable(
          ['target', 'adapter', 'name'],
          targets.map((target) => [target.session_id, target.adapter, target.name]),
        ),
      );
    return 0;
  },
};

async function watch({ host, session, subject, io }: Call): Promise<number> {
  if (subject) {
    // What has already settled has no further event.
    const { task } = (await host.get(`${session}/tasks/${encodeURIComponent(subject)}`)) as { task: TaskSnapshot };
    if (endStates.has(task.state)) return settled(io, task);
  }
  for await (const event of host.events(`${session}/events`, io.signal)) {
    const { taskId } = event as { taskId?: string };
    if (subject && taskId !== subject) continue;
    const line = lineOf(event.type, event.data);
    if (line) print(io, subject ? line : `${taskId?.slice(0, 8) ?? ''}  ${line}`);
    const task = event.data.task as TaskSnapshot | undefined;
    if (subject && event.type === 'task.state' && task && endStates.has(task.state)) return settled(io, task);
  }
  return 0;
}

function settled(io: CommandIo, task: TaskSnapshot): number {
  print(io, `${task.state}: ${plain(task.latestProgress?.text ?? '')}`);
  return task.state === 'completed' ? 0 : 1;
}

/** One step or state as a person reads it. */
function lineOf(type: string, data: Record<string, unknown>): string | undefined {
  if (type === 'task.state') {
    const task = data.task as TaskSnapshot;
    return `state   ${task.state}${task.revision > 1 ? ` (revision ${task.revision})` : ''}`;
  }
  if (type !== 'task.progress' || data.phase !== 'acted') return undefined;
  const { steps, operation, label, outcome, target_probability, operation_probability, decision_ms, action_ms } = data;
  const probability = (target_probability ?? operation_probability) as number | undefined;
  return [
    `step ${String(steps).padStart(2)}`,
    String(operation).padEnd(11),
    label ? `"${plain(String(label))}"` : '',
    probability === undefined ? '' : `p ${probability.toFixed(2)}`,
    decision_ms === undefined ? '' : `decided in ${Math.round(Number(decision_ms))} ms`,
    action_ms === undefined ? '' : `done in ${Math.round(Number(action_ms))} ms`,
    outcome && outcome !== 'confirmed' ? `(${outcome})` : '',
  ]
    .filter(Boolean)
    .join('  ');
}

function show(io: CommandIo, options: TaskOptions, task: TaskSnapshot): number {
  if (options.json) print(io, JSON.stringify({ task }));
  else {
    const lines: [string, string | number | undefined][] = [
      ['task', task.taskId],
      ['title', task.title],
      ['state', task.state],
      ['outcome', task.outcome],
      ['revision', task.revision],
      ['target', task.gatewayTarget.name],
      ['last word', task.latestProgress?.text],
      ['question', task.pendingQuestion?.text],
      ['failure', task.failure && `${task.failure.code}: ${task.failure.message}`],
    ];
    print(
      io,
      lines
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name.padEnd(10)} ${plain(String(value))}`)
        .join('\n'),
    );
  }
  return 0;
}

function fieldOf(text: string): { label: string; text: string } {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--field takes LABEL=TEXT, not "${text}".`);
  const value = text.slice(at + 1);
  return {
    label: text.slice(0, at),
    text: value.startsWith('@') ? readFileSync(value.slice(1), 'utf8').trim() : value,
  };
}
