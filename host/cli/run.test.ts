import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandNames, loadCommand } from './commands.ts';
import { parseOptions } from './options.ts';
import { runCommand } from './run.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cli-'));
  const commandFile = join(import.meta.dirname, 'command.ts');
  const errors = join(import.meta.dirname, '../../sdk/contract/errors.ts');
  writeFileSync(
    join(directory, 'echo.ts'),
    `import { UsageError } from ${JSON.stringify(commandFile)};
     import { refuse } from ${JSON.stringify(errors)};
     export const command = {
      name: 'echo', summary: 'Repeats.', usage: 'Usage: jev-host echo WORD',
      async run(args, io) {
        if (args[0] === 'wrong') throw new UsageError('Wrong.');
        if (args[0] === 'refused') refuse('JEV_DISABLED');
        if (args[0] === 'broken') throw new Error('bug');
        io.stdout.write(args.join(' '));
        return 0;
      } };`,
  );
  writeFileSync(join(directory, 'lender.ts'), 'export const nothing = 1;');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function call(...args: string[]) {
  const out = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        out[name] += String(chunk);
        done();
      },
    });
  const code = await runCommand(
    args,
    {
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      env: {},
      stdin: Readable.from([]),
      signal: new AbortController().signal,
    },
    directory,
  );
  return { code, ...out };
}

describe('the command line', () => {
  it('runs the command that is named and gives it the other words', async () => {
    expect(await call('echo', 'a', '-b')).toEqual({ code: 0, stdout: 'a -b', stderr: '' });
  });

  it('lists the commands on --help and fails when no command is named', async () => {
    const asked = await call('--help');
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    expect(asked.stdout).toContain('echo        Repeats.');
    expect(asked.stdout).not.toContain('lender');
    expect(await call()).toMatchObject({ code: 2, stdout: '' });
  });

  it('shows the help of a command in every form of asking', async () => {
    for (const args of [
      ['echo', '--help'],
      ['echo', 'a', '-h'],
      ['help', 'echo'],
    ])
      expect(await call(...args)).toEqual({ code: 0, stdout: 'Usage: jev-host echo WORD\n', stderr: '' });
  });

  it('leaves what follows a bare -- alone', async () => {
    expect(await call('echo', '--', '--help')).toMatchObject({ code: 0, stdout: '-- --help' });
  });

  it('fails with words on stderr only, whatever went wrong', async () => {
    expect(await call('nothing')).toMatchObject({ code: 2, stdout: '' });
    expect(await call('../main')).toMatchObject({ code: 2, stdout: '' });
    expect(await call('lender')).toMatchObject({ code: 2, stdout: '' });
    expect(await call('echo', 'wrong')).toMatchObject({ code: 2, stdout: '' });
    const refused = await call('echo', 'refused');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toBe('JEV_DISABLED: Jev is switched off.\nSet gateway.jev.enabled to true.\n');
    expect(await call('echo', 'broken')).toMatchObject({ code: 1, stdout: '' });
  });

  it('names the option that it does not know or that lacks its value', () => {
    const kinds = { config: 'text', json: 'flag', tag: 'list' } as const;
    expect(parseOptions(['--config', 'a', '--json', 'x', '--tag=1', '--tag', '2', '--', '-y'], kinds)).toEqual({
      options: { config: 'a', json: true, tag: ['1', '2'] },
      positionals: ['x'],
      rest: ['-y'],
    });
    expect(() => parseOptions(['--nope'], kinds)).toThrow(/--nope/);
    expect(() => parseOptions(['--config'], kinds)).toThrow(/--config/);
  });

  it('has a help text for every command that ships', async () => {
    for (const name of commandNames()) {
      const command = await loadCommand(name);
      if (!command) continue;
      expect(command.name).toBe(name);
      expect(command.usage).toContain(`jev-host ${name}`);
      expect(command.summary).toMatch(/^[A-Z].*\.$/);
    }
  });
});
