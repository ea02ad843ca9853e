/** `jev-host exec`: starts an agent's program with a filtered environment and, where a host runs, a way to it. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { agentEnvironment } from '../../core/credentials/child-environment.ts';
import { PrivateNames, privateNamesIn } from '../../core/credentials/private-names.ts';
import { jevPrivateNames } from '../../core/jev/config.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import { readConfig } from '../config/config-file.ts';
import { dataDirectory } from '../data-directory.ts';
import { type Command, type CommandIo, say, UsageError } from './command.ts';
import { type AgentCommand, agentCommand, TICKET_NAME, URL_NAME } from './exec/agent-command.ts';
import { agentTicket } from './exec/agent-ticket.ts';
import { needed, parseOptions } from './options.ts';

export const command: Command = {
  name: 'exec',
  summary: 'Starts an agent’s program without the host’s credentials.',
  usage: [
    'Usage: jev-host exec --config FILE [--agent ID] [--session ID] [--data-dir DIR] -- COMMAND [ARGS...]',
    '',
    'Runs COMMAND with your environment minus every variable that the configuration calls a credential. Where a host runs',
    `on the data directory, ${URL_NAME} and ${TICKET_NAME} hold its MCP address and a ticket of one hour for the agent’s`,
    'session. It works without a running host too, then without these two.',
    '',
    'claude        also gets the host as an MCP server, and settings that keep the private names empty.',
    'codex         also gets the host as an MCP server, and a shell policy that leaves the private names out.',
    'docker, podman  run, create and exec also get every private name set to nothing.',
    '',
    '--agent ID      Whose session the ticket is for (default: the only agent).',
    '--session ID    (default: default)',
    '--print         Prints the command line as JSON instead of running it.',
    '',
    'Example: jev-host exec --config host.json --agent assistant -- claude',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals, rest } = parseOptions(args, {
      config: 'text',
      'data-dir': 'text',
      agent: 'text',
      session: 'text',
      print: 'flag',
    });
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" was not expected; put the command after --.`);
    const [program, ...programArgs] = rest;
    if (program === undefined) throw new UsageError('Name the command to run after --.');
    const configFile = needed(options.config, 'config');
    const config = await readConfig(configFile);
    const agentId = options.agent ?? (config.agents.length === 1 ? config.agents[0]?.id : undefined);
    if (agentId === undefined) throw new UsageError('--agent is needed: there are several agents.');
    if (!config.agents.some(({ id }) => id === agentId)) throw new HostError('ACCESS_DENIED', { agent: agentId });

    const names = new PrivateNames([...privateNamesIn(config), ...jevPrivateNames(config.gateway.jev)]);
    const access = await agentTicket({
      dataDir: dataDirectory({
        argument: options['data-dir'],
        configured: config.dataDir,
        configFile,
        env: io.env,
      }),
      agentId,
      sessionId: options.session ?? 'default',
    });
    const line = agentCommand([program, ...programArgs], {
      privateNames: names.list(),
      ...(access ? { mcpUrl: access.mcpUrl } : {}),
    });
    const env = agentEnvironment(
      io.env,
      names,
      access ? { [URL_NAME]: access.mcpUrl, [TICKET_NAME]: access.ticket } : {},
    );
    if (options.print) {
      io.stdout.write(`${JSON.stringify([line.program, ...line.args])}\n`);
      return 0;
    }
    if (!access) say(io, 'No host runs on this data directory, so the program gets no way to one.');
    return run(line, env, io);
  },
};

/** @returns the program's own exit code; 128 and the signal's number when a signal ended it, as shells say it. */
function run({ program, args }: AgentCommand, env: Record<string, string>, io: CommandIo): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'inherit' });
    // A terminal signals the whole group by itself; a signal to us alone is passed on.
    const stop = (): void => void child.kill('SIGTERM');
    io.signal.addEventListener('abort', stop, { once: true });
    child.once('error', (error: NodeJS.ErrnoException) => {
      io.signal.removeEventListener('abort', stop);
      const problem = error.code === 'ENOENT' ? 'it does not exist' : (error.code ?? 'it could not be started');
      reject(new UsageError(`${program} cannot be started: ${problem}.`));
    });
    child.once('exit', (code, signal) => {
      io.signal.removeEventListener('abort', stop);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
