import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, it } from 'vitest';
import { apiFixture, type Fixture, KEYS, SPAWN } from './fixture.ts';

let fixture: Fixture;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await fixture.close();
});

interface AnyClient {
  listTools(): Promise<{
    tools: { name: string; annotations?: object | undefined; outputSchema?: object | undefined }[];
  }>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
}

const headers = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

async function current(key = KEYS.writer, path = '/mcp'): Promise<AnyClient> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(fixture.url + path), headers(key)));
  closers.push(() => client.close());
  return client as unknown as AnyClient;
}

async function old(key = KEYS.writer, path = '/mcp'): Promise<AnyClient> {
  const client = new OldClient({ name: 'test', version: '1' }, { capabilities: {} });
  await client.connect(new OldTransport(new URL(fixture.url + path), headers(key)) as never);
  closers.push(() => client.close());
  return client as unknown as AnyClient;
}

interface Result {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}
const call = async (client: AnyClient, name: string, args?: Record<string, unknown>) =>
  (await client.callTool({ name, ...(args && { arguments: args }) })) as Result;

const generations = [
  ['the current revision', current],
  ['a session-based revision', old],
] as const;

describe.each(generations)('a client of %s', (_name, connect) => {
  it('is offered every tool with schemas and all four hints', async () => {
    fixture = await apiFixture();
    const { tools } = await (await connect()).listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'jev_evaluate',
      'capabilities_list',
      'task_spawn',
      'task_status',
      'task_update',
      'task_answer',
      'task_cancel',
      'task_question',
    ]);
    for (const tool of tools) {
      expect(Object.keys(tool.annotations ?? {}).filter((key) => key.endsWith('Hint'))).toHaveLength(4);
      expect(tool.outputSchema).toBeDefined();
    }
  });

  it('starts, reads, continues and cancels a task, and HTTP shows the same one', async () => {
    fixture = await apiFixture();
    const client = await connect();
    const targets = await call(client, 'capabilities_list', { scope: 'browser' });
    expect(targets.structuredContent).toEqual({
      targets: [{ adapter: 'browser', session_id: 'tab', name: 'A tab' }],
      next_offset: null,
    });
    const spawned = await call(client, 'task_spawn', { ...SPAWN, request_id: 'once' });
    expect(JSON.parse(spawned.content[0]!.text)).toEqual(spawned.structuredContent);
    const { taskId } = spawned.structuredContent!.task as { taskId: string };
    const again = await call(client, 'task_spawn', { ...SPAWN, request_id: 'once' });
    expect((again.structuredContent!.task as { taskId: string }).taskId).toBe(taskId);
    expect(fixture.tasks.spawned).toHaveLength(1);
    expect(fixture.tasks.spawned[0]!.caller).toMatchObject({
      principalId: 'api:writer',
      agentId: 'assistant',
      conversationId: 'conversation:assistant:writer',
    });

    const status = await call(client, 'task_status', { task_id: taskId, browser_evidence: 'fresh' });
    expect(status.structuredContent).toMatchObject({ evidence: { untrustedPageContent: true }, notices: [] });
    for (const [name, args] of [
      ['task_update', { expected_revision: 1, instruction: 'x', mode: 'when_ready' }],
      ['task_answer', { question_id: 'q', answer: 'a' }],
      ['task_cancel', {}],
    ] as const)
      expect((await call(client, name, { task_id: taskId, ...args })).isError).toBeUndefined();
    const { body } = await fixture.http('GET', `/api/v1/agents/assistant/sessions/default/tasks/${taskId}`, {
      key: KEYS.writer,
    });
    expect(body.task.stateVersion).toBe(4);
  });

  it('gets refusals as results that name the code and the path of what is wrong', async () => {
    fixture = await apiFixture();
    const client = await connect();
    for (const [name, args, said] of [
      ['task_spawn', { ...SPAWN, skill_name: 'x' }, 'skill_name'],
      ['task_spawn', { ...SPAWN, title: 5 }, 'title'],
      ['task_status', { task_id: 'x' }, 'task_id'],
      ['task_status', { wait_ms: 60_001 }, 'wait_ms'],
      ['jev_evaluate', { state: 'a', questions: {}, model: 'm' }, 'model'],
      ['capabilities_list', { scope: 'else' }, 'scope'],
    ] as const) {
      const refused = await call(client, name, args);
      expect(refused.isError).toBe(true);
      const body = JSON.parse(refused.content[0]!.text);
      expect(body.error).toBe('INVALID_INPUT');
      expect(body.message).toContain(said);
      expect(refused.structuredContent).toEqual(body);
    }
    const foreign = await call(client, 'task_status', { task_id: '00000000-0000-4000-8000-000000000000' });
    expect(JSON.parse(foreign.content[0]!.text).error).toBe('ACCESS_DENIED');
    await expect(client.callTool({ name: 'no_such_tool' })).rejects.toThrow(/no_such_tool/);
  });

  it('with a read key may look but not act', async () => {
    fixture = await apiFixture();
    const client = await connect(KEYS.reader);
    expect((await call(client, 'capabilities_list', {})).isError).toBeUndefined();
    for (const [name, args] of [
      ['task_spawn', SPAWN],
      ['jev_evaluate', { state: 'a', questions: {} }],
    ] as const) {
      const refused = await call(client, name, args);
      expect(refused.isError).toBe(true);
      expect(JSON.parse(refused.content[0]!.text).error).toBe('ACCESS_DENIED');
    }
    expect(fixture.tasks.spawned).toEqual([]);
    expect(fixture.evaluations).toEqual([]);
  });

  it('with a key of several agents names one in the address', async () => {
    fixture = await apiFixture();
    await expect(connect(KEYS.both)).rejects.toThrow();
    const client = await connect(KEYS.both, '/mcp/other');
    await call(client, 'task_spawn', SPAWN);
    expect(fixture.tasks.spawned[0]!.caller.agentId).toBe('other');
    await expect(connect(KEYS.writer, '/mcp/other')).rejects.toThrow();
  });

  it('is refused with a wrong key', async () => {
    fixture = await apiFixture();
    await expect(connect('wrong')).rejects.toThrow();
  });

  it('evaluates through Jev under its own identity', async () => {
    fixture = await apiFixture();
    const result = await call(await connect(), 'jev_evaluate', {
      state: 'Hello',
      questions: { a: { type: 'noul', instructions: '?' } },
    });
    expect(result.structuredContent).toMatchObject({ answers: { a: { noul: 1 } } });
    expect(fixture.evaluations[0]).toMatchObject({ principalId: 'api:writer', agentId: 'assistant' });
  });
});
