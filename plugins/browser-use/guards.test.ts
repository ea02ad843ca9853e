import { describe, expect, it } from 'vitest';
import type { BrowserRunInput } from '../../sdk/contract/browser-run.ts';
import { type CodeEntry, codes, isCode } from '../../sdk/contract/codes.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import type { JevResult } from '../../sdk/contract/jev.ts';
import {
  type ScriptedBrowserOptions,
  type ScriptedFault,
  type ScriptStep,
  scriptedBrowser,
  scriptedEvaluator,
} from '../../sdk/testing/index.ts';
import { type InlineParts, runInline } from './testing/inline.ts';

const click: ScriptStep = { operation: 'CLICK', click_target: 'a' };
const wait: ScriptStep = { operation: 'WAIT' };
const done: ScriptStep = { operation: 'DONE' };

const partial = {
  protocol_version: 1,
  generation: 'g2',
  url: 'http://site.example/',
  title: 'One',
  text: 'One',
  elements: [],
  scroll: { up: false, down: false },
  truncated: { text: false, elements: true },
};

interface Case {
  pages?: ScriptedBrowserOptions['pages'];
  faults?: ScriptedFault[];
  steps?: ScriptStep[];
  input?: Partial<BrowserRunInput>;
  parts?: Partial<InlineParts>;
}

/** A page on which clicking `a` always changes the text. */
function counting(): ScriptedBrowserOptions['pages'] {
  let clicks = 0;
  return {
    one: {
      url: 'http://site.example/',
      text: 'One',
      elements: [
        // biome-ignore lint/suspicious/noThenProperty: the scripted browser's name for what a click does.
        { ref: 'a', label: 'Count', then: (state) => state.addText(`click ${++clicks}`) },
        { ref: 'dead', label: 'Dead' },
        { ref: 'n', label: 'Name', tag: 'input' },
      ],
      scroll: { up: false, down: true },
    },
  };
}

async function run({ pages = counting(), faults = [], steps = [], input = {}, parts = {} }: Case) {
  const browser = scriptedBrowser({ pages, faults });
  const evaluate = scriptedEvaluator(steps);
  const made = await runInline(
    { goal: 'Do it', scope: browser.scope, ...input },
    { callTool: browser.callTool, evaluate, ...parts },
  );
  return { ...made, browser, evaluate, operationIds: idsOf(browser.calls) };
}

const mutations = new Set(['page_click', 'page_type', 'page_select', 'page_scroll', 'tab_navigate']);
const idsOf = (calls: { name: string; args: Record<string, unknown> }[]) =>
  calls.filter(({ name }) => mutations.has(name)).map(({ args }) => String(args.operation_id));

