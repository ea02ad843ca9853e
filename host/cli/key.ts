/** `jev-host key`: makes API keys. */
import { createHash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { ApiKey } from '../api/config.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { parseOptions } from './options.ts';

/** Bytes of randomness in a key; far beyond what can be guessed. */
const KEY_BYTES = 32;

export const command: Command = {
  name: 'key',
  summary: 'Makes an API key and shows it once.',
  usage: [
    'Usage: jev-host key create [--id ID] [--agent AGENT]... [--access read|write|admin] [--json]',
    '',
    'Prints a new key, and the entry for gateway.api.keys that lets it in. The entry holds the SHA-256 of the key and',
    'not the key, so keep the key now: it cannot be shown again.',
    '',
    '--id ID         Names the key (default: key-<random>). The principal is api:ID.',
    '--agent AGENT   An agent that the key may use. May be given more than once; without it, every agent.',
    '--access        read looks, write also starts and steers tasks, admin also binds targets (default: write).',
    '--json          Prints { "key", "entry" }.',
    '',
    'Example: jev-host key create --id laptop --agent assistant',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { id: 'text', agent: 'list', access: 'text', json: 'flag' });
    if (positionals[0] !== 'create' || positionals.length > 1) throw new UsageError('Name what to do: create.');
    const key = `jh_${randomBytes(KEY_BYTES).toString('base64url')}`;
    const entry = v.safeParse(ApiKey, {
      id: options.id ?? `key-${randomBytes(3).toString('hex')}`,
      sha256: createHash('sha256').update(key).digest('hex'),
      agents: options.agent.length > 0 ? options.agent : '*',
      access: options.access ?? 'write',
    });
    if (!entry.success) {
      const issue = entry.issues[0];
      throw new UsageError(`--${v.getDotPath(issue)?.replace('agents.0', 'agent') ?? 'id'}: ${issue.message}.`);
    }
    if (options.json) {
      print(io, JSON.stringify({ key, entry: entry.output }));
      return 0;
    }
    say(io, 'Keep this key now; it cannot be shown again:');
    print(io, key);
    say(io, 'Add this to gateway.api.keys:');
    print(io, JSON.stringify(entry.output));
    return 0;
  },
};
