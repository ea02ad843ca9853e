import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wish } from '../../scripts/demo/run.mjs';
import { api, connectAgent, startStack } from '../../scripts/demo/stack.mjs';

/** Long and unlike anything else, so that any hit is a leak. */
const fileCanary = 'canary-file-7f3c9a51d2e84b06';
const environmentCanaries: Record<string, string> = {
  TYPESAFE_API_KEY: 'canary-env-1b8d5e77',
  PRIVATE_JEV_TOKEN: 'canary-env-2c9e6f88',
  ANTHROPIC_AUTH_TOKEN: 'canary-env-3dafc099',
  AWS_SECRET_ACCESS_KEY: 'canary-env-4eb0d1aa',
  SOME_UNRELATED_SECRET: 'canary-env-5fc1e2bb',
};
const canaries = [fileCanary, ...Object.values(environmentCanaries)];

let folder: string;
let stack: Awaited<ReturnType<typeof startStack>>;
const answers: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jev-host-canary-'));
  stack = await startStack({
    folder,
    chromium: process.env.JEV_HOST_CHROMIUM ?? '/usr/bin/chromium',
    hostEnvironment: environmentCanaries,
    configure: (config: { gateway: { jev: { apiKeyFile: string } }; plugins?: object }) => {
      writeFileSync(config.gateway.jev.apiKeyFile, fileCanary, { mode: 0o600 });
      // A recording holds everything that the controller was given: that must not be a credential either.
      config.plugins = { ...config.plugins, 'browser-use': { record: true } };
      return config;
    },
  });
  const agent = await connectAgent(stack.host.url, stack.key);
  const ask = async (tool: string, args: Record<string, unknown>) => {
    const result = await agent.client.callTool({ name: tool, arguments: args }, { timeout: 120_000 });
    answers.push(JSON.stringify(result));
    return result.structuredContent as Record<string, never>;
  };
  const { targets } = (await ask('capabilities_list', { scope: 'browser' })) as unknown as {
    targets: { adapter: string; session_id: string }[];
  };
  const { task } = (await ask('task_spawn', {
    title: wish.title,
    instructions: wish.instructions,
    target_profile: 'gateway-managed',
    gateway_target: { adapter: 'browser', session_id: targets[0]!.session_id, start_url: stack.shop.url },
    browser_fields: wish.fields,
  })) as unknown as { task: { taskId: string; state: string; stateVersion: number } };
  let current = task;
  while (['queued', 'starting', 'running'].includes(current.state)) {
    const reply = (await ask('task_status', {
      task_id: task.taskId,
      wait_ms: 30_000,
      after_version: current.stateVersion,
    })) as unknown as { task: typeof task };
    current = reply.task;
  }
  await ask('task_status', { task_id: task.taskId, browser_evidence: 'fresh' });
  await ask('jev_evaluate', { state: 'x', questions: { q: { type: 'noul', instructions: 'Is this a greeting?' } } });
  await ask('jev_evaluate', { state: 'x', questions: {} });
  for (const path of [
    `/agents/assistant/sessions/default/tasks/${task.taskId}`,
    `/agents/assistant/sessions/default/tasks/${task.taskId}/receipts`,
    '/jev/usage?agentId=assistant',
    '/nothing',
  ]) {
    answers.push(JSON.stringify(await api(stack.host.url, stack.key, path)));
  }
  await agent.close();
}, 180_000);

afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function leaksIn(text: string): string[] {
  return canaries.filter((canary) => text.includes(canary) || text.includes(Buffer.from(canary).toString('base64')));
}

function filesUnder(path: string): string[] {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Every process that descends from the host, found by parent ids. */
function descendants(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return [{ pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) }];
      } catch {
        return [];
      }
    });
  const children = parents.filter((entry) => entry.parent === pid).map((entry) => entry.pid);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

describe('a credential in the key file or in the environment', () => {
  it('was really used: the shop got its order through the evaluator', () => {
    expect(stack.shop.seen.orders).toHaveLength(1);
  });

  it('appears in no answer over MCP or HTTP', () => {
    expect(answers.length).toBeGreaterThan(8);
    expect(leaksIn(answers.join('\n'))).toEqual([]);
  });

  it('appears in no log', () => {
    expect(leaksIn(stack.host.output())).toEqual([]);
  });

  it('appears in no receipt, recording or other file of the data directory', () => {
    const files = filesUnder(join(folder, 'data'));
    expect(files.some((file) => file.endsWith('.mdb'))).toBe(true);
    const recordings = files.filter((file) => file.endsWith('.jsonl'));
    expect(recordings).toHaveLength(1);
    for (const file of recordings) expect(statSync(file).mode & 0o077).toBe(0);
    for (const file of files)
      expect({ file, leaks: leaksIn(readFileSync(file, 'latin1')) }).toEqual({ file, leaks: [] });
  });

  it('appears in the environment and the command line of no child process', () => {
    const children = descendants(stack.host.process.pid!);
    expect(children.length).toBeGreaterThan(1);
    for (const child of children) {
      for (const name of ['environ', 'cmdline']) {
        let text = '';
        try {
          text = readFileSync(`/proc/${child}/${name}`, 'latin1');
        } catch {
          // The process ended meanwhile.
        }
        expect({ child, name, leaks: leaksIn(text) }).toEqual({ child, name, leaks: [] });
      }
    }
  });
});