const stale = (tool: string, cause?: string): ScriptedFault => ({ tool, does: 'stale', ...(cause ? { cause } : {}) });
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('every stop has its reason, its sentence and its next step', () => {
  it.each<[string, Case, string, string]>([
    ['too many actions', { steps: times(3, () => click), input: { maxSteps: 2 } }, 'blocked', 'ACTION_BUDGET'],
    [
      'too many decisions',
      { steps: times(2, () => click), input: { maxEvaluations: 2 } },
      'blocked',
      'EVALUATION_BUDGET',
    ],
    ['too many waits', { steps: times(10, () => wait) }, 'blocked', 'WAIT_BUDGET'],
    ['out of time', { steps: times(30, () => wait), input: { timeoutMs: 1000 } }, 'blocked', 'TASK_DEADLINE'],
    ['nothing helps', { steps: [{ operation: 'BLOCKED' }] }, 'blocked', 'NO_SUPPORTED_ACTION'],
    [
      'an unsure operation',
      { steps: [{ operation: { WAIT: 0.5, DONE: 0.5 } }], input: { operationConfidence: 1 }, parts: unsure() },
      'blocked',
      'LOW_OPERATION_CONFIDENCE',
    ],
    ['an unsure target', { steps: [{ operation: 'CLICK', click_target: 'NONE' }] }, 'blocked', 'LOW_TARGET_CONFIDENCE'],
    [
      'the same useless action again',
      {
        steps: [
          { operation: 'CLICK', click_target: 'dead' },
          { operation: 'CLICK', click_target: 'dead' },
        ],
      },
      'blocked',
      'NO_PROGRESS',
    ],
    ['an empty page', { pages: { e: { url: 'http://e.example/' } } }, 'blocked', 'PAGE_CONTENT_UNAVAILABLE'],
    [
      'no value for a field',
      { steps: [{ operation: 'TYPE_TEXT', type_text_target: 'n' }] },
      'blocked',
      'FIELD_TEXT_REQUIRED',
    ],
    ['a claim of completion', { steps: [done] }, 'needs_verification', 'COMPLETION_CANDIDATE'],
    ['pages that keep changing', { faults: times(3, () => stale('page_observe')) }, 'blocked', 'STALE_RETRY_BUDGET'],
    [
      'a navigation that does not end',
      { faults: times(7, () => stale('page_observe', 'NAVIGATION_PENDING')) },
      'blocked',
      'STALE_RETRY_BUDGET',
    ],
    [
      'controls that keep changing',
      { steps: times(3, () => click), faults: times(3, () => stale('page_click')) },
      'blocked',
      'STALE_RETRY_BUDGET',
    ],
    [
      'a covered control',
      { steps: times(3, () => click), faults: times(3, () => stale('page_click', 'TARGET_OBSCURED')) },
      'blocked',
      'TARGET_OBSCURED',
    ],
    [
      'a lost reply',
      { steps: [click], faults: [{ tool: 'page_click', does: 'lost' }] },
      'needs_verification',
      'OUTCOME_UNKNOWN',
    ],
    [
      'a device that does not know',
      { steps: [click], faults: [{ tool: 'page_click', does: 'unknown' }] },
      'needs_verification',
      'OUTCOME_UNKNOWN',
    ],
    [
      'a reply that is none',
      { steps: [click], faults: [{ tool: 'page_click', does: { state: 'perhaps' } }] },
      'needs_verification',
      'OUTCOME_UNKNOWN',
    ],
    [
      'a failure that does not say whether it acted',
      { steps: [click], faults: [{ tool: 'page_click', does: { error: 'TARGET_GONE' } }] },
      'needs_verification',
      'OUTCOME_UNKNOWN',
    ],
    [
      'consent withdrawn',
      { steps: [click], faults: [{ tool: 'page_click', does: { access: 'pending' } }] },
      'blocked',
      'CONSENT_REQUIRED',
    ],
    [
      'an address that is not allowed',
      { input: { startUrl: 'http://elsewhere.example/' } },
      'blocked',
      'URL_NOT_ALLOWED',
    ],
    [
      'the browser’s own new tab',
      { faults: [{ tool: 'page_observe', does: { native_new_tab: true } }] },
      'blocked',
      'START_URL_REQUIRED',
    ],
    [
      'an observation of another shape',
      { faults: [{ tool: 'page_observe', does: { protocol_version: 2 } }] },
      'failed',
      'INVALID_CONTRACT',
    ],
    [
      'a provider that slows down',
      { steps: [{ fails: new HostError('JEV_RATE_LIMITED', { status: 429, retryAfter: '7' }) }] },
      'blocked',
      'JEV_RATE_LIMITED',
    ],
    [
      'a provider that is not there',
      { steps: [{ fails: new HostError('JEV_PROVIDER_UNAVAILABLE') }] },
      'blocked',
      'JEV_PROVIDER_UNAVAILABLE',
    ],
    [
      'a truncated page at the end',
      { faults: [{ tool: 'page_observe', after: 1, does: partial }], steps: [done] },
      'needs_verification',
      'OBSERVATION_TRUNCATED',
    ],
    ['verified', { steps: [done], input: { verifier: true }, parts: verdict(true) }, 'succeeded', 'VERIFIED'],
    [
      'not verified',
      { steps: [done], input: { verifier: true }, parts: verdict(false) },
      'needs_verification',
      'VERIFICATION_FAILED',
    ],
    [
      'a verdict in words',
      { steps: [done], input: { verifier: true }, parts: verdict('true') },
      'failed',
      'INVALID_CONTRACT',
    ],
    ['a verdict of one', { steps: [done], input: { verifier: true }, parts: verdict(1) }, 'failed', 'INVALID_CONTRACT'],
    ['no verdict', { steps: [done], input: { verifier: true }, parts: verdict(null) }, 'failed', 'INVALID_CONTRACT'],
    [
      'a verifier that fails',
      { steps: [done], input: { verifier: true }, parts: thinkingFails('BROWSER_TEXT_HTTP_503') },
      'blocked',
      'BROWSER_TEXT_HTTP_503',
    ],
    [
      'a text model that fails',
      {
        steps: [{ operation: 'TYPE_TEXT', type_text_target: 'n' }],
        input: { textHelper: true },
        parts: thinkingFails('BROWSER_TEXT_TIMEOUT'),
      },
      'blocked',
      'BROWSER_TEXT_TIMEOUT',
    ],
    [
      'too many texts',
      { steps: [{ operation: 'TYPE_TEXT', type_text_target: 'n' }], input: { textHelper: true, maxTextCalls: 0 } },
      'blocked',
      'TEXT_BUDGET',
    ],
    [
      'an answer that is none of the offered',
      { parts: garbled((answers) => Object.assign(answers.operation ?? {}, { choice: 'BUY' })) },
      'blocked',
      'INVALID_DECISION',
    ],
    [
      'an answer to a question that was not asked',
      { parts: garbled((answers) => Object.assign(answers, { also: answers.operation })) },
      'blocked',
      'INVALID_DECISION',
    ],
    ['a sign-in page', { pages: { p: signIn } }, 'blocked', 'AUTH_REQUIRED'],
    [
      'a page that asks for a person',
      { pages: { p: { url: 'http://site.example/', title: 'Checking your browser', text: 'Just a moment' } } },
      'blocked',
      'CAPTCHA_REQUIRED',
    ],
    [
      'a banner that asks for consent in the way',
      { pages: { p: banner }, steps: [{ operation: 'BLOCKED' }] },
      'blocked',
      'CONSENT_BANNER',
    ],
    [
      'an address that the browser does not open',
      {
        input: { startUrl: 'http://site.example/' },
        faults: [{ tool: 'tab_navigate', does: { error: 'NAVIGATION_DENIED', action_executed: false } }],
      },
      'blocked',
      'NAVIGATION_DENIED',
    ],
    [
      'a tab that is another run’s',
      { faults: [{ tool: 'browser_task_acquire', does: { error: 'BROWSER_BUSY', action_executed: false } }] },
      'blocked',
      'BROWSER_BUSY',
    ],
    [
      'words without a task',
      { steps: [{ operation: 'UNCLEAR' }], input: { sessionStart: true } },
      'needs_verification',
      'COMMAND_WAITING_INPUT',
    ],
    [
      'one action at a time',
      { steps: [click], input: { yieldAfterAction: true } },
      'needs_verification',
      'COMMAND_WAITING_INPUT',
    ],
  ])('%s', async (_name, given, status, reason) => {
    const { result, browser, operationIds } = await run(given);
    expect(result).toMatchObject({ status, reason });
    expect(sentenceOf(reason)).toMatch(/^[A-Z].{10,}\.$/s);
    expect(isCode(reason) && codes[reason].next).toMatch(/^[A-Z].{10,}\.$/s);
    // Whatever the end: the lease is given back, and no operation id was used for two dispatches.
    expect(browser.leaseHeld()).toBe(false);
    expect(new Set(operationIds).size).toBe(operationIds.length);
    expect(result.trace?.events.at(-1)).toMatchObject({ phase: 'terminal', reason });
  });
});

