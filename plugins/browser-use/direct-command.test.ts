import { describe, expect, it } from 'vitest';
import { HostError } from '../../sdk/contract/errors.ts';
import { command, offered, shop } from './testing/commands.ts';

const lease = (...between: string[]) => ['browser_task_acquire', ...between, 'browser_task_release'];
const choose = (operation: string, more: Record<string, string> = {}) => [{ operation, ...more }];
const withoutNavigation = (_name: string, body: Record<string, unknown>): Record<string, unknown> => {
  const { navigation: _own, ...page } = body as { navigation?: unknown };
  const { result } = page as { result?: { observation?: object } };
  if (!result?.observation) return page;
  return { ...page, result: { ...result, observation: withoutNavigation('', { ...result.observation }) } };
};

describe('a command that the grammar reads', () => {
  const primitives: [words: string, call: string, action: object, start?: string][] = [
    ['scroll ลง', 'page_scroll direction=down pixels=500', { kind: 'scroll', direction: 'down' }],
    ['page down', 'page_scroll direction=down pixels=500', { kind: 'scroll', direction: 'down' }],
    ['เลื่อนขึ้นครับ', 'page_scroll direction=up pixels=500', { kind: 'scroll', direction: 'up' }, 'results'],
    ['enter', 'page_keypress key=Enter', { kind: 'key', key: 'Enter' }],
    ['กด tab', 'page_keypress key=Tab', { kind: 'key', key: 'Tab' }],
    ['esc', 'page_keypress key=Escape', { kind: 'key', key: 'Escape' }],
    ['ลูกศรลง', 'page_keypress key=ArrowDown', { kind: 'key', key: 'ArrowDown' }],
    ['backspace x3', 'page_keypress key=Backspace repeat=3', { kind: 'key', key: 'Backspace' }],
  ];
  it.each(primitives)('%s is one call and no decision', async (words, call, action, start) => {
    const run = await command(words, start === undefined ? {} : { start });
    expect(run.calls).toEqual(lease('page_observe', call));
    expect(run.result).toMatchObject({ status: 'needs_verification', reason: 'COMMAND_WAITING_INPUT', evaluations: 0 });
    expect(run.outcome).toEqual({ done: true, action });
  });

  it.each([
    ['เข้า google', 'https://google.com'],
    ['google.com', 'https://google.com'],
    ['go to yahoo.com', 'https://yahoo.com'],
  ])('%s opens the address in the approved tab', async (words, url) => {
    const run = await command(words);
    expect(run.calls).toEqual(lease(`tab_navigate url=${url}`));
    expect(run.outcome).toEqual({ done: true, action: { kind: 'navigate', url } });
  });

  it.each(['กลับ', 'ย้อนกลับไปหน้าก่อนหน้า', 'go back to the previous page'])('%s goes back', async (words) => {
    const run = await command(words, {
      reply: (_name, body) =>
        'navigation' in body ? { ...body, navigation: { can_go_back: true, can_go_forward: false } } : body,
    });
    // The scripted tab has no entry after all, as when the page dropped it meanwhile.
    expect(run.calls).toEqual(lease('page_observe', 'tab_history direction=back'));
    expect(run.outcome).toEqual({
      done: false,
      action: { kind: 'history', direction: 'back' },
      reason: 'HISTORY_UNAVAILABLE',
    });
    expect(run.result.lastAction).toMatchObject({ operation: 'HISTORY_BACK', outcome: 'not_executed' });
  });

  it.each([
    ['เลื่อนขึ้น', 'SCROLL_LIMIT', { kind: 'scroll', direction: 'up' }],
    ['back', 'HISTORY_UNAVAILABLE', { kind: 'history', direction: 'back' }],
    ['ไปข้างหน้า', 'HISTORY_UNAVAILABLE', { kind: 'history', direction: 'forward' }],
  ])('%s sends nothing where there is nothing to go to', async (words, reason, action) => {
    const run = await command(words);
    expect(run.calls).toEqual(lease('page_observe'));
    expect(run.outcome).toEqual({ done: false, reason, action });
    expect(run.result.reason).toBe('COMMAND_WAITING_INPUT');
  });

  it.each(['เปิด tab ใหม่', 'new tab', 'เปิดแท็บ Google ใหม่', 'เปิดแท็กใหม่', 'Cmd+T'])(
    '%s opens no other tab',
    async (words) => {
      const run = await command(words);
      expect(run.calls).toEqual(lease());
      expect(run.outcome).toEqual({ done: false, reason: 'NEW_TAB_OUT_OF_SCOPE', action: { kind: 'new_tab' } });
    },
  );

  it('searches in the only field that looks like one, text and Enter under one operation', async () => {
    for (const words of ['ค้นหา แมว', 'search แมว']) {
      const run = await command(words);
      expect(run.calls).toEqual(lease('page_observe', 'page_type ref=q text=แมว submit=true'));
      expect(run.outcome).toEqual({ done: true, action: { kind: 'search', label: 'Search' } });
      expect(run.result.lastAction?.operation).toBe('SEARCH');
    }
  });

  it('asks once which field to search in where several could be meant', async () => {
    const run = await command('ค้นหา แมว', { start: 'form', decisions: [{ field: 'city' }] });
    expect(Object.keys(run.asked[0]?.questions ?? {})).toEqual(['field']);
    expect(run.sent).toEqual(['page_type ref=city text=แมว submit=true']);
    const none = await command('ค้นหา แมว', { start: 'form', decisions: [{ field: 'NONE' }] });
    expect(none.sent).toEqual([]);
    expect(none.outcome).toMatchObject({ done: false, reason: 'NO_SUPPORTED_ACTION' });
    const unsure = await command('ค้นหา แมว', {
      start: 'form',
      decisions: [
        {
          field: { type: 'choice', choice: 'name', probabilities: { name: 0.5, city: 0.5, NONE: 0 }, confidence: 0.5 },
        },
      ],
    });
    expect(unsure.outcome).toMatchObject({ done: false, reason: 'LOW_TARGET_CONFIDENCE' });
  });

  it('without a told history, keys are unsupported and the rest is decided', async () => {
    const key = await command('enter', { reply: withoutNavigation });
    expect(key.outcome).toMatchObject({ done: false, reason: 'KEY_UNSUPPORTED' });
    const back = await command('back', {
      reply: withoutNavigation,
      decisions: choose('CLICK', { click_target: 'buy' }),
    });
    expect(back.sent).toEqual(['page_click ref=buy']);
    expect(offered(back.asked[0])).not.toContain('HISTORY_BACK');
    const search = await command('ค้นหา แมว', {
      reply: withoutNavigation,
      decisions: choose('TYPE_TEXT', { type_text_target: 'q' }),
    });
    expect(search.sent).toEqual(['page_type ref=q text=แมว']);
  });

  it('sends a primitive once more, under a new id, after a stale refusal, and no third time', async () => {
    const once = await command('enter', { faults: [{ tool: 'page_keypress', does: 'stale' }] });
    expect(once.sent).toEqual(['page_keypress key=Enter', 'page_keypress key=Enter']);
    const ids = once.browser.calls.filter(({ name }) => name === 'page_keypress').map(({ args }) => args.operation_id);
    expect(new Set(ids).size).toBe(2);
    expect(once.browser.done).toEqual(['page_keypress Enter']);
    const twice = await command('enter', {
      faults: [
        { tool: 'page_keypress', does: 'stale' },
        { tool: 'page_keypress', does: 'stale' },
      ],
    });
    expect(twice.browser.done).toEqual([]);
    expect(twice.outcome).toMatchObject({ done: false, reason: 'STALE_OBSERVATION' });
  });
});

