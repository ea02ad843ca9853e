/** Runs the controller in this realm against scripted parts, with a clock that passes only where the run waits. */
import { setMaxListeners } from 'node:events';
import type { BrowserRunInput, BrowserRunResult } from '../../../sdk/contract/browser-run.ts';
import type { ToolReply } from '../../../sdk/contract/capabilities.ts';
import type { JevRequest, JevResult } from '../../../sdk/contract/jev.ts';
import type { ThinkingReply, ThinkingRequest } from '../../../sdk/contract/thinking.ts';
import type { Context } from '../context.ts';
import plugin from '../index.ts';

export interface InlineParts {
  callTool(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  evaluate(request: JevRequest, signal: AbortSignal): Promise<JevResult>;
  assist?(request: ThinkingRequest): Promise<ThinkingReply>;
  signal?: AbortSignal;
}

export interface InlineRun {
  result: BrowserRunResult;
  progress: Record<string, unknown>[];
  /** Milliseconds that passed on the run's clock. */
  elapsed: number;
}

export async function runInline(
  input: Partial<BrowserRunInput> & Pick<BrowserRunInput, 'goal' | 'scope'>,
  parts: InlineParts,
): Promise<InlineRun> {
  const signal = parts.signal ?? new AbortController().signal;
  const progress: Record<string, unknown>[] = [];
  setMaxListeners(0, signal);
  let now = 1_000_000;
  let ids = 0;
  const ctx: Context = {
    signal,
    run: { id: 'run', pluginId: 'browser-use', features: {}, settings: {} },
    jev: { evaluate: (request: JevRequest) => parts.evaluate(request, signal) } as Context['jev'],
    tools: { call: (name, args) => parts.callTool(name, args, signal) },
    thinking: {
      assist: (request) =>
        parts.assist?.(request) ?? Promise.reject(Object.assign(new Error(), { code: 'CAPABILITY_DENIED' })),
    },
    task: {
      progress: async (event) => void progress.push(event),
      ask: () => Promise.reject(new Error('not asked in these tests')),
      confirm: () => Promise.reject(new Error('not asked in these tests')),
    },
    clock: {
      now: () => now,
      sleep: (ms) =>
        new Promise((resolve, reject) => {
          if (signal.aborted) return reject(signal.reason);
          const refused = () => reject(signal.reason);
          signal.addEventListener('abort', refused);
          setImmediate(() => {
            signal.removeEventListener('abort', refused);
            now += ms;
            resolve();
          });
        }),
    },
    random: {
      uuid: () => `00000000-0000-4000-9000-${String(++ids).padStart(12, '0')}`,
      number: () => 0.5,
    },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  };
  const result = (await plugin.run?.({ contractVersion: 1, ...input }, ctx)) as BrowserRunResult;
  return { result, progress, elapsed: now - 1_000_000 };
}