const signIn = {
  url: 'http://site.example/login',
  title: 'Sign in',
  elements: [{ ref: 'p', label: 'Password', tag: 'input', type: 'password', sensitive: true }],
};
const banner = {
  url: 'http://site.example/',
  text: 'Shop',
  elements: [{ ref: 'ok', label: 'Accept all', context: 'We use cookies' }],
};

function sentenceOf(reason: string): string {
  if (!isCode(reason)) return '';
  const { says } = codes[reason] as CodeEntry;
  return typeof says === 'string' ? says : says({});
}

/** An evaluator whose answer breaks its own question. */
function garbled(spoil: (answers: JevResult['answers']) => void): Partial<InlineParts> {
  return {
    evaluate: async (request) => {
      const result = await scriptedEvaluator([{ operation: 'WAIT' }])(request, new AbortController().signal);
      spoil(result.answers);
      return result;
    },
  };
}

/** An evaluator that spreads its confidence. */
function unsure(): Partial<InlineParts> {
  return {
    evaluate: async (request) => {
      const inner = scriptedEvaluator([{ operation: 'WAIT' }]);
      const result = await inner(request, new AbortController().signal);
      for (const answer of Object.values(result.answers)) if (answer.type === 'choice') answer.confidence = 0.3;
      return result;
    },
  };
}
function verdict(verified: unknown): Partial<InlineParts> {
  return { assist: async () => ({ verified }) };
}
function thinkingFails(code: 'BROWSER_TEXT_HTTP_503' | 'BROWSER_TEXT_TIMEOUT'): Partial<InlineParts> {
  return { assist: () => Promise.reject(new HostError(code, { status: 503 })) };
}

