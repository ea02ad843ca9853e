import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { storedLoginFile } from '../../core/credentials/stored-login.ts';
import { jevHost } from '../../test/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'login-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = storedLoginFile(folder);

/** A terminal as far as the prompt uses one. */
class Terminal extends EventEmitter {
  readonly isTTY = true;
  readonly modes: boolean[] = [];
  setRawMode(raw: boolean): void {
    this.modes.push(raw);
  }
  setEncoding(): void {}
  resume(): void {}
  pause(): void {}
}
const typing = (text: string) => {
  const terminal = new Terminal();
  const called = jevHost(['login', 'jev', '--data-dir', folder], { stdin: terminal as never });
  const waitForPrompt = expect.poll(() => terminal.listenerCount('data')).toBe(1);
  return { terminal, done: waitForPrompt.then(() => terminal.emit('data', text)).then(() => called) };
};

describe('jev-host login and logout', () => {
  it('store a typed key without showing it, in a file for its owner alone', async () => {
    const { terminal, done } = typing('secret-valuX\u007fe\r');
    const { code, stdout, stderr } = await done;
    expect(code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('secret-value\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(terminal.modes).toEqual([true, false]);
    expect(stdout + stderr).not.toContain('secret');
  });

  it('take the first line of a pipe', async () => {
    const { code } = await jevHost(['login', '--data-dir', folder], { stdin: 'piped-key\nmore\n' });
    expect(code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('piped-key\n');
  });

  it('leave the old key when the prompt is given up or answered with nothing', async () => {
    for (const keys of ['\u0003', '\r']) expect((await typing(keys).done).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('piped-key\n');
  });

  it('know only jev', async () => {
    expect((await jevHost(['login', 'github', '--data-dir', folder])).code).toBe(2);
    expect((await jevHost(['logout', 'jev', 'now', '--data-dir', folder])).code).toBe(2);
  });

  it('remove the key, and say when there is none', async () => {
    expect((await jevHost(['logout', 'jev', '--data-dir', folder])).stderr).toContain('was removed');
    expect(existsSync(file)).toBe(false);
    expect((await jevHost(['logout', '--data-dir', folder])).stderr).toContain('No key');
  });
});
