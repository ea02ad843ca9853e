/** `jev-host audit verify`: was anything of the audit log altered or removed. */
import { existsSync } from 'node:fs';
import { type AuditVerdict, verifyAudit } from '../../core/receipts/audit-verification.ts';
import { openLmdbStore } from '../../core/store/lmdb-store.ts';
import { ownerSocket } from '../data-directory.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { connectHost, dataDirectoryOf, hostOptions, hostOptionsHelp } from './host-client.ts';
import { parseOptions } from './options.ts';

export const command: Command = {
  name: 'audit',
  summary: 'Verifies the hash chain of the audit log.',
  usage: [
    'Usage: jev-host audit verify [--head SEQ:HASH] [--json]',
    '',
    'Exits with 0 only if the chain is whole and every receipt is what the chain says. A running host is asked; without one the',
    'store is read directly. Removal of the newest entries shows only against a head that was noted before: keep the printed',
    'head somewhere else and give it back with --head.',
    '',
    hostOptionsHelp,
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { ...hostOptions, head: 'text', json: 'flag' });
    const [action, ...more] = positionals;
    if (action !== 'verify' || more.length > 0) {
      throw new UsageError(action === 'verify' ? `"${more[0]}" was not expected.` : 'Name what to do: verify.');
    }
    const head = options.head === undefined ? undefined : headOf(options.head);
    const verdict = await verdictOf(options, head);
    if (options.json) print(io, JSON.stringify(verdict));
    else {
      const { anchor } = verdict;
      if (anchor) {
        const on = new Date(anchor.prunedAt).toISOString();
        print(io, `Begins at entry ${anchor.seq + 1}; what lay before was pruned on ${on}, as the chain itself says.`);
      }
      for (const problem of verdict.problems) print(io, problem.says);
      print(
        io,
        `${verdict.entries} entries, ${verdict.receipts} receipts compared. Head ${verdict.head.seq}:${verdict.head.hash}`,
      );
      say(io, verdict.whole ? 'The chain is whole.' : 'The chain is NOT whole: something was altered or removed.');
    }
    return verdict.whole ? 0 : 1;
  },
};

type Where = Parameters<typeof connectHost>[0];

async function verdictOf(where: Where, head: AuditVerdict['head'] | undefined): Promise<AuditVerdict> {
  const running = where.url !== undefined || existsSync(ownerSocket(await dataDirectoryOf(where)));
  if (running) {
    try {
      const host = await connectHost(where);
      try {
        return (await host.get(`/admin/audit/verify${head ? `?head=${head.seq}:${head.hash}` : ''}`)) as AuditVerdict;
      } finally {
        await host.close();
      }
    } catch (error) {
      // A socket that a killed host left behind: nobody holds the store.
      if (where.url !== undefined || (error as { code?: string }).code !== 'HOST_NOT_RUNNING') throw error;
    }
  }
  const store = await openLmdbStore({ directory: await dataDirectoryOf(where), readOnly: true });
  try {
    return verifyAudit(store, head);
  } finally {
    await store.close();
  }
}

function headOf(text: string): AuditVerdict['head'] {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new UsageError('--head takes SEQ:HASH as `audit verify` prints it.');
  return { seq: Number(seq), hash };
}
