/** `jev-host restore DIR`: puts a backup where a host will start on it. */
import { resolve } from 'node:path';
import { restoreBackup } from '../../core/receipts/backup.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { dataDirectoryOf } from './host-client.ts';
import { parseOptions } from './options.ts';

export const command: Command = {
  name: 'restore',
  summary: 'Puts a backup into a data directory.',
  usage: [
    'Usage: jev-host restore DIR (--config FILE | --data-dir DIR) [--replace] [--json]',
    '',
    'DIR is a backup that `jev-host backup` made. The host must be stopped. The backup is checked first: a copy that does',
    'not fit its note, or whose audit chain is not whole, is refused and nothing is changed.',
    '',
    '--replace   A store that is there is kept beside the new one, as store.mdb.replaced-TIME. Without it, it is a reason',
    '            to refuse.',
    '',
    'What happened after the backup was taken is not in it. So a host that starts on it runs nothing by itself: tasks that',
    'waited for their turn are paused until their owner says how to go on, and runs that were under way count as',
    'interrupted.',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, {
      ...{ config: 'text', 'data-dir': 'text', replace: 'flag', json: 'flag' },
    } as const);
    const [named, ...more] = positionals;
    if (named === undefined || more.length > 0) throw new UsageError('Name the directory of one backup.');
    const to = await dataDirectoryOf(options);
    const { note, kept } = await restoreBackup({
      ...{ from: resolve(named), to, replace: options.replace, now: Date.now() },
    });
    if (options.json) print(io, JSON.stringify({ dataDir: to, takenAt: note.takenAt, ...(kept && { kept }) }));
    else {
      print(io, `${to}: the store of ${new Date(note.takenAt).toISOString()}${kept ? `; the old one is ${kept}` : ''}`);
      say(io, 'Tasks that waited are paused until their owner goes on.');
    }
    return 0;
  },
};
