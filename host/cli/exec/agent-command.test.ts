import { describe, expect, it } from 'vitest';
import { agentCommand, TICKET_NAME, URL_NAME } from './agent-command.ts';

const privateNames = ['JEV_KEY', 'OLD_KEY'];
const access = { privateNames, mcpUrl: 'http://127.0.0.1:10850/mcp' };
const line = (argv: [string, ...string[]], to: Parameters<typeof agentCommand>[1] = access) =>
  agentCommand(argv, to).args;

describe('the command line of Claude Code', () => {
  const args = line(['/usr/local/bin/claude', '-p', 'hello']);
  it('has the host as an MCP server, with the ticket by name and not by value', () => {
    const config = JSON.parse(args[args.indexOf('--mcp-config') + 1] ?? '');
    expect(config).toEqual({
      mcpServers: {
        'jev-host': { type: 'http', url: access.mcpUrl, headers: { Authorization: `Bearer \${${TICKET_NAME}}` } },
      },
    });
  });
  it('keeps the private names empty, whatever its own settings say', () => {
    expect(JSON.parse(args[args.indexOf('--settings') + 1] ?? '')).toEqual({ env: { JEV_KEY: '', OLD_KEY: '' } });
  });
  it('keeps its own arguments', () => {
    expect(args.slice(-2)).toEqual(['-p', 'hello']);
  });
  it('is left alone without a host and without private names', () => {
    expect(line(['claude', '-p', 'x'], { privateNames: [] })).toEqual(['-p', 'x']);
  });
});

describe('the command line of Codex', () => {
  it('has the host as an MCP server and leaves the names out of its shell', () => {
    expect(line(['codex', 'exec', 'hi'])).toEqual([
      '-c',
      'mcp_servers.jev-host.url="http://127.0.0.1:10850/mcp"',
      '-c',
      'mcp_servers.jev-host.bearer_token_env_var="JEV_HOST_TICKET"',
      '-c',
      `shell_environment_policy.exclude=["JEV_KEY","OLD_KEY","${TICKET_NAME}"]`,
      'exec',
      'hi',
    ]);
  });
});

describe('the command line of docker and podman', () => {
  const masked = ['--env', 'JEV_KEY=', '--env', 'OLD_KEY='];
  const way = ['--env', URL_NAME, '--env', TICKET_NAME];
  it.each(['docker', 'podman', '/usr/bin/docker'])('%s sets every private name to nothing', (program) => {
    expect(line([program, 'run', '--rm', 'image', 'cmd'])).toEqual(['run', ...masked, ...way, '--rm', 'image', 'cmd']);
  });
  it.each([
    [['-e', 'JEV_KEY'], []],
    [['-e', 'JEV_KEY=value'], []],
    [['--env', 'OLD_KEY'], []],
    [['--env=OLD_KEY=x'], []],
    [['-eJEV_KEY=x'], []],
    [
      ['-e', 'OTHER=JEV_KEY'],
      ['-e', 'OTHER=JEV_KEY'],
    ],
    [
      ['-e', 'JEV_KEY_2'],
      ['-e', 'JEV_KEY_2'],
    ],
  ])('%j becomes %j', (given, kept) => {
    expect(line(['docker', 'run', ...given, 'image'], { privateNames })).toEqual(['run', ...masked, ...kept, 'image']);
  });
  it('masks after global options, and in exec too', () => {
    expect(line(['docker', '--context', 'x', 'exec', 'box', 'sh'], { privateNames })).toEqual([
      '--context',
      'x',
      'exec',
      ...masked,
      'box',
      'sh',
    ]);
  });
  it('leaves other commands alone', () => {
    expect(line(['docker', 'ps', '-a'])).toEqual(['ps', '-a']);
  });
});

it('any other program is started as it is', () => {
  expect(agentCommand(['gemini', '--yolo'], access)).toEqual({ program: 'gemini', args: ['--yolo'] });
});
