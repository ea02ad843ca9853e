/** `jev-host login`: stores the evaluation provider's key, typed where nobody reads it. */
import { storeLogin } from '../../core/credentials/stored-login.ts';
import { type Command, say, UsageError } from './command.ts';
import { dataDirectoryOf } from './host-client.ts';
import { parseOptions } from './options.ts';
import { readSecret } from './secret-prompt.ts';

export const command: Command = {
  name: 'login',
  summary: 'Stores the key of the evaluation provider.',
  usage: [
    'Usage: jev-host login jev (--config FILE | --data-dir DIR)',
    '',
    'Asks for the key without showing it, and stores it in the data directory in a file that only you can read. The host',
    'uses it for its next evaluation, when the configuration names neither apiKeyFile nor apiKeyEnv. When standard input',
    'is no terminal, its first line is the key. The key is not tried.',
    '',
    'Example: jev-host login jev --config host.json',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { config: 'text', 'data-dir': 'text' });
    onlyJev(positionals);
    const dataDir = await dataDirectoryOf(options);
    const key = await readSecret('Key of the evaluation provider: ', io);
    const file = await storeLogin(dataDir, key);
    say(io, `The key is stored in ${file}. It was not tried.`);
    return 0;
  },
};

/** @throws UsageError for a login that does not exist. */
export function onlyJev(positionals: readonly string[]): void {
  if (positionals.length > 1) throw new UsageError(`"${positionals[1]}" was not expected.`);
  if (positionals[0] !== undefined && positionals[0] !== 'jev') {
    throw new UsageError(`There is no login "${positionals[0]}"; the only one is jev.`);
  }
}
