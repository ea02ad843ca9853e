/** The built host as a child process, real MCP and HTTP clients, and a stand-in that speaks Jev's wire contract. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent, startJevHost } from '../../scripts/demo/stack.mjs';
import { program } from '../support/programs.ts';

const key = (): string => randomBytes(24).toString('base64url');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const keys = { write: key(), read: key() };
const routeTickets = {
  name: 'route-tickets',
  inputSchema: {
    type: 'array',
    items: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  outputSchema: { type: 'array', items: { enum: ['billing', 'technical', 'other'] } },
  requires: ['jev.evaluate'],
  limits: { timeoutMs: 60_000, maxEvaluations: 20, maxToolCalls: 100, maxTokens: 20_000 },
  code: `
    const routes = [];
    for (const ticket of input) {
      const judgment = await jev.evaluate({
        state: ticket,
        questions: {
          route: {
            type: "choice",
            instructions: "Which team handles the request in this ticket's text?",
            criteria: { billing: "Invoices and refunds", technical: "Broken software", other: "Neither" },
          },
        },
      });
      routes.push(judgment.answers.route.choice);
      await program.emit({ processed: routes.length });
    }
    return routes;
  `,
};

let folder: string;
let configFile: string;
let evaluator: Awaited<ReturnType<typeof startJevHost>>;
let host: Awaited<ReturnType<typeof startJevHost>>;
let agent: Awaited<ReturnType<typeof connectAgent>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jev-host-programs-'));
  configFile = join(folder, 'config.json');
  evaluator = await startJevHost(['evaluator', '--engine', 'lexical', '--port', '0']);
  writeFileSync(join(folder, 'jev.key'), 'not-a-real-key', { mode: 0o600 });
  const config = {
    dataDir: join(folder, 'data'),
    gateway: {
      api: {
        port: 0,
        keys: [
          { id: 'writer', sha256: sha256(keys.write), agents: ['assistant'], access: 'write' },
          { id: 'reader', sha256: sha256(keys.read), agents: ['assistant'], access: 'read' },
        ],
      },
      jev: {
        enabled: true,
        provider: 'typesafe',
        baseUrl: evaluator.url,
        model: 'jev-1.13.0',
        apiKeyFile: join(folder, 'jev.key'),
      },
    },
    agents: [{ id: 'assistant' }],
  };
  writeFileSync(configFile, JSON.stringify(config));
  host = await startJevHost(['serve', '--config', configFile]);
  agent = await connectAgent(host.url, keys.write);
}, 120_000);

afterAll(async () => {
  await agent?.client.close();
  await host?.stop();
  await evaluator?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const call = (name: string, args: Record<string, unknown> = {}) =>
  // biome-ignore lint/suspicious/noExplicitAny: tests read deep into what came back
  agent.call(name, args) as Promise<any>;

describe('an agent', () => {
  it('finds the six program tools and jev_evaluate', async () => {
    const { tools } = await agent.client.listTools();
    const names = tools.map(({ name }) => name);
    for (const name of ['jev_evaluate', 'jev_run', 'jev_spawn', 'jev_status', 'jev_wait', 'jev_join', 'jev_stop'])
      expect(names).toContain(name);
  });

  it('runs the program of the guide and gets its routes', async () => {
    const run = await call('jev_run', {
      program: routeTickets,
      input: [{ text: 'I was billed twice, refund my invoices' }, { text: 'The software is broken' }],
    });
    expect(run).toMatchObject({ state: 'completed', result: ['billing', 'technical'], evaluations: 2 });
    expect(run.events.map((event: { value: unknown }) => event.value)).toEqual([{ processed: 1 }, { processed: 2 }]);
  });

  it('spawns, looks, waits, joins and stops', async () => {
    const task = await call('jev_spawn', {
      program: program('await program.sleep(50); return input;'),
      input: { a: 1 },
    });
    expect(task).toMatchObject({ state: 'running', background: true });
    expect(await call('jev_status', { id: task.id, after: 0 })).toMatchObject({ id: task.id, name: 'test' });
    const ended = await call('jev_wait', { id: task.id });
    expect(ended).toMatchObject({ state: 'completed', result: { a: 1 } });
    expect(await call('jev_join', { id: task.id })).toEqual(ended);
    const endless = await call('jev_spawn', { program: program('while (true) await program.sleep(5);') });
    expect(await call('jev_stop', { id: endless.id })).toMatchObject({ state: 'cancelled', error: 'Jev run stopped' });
    const status = await call('jev_status');
    expect(status.model).toBe('jev-1.13.0');
    expect(status.credentials).toEqual({ configured: true, source: 'file', verified: false });
    expect(status.runs.map(({ id }: { id: string }) => id)).toContain(endless.id);
  });

  it('is told the line and column of a type error', async () => {
    await expect(
      call('jev_run', { program: program('const a = 1;\nconst b: string = a;\nreturn b;') }),
    ).rejects.toMatchObject({ code: 'PROGRAM_TYPECHECK_FAILED', message: expect.stringContaining('2:7 ') });
  });

  it('cannot launch programs from a program', async () => {
    await expect(
      call('jev_run', { program: program('return null', { requires: ['jev.spawn'] }) }),
    ).rejects.toMatchObject({
      code: 'PROGRAM_INVALID',
      message: expect.stringContaining(
        'jev_run: Programs require exact action refs; recursive Jev lifecycle calls are not allowed',
      ),
    });
  });

  it('that may only read can look, not launch', async () => {
    const reader = await connectAgent(host.url, keys.read);
    try {
      expect(await reader.call('jev_status')).toMatchObject({ runs: [] });
      await expect(reader.call('jev_run', { program: program('return 1') })).rejects.toThrow();
    } finally {
      await reader.client.close();
    }
  });

  it('learns after a restart which program it lost', async () => {
    const task = await call('jev_spawn', { program: program('while (true) await program.sleep(5);') });
    await agent.client.close();
    const exited = new Promise((resolve) => host.process.once('exit', resolve));
    host.process.kill('SIGKILL');
    await exited;
    host = await startJevHost(['serve', '--config', configFile]);
    agent = await connectAgent(host.url, keys.write);
    expect(await call('jev_status', { id: task.id })).toMatchObject({
      state: 'cancelled',
      error: 'Cancelled by a restart of the host; its effects stay as they are',
    });
  });
});
