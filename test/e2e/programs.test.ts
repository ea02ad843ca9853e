/** The built host as a child process, real MCP and HTTP clients, and a stand-in that speaks Jev's wire contract. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectAgent, startJevHost } from '../../scripts/demo/stack.mjs';
import { root } from '../../scripts/setup.mjs';
import { program } from '../support/programs.ts';

const main = join(root, 'dist', 'host', 'main.js');
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

/** `jev-host program …`, as its user starts it. `until` sends SIGINT once its words match. */
async function command(args: string[], until?: RegExp): Promise<{ code: number | null; out: string; words: string }> {
  const child = spawn(process.execPath, [main, 'program', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, words] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    words += chunk;
    if (until?.test(words)) child.kill('SIGINT');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, words };
}

const file = (name: string, content: unknown): string => {
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return name;
};

describe('an author at the command line', () => {
  const here = () => ['--config', configFile];

  it('keeps the code beside the program, checks it, runs it, and gets events as words and the result as data', async () => {
    file(
      'count.ts',
      'for (const n of input) await program.emit({ n });\nconsole.log("counted");\nreturn input.length;',
    );
    const stored = file('count.json', {
      name: 'count',
      codeFile: 'count.ts',
      inputSchema: { type: 'array', items: { type: 'number' } },
      outputSchema: { type: 'integer' },
      requires: [],
      input: [1, 2],
    });
    expect(await command(['check', stored])).toEqual({ code: 0, out: '', words: 'count: nothing is wrong.\n' });
    const run = await command(['run', stored, ...here()]);
    expect(run).toMatchObject({ code: 0, out: '2\n' });
    for (const line of ['1  {"n":1}', '2  {"n":2}', 'log  counted', 'completed, 0 evaluations, 0 tokens'])
      expect(run.words).toContain(`${line}\n`);
    const other = await command(['run', stored, ...here(), '--input', '[]', '--json']);
    expect(JSON.parse(other.out)).toMatchObject({ state: 'completed', result: 0, name: 'count' });
    file('three.json', [1, 2, 3]);
    expect((await command(['run', stored, ...here(), '--input', '@three.json'])).out).toBe('3\n');
  });

  it('is told where it failed, and the command fails with the program', async () => {
    const stored = file('fails.json', program('const a: any = null;\nreturn a.b;'));
    const { code, out, words } = await command(['run', stored, ...here()]);
    expect([code, out]).toEqual([1, '']);
    expect(words).toMatch(/failed, 0 evaluations[^\n]*\nTypeError: [^\n]* \(line 2, column \d+\)\n$/);
    const refused = await command(['run', file('refused.json', program('return b;')), ...here()]);
    expect(refused.code).not.toBe(0);
    expect(refused.words).toContain('Jev program typecheck failed: 1:8 ');
    expect((await command(['run', stored, ...here(), '--input', 'x'])).words).toContain('--input is not JSON.');
  });

  it('stops the program by stopping the command, while watching leaves it alone', async () => {
    const endless = program('await program.emit("up"); while (true) await program.sleep(5);');
    const stored = file('endless.json', endless);
    const stopped = await command(['run', stored, ...here(), '--json'], /"up"/);
    expect(stopped.code).not.toBe(0);
    expect(JSON.parse(stopped.out)).toMatchObject({ state: 'cancelled', error: 'Jev run stopped' });

    file('writer.key', keys.write);
    const there = ['--url', host.url, '--key-file', 'writer.key'];
    const task = await call('jev_spawn', { program: endless });
    await command(['watch', task.id, ...there], /"up"/);
    expect(await call('jev_status', { id: task.id })).toMatchObject({ state: 'running' });
    await call('jev_stop', { id: task.id });
    expect(await command(['watch', task.id, ...there])).toMatchObject({ code: 1 });
    expect((await command(['watch', randomUUID(), ...there])).words).toContain('Unknown or expired Jev run ID');
  });
});

describe('the tools over HTTP', () => {
  async function post(tool: string, body: unknown, bearer = keys.write, agentId = 'assistant') {
    const response = await fetch(`${host.url}/api/v1/agents/${agentId}/sessions/default/tools/${tool}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests read deep into what came back
    return { status: response.status, body: (await response.json()) as any };
  }

  it('give the same runs as over MCP', async () => {
    const { status, body } = await post('jev_run', { program: program('return input;'), input: { a: [1] } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'completed', result: { a: [1] }, background: false });
    expect(await call('jev_status', { id: body.id })).toEqual(body);
    const spawned = await post('jev_spawn', { program: program('while (true) await program.sleep(5);') });
    expect(spawned.body).toMatchObject({ state: 'running', background: true });
    expect((await call('jev_stop', { id: spawned.body.id })).state).toBe('cancelled');
    expect((await post('jev_join', { id: spawned.body.id })).body).toMatchObject({ state: 'cancelled' });
  });

  it('refuse what they would refuse over MCP, each with its code', async () => {
    const wrong = await post('jev_run', { program: program('return 1', { requires: ['jev.run'] }) });
    expect(wrong.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(wrong.body)).toContain('PROGRAM_INVALID');
    const unknown = await post('jev_wait', { id: randomUUID() });
    expect(unknown.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(unknown.body)).toContain('PROGRAM_UNKNOWN_RUN');
    expect((await post('jev_run', { program: program('return 1') }, 'not-a-key')).status).toBe(401);
    expect((await post('jev_run', { program: program('return 1') }, keys.read)).status).toBe(403);
    expect((await post('jev_status', {}, keys.write, 'nobody')).status).toBeGreaterThanOrEqual(403);
    // The host's own news is nobody's tool.
    expect((await post('run_ended', { id: randomUUID(), end: {} })).status).toBeGreaterThanOrEqual(400);
  });
});

describe('a program that observes its conversation', () => {
  it('hears what its person says, once it is said, and its advice comes back as a notice', async () => {
    const task = await call('jev_spawn', {
      program: program(
        `await program.emit('ready');
         const event = await program.nextEvent();
         const { delivered } = await program.advise({ eventId: event.id, message: 'Look at <b> first.' });
         return { event: event.event, heard: event.payload.inputText, delivered };`,
      ),
      observe: { events: ['input'], include: ['inputText'], delivery: 'steer' },
    });
    const ready = async (): Promise<void> => {
      const { events } = await call('jev_status', { id: task.id });
      if (events.length === 0) return ready();
    };
    await ready();
    const said = await fetch(`${host.url}/api/v1/agents/assistant/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.write}`, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 'default', text: 'Please look at my order.' }),
    });
    expect(said.status).toBe(202);
    const ended = await call('jev_wait', { id: task.id });
    expect(ended.error).toBeUndefined();
    expect(ended.result).toEqual({ event: 'input', heard: 'Please look at my order.', delivered: true });
    expect(ended.observation).toMatchObject({ received: 1, consumed: 1, adviceDelivered: 1, queued: 0 });
    const { notices } = await call('task_status');
    expect(notices.map(({ text }: { text?: string }) => text)).toContain(
      'A program of yours advises: Look at &lt;b&gt; first.',
    );
  });
});

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