describe('a command that is decided', () => {
  it.each([
    ['กดซื้อ', { operation: 'CLICK', click_target: 'buy' }, 'page_click ref=buy', { kind: 'click', label: 'Buy' }],
    [
      'size 42',
      { operation: 'SELECT', select_target: 'size:s42' },
      'page_select ref=size option_ref=s42',
      { kind: 'select', label: 'Size: 42' },
    ],
    [
      'พิมพ์ hello',
      { operation: 'TYPE_TEXT', type_text_target: 'q' },
      'page_type ref=q text=hello',
      { kind: 'type', label: 'Search' },
    ],
    [
      '下にスクロール',
      { operation: 'SCROLL_DOWN' },
      'page_scroll direction=down pixels=500',
      { kind: 'scroll', direction: 'down' },
    ],
    [
      'エスケープキーを押して',
      { operation: 'KEY', key_target: 'Escape' },
      'page_keypress key=Escape',
      { kind: 'key', key: 'Escape' },
    ],
  ])('%s is one decision and one call', async (words, decision, call, action) => {
    const run = await command(words, { decisions: [decision] });
    expect(run.sent).toEqual([call]);
    expect(run.result).toMatchObject({ evaluations: 1, reason: 'COMMAND_WAITING_INPUT' });
    expect(run.outcome).toEqual({ done: true, action });
  });

  it('goes through the history in any language, with the same rules as the phrase', async () => {
    const run = await command('前のページに戻って', { decisions: choose('HISTORY_BACK') });
    expect(run.sent).toEqual([]);
    expect(run.outcome).toMatchObject({ done: false, reason: 'HISTORY_UNAVAILABLE' });
    const tab = await command('新しいタブ', { decisions: choose('NEW_TAB') });
    expect(tab.outcome).toMatchObject({ done: false, reason: 'NEW_TAB_OUT_OF_SCOPE' });
  });

  it.each([
    ['READ_REQUEST', 'READ_REQUEST', undefined],
    ['UNCLEAR', 'UNCLEAR', true],
    ['BLOCKED', 'NO_SUPPORTED_ACTION', true],
    ['DONE', 'COMPLETION_CANDIDATE', undefined],
  ])('%s sends nothing and leaves the session open', async (operation, reason, gaveUp) => {
    const run = await command('ลิเวอร์พูลจะเตะกับใคร', { decisions: choose(operation) });
    expect(run.sent).toEqual([]);
    expect(run.result.reason).toBe('COMMAND_WAITING_INPUT');
    expect(run.outcome).toEqual({ done: false, reason, ...(gaveUp && { gaveUp }) });
  });

  it('takes a read request whatever its confidence', async () => {
    const run = await command('what is this?', {
      input: { operationConfidence: 0.9 },
      decisions: [
        (() => ({
          operation: (question: { criteria: object }) => spread('READ_REQUEST', Object.keys(question.criteria), 0.2),
        }))() as never,
      ],
    });
    expect(run.outcome).toMatchObject({ done: false, reason: 'READ_REQUEST' });
  });

  it('types the value that the text helper finds, for a command that only names one', async () => {
    const seen: unknown[] = [];
    const run = await command('เลือกต้นทางเป็นเชียงใหม่', {
      start: 'form',
      decisions: choose('TYPE_TEXT', { type_text_target: 'city' }),
      input: { textHelper: true },
      assist: async (request) => {
        seen.push(request);
        return { text: 'เชียงใหม่' };
      },
    });
    expect(run.sent).toEqual(['page_type ref=city text=เชียงใหม่']);
    expect(seen).toMatchObject([{ kind: 'field_text', goal: 'เลือกต้นทางเป็นเชียงใหม่', field: { label: 'City' } }]);
  });

  it('a text that nobody knows is not done, and no question to the owner', async () => {
    const run = await command('fill in the city', {
      start: 'form',
      decisions: choose('TYPE_TEXT', { type_text_target: 'city' }),
    });
    expect(run.sent).toEqual([]);
    expect(run.outcome).toMatchObject({ done: false, reason: 'FIELD_TEXT_REQUIRED' });
    expect(run.result.fieldRequest).toBeUndefined();
  });

  it('looks again at a page that is still changing, twice at most', async () => {
    const wait = { operation: 'WAIT' };
    const late = await command('กดซื้อ', { decisions: [wait, wait, { operation: 'CLICK', click_target: 'buy' }] });
    expect(late.sent).toEqual(['page_click ref=buy']);
    expect(late.elapsed).toBeGreaterThanOrEqual(2000);
    const never = await command('กดซื้อ', { decisions: [wait, wait, wait] });
    expect(never.sent).toEqual([]);
    expect(never.outcome).toMatchObject({ done: false, reason: 'WAIT_BUDGET' });
  });

  it('decides afresh where its control moved before anything was sent', async () => {
    const run = await command('กดซื้อ', {
      faults: [{ tool: 'page_click', does: 'stale', cause: 'FORM_STATE_CHANGED' }],
      decisions: [
        { operation: 'CLICK', click_target: 'delete' },
        { operation: 'CLICK', click_target: 'buy' },
      ],
    });
    expect(run.browser.done).toEqual(['page_click buy']);
    expect((run.asked[1]!.state as { recovery?: unknown }).recovery).toMatchObject({ discarded: 'FORM_STATE_CHANGED' });
  });

  it('does not try again at a covered control', async () => {
    const run = await command('กดซื้อ', {
      faults: [{ tool: 'page_click', does: 'stale', cause: 'TARGET_OBSCURED' }],
      decisions: choose('CLICK', { click_target: 'buy' }),
    });
    expect(run.sent).toEqual(['page_click ref=buy']);
    expect(run.outcome).toEqual({ done: false, reason: 'TARGET_OBSCURED', action: { kind: 'click', label: 'Buy' } });
  });

  it('tells what came before as reference, for words that ask to do it again', async () => {
    const context = 'Previous command: กดซื้อ. Done: clicked "Buy".';
    const run = await command('อีก', {
      input: { interactionContext: context },
      decisions: choose('CLICK', { click_target: 'buy' }),
    });
    expect((run.asked[0]!.state as { previous_interaction?: string }).previous_interaction).toBe(context);
    expect(JSON.stringify(run.asked[0]?.questions.operation)).toContain('do it again means the previous command');
    expect(run.sent).toEqual(['page_click ref=buy']);
  });
});

