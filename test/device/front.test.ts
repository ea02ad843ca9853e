/** The device as a command of its own: where it listens, with what certificate, and what it refuses to start with. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jevHost } from '../cli.ts';
import { selfSigned } from '../support/certificate.ts';

const main = join(import.meta.dirname, '../../dist/host/main.js');
let folder: string;
let running: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'device-front-'));
  running = [];
});
afterEach(async () => {
  for (const child of running) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** @returns its address, once it is ready. */
async function serve(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [main, 'device', 'browser', '--data-dir', folder, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.push(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return /^jev-host device ready (\S+)$/.exec(line)?.[1] ?? line;
}
const refused = async (...args: string[]) => {
  const { code, stdout, stderr } = await jevHost(['device', 'browser', '--data-dir', folder, ...args]);
  expect(stdout).toBe('');
  expect(code).not.toBe(0);
  return stderr;
};

describe('HTTPS', () => {
  it('is all that is spoken once there is a certificate', async () => {
    const { certFile, keyFile } = selfSigned(folder);
    const url = await serve('--tls-cert', certFile, '--tls-key', keyFile);
    expect(url).toMatch(/^https:/);
    const key = readFileSync(join(folder, 'browser-device/connector.key'), 'utf8').trim();
    const dispatcher = new Agent({ connect: { ca: readFileSync(certFile) } });
    try {
      const answer = await dispatcher.request({
        origin: url,
        path: '/v1/status',
        method: 'GET',
        headers: { authorization: `Bearer ${key}` },
      });
      expect(await answer.body.json()).toMatchObject({ running: true });
    } finally {
      await dispatcher.close();
    }
    // Neither without encryption nor to somebody who does not know the certificate.
    await expect(fetch(url.replace('https:', 'http:'))).rejects.toThrow();
    await expect(fetch(url)).rejects.toThrow();
  });

  it.each([
    ['a certificate that is not there', (good: Files) => ({ ...good, certFile: '/nowhere/cert.pem' }), '--tls-cert'],
    ['a key that is not there', (good: Files) => ({ ...good, keyFile: '/nowhere/key.pem' }), '--tls-key'],
    ['a folder as certificate', (good: Files) => ({ ...good, certFile: folder }), '--tls-cert'],
    ['what is no certificate', (good: Files) => ({ ...good, certFile: nonsense() }), '--tls-cert'],
    ['what is no key', (good: Files) => ({ ...good, keyFile: nonsense() }), '--tls-key'],
    ['the key of another', (good: Files) => ({ ...good, keyFile: selfSigned(folder, 'other').keyFile }), '--tls-key'],
  ])('does not start with %s, and says which file is wrong', async (_name, given, option) => {
    const { certFile, keyFile } = given(selfSigned(folder));
    const stderr = await refused('--tls-cert', certFile, '--tls-key', keyFile);
    expect(stderr).toContain('INVALID_CONFIG');
    expect(stderr).toContain(option);
    expect(stderr).toContain(option === '--tls-cert' ? certFile : keyFile);
    expect(stderr).not.toContain('PRIVATE KEY');
  });

  it.each([
    [['--tls-key', '/some/key.pem'], '--tls-cert is needed'],
    [['--tls-cert', '/some/cert.pem'], '--tls-key is needed'],
    [['--host', '0.0.0.0'], 'needs --tls-cert and --tls-key'],
    [['--host', '::'], 'needs --tls-cert and --tls-key'],
    [['--port', '65536'], '--port'],
    [['--proxy', 'http://proxy.example:65536'], 'proxy'],
    [['--proxy', 'http://user:secret@proxy.example'], 'proxy'],
    [['--attach', 'http://elsewhere.example:9222'], 'attach'],
    [['--executable', 'chromium'], 'executable'],
    [['--profile', 'profile'], 'profileDir'],
    [['--approve', 'nobody'], 'approve'],
    [['--memory', 'plenty'], 'memoryMb'],
    [['--memory', '255'], 'memoryMb'],
    [['--allow', 'shop.example/path'], 'navigation.allow'],
  ])('does not start with %j', async (args, says) => {
    expect(await refused(...args)).toContain(says);
  });
});

interface Files {
  certFile: string;
  keyFile: string;
}
function nonsense(): string {
  const path = join(folder, 'nonsense.pem');
  writeFileSync(path, 'no certificate');
  return path;
}
