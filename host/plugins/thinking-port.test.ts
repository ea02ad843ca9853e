import { describe, expect, it } from 'vitest';
import type { ThinkingProvider } from '../../core/jev/thinking-provider.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import type { ThinkingRequest } from '../../sdk/contract/thinking.ts';
import type { PluginState, RunCall } from './ports.ts';
import { createThinkingPort, type ThinkingHooks } from './thinking-port.ts';

const authority = { principalId: 'api:k', agentId: 'a', conversationId: 'c' };
const signal = new AbortController().signal;
const text: ThinkingRequest = {
  kind: 'field_text',
  goal: 'g',
  field: { label: 'City' },
  page: { url: 'http://a.example/', title: '', text: '' },
  recent_actions: [],
};
const verify: ThinkingRequest = {
  kind: 'verify',
  goal: 'g',
  page: { url: 'http://a.example/', title: '', text: '', elements: [] },
  recent_actions: [],
};

function model(configured = true): ThinkingProvider & { calls: number } {
  const made = {
    configured,
    calls: 0,
    complete: async () => {
      made.calls += 1;
      return { text: '{}', stop: 'stop' };
    },
    stats: () => ({ active: 0, waiting: 0, calls: 0, failed: {} }),
  };
  return made;
}

function port(options: {
  helpers?: Record<string, (request: unknown, call: Omit<RunCall, 'input'>) => unknown>;
  provider?: ThinkingProvider;
  textProvider?: ThinkingProvider;
  hooks?: ThinkingHooks;
  maxCalls?: number;
}) {
  const helpers = options.helpers ?? { thinking: () => ({ text: 'from thinking' }) };
  return createThinkingPort({
    plugins: {
      list: () => Object.keys(helpers).map((id) => ({ id, state: 'serving' }) as PluginState),
      callContributed: async (id, tool, request, call) => {
        expect(tool).toBe('assist');
        return helpers[id]?.(request, call);
      },
    },
    provider: options.provider ?? model(),
    ...(options.textProvider ? { textProvider: options.textProvider } : {}),
    hooks: () => options.hooks ?? {},
    maxCallsPerRun: () => options.maxCalls ?? 10,
    ids: () => 'call-1',
  });
}

describe('the Thinking port of a run', () => {
  it('asks the Thinking plugin', async () => {
    expect(await port({}).forRun(authority)(text, signal)).toEqual({ text: 'from thinking' });
  });

  it('asks an operator’s helper first, and Thinking when the helper passes', async () => {
    const helpers = {
      thinking: () => ({ verified: false }),
      mine: (request: unknown) =>
        (request as ThinkingRequest).kind === 'verify' ? { verified: true } : { pass: true },
    };
    const assist = port({ helpers, hooks: { verify: 'mine', text: 'mine' } }).forRun(authority);
    expect(await assist(verify, signal)).toEqual({ verified: true });
    expect(await assist(text, signal)).toEqual({ verified: false });
  });

  it('throws what a helper reports as a failure, by its code', async () => {
    const failing = (code: string) =>
      port({ helpers: { thinking: () => ({ failure: { code, details: { status: 429 } } }) } });
    await expect(failing('BROWSER_TEXT_HTTP_429').forRun(authority)(text, signal)).rejects.toMatchObject({
      code: 'BROWSER_TEXT_HTTP_429',
      details: { status: 429 },
    });
    await expect(failing('made up by a plugin').forRun(authority)(text, signal)).rejects.toMatchObject({
      code: 'ADAPTER_FAILURE',
    });
  });

  it('counts the model’s calls of one run and stops at the limit, whichever helper asks', async () => {
    const provider = model();
    const greedy = async (_request: unknown, call: Omit<RunCall, 'input'>) => {
      await call.ports.think?.({ messages: [] }, signal);
      return { text: 'x' };
    };
    const made = port({ helpers: { thinking: greedy }, provider, maxCalls: 2 });
    const assist = made.forRun(authority);
    await assist(text, signal);
    await assist(text, signal);
    await expect(assist(text, signal)).rejects.toBeInstanceOf(HostError);
    expect(provider.calls).toBe(2);
    await made.forRun(authority)(text, signal);
    expect(provider.calls).toBe(3);
  });

  it('uses the text helper’s model for text and the shared one for verification', async () => {
    const [provider, textProvider] = [model(), model()];
    const helper = async (_request: unknown, call: Omit<RunCall, 'input'>) => {
      await call.ports.think?.({ messages: [] }, signal);
      return {};
    };
    const assist = port({ helpers: { thinking: helper }, provider, textProvider }).forRun(authority);
    await assist(text, signal);
    await assist(verify, signal);
    expect([provider.calls, textProvider.calls]).toEqual([1, 1]);
  });

  it('tells runs only of what is set up', () => {
    expect(port({}).offers()).toEqual({ textHelper: true, verifier: true, action: true });
    expect(port({ provider: model(false) }).offers()).toEqual({ textHelper: false, verifier: false, action: false });
    expect(port({ provider: model(false), textProvider: model() }).offers()).toEqual({
      textHelper: true,
      verifier: false,
      action: false,
    });
    expect(port({ helpers: {} }).offers()).toEqual({ textHelper: false, verifier: false, action: false });
  });

  it('says that nothing is set up, rather than asking a helper that is not there', async () => {
    await expect(port({ provider: model(false) }).forRun(authority)(text, signal)).rejects.toMatchObject({
      code: 'THINKING_NOT_CONFIGURED',
    });
  });
});
