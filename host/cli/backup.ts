/** `jev-host backup DIR`: a checked copy of the store, of a running host or of a closed one. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { sealBackup } from '../../core/receipts/backup.ts';
import { openLmdbStore } from '../../core/store/lmdb-store.ts';
import { isHostError } from '../../sdk/contract/errors.ts';
import { ownerSocket } from '../data-directory.ts';
import { VERSION } from '../version.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { connectHost, dataDirectoryOf } from './host-client.ts';
import { parseOptions } from './options.ts';

export const command: Command = {
  name: 'backup',
  summary: 'Copies the store, also while the host runs, and checks the copy.',
  usage: [
    'Usage: jev-host backup DIR (--config FILE | --data-dir DIR) [--json]',
    '',
    'Writes DIR/store.mdb and, once the copy was read back and its audit chain found whole, DIR/backup.json. A running host',
    'makes the copy itself and goes on working; DIR must be one that the host may write to. DIR must not hold a backup yet.',
    'The copy holds tasks, receipts, the audit log and what plugins stored. It holds no keys, no stored login and nothing of',
    'the browser’s profile.',
    '',
    'Example: jev-host backup /backups/jev-host/2026-12-01 --config config.json',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { config: 'text', 'data-dir': 'text', json: 'flag' });
    const [named, ...more] = positionals;
    if (named === undefined || more.length > 0) throw new UsageError('Name one directory for the backup.');
    const directory = resolve(named);
    const at = Date.now();
    await copyStore(options, directory);
    const note = await sealBackup(directory, { at, hostVersion: VERSION });
    if (options.json) print(io, JSON.stringify({ directory, ...note }));
    else {
      print(io, `${directory}: ${note.store.bytes} bytes, audit head ${note.audit.seq}:${note.audit.hash}`);
      say(io, 'The copy was read back and its audit chain is whole.');
    }
    return 0;
  },
};

async function copyStore(where: Parameters<typeof connectHost>[0], directory: string): Promise<void> {
  const dataDir = await dataDirectoryOf(where);
  if (existsSync(ownerSocket(dataDir))) {
    try {
      const host = await connectHost(where);
      try {
        await host.post('/admin/backup', { directory });
        return;
      } finally {
        await host.close();
      }
    } catch (error) {
      // A socket that a killed host left behind: nobody holds the store.
      if (!isHostError(error, 'HOST_NOT_RUNNING')) throw error;
    }
  }
  // Held exclusively, so that no host starts on it meanwhile; a running one without a socket is refused here.
  const store = await openLmdbStore({ directory: dataDir, readOnly: true });
  try {
    await store.backup(directory);
  } finally {
    await store.close();
  }
}
