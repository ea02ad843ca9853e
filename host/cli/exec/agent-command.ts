/**
 * The command line of an agent's program, with everything in it that keeps private variables private and gives the agent
 * its way to the host.
 *
 * Threat: an agent's program passes its environment on: to MCP servers that it starts, to the shell commands that it
 * runs, into containers. Removing a variable from its own environment is not always enough, since such programs read
 * files that set variables again; so each is also told, in its own words, to leave the private names out. A ticket goes
 * into the environment and never onto the command line, where every user of the machine could read it.
 */
import { basename } from 'node:path';

/** Names that the agent's program finds in its environment. */
export const URL_NAME = 'JEV_HOST_MCP_URL';
export const TICKET_NAME = 'JEV_HOST_TICKET';

export interface AgentCommand {
  program: string;
  args: string[];
}

export interface AgentAccess {
  /** Names that must not be passed on. */
  privateNames: readonly string[];
  /** The host's MCP endpoint, when one is running. The ticket is in the environment. */
  mcpUrl?: string;
}

const SERVER = 'jev-host';

/** @param argv the program and its arguments, as they were given after `--`. */
export function agentCommand(argv: readonly [string, ...string[]], access: AgentAccess): AgentCommand {
  const [program, ...args] = argv;
  switch (basename(program).replace(/\.(?:exe|cmd)$/i, '')) {
    case 'claude':
      return { program, args: [...claudeArgs(access), ...args] };
    case 'codex':
      return { program, args: [...codexArgs(access), ...args] };
    case 'docker':
    case 'podman':
    case 'nerdctl':
      return { program, args: containerArgs(args, access) };
    default:
      return { program, args };
  }
}

/** Claude Code replaces `${NAME}` in an MCP configuration from its own environment. */
function claudeArgs({ privateNames, mcpUrl }: AgentAccess): string[] {
  const args: string[] = [];
  if (mcpUrl !== undefined) {
    const server = { type: 'http', url: mcpUrl, headers: { Authorization: `Bearer \${${TICKET_NAME}}` } };
    args.push('--mcp-config', JSON.stringify({ mcpServers: { [SERVER]: server } }));
  }
  // Values of its own settings files would bring a name back; an empty one does not.
  if (privateNames.length > 0) {
    args.push('--settings', JSON.stringify({ env: Object.fromEntries(privateNames.map((name) => [name, ''])) }));
  }
  return args;
}

function codexArgs({ privateNames, mcpUrl }: AgentAccess): string[] {
  const args: string[] = [];
  if (mcpUrl !== undefined) {
    args.push('-c', `mcp_servers.${SERVER}.url=${toml(mcpUrl)}`);
    args.push('-c', `mcp_servers.${SERVER}.bearer_token_env_var=${toml(TICKET_NAME)}`);
  }
  // The shell that runs its commands needs no way to the host either.
  const excluded = mcpUrl === undefined ? privateNames : [...privateNames, TICKET_NAME];
  if (excluded.length > 0) args.push('-c', `shell_environment_policy.exclude=[${excluded.map(toml).join(',')}]`);
  return args;
}

/** JSON's strings are TOML's basic strings, as long as they hold no odd characters. */
function toml(text: string): string {
  return JSON.stringify(text);
}

/** Options of `run` that take a value of their own, besides those written with `=`. */
const ENVIRONMENT_OPTIONS = new Set(['-e', '--env']);

/**
 * Every private name is set to nothing in the container: an image, or a file of variables, may set it again. Options that
 * would pass one in are dropped. Commands that start no process in a container are left alone.
 */
function containerArgs(args: readonly string[], { privateNames, mcpUrl }: AgentAccess): string[] {
  const at = args.findIndex((arg) => arg === 'run' || arg === 'exec' || arg === 'create');
  if (at < 0) return [...args];
  const kept = args.slice(0, at + 1);
  for (const name of privateNames) kept.push('--env', `${name}=`);
  if (mcpUrl !== undefined) kept.push('--env', URL_NAME, '--env', TICKET_NAME);
  return [...kept, ...withoutPrivate(args.slice(at + 1), new Set(privateNames))];
}

function withoutPrivate(args: readonly string[], privateNames: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (ENVIRONMENT_OPTIONS.has(arg)) {
      const value = args[at + 1];
      if (value !== undefined && isPrivate(value, privateNames)) {
        at += 1;
        continue;
      }
    } else {
      const joined = /^(?:--env=|-e=?)(?<assignment>.+)$/.exec(arg)?.groups?.assignment;
      if (joined !== undefined && isPrivate(joined, privateNames)) continue;
    }
    kept.push(arg);
  }
  return kept;
}

function isPrivate(assignment: string, privateNames: ReadonlySet<string>): boolean {
  return privateNames.has(assignment.split('=')[0] ?? '');
}
