/** `jev-host receipts`: what was written about a task's runs and mutations, for the one who answers for the host. */
import { type Command, print, say, UsageError } from './command.ts';
import { connectHost, hostOptions, hostOptionsHelp } from './host-client.ts';
import { parseOptions } from './options.ts';
import { textTable } from './text-table.ts';

interface ShownReceipt {
  requestId: string;
  revision: number;
  status: string;
  startedAt: number;
  endedAt?: number;
  outcome?: string;
  code?: string;
  mutations: { operationId: string; operation: string; recordedAt: number; outcome?: string }[];
}

export const command: Command = {
  name: 'receipts',
  summary: 'Shows the receipts of a task: each run, and each mutation with its operation id and outcome.',
  usage: [
    'Usage: jev-host receipts show TASK [--json]',
    '',
    'A mutation without an outcome was written down and its outcome was never heard: treat it as unknown.',
    '',
    hostOptionsHelp,
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { ...hostOptions, json: 'flag' });
    const [action, taskId, ...more] = positionals;
    if (action !== 'show')
      throw new UsageError(action ? `There is no "receipts ${action}".` : 'Name what to do: show.');
    if (!taskId || more.length > 0) throw new UsageError('Name one task.');
    const host = await connectHost(options);
    try {
      const task = encodeURIComponent(taskId);
      const path = host.owner
        ? `/admin/tasks/${task}/receipts`
        : `/agents/${encodeURIComponent(options.agent ?? '')}/sessions/${encodeURIComponent(options.session ?? 'default')}/tasks/${task}/receipts`;
      if (!host.owner && !options.agent) throw new UsageError('--url needs --agent.');
      const { receipts } = (await host.get(path)) as { receipts: ShownReceipt[] };
      if (options.json) print(io, JSON.stringify({ receipts }));
      else if (receipts.length === 0) say(io, 'Nothing was dispatched for this task.');
      else print(io, receipts.map(shown).join('\n\n'));
      return 0;
    } finally {
      await host.close();
    }
  },
};

function shown(receipt: ShownReceipt): string {
  const head = [
    `run ${receipt.requestId}, revision ${receipt.revision}`,
    receipt.status,
    receipt.outcome,
    receipt.code,
    `started ${when(receipt.startedAt)}`,
    receipt.endedAt === undefined ? undefined : `ended ${when(receipt.endedAt)}`,
  ];
  const rows = receipt.mutations.map(({ recordedAt, operation, operationId, outcome }) => [
    when(recordedAt),
    operation,
    operationId,
    outcome ?? '(not heard)',
  ]);
  return `${head.filter(Boolean).join(', ')}\n${textTable(['on disk at', 'operation', 'operation id', 'outcome'], rows)}`;
}

const when = (at: number): string => new Date(at).toISOString();
