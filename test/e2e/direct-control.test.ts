/** A person drives the real browser by short commands, through the real host: the site is the judge of what arrived. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api, connectAgent, startStack } from '../../scripts/demo/stack.mjs';
import { ensureChromium } from '../../scripts/setup.mjs';
import type { TaskSnapshot } from '../../sdk/contract/task.ts';

const session = '/agents/assistant/sessions/default';
const rule = (question: string, contains: string, answer: string) => ({ when: { question, contains }, answer });
/** The newest command first: what came before is told to the decision as context. */
const rules = [
  rule('operation', 'press plus', 'BLOCKED'),
  rule('operation', 'กดบัว', 'UNCLEAR'),
  rule('operation', 'เข้า link แรก', 'CLICK'),
  rule('click_target', 'เข้า link แรก', 'Trail jacket'),
  rule('operation', 'wait for commands', 'UNCLEAR'),
];

let folder: string;
let stack: Awaited<ReturnType<typeof startStack>>;
let agent: Awaited<ReturnType<typeof connectAgent>>;
let task: TaskSnapshot;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'direct-'));
  const script = join(folder, 'rules.json');
  writeFileSync(script, JSON.stringify({ rules }));
  stack = await startStack({
    folder: join(folder, 'stack'),
    chromium: ensureChromium(() => {}),
    evaluatorArgs: ['--engine', 'script', '--rules', script],
    configure(config) {
      config.gateway.jev.features.browserSteps = { enabled: true };
      return config;
    },
  });
  agent = await connectAgent(stack.host.url, stack.key);
  const { targets } = await call('capabilities_list', { scope: 'browser' });
  const spawned = await call('task_spawn', {
    title: 'Shopping together',
    instructions: 'Open a session and wait for commands',
    target_profile: 'gateway-managed',
    gateway_target: { adapter: 'browser', session_id: targets[0].session_id, start_url: `${stack.shop.url}/` },
  });
  task = await settled(spawned.task.taskId, 1);
}, 180_000);
afterAll(async () => {
  await agent?.close();
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** A tool of the agent, by name. */
// biome-ignore lint/suspicious/noExplicitAny: each tool answers in its own shape
const call = (name: string, args: object): Promise<any> => agent.call(name, args);

const working = new Set(['queued', 'starting', 'running', 'interrupting', 'cancel_requested']);
/** The task once it has settled at this revision or a later one. Waits for news; a notice that was read is acknowledged. */
async function settled(taskId: string, revision: number): Promise<TaskSnapshot> {
  let reply = await call('task_status', { task_id: taskId });
  while (reply.task.revision < revision || working.has(reply.task.state)) {
    const told = reply.notices.filter(({ kind }: { kind: string }) => kind === 'settled');
    reply = await call('task_status', {
      ...{ task_id: taskId, wait_ms: 20_000, after_version: reply.task.stateVersion },
      ...(told.length > 0 ? { acknowledge: told.map(({ noticeId }: { noticeId: string }) => noticeId) } : {}),
    });
  }
  return reply.task;
}

async function say(text: string) {
  const sent = await api(stack.host.url, stack.key, '/agents/assistant/messages', {
    session_id: 'default',
    text,
    execution_task_id: task.taskId,
  });
  expect(sent.status).toBe(202);
  return sent.body.receipt as { status: string; revision: number; code?: string; inputId: string };
}
async function afterSaying(text: string): Promise<TaskSnapshot> {
  const { revision } = await say(text);
  return settled(task.taskId, revision);
}
const line = ({ latestProgress }: TaskSnapshot) => latestProgress?.text;

describe('direct control of a real tab', () => {
  it('begins ready, with nothing done but opening the address', () => {
    expect(task).toMatchObject({ state: 'waiting_input', automationController: 'user' });
    expect(line(task)).toBe('Ready: the session is open and waits for the next command.');
    expect(stack.shop.seen.searches).toEqual([]);
  });

  it('searches, follows a link, goes back and scrolls, each command once', async () => {
    expect(line(await afterSaying('ค้นหา jacket ครับ'))).toBe('Done: searched in "Search products"');
    expect(stack.shop.seen.searches).toEqual(['jacket']);
    expect(line(await afterSaying('เข้า link แรก'))).toMatch(/^Done: clicked "Trail jacket/);
    expect(line(await afterSaying('กลับ'))).toBe('Done: went back');
    expect(line(await afterSaying('เลื่อนขึ้น'))).toMatch(/^Not done: SCROLL_LIMIT\./);
    expect(line(await afterSaying('เปิด tab ใหม่'))).toMatch(/^Not done: NEW_TAB_OUT_OF_SCOPE\./);
    const { actionLog } = await settled(task.taskId, 1);
    expect(actionLog.map(({ command }) => command).slice(-5)).toEqual([
      'ค้นหา [text] ครับ',
      'เข้า link แรก',
      'กลับ',
      'เลื่อนขึ้น',
      'เปิด tab ใหม่',
    ]);
  });

  it('runs commands that were sent all at once in their order', async () => {
    const words = ['tab', 'กด tab', 'ค้นหา hat', 'esc'];
    for (const text of words) await say(text);
    const now = await settled(task.taskId, (await settled(task.taskId, 1)).revision);
    let last = now;
    while (last.queuedCommands?.length) last = await settled(task.taskId, last.revision + 1);
    expect(last.actionLog.map(({ command }) => command).slice(-4)).toEqual(['tab', 'กด tab', 'ค้นหา [text]', 'esc']);
    expect(stack.shop.seen.searches.filter((query: string) => query === 'hat')).toHaveLength(1);
  });

  it('runs a step list on one lease', async () => {
    const done = await afterSaying('เปิด tab ใหม่, ค้นหา socks, กลับ');
    expect(done.browserReport?.stepRun).toMatchObject({
      total: 3,
      completed: 3,
      stopReason: 'ALL_STEPS_DONE',
      remaining: [],
    });
    expect(line(done)).toMatch(/^Done: all 3 steps\./);
    expect(stack.shop.seen.searches.filter((query: string) => query === 'socks')).toHaveLength(1);
  });

  it('hands words that came to nothing to the agent, for one command', async () => {
    const before = await settled(task.taskId, 1);
    const now = await afterSaying('กดบัว');
    expect(now.state).toBe('waiting_input');
    const { notices } = await call('task_status', { task_id: task.taskId });
    expect(notices).toContainEqual(expect.objectContaining({ kind: 'handoff', code: 'AGENT_HANDOFF', text: 'กดบัว' }));
    const command = {
      task_id: task.taskId,
      expected_revision: now.revision,
      instruction: 'Press plus',
      mode: 'when_ready',
    };
    await expect(call('task_cancel', { task_id: task.taskId })).rejects.toMatchObject({
      code: 'AGENT_HANDOFF_ONE_COMMAND',
    });
    const { task: taken } = await call('task_update', command);
    expect(taken).toMatchObject({ revision: before.revision + 2, executionControl: { agentHandoff: true } });
    await settled(task.taskId, taken.revision);
    await expect(call('task_update', { ...command, expected_revision: taken.revision })).rejects.toMatchObject({
      code: 'AGENT_HANDOFF_USED',
    });
  });

  it('wrote every mutation down, and none twice', async () => {
    const { body } = await api(stack.host.url, stack.key, `${session}/tasks/${task.taskId}/receipts`);
    const mutations = body.receipts.flatMap(
      (receipt: { mutations: { operationId: string; outcome: string }[] }) => receipt.mutations,
    );
    expect(new Set(mutations.map(({ operationId }: { operationId: string }) => operationId)).size).toBe(
      mutations.length,
    );
    expect(mutations.every(({ outcome }: { outcome: string }) => outcome === 'confirmed')).toBe(true);
  });
});
