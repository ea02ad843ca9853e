/** `jev-host drill`: kills a throw-away host at every moment of a task and shows what the next one found. */
import { drill } from '../drill/drill.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { parseOptions } from './options.ts';
import { textTable } from './text-table.ts';

export const command: Command = {
  name: 'drill',
  summary: 'Kills a throw-away copy of the host at every write-ahead point of a task and checks what is left.',
  usage: [
    'Usage: jev-host drill [--json]',
    '',
    'Runs one task on a fixture page, again and again. Each time the host is killed at another moment: when the task was',
    'accepted, and around each call to the page (sent, done, answered). A new host on the same data then says where the',
    'task stands and goes on as an agent may. The page counts what really reached it.',
    '',
    'Uses its own data directory and process. It touches no running host and no browser. Takes about a minute.',
    'Exits with 0 only if nothing was done twice, nothing was forgotten, and every audit chain is whole.',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { json: 'flag' });
    if (positionals.length > 0) throw new UsageError('drill takes no arguments.');
    if (!options.json) say(io, 'Killing a throw-away host at each moment of a task.');
    const rows = await drill({
      signal: io.signal,
      row: ({ point, broken }) => {
        if (!options.json) say(io, `${broken.length === 0 ? 'ok    ' : 'BROKEN'} ${point}`);
      },
    });
    const failed = rows.filter((row) => row.broken.length > 0);
    if (options.json) print(io, JSON.stringify({ rows, ok: failed.length === 0 }));
    else {
      const cells = rows.map((row) => [
        row.point,
        row.found,
        row.sent,
        row.broken.length === 0 ? 'ok' : row.broken.join('; '),
      ]);
      print(io, textTable(['killed when', 'state found', 'presses', 'verdict'], cells));
    }
    return failed.length === 0 && rows.length > 0 && !io.signal.aborted ? 0 : 1;
  },
};