describe('who decides', () => {
  it('is Jev, also when a browser device asks for Thinking: only desktop devices have that mode', async () => {
    const browser = scriptedBrowser({ pages: counting() });
    const evaluate = scriptedEvaluator([click, done]);
    const { result } = await runInline(
      { goal: 'Do it', scope: browser.scope, textHelper: true, verifier: false },
      {
        evaluate,
        async callTool(name, args, signal) {
          const reply = await browser.callTool(name, args, signal);
          const body = JSON.parse(reply.content[0]?.text ?? '{}');
          const told = name === 'page_observe' ? { ...body, decisionMode: 'thinking' } : body;
          return { ...reply, content: [{ type: 'text', text: JSON.stringify(told) }] };
        },
        assist: () => Promise.reject(new Error('Thinking was asked')),
      },
    );
    expect(result).toMatchObject({ reason: 'COMPLETION_CANDIDATE', evaluations: 2 });
    expect(evaluate.requests).toHaveLength(2);
  });
});

describe('nothing is done twice', () => {
  it('a refused click is decided afresh, under a new operation id', async () => {
    const { result, operationIds, evaluate, browser } = await run({
      steps: [click, click, done],
      faults: [stale('page_click', 'FORM_STATE_CHANGED')],
    });
    expect(result).toMatchObject({ reason: 'COMPLETION_CANDIDATE', steps: 1, staleRetries: 1 });
    expect(browser.done).toEqual(['page_click a']);
    expect(new Set(operationIds).size).toBe(2);
    expect(evaluate.requests[1]?.state).toMatchObject({
      recovery: { discarded: 'FORM_STATE_CHANGED', target: 'Count' },
    });
  });

  it.each(['lost', 'unknown'] as const)('an action whose reply is %s ends the run with what is known', async (does) => {
    const { result, browser } = await run({ steps: [click, click], faults: [{ tool: 'page_click', does }] });
    expect(browser.done).toEqual(['page_click a']);
    expect(result.lastAction).toMatchObject({ operation: 'CLICK', outcome: 'unknown' });
    expect(result.lastConfirmedAction).toBeUndefined();
  });

  it('a refused navigation at the start sends nothing more', async () => {
    const { browser, result } = await run({ input: { startUrl: 'http://elsewhere.example/' } });
    expect(browser.done).toEqual([]);
    expect(result.lastAction).toMatchObject({ operation: 'NAVIGATE', outcome: 'not_executed' });
  });

  it.each([
    ['a question, by declining it', ['dialog-accept', 'dialog-dismiss'], 'page_click dialog-dismiss'],
    ['a message, by closing it', ['dialog-accept'], 'page_click dialog-accept'],
  ])('a dialog that was left open does not keep an address from being opened: %s', async (_what, refs, closes) => {
    const dialog = {
      elements: refs.map((ref) => ({ ref, label: ref })),
      url: 'http://site.example/left',
      text: 'Sure?',
    };
    const { browser, result } = await run({
      pages: { left: dialog, one: { url: 'http://site.example/', text: 'One' } },
      input: { startUrl: 'http://site.example/' },
      faults: [stale('tab_navigate', 'DIALOG_OPENED')],
      steps: [done],
    });
    expect(result.reason).toBe('COMPLETION_CANDIDATE');
    expect(browser.done).toEqual([closes, 'tab_navigate http://site.example/']);
  });

  it('what is not known outranks a cancellation', async () => {
    const cancel = new AbortController();
    const { result } = await run({
      steps: [click],
      faults: [{ tool: 'page_click', does: 'hang' }],
      parts: {
        signal: cancel.signal,
        evaluate: async (request, signal) => {
          setTimeout(() => cancel.abort(), 20);
          return scriptedEvaluator([click])(request, signal);
        },
      },
    });
    expect(result).toMatchObject({ status: 'needs_verification', reason: 'OUTCOME_UNKNOWN' });
  });
});