describe('the offer of a decision', () => {
  const own = ['READ_REQUEST', 'UNCLEAR', 'NAVIGATE', 'NEW_TAB', 'HISTORY_BACK', 'HISTORY_FORWARD', 'KEY'];
  const page = ['CLICK', 'TYPE_TEXT', 'SELECT', 'SCROLL_DOWN', 'WAIT', 'DONE', 'BLOCKED'];
  const decisions = choose('BLOCKED');
  const only = (request: Parameters<typeof offered>[0]) => offered(request).sort();

  it('to the user is everything; an address only with a text helper', async () => {
    const helped = await command('something', { input: { textHelper: true }, decisions });
    expect(only(helped.asked[0])).toEqual([...page, ...own].sort());
    expect(helped.asked[0]?.questions).toHaveProperty('key_target');
    expect(Object.keys((helped.asked[0]!.questions.key_target as { criteria: object }).criteria)).toEqual([
      'Enter',
      'Tab',
      'Escape',
      'Backspace',
      'ArrowUp',
      'ArrowDown',
      'ArrowLeft',
      'ArrowRight',
    ]);
    const alone = await command('something', { decisions });
    expect(only(alone.asked[0])).toEqual([...page, ...own.filter((name) => name !== 'NAVIGATE')].sort());
  });

  it('to the agent is what the page offers, with the question of impact', async () => {
    const run = await command('something', { input: { agentCommand: true, textHelper: true }, decisions });
    expect(only(run.asked[0])).toEqual([...page].sort());
    expect(run.asked[0]?.questions).toHaveProperty('impact');
    expect(run.asked[0]?.questions).not.toHaveProperty('key_target');
  });

  it('to a step is what the page offers', async () => {
    const run = await command('x', { input: { steps: ['something', 'else'], textHelper: true }, decisions });
    expect(only(run.asked[0])).toEqual([...page].sort());
    expect(run.asked[0]?.questions).not.toHaveProperty('impact');
  });
});

