/** A headless Chromium with an empty profile and a debugging port of its own. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
];

export async function startChromium(executable = '/usr/bin/chromium') {
  const profile = mkdtempSync(join(tmpdir(), 'jev-host-chromium-'));
  const child = spawn(executable, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, so that its helpers can be ended with it.
    detached: true,
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const wsUrl = await new Promise<string>((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
      const found = /DevTools listening on (ws:\/\/\S+)/.exec(said)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', () => reject(new Error(`Chromium ended: ${said.slice(-500)}`)));
  });
  return {
    wsUrl,
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), 5000);
      await exited;
      clearTimeout(force);
      // Its helpers outlive it for a moment and go on writing into the profile.
      const group = -(child.pid ?? 0);
      for (let look = 0; look < 100 && isThere(group); look++) {
        process.kill(group, 'SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function isThere(group: number): boolean {
  try {
    process.kill(group, 0);
    return group < 0;
  } catch {
    return false;
  }
}

/** A page from its HTML, without a server. */
export function pageOf(html: string): string {
  return `data:text/html;charset=utf-8,${encodeURIComponent(html)}`;
}
