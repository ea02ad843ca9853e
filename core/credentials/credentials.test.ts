import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, describe, expect, it } from 'vitest';
import { agentEnvironment, childEnvironment } from './child-environment.ts';
import { runCredentialCommand } from './credential-command.ts';
import { createFileReader, MAX_FILE_BYTES, readCredentialFile } from './credential-file.ts';
import { MAX_CREDENTIAL_CHARS } from './credential-text.ts';
import { PrivateNames, privateNamesIn } from './private-names.ts';
import { createRedactor } from './redaction.ts';
import { EnvironmentName } from './reference.ts';
import { createCredentialResolver } from './resolver.ts';
import { hasStoredLogin, removeLogin, storedLoginFile, storeLogin } from './stored-login.ts';

const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
function file(text: string, mode = 0o600): string {
  const path = join(folder, `f${made++}`);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}
async function problem(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error) => `${error.code}: ${error.message}`,
  );
}

describe('a key file', () => {
  it('holds the bare secret; white space around it is not part of it', async () => {
    expect(await readCredentialFile(file('  sk-value-1 \n'))).toBe('sk-value-1');
  });

  it('is read anew each time, so a key can be rotated', async () => {
    const path = file('first-key\n');
    const credentials = createCredentialResolver({ env: {}, privateNames: new PrivateNames() });
    expect(await credentials.resolve({ file: path })).toBe('first-key');
    writeFileSync(path, 'other-key\n');
    expect(await credentials.resolve({ file: path })).toBe('other-key');
  });

  it.each([
    ['is missing', () => join(folder, 'nowhere'), /does not exist/],
    ['is empty', () => file('\n'), /empty/],
    ['is too large', () => file('x'.repeat(MAX_FILE_BYTES + 1)), /too large/],
    ['holds more than a key may have', () => file('x'.repeat(MAX_CREDENTIAL_CHARS + 1)), /more than/],
    ['holds two lines', () => file('key\nX-Injected: yes'), /one line/],
    ['holds a control character', () => file('key\u0000more'), /one line/],
    ['may be written by everybody', () => file('secret-in-here', 0o666), /every user/],
    ['is a folder', () => folder, /regular file|EISDIR/],
    [
      'is a pipe that nobody writes to',
      () => {
        const path = join(folder, `pipe${made++}`);
        execFileSync('mkfifo', [path]);
        return path;
      },
      /regular file/,
    ],
  ])('that %s is refused with the reason and without its contents', async (_, path, says) => {
    const found = await problem(readCredentialFile(path()));
    expect(found).toMatch(says);
    expect(found).toMatch(/^CREDENTIAL_UNUSABLE/);
    expect(found).not.toMatch(/secret-in-here|X-Injected|xxx/);
  });

  it('is checked the same way at every later reading', async () => {
    const reader = createFileReader();
    // One turn of the event loop shares a reading.
    const read = async (path: string) => {
      await new Promise((resolve) => setImmediate(resolve));
      return reader(path);
    };
    const other = file('good-key\n');
    expect([await read(other), await read(other)]).toEqual(['good-key', 'good-key']);
    writeFileSync(other, 'next-key\n');
    expect(await read(other)).toBe('next-key');
    chmodSync(other, 0o666);
    expect(await problem(read(other))).toMatch(/every user/);
    chmodSync(other, 0o600);
    writeFileSync(other, 'x'.repeat(MAX_FILE_BYTES + 1));
    expect(await problem(read(other))).toMatch(/too large/);
    rmSync(other);
    expect(await problem(read(other))).toMatch(/does not exist/);
    execFileSync('mkfifo', [other]);
    expect(await problem(read(other))).toMatch(/regular file/);
  });
});