/** A distribution over all options with the given one in front, and a confidence. */
function spread(choice: string, keys: readonly string[], confidence: number) {
  const rest = Math.floor((0.8 / (keys.length - 1)) * 100) / 100;
  const probabilities = Object.fromEntries(
    keys.map((key) => [key, key === choice ? 1 - rest * (keys.length - 1) : rest]),
  );
  return { type: 'choice' as const, choice, probabilities, confidence };
}

describe('a site that is only named', () => {
  const navigate = choose('NAVIGATE');

  it('is looked up by the command and the origin alone', async () => {
    const seen: unknown[] = [];
    const run = await command('เข้าเว็บไซต์ Yahoo', {
      decisions: navigate,
      input: { textHelper: true },
      pages: { ...shop, home: { ...shop.home, url: 'http://shop.example/secret?token=1' } as never },
      assist: async (request) => {
        seen.push(request);
        return { text: 'yahoo.com' };
      },
    });
    expect(seen).toEqual([{ kind: 'address', command: 'เข้าเว็บไซต์ Yahoo', origin: 'http://shop.example/' }]);
    expect(run.sent).toEqual(['tab_navigate url=https://yahoo.com']);
    expect(run.outcome).toEqual({ done: true, action: { kind: 'navigate', url: 'https://yahoo.com' } });
  });

  it.each([
    'javascript:alert(1)',
    'http://127.0.0.1/',
    'localhost',
    'file:///etc/passwd',
    'https://a:b@c.com',
    null,
    7,
  ])('is not opened at %s', async (text) => {
    const run = await command('เข้าเว็บไซต์ Yahoo', {
      decisions: navigate,
      input: { textHelper: true },
      assist: async () => ({ text }),
    });
    expect(run.sent).toEqual([]);
    expect(run.outcome).toMatchObject({ done: false, reason: 'NAVIGATION_UNRESOLVED' });
  });

  it('is not looked up when the choice was uncertain', async () => {
    const run = await command('เข้าเว็บไซต์ Yahoo', {
      input: { textHelper: true },
      decisions: [
        {
          operation: ((question: { criteria: object }) =>
            spread('NAVIGATE', Object.keys(question.criteria), 0.5)) as never,
        },
      ],
      assist: () => Promise.reject(new Error('not to be asked')),
    });
    expect(run.outcome).toMatchObject({ done: false, reason: 'LOW_OPERATION_CONFIDENCE' });
  });

  it('is opened from a blank tab too', async () => {
    const blank = (name: string, body: Record<string, unknown>) =>
      name === 'page_observe' ? { native_new_tab: true } : body;
    const run = await command('ไปเว็บยาฮู', {
      reply: blank,
      input: { textHelper: true },
      assist: async () => ({ text: 'yahoo.com' }),
    });
    expect(run.sent).toEqual(['tab_navigate url=https://yahoo.com']);
    expect(run.asked).toEqual([]);
    const without = await command('ไปเว็บยาฮู', { reply: blank });
    expect(without.outcome).toMatchObject({ done: false, reason: 'START_URL_REQUIRED' });
  });
});