describe('a cancellation', () => {
  it.each([
    [undefined, 'TASK_CANCELLED'],
    [new HostError('REVISION_SUPERSEDED'), 'REVISION_SUPERSEDED'],
  ])('with the reason %s ends as %s, also while a decision is awaited', async (why, reason) => {
    const cancel = new AbortController();
    const { result, browser } = await run({
      parts: {
        signal: cancel.signal,
        evaluate: () =>
          new Promise((_, reject) => {
            cancel.signal.addEventListener('abort', () => reject(new HostError('JEV_CANCELLED')));
            cancel.abort(why);
          }),
      },
    });
    expect(result).toMatchObject({ status: 'cancelled', reason });
    expect(browser.done).toEqual([]);
  });

  it('before the start does nothing', async () => {
    const { result, browser } = await run({ parts: { signal: AbortSignal.abort() } });
    expect(result).toMatchObject({ status: 'cancelled', reason: 'TASK_CANCELLED' });
    expect(browser.calls).toEqual([]);
  });
});

describe('waiting', () => {
  it('looks a little longer each time before another decision is paid for, and stops looking when something changed', async () => {
    const { browser, elapsed } = await run({ steps: [wait, wait, wait, { operation: 'BLOCKED' }] });
    // One look, then two, then three; one more for BLOCKED, one at the start.
    expect(browser.calls.filter(({ name }) => name === 'page_observe')).toHaveLength(1 + 1 + 2 + 3 + 1);
    expect(elapsed).toBe(6 * 200);
  });

  it('an empty page is read again five times without a paid decision', async () => {
    const { result, browser } = await run({ pages: { e: { url: 'http://e.example/' } } });
    expect(result.evaluations).toBe(0);
    expect(browser.calls.filter(({ name }) => name === 'page_observe')).toHaveLength(6);
  });
});

describe('typing', () => {
  const typeName: ScriptStep = { operation: 'TYPE_TEXT', type_text_target: 'n' };
  const fields = [{ label: 'Name', text: 'Ada' }];

  it('sends nothing into a field that already shows the text, and stops when that is chosen again', async () => {
    const { result, browser } = await run({ steps: [typeName, typeName, typeName], input: { fields } });
    expect(browser.done).toEqual(['page_type n']);
    expect(result.reason).toBe('NO_PROGRESS');
  });

  it('asks for the value by the field’s label', async () => {
    const { result } = await run({ steps: [typeName] });
    expect(result.fieldRequest).toEqual({ ref: 'n', label: 'Name', reason: 'missing' });
  });

  it('types what Thinking wrote, and only that', async () => {
    const asked: unknown[] = [];
    const { browser, result } = await run({
      steps: [typeName, done],
      input: { textHelper: true },
      parts: {
        assist: async (request) => {
          asked.push(request);
          return { text: 'Grace' };
        },
      },
    });
    expect(browser.state.values.get('n')).toBe('Grace');
    expect(result).toMatchObject({ textCalls: 1, reason: 'COMPLETION_CANDIDATE' });
    expect(asked).toMatchObject([{ kind: 'field_text', goal: 'Do it', field: { label: 'Name' } }]);
  });

  it('asks the owner when Thinking does not know', async () => {
    const { result, browser } = await run({
      steps: [typeName],
      input: { textHelper: true },
      parts: { assist: async () => ({ text: null }) },
    });
    expect(result.fieldRequest).toMatchObject({ reason: 'missing' });
    expect(browser.done).toEqual([]);
  });

  it.each([
    ['a number', 5],
    ['nothing', undefined],
    ['blank', '  '],
    ['too long', 'x'.repeat(2001)],
  ])('never types %s from Thinking', async (_name, text) => {
    const { result, browser } = await run({
      steps: [typeName],
      input: { textHelper: true },
      parts: { assist: async () => ({ text }) },
    });
    expect(result.reason).toBe('INVALID_CONTRACT');
    expect(browser.done).toEqual([]);
  });

  it('drops the text when the field changed while it was written', async () => {
    const pages = counting();
    let browserState: ReturnType<typeof scriptedBrowser> | undefined;
    const browser = scriptedBrowser({ pages });
    browserState = browser;
    const { result } = await runInline(
      { goal: 'Do it', scope: browser.scope, textHelper: true },
      {
        callTool: browser.callTool,
        evaluate: scriptedEvaluator([typeName, { operation: 'BLOCKED' }]),
        assist: async () => {
          browserState?.state.values.set('n', 'typed by the page');
          return { text: 'Grace' };
        },
      },
    );
    expect(browser.done).toEqual([]);
    expect(result.trace?.events).toContainEqual(
      expect.objectContaining({ phase: 'field', dropped: 'FIELD_CONTEXT_CHANGED' }),
    );
  });
});

