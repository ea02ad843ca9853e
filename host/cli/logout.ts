/** `jev-host logout`: removes the stored key. */
import { removeLogin } from '../../core/credentials/stored-login.ts';
import { type Command, say } from './command.ts';
import { dataDirectoryOf } from './host-client.ts';
import { onlyJev } from './login.ts';
import { parseOptions } from './options.ts';

export const command: Command = {
  name: 'logout',
  summary: 'Removes the stored key of the evaluation provider.',
  usage: [
    'Usage: jev-host logout jev (--config FILE | --data-dir DIR)',
    '',
    'Removes what "jev-host login" stored. The key stays valid at the provider; withdraw it there if it must not be used.',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { config: 'text', 'data-dir': 'text' });
    onlyJev(positionals);
    const removed = await removeLogin(await dataDirectoryOf(options));
    say(io, removed ? 'The stored key was removed.' : 'No key was stored.');
    return 0;
  },
};
