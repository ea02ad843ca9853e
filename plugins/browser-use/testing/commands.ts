/** One command against a small shop, and what the device was sent for it. */
import type { BrowserRunInput } from '../../../sdk/contract/browser-run.ts';
import type { ToolReply } from '../../../sdk/contract/capabilities.ts';
import type { ThinkingReply, ThinkingRequest } from '../../../sdk/contract/thinking.ts';
import {
  type ScriptedBrowserOptions,
  type ScriptedFault,
  type ScriptStep,
  scriptedBrowser,
  scriptedEvaluator,
} from '../../../sdk/testing/index.ts';
import { runInline } from './inline.ts';

export const shop: ScriptedBrowserOptions['pages'] = {
  home: {
    url: 'http://shop.example/',
    text: 'Shop',
    scroll: { up: false, down: true },
    elements: [
      { ref: 'q', label: 'Search', tag: 'input', type: 'search', goto: 'results' },
      { ref: 'buy', label: 'Buy', goto: 'results' },
      { ref: 'delete', label: 'Delete account' },
      {
        ref: 'size',
        label: 'Size',
        options: [
          { ref: 's41', label: '41' },
          { ref: 's42', label: '42' },
        ],
      },
    ],
  },
  results: {
    url: 'http://shop.example/results',
    text: 'Results',
    scroll: { up: true, down: false },
    elements: [{ ref: 'first', label: 'First result', goto: 'home' }],
  },
  form: {
    url: 'http://shop.example/form',
    text: 'Form',
    elements: [
      { ref: 'name', label: 'Name', tag: 'input' },
      { ref: 'city', label: 'City', tag: 'input' },
    ],
  },
  google: { url: 'https://google.com', text: 'Google' },
  yahoo: { url: 'https://yahoo.com', text: 'Yahoo' },
};

export interface CommandSetup {
  pages?: ScriptedBrowserOptions['pages'];
  start?: string;
  faults?: readonly ScriptedFault[];
  /** Answers, decision by decision. None: the command must not ask. */
  decisions?: readonly ScriptStep[];
  input?: Partial<BrowserRunInput>;
  assist?(request: ThinkingRequest): Promise<ThinkingReply>;
  /** Changes what the device answers, by tool. */
  reply?(name: string, body: Record<string, unknown>): Record<string, unknown>;
  signal?: AbortSignal;
}

/** The arguments that say what a call does; ids, leases and generations are left out. */
const telling = ['ref', 'option_ref', 'text', 'submit', 'direction', 'pixels', 'key', 'repeat', 'url'];
const mutations = new Set([
  'page_click',
  'page_type',
  'page_select',
  'page_scroll',
  'page_keypress',
  'tab_history',
  'tab_navigate',
]);

export async function command(words: string, setup: CommandSetup = {}) {
  const browser = scriptedBrowser({
    pages: setup.pages ?? shop,
    ...(setup.start === undefined ? {} : { start: setup.start }),
    ...(setup.faults === undefined ? {} : { faults: setup.faults }),
  });
  const evaluate = scriptedEvaluator(setup.decisions ?? []);
  const callTool = async (name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply> => {
    const reply = await browser.callTool(name, args, signal);
    const [first] = reply.content;
    if (!setup.reply || first?.type !== 'text') return reply;
    return { ...reply, content: [{ type: 'text', text: JSON.stringify(setup.reply(name, JSON.parse(first.text))) }] };
  };
  const run = await runInline(
    { goal: words, scope: browser.scope, command: true, ...setup.input },
    {
      callTool,
      evaluate,
      ...(setup.assist && { assist: setup.assist }),
      ...(setup.signal && { signal: setup.signal }),
    },
  );
  const calls = browser.calls.map(({ name, args }) =>
    [name, ...telling.filter((key) => key in args).map((key) => `${key}=${args[key]}`)].join(' '),
  );
  return {
    ...run,
    browser,
    /** Every call to the device, in order. */
    calls,
    /** What could change the page, in order. */
    sent: calls.filter((call) => mutations.has(call.split(' ')[0] ?? '')),
    outcome: run.result.commandOutcome,
    asked: evaluate.requests,
  };
}

/** The operations that a decision was offered. */
export function offered(request: { questions: Record<string, unknown> } | undefined): string[] {
  const operation = request?.questions.operation as { criteria: object } | undefined;
  return Object.keys(operation?.criteria ?? {});
}