describe('one action that Thinking chooses', () => {
  const unsureClick: Partial<InlineParts> = {
    evaluate: async (request, signal) => {
      const result = await scriptedEvaluator([click])(request, signal);
      const answer = result.answers.operation;
      if (answer?.type === 'choice') answer.confidence = 0.1;
      return result;
    },
  };

  it('follows an unsure decision, once, among what was offered', async () => {
    const asked: unknown[] = [];
    const { browser, result } = await run({
      input: { operationConfidence: 0.5, thinkingAction: true },
      parts: {
        ...unsureClick,
        assist: async (request) => {
          asked.push(request);
          return { choice: 'CLICK:a' };
        },
      },
    });
    expect(browser.done).toEqual(['page_click a']);
    expect(asked).toMatchObject([{ kind: 'action', options: { 'CLICK:a': { operation: 'CLICK', label: 'Count' } } }]);
    // The next unsure decision ends the run.
    expect(result).toMatchObject({ reason: 'LOW_OPERATION_CONFIDENCE', steps: 1, textCalls: 1 });
  });

  it.each([
    ['nothing', null, 'LOW_OPERATION_CONFIDENCE'],
    ['something that was not offered', 'CLICK:elsewhere', 'INVALID_CONTRACT'],
    ['no string', 7, 'INVALID_CONTRACT'],
  ])('does nothing when it chooses %s', async (_name, choice, reason) => {
    const { browser, result } = await run({
      input: { operationConfidence: 0.5, thinkingAction: true },
      parts: { ...unsureClick, assist: async () => ({ choice }) },
    });
    expect(browser.done).toEqual([]);
    expect(result.reason).toBe(reason);
  });

  it('follows three actions that changed nothing', async () => {
    const dead: ScriptStep = { operation: 'CLICK', click_target: 'dead' };
    const { browser, result } = await run({
      steps: [dead, dead, done],
      input: { thinkingAction: true },
      parts: { assist: async () => ({ choice: 'CLICK:a' }) },
    });
    expect(browser.done).toEqual(['page_click dead', 'page_click a']);
    expect(result.reason).toBe('COMPLETION_CANDIDATE');
  });
});

describe('the trace', () => {
  it('tells what was offered and chosen, and never what the page says', async () => {
    const secret = 'SECRET-PAGE-WORDS';
    const { result } = await run({
      pages: {
        one: {
          url: `http://site.example/${secret}`,
          title: secret,
          text: secret,
          elements: [
            { ref: 'a', label: secret, goto: 'two', context: secret },
            { ref: 'n', label: 'Name', tag: 'input', value: secret },
          ],
        },
        two: { url: 'http://site.example/two', text: secret, elements: [{ ref: 'n', label: 'Name', tag: 'input' }] },
      },
      steps: [click, { operation: 'TYPE_TEXT', type_text_target: 'n' }, done],
      input: { fields: [{ label: 'Name', text: secret }] },
    });
    expect(result.reason).toBe('COMPLETION_CANDIDATE');
    expect(JSON.stringify(result.trace)).not.toContain(secret);
    expect(result.trace?.events.filter(({ phase }) => phase === 'decision')).toMatchObject([
      { operation: 'CLICK', target: 'a', offered: { CLICK: 1, TYPE_TEXT: 1, SELECT: 0 } },
      { operation: 'TYPE_TEXT', target: 'n' },
      { operation: 'DONE' },
    ]);
  });
});
