import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wish } from '../../scripts/demo/run.mjs';
import { api, connectAgent, startStack } from '../../scripts/demo/stack.mjs';
import { ensureChromium } from '../../scripts/setup.mjs';

const STRANGER = 'key-of-somebody-else';
let folder: string;
let stack: Awaited<ReturnType<typeof startStack>>;
let seen: ReturnType<typeof JSON.parse>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'container-'));
  stack = await startStack({
    folder,
    chromium: ensureChromium(() => {}),
    configure(config) {
      config.gateway.api.socket = join(folder, 'agents.sock');
      config.gateway.api.keys.push({
        id: 'stranger',
        sha256: createHash('sha256').update(STRANGER).digest('hex'),
        agents: ['assistant'],
        access: 'write',
      });
      config.agents.push({ id: 'other' });
      return config;
    },
  });
  const { body } = await api(stack.host.url, stack.key, '/agents/assistant/sessions/default/ticket', {});
  seen = await isolated(body.ticket);
}, 180_000);
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Runs the agent in a network of its own, in which not even loopback is up. */
function isolated(ticket: string): Promise<unknown> {
  const agent = spawn(
    'unshare',
    [
      '--map-root-user',
      '--net',
      process.execPath,
      join(import.meta.dirname, '../support/isolated-agent.mjs'),
      join(folder, 'agents.sock'),
      ticket,
      stack.host.url,
      JSON.stringify(wish),
      stack.shop.url,
    ],
    { env: { PATH: process.env.PATH ?? '' } },
  );
  return new Promise((resolve, reject) => {
    let output = '';
    let problems = '';
    agent.stdout.on('data', (chunk) => {
      output += chunk;
    });
    agent.stderr.on('data', (chunk) => {
      problems += chunk;
    });
    agent.once('error', reject);
    agent.once('close', (code) => (code === 0 ? resolve(JSON.parse(output)) : reject(new Error(problems))));
  });
}

describe('an agent in a container, with a socket and a ticket and no network', () => {
  it('really has no network', () => {
    expect(seen.overNetwork).toBe('unreachable');
  });

  it('finds a target, starts a task and sees it end', () => {
    expect(seen.adapters).toContain('browser');
    expect(seen.ended).toEqual({ state: 'needs_reconciliation', reason: 'COMPLETION_CANDIDATE' });
  });

  it('reads fresh evidence and confirms the task with it', () => {
    expect(seen.evidence.fresh).toBe(true);
    expect(seen.evidence.text).toMatch(/order \d+ has been placed/i);
    expect(seen.verified).toEqual({ state: 'completed', outcome: 'verified' });
  });

  it('is refused everything that is the host’s own', () => {
    expect(seen.hostOnly).toEqual([403, 403, 403, 403, 403, 403]);
    expect(seen.withoutTicket).toBe(401);
  });

  it('left a task that another principal of the same agent cannot see', async () => {
    const stranger = await connectAgent(stack.host.url, STRANGER);
    try {
      await expect(stranger.call('task_status', { task_id: seen.taskId })).rejects.toMatchObject({
        code: 'ACCESS_DENIED',
      });
      expect((await stranger.call('task_status')) as object).toMatchObject({ tasks: [] });
    } finally {
      await stranger.close();
    }
    const own = await api(stack.host.url, stack.key, `/agents/assistant/sessions/default/tasks/${seen.taskId}`);
    expect(own.status).toBe(200);
  });
});