describe('the agent’s command for words that came to nothing', () => {
  const agent = { agentCommand: true };

  it('runs when it is judged routine', async () => {
    const run = await command('press Buy', {
      input: agent,
      decisions: [{ operation: 'CLICK', click_target: 'buy', impact: 'ROUTINE' }],
    });
    expect(run.sent).toEqual(['page_click ref=buy']);
  });

  it.each([
    ['HIGH_IMPACT', 0.9],
    ['ROUTINE', 0.5],
  ])('%s at %d sends nothing and names the control', async (impact, confidence) => {
    const answer = ((question: { criteria: object }) => {
      const keys = Object.keys(question.criteria);
      return {
        type: 'choice',
        choice: impact,
        probabilities: Object.fromEntries(keys.map((key) => [key, key === impact ? 1 : 0])),
        confidence,
      };
    }) as never;
    const run = await command('press Delete', {
      input: agent,
      decisions: [{ operation: 'CLICK', click_target: 'delete', impact: answer }],
    });
    expect(run.sent).toEqual([]);
    expect(run.outcome).toEqual({
      done: false,
      reason: 'CONFIRMATION_REQUIRED',
      action: { kind: 'click', label: 'Delete account' },
    });
  });

  it('takes no key without its impact, but scrolls at once', async () => {
    const key = await command('enter', { input: agent, decisions: [{ operation: 'BLOCKED' }] });
    expect(key.asked).toHaveLength(1);
    expect(key.sent).toEqual([]);
    expect(key.outcome).toEqual({ done: false, reason: 'NO_SUPPORTED_ACTION' });
    expect((await command('scroll down', { input: agent })).sent).toHaveLength(1);
  });

  const confirmation = { command: 'press Delete', label: 'Delete account' };
  it('runs as the user’s own after a yes, without a second question', async () => {
    const run = await command('はい', {
      input: { ...agent, confirmation },
      decisions: [{ reply: 'YES' }, { operation: 'CLICK', click_target: 'delete' }],
    });
    expect(run.sent).toEqual(['page_click ref=delete']);
    expect(run.result.evaluations).toBe(2);
    expect(run.asked[0]?.state).toEqual({
      asked: { command: 'press Delete', control: 'Delete account' },
      reply: 'はい',
    });
    expect((run.asked[1]!.state as { goal: string }).goal).toBe('press Delete');
    expect(run.asked[1]?.questions).not.toHaveProperty('impact');
    expect(offered(run.asked[1])).not.toContain('READ_REQUEST');
    expect(offered(run.asked[1])).not.toContain('UNCLEAR');
  });

  it('does nothing after a no', async () => {
    const run = await command('ไม่', { input: { confirmation }, decisions: [{ reply: 'NO' }] });
    expect(run.calls.filter((call) => call.startsWith('page'))).toEqual([]);
    expect(run.outcome).toEqual({ done: false, reason: 'CONFIRMATION_DECLINED' });
  });

  it('takes anything else, or an unsure yes, as an ordinary new command', async () => {
    const other = await command('scroll down', { input: { confirmation }, decisions: [{ reply: 'OTHER' }] });
    expect(other.sent).toEqual(['page_scroll direction=down pixels=500']);
    const unsure = await command('hm', {
      input: { confirmation },
      decisions: [
        { reply: { type: 'choice', choice: 'YES', probabilities: { YES: 1, NO: 0, OTHER: 0 }, confidence: 0.54 } },
        { operation: 'UNCLEAR' },
      ],
    });
    expect(unsure.sent).toEqual([]);
    expect((unsure.asked[1]!.state as { goal: string }).goal).toBe('hm');
  });
});