describe('a credential command', () => {
  const context = { env: { PATH: process.env.PATH, HIDDEN_KEY: 'h', TOKEN_9: 't' }, privateNames: new PrivateNames() };

  it('gets its arguments as they are, without a shell', async () => {
    expect(await runCredentialCommand(['printf', '%s', '$HOME;echo'], context)).toBe('$HOME;echo');
  });

  it('sees none of our credentials, whatever they are called', async () => {
    const seen = await runCredentialCommand(['sh', '-c', 'env | tr "\\n" " "'], context);
    expect(seen).not.toMatch(/HIDDEN_KEY|TOKEN_9/);
    expect(seen).toMatch(/PATH=/);
  });

  it.each([
    ['that hangs', ['sleep', '60'], /too long/],
    ['that prints without end', ['yes', 'y'], /too much/],
    ['that fails', ['sh', '-c', 'echo secret-in-here; exit 3'], /ended with 3/],
    ['that does not exist', ['/nowhere/at/all'], /cannot be started/],
    ['that prints nothing', ['true'], /empty/],
  ])('%s is ended and refused', async (_, argv, says) => {
    const found = await problem(runCredentialCommand(argv, { ...context, timeoutMs: 2000 }));
    expect(found).toMatch(says);
    expect(found).not.toContain('secret-in-here');
  });

  it('takes its children with it', async () => {
    const marker = join(folder, 'child.pid');
    const script = `sleep 300 & echo $! > ${marker}; wait`;
    await problem(runCredentialCommand(['sh', '-c', script], { ...context, timeoutMs: 500 }));
    const pid = Number(readFileSync(marker, 'utf8'));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('answers once per generation of the configuration', async () => {
    const counter = join(folder, 'count');
    writeFileSync(counter, '');
    const command = ['sh', '-c', `echo x >> ${counter}; wc -l < ${counter}`];
    const credentials = createCredentialResolver({ env: { PATH: process.env.PATH }, privateNames: new PrivateNames() });
    expect([await credentials.resolve({ command }), await credentials.resolve({ command })]).toEqual(['1', '1']);
    credentials.forgetCommands();
    expect(await credentials.resolve({ command })).toBe('2');
  });
});

describe('private names', () => {
  it('stay private after the configuration has forgotten them', () => {
    const names = new PrivateNames(privateNamesIn({ gateway: { jev: { apiKeyEnv: 'OLD_KEY' } } }));
    names.add(privateNamesIn({ gateway: { jev: { apiKeyEnv: 'NEW_KEY' } } }));
    const env = { OLD_KEY: '1', NEW_KEY: '2', PLAIN: '3' };
    expect(agentEnvironment(env, names, { NEW_KEY: 'from an overlay' })).toEqual({ PLAIN: '3' });
  });

  it('are found wherever a configuration refers to a credential', () => {
    const config = {
      gateway: {
        jev: { apiKeyEnv: 'A', thinking: { apiKeyEnv: 'B' }, browser: { textHelper: { apiKeyEnv: 'C' } } },
        connectors: [{ authorization: { env: 'D' } }, { authorization: { file: '/x' } }],
      },
    };
    expect(privateNamesIn(config).sort()).toEqual(['A', 'B', 'C', 'D']);
  });

  it('reach no child of ours, whatever else is set, allowed or overlaid', () => {
    const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,12}$/);
    fc.assert(
      fc.property(fc.dictionary(name, fc.string()), fc.array(name), fc.array(name), (env, secret, allow) => {
        const names = new PrivateNames(secret);
        const set = Object.fromEntries(secret.map((one) => [one, 'overlay']));
        for (const child of [childEnvironment(env, names, { allow, set }), agentEnvironment(env, names, set)]) {
          for (const one of secret) expect(Object.hasOwn(child, one)).toBe(false);
        }
      }),
    );
  });

  it('leave a child of ours with nothing but what it needs', () => {
    const env = {
      PATH: '/bin',
      HOME: '/h',
      LC_ALL: 'C',
      AWS_SECRET_ACCESS_KEY: 'x',
      NODE_OPTIONS: '--inspect',
      HTTPS_PROXY: 'http://u:p@h',
    };
    expect(childEnvironment(env, new PrivateNames())).toEqual({ PATH: '/bin', HOME: '/h', LC_ALL: 'C' });
  });
});

describe('the name of a credential variable', () => {
  it.each(['PRIVATE_JEV_TOKEN', 'GATEWAY_JEV_API_KEY', 'TYPESAFE_API_KEY', 'JEV_UPSTREAM_KEY', '_x9'])(
    'may be %s',
    (name) => {
      expect(v.is(EnvironmentName, name)).toBe(true);
    },
  );
  it.each([
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'CODEX_HOME',
    'HOME',
    'PATH',
    'Path',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'LD_PRELOAD',
    'NODE_OPTIONS',
    '__proto__',
    '9KEY',
    'A-B',
    'A B',
    '',
    'A=B',
  ])('may not be "%s"', (name) => {
    expect(v.is(EnvironmentName, name)).toBe(false);
  });
});

describe('a stored login', () => {
  it('is a file that only its owner may read, replaced whole and removed by logout', async () => {
    const dataDir = join(folder, 'data');
    expect(await hasStoredLogin(dataDir)).toBe(false);
    await storeLogin(dataDir, 'key-one-value\n');
    const path = await storeLogin(dataDir, 'key-two-value');
    expect(path).toBe(storedLoginFile(dataDir));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'credentials')).mode & 0o777).toBe(0o700);
    expect(await readCredentialFile(path)).toBe('key-two-value');
    expect(await removeLogin(dataDir)).toBe(true);
    expect(await removeLogin(dataDir)).toBe(false);
  });
});

describe('redaction', () => {
  it('masks every value that was resolved, wherever it stands', async () => {
    const redactor = createRedactor();
    const credentials = createCredentialResolver({
      env: { K: 'odd value 123' },
      privateNames: new PrivateNames(),
      redactor,
    });
    await credentials.resolve({ env: 'K' });
    expect(redactor.redact('{"error":"sent odd value 123 to x"}')).toBe('{"error":"sent [private] to x"}');
  });

  it.each([
    'authorization: Bearer abcdef0123456789',
    'Authorization: Basic dXNlcjpwYXNzd29yZA==',
    'https://user:hunter22@host/path',
    '{"apiKey":"abcdef123456"}',
    'key sk-abcdefghijklmnop',
  ])('masks what looks like a credential in: %s', (text) => {
    expect(createRedactor().redact(text)).not.toMatch(/abcdef|dXNlc|hunter22/);
  });

  it('leaves other text alone', () => {
    const text = 'The task "Order a jacket" ended: COMPLETION_CANDIDATE after 12 steps (p 0.97).';
    expect(createRedactor().redact(text)).toBe(text);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
