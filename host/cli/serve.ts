/** `jev-host serve`: runs the host until it is asked to stop. */
import { openConfig } from '../config/config-file.ts';
import { InvalidConfig } from '../config/problems.ts';
import { dataDirectory } from '../data-directory.ts';
import { VERSION } from '../version.ts';
import { type Command, type CommandIo, print, say, UsageError } from './command.ts';
import { needed, parseOptions } from './options.ts';

export const command: Command = {
  name: 'serve',
  summary: 'Runs the host.',
  usage: [
    'Usage: jev-host serve --config FILE [--data-dir DIR] [--port N]',
    '',
    'Prints "jev-host ready http://HOST:PORT" on stdout once it answers, and its log on stderr. A configuration that is',
    'not valid ends it with 1 before anything is served. A changed file is followed while it runs. SIGINT or SIGTERM',
    'stops it in order; a second one at once.',
    '',
    '--config FILE    The configuration. See docs/configuration.md.',
    '--data-dir DIR   Where receipts and tasks are kept; overrides dataDir.',
    '--port N         Overrides gateway.api.port; 0 takes a free one.',
    '--dev            Approves plugins from a path as they are. For writing plugins, not for use.',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, {
      config: 'text',
      'data-dir': 'text',
      port: 'text',
      dev: 'flag',
    });
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" was not expected.`);
    const configFile = needed(options.config, 'config');
    const port = portOf(options.port);
    const config = await openConfig(configFile).catch((error: unknown) => listProblems(error, configFile, io));
    if (!config) return 1;

    const dataDir = dataDirectory({
      argument: options['data-dir'],
      configured: config.current.dataDir,
      configFile,
      env: io.env,
    });
    // Loaded late, so that an invalid configuration is said at once.
    const { createHost } = await import('../container.ts');
    const host = await createHost(config, {
      dataDir,
      env: io.env,
      port,
      version: VERSION,
      dev: options.dev,
      log: io.stderr,
    });
    try {
      const starting = host.start();
      // Asked to stop while it starts, it does not first wait for a device that takes its time.
      starting.catch(() => {});
      const url = await Promise.race([starting, stopped(io.signal)]);
      if (url !== undefined) print(io, `jev-host ready ${url}`);
      await stopped(io.signal);
    } finally {
      await host.stop();
    }
    return 0;
  },
};

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new UsageError('--port must be a number from 0 to 65535.');
  return port;
}

function listProblems(error: unknown, path: string, io: CommandIo): undefined {
  if (!(error instanceof InvalidConfig)) throw error;
  say(io, `${path} cannot be used:`);
  for (const { path: where, says } of error.problems) say(io, where === '' ? `  ${says}` : `  ${where}: ${says}`);
}

function stopped(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