describe('when something goes wrong', () => {
  it.each([
    ['JEV_RATE_LIMITED'],
    ['JEV_PROVIDER_UNAVAILABLE'],
    ['JEV_DEADLINE_EXCEEDED'],
    ['JEV_INVALID_RESPONSE'],
    ['JEV_QUEUE_FULL'],
  ] as const)('%s is only this command not done', async (code) => {
    const run = await command('กดซื้อ', {
      decisions: [
        { fails: new HostError(code, code === 'JEV_INVALID_RESPONSE' ? { validationReason: 'DISTRIBUTION_SUM' } : {}) },
      ],
    });
    expect(run.result).toMatchObject({
      status: 'needs_verification',
      reason: 'COMMAND_WAITING_INPUT',
      providerFailure: { code },
    });
    expect(run.outcome).toEqual({ done: false, reason: code });
    if (code === 'JEV_INVALID_RESPONSE') expect(run.result.providerFailure?.validationReason).toBe('DISTRIBUTION_SUM');
  });

  it.each(['JEV_ACCESS_DENIED', 'JEV_QUOTA_EXCEEDED', 'JEV_AUTHENTICATION_FAILED'] as const)(
    '%s stops the task',
    async (code) => {
      const run = await command('กดซื้อ', { decisions: [{ fails: new HostError(code) }] });
      expect(run.result).toMatchObject({ status: 'blocked', reason: code });
      expect(run.outcome).toBeUndefined();
    },
  );

  it('an answer that breaks its question is not done, with the check that failed', async () => {
    const run = await command('กดซื้อ', {
      decisions: [{ operation: { type: 'choice', choice: 'CLICK', probabilities: { CLICK: 1 }, confidence: 1 } }],
    });
    expect(run.outcome).toEqual({ done: false, reason: 'INVALID_DECISION' });
    expect(run.result.providerFailure).toEqual({ code: 'INVALID_DECISION', validationReason: 'PROBABILITY_KEYS' });
  });

  it.each(['lost', 'unknown'] as const)('a reply that is %s is unknown and is never sent again', async (does) => {
    for (const words of ['enter', 'ค้นหา แมว', 'เข้า google']) {
      const tool = words === 'enter' ? 'page_keypress' : words === 'เข้า google' ? 'tab_navigate' : 'page_type';
      const run = await command(words, { faults: [{ tool, does }] });
      expect(run.sent).toHaveLength(1);
      expect(run.result.reason).toBe('OUTCOME_UNKNOWN');
      expect(run.result.lastAction?.outcome).toBe('unknown');
      expect(run.outcome).toMatchObject({ done: false, reason: 'OUTCOME_UNKNOWN' });
    }
  });

  it('a confirmed action stays done when its page cannot be read in time', async () => {
    const run = await command('enter', {
      reply: (name, body) => (name === 'page_keypress' ? { state: 'completed', result: {} } : body),
      faults: [1, 0, 0].map((after) => ({ tool: 'page_observe', after, does: 'stale' as const })),
    });
    expect(run.browser.done).toEqual(['page_keypress Enter']);
    expect(run.outcome).toEqual({ done: true, action: { kind: 'key', key: 'Enter' }, reason: 'PAGE_STILL_LOADING' });
  });

  it('a withdrawn consent stops the task', async () => {
    const run = await command('enter', { faults: [{ tool: 'page_keypress', does: { error: 'CONSENT_REQUIRED' } }] });
    expect(run.result).toMatchObject({ status: 'blocked', reason: 'CONSENT_REQUIRED' });
  });
});

describe('the start of a session', () => {
  it.each(['UNCLEAR', 'READ_REQUEST', 'BLOCKED'])(
    '%s ends ready, also behind the task’s own address',
    async (operation) => {
      for (const startUrl of [undefined, 'http://shop.example/']) {
        const input = { command: false, sessionStart: true, ...(startUrl === undefined ? {} : { startUrl }) };
        const run = await command('open a session and wait', { start: 'google', input, decisions: choose(operation) });
        expect(run.outcome).toEqual({ done: false, reason: 'SESSION_READY' });
      }
    },
  );
});
