import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stubEvaluator } from './evaluators.ts';
import { type RunPluginOptions, runPlugin } from './run-plugin.ts';

const echo = join(import.meta.dirname, '../../test/fixtures/plugins/echo');

describe.each(['inline', 'worker'] as const)('a plugin that a test runs in tier %s', (tier) => {
  const run = (input: unknown, options: Partial<RunPluginOptions> = {}) =>
    runPlugin({ plugin: echo, input, tier, ...options });

  it('returns what it computed from its input', async () => {
    expect(await run({ do: 'echo', value: { a: [1, 'ไทย', null] } })).toEqual({
      value: { a: [1, 'ไทย', null] },
      activated: 1,
    });
  });

  it('asks Jev through its context', async () => {
    const evaluate = stubEvaluator({ which: 'B' });
    expect(await run({ do: 'decide', options: ['A', 'B'] }, { ports: { evaluate } })).toBe('B');
  });

  it('calls the tools of its target', async () => {
    const callTool = async (name: string, args: Record<string, unknown>) => ({
      content: [{ type: 'text' as const, text: JSON.stringify({ name, args }) }],
    });
    const reply = await run({ do: 'tool', name: 'page_observe', args: { x: 1 } }, { ports: { callTool } });
    expect(reply).toEqual({ content: [{ type: 'text', text: '{"name":"page_observe","args":{"x":1}}' }] });
  });

  it('is refused what was not granted, by name', async () => {
    await expect(run({ do: 'decide', options: ['A'] })).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      details: { cause: 'CAPABILITY_DENIED', problem: expect.stringContaining('jev.evaluate') },
    });
    const grants = { 'tools.call': { tools: ['page_observe'] } };
    const callTool = async () => ({ content: [] });
    await expect(
      run({ do: 'tool', name: 'page_click', args: {} }, { grants, ports: { callTool } }),
    ).rejects.toMatchObject({
      details: { cause: 'CAPABILITY_DENIED', problem: expect.stringContaining('page_click') },
    });
  });

  it('learns of a failure in the host without its words', async () => {
    const evaluate = async () => {
      throw new Error('connect to secret-host failed with key sk-123');
    };
    const failure = run({ do: 'decide', options: ['A'] }, { ports: { evaluate } });
    await expect(failure).rejects.toMatchObject({ code: 'PLUGIN_FAILED' });
    await expect(failure).rejects.not.toThrow(/sk-123|secret-host/);
  });

  it('writes to its log and reports progress', async () => {
    const lines: string[] = [];
    const progress: unknown[] = [];
    await run(
      { do: 'say', text: 'two\nlines' },
      {
        log: ({ level, text }) => lines.push(`${level} ${text}`),
        ports: { progress: (event) => progress.push(event) },
      },
    );
    expect(lines).toContain('info two\\u000alines');
    expect(progress).toEqual([{ phase: 'started' }, { phase: 'said' }]);
  });

  it('is told that it is cancelled, cleans up, and its answer counts', async () => {
    const stop = new AbortController();
    const released: string[] = [];
    const callTool = async (name: string) => {
      released.push(name);
      return { content: [] };
    };
    const ports = { callTool, progress: () => stop.abort() };
    const running = run({ do: 'wait', ms: 60_000, cleanUp: true }, { signal: stop.signal, ports });
    expect(await running).toEqual({ cancelled: true });
    expect(released).toEqual(['release']);
  });

  it('fails with what it threw', async () => {
    await expect(run({ do: 'throw', message: 'no such thing' })).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      details: { problem: expect.stringContaining('no such thing') },
    });
  });
});
