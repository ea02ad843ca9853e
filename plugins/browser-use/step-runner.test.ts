import { describe, expect, it } from 'vitest';
import { HostError } from '../../sdk/contract/errors.ts';
import { contextFor } from './step-part.ts';
import { command, shop } from './testing/commands.ts';

const run = (steps: string[], setup: Parameters<typeof command>[1] = {}) =>
  command(steps.join(', '), { ...setup, input: { steps, ...setup.input } });
const click = (ref: string) => ({ operation: 'CLICK', click_target: ref });
/** A page where every press of a button shows something new. */
const counting = {
  home: {
    url: 'http://count.example/',
    text: 'Start',
    scroll: { up: true, down: true },
    elements: ['a', 'b', 'c'].map((ref) => ({
      ref,
      label: ref.toUpperCase(),
      // biome-ignore lint/suspicious/noThenProperty: the name that the scripted browser gives it
      then: (browser: { addText(text: string): void }) => browser.addText(`pressed ${ref}`),
    })),
  },
};

describe('a step list', () => {
  it('runs to its end on one lease, and never opens another tab', async () => {
    const ran = await run(['เปิด tab ใหม่', 'go to shop.example', 'ค้นหา แมว', 'เข้า link แรก', 'scroll ลงมา'], {
      pages: { ...shop, home: { ...shop.home!, url: 'https://shop.example' } },
      start: 'google',
      decisions: [click('first')],
    });
    expect(ran.sent).toEqual([
      'tab_navigate url=https://shop.example',
      'page_type ref=q text=แมว submit=true',
      'page_click ref=first',
      'page_scroll direction=down pixels=500',
    ]);
    expect(ran.calls.filter((call) => call.startsWith('browser_task_acquire'))).toHaveLength(1);
    expect(ran.calls.at(-1)).toBe('browser_task_release');
    expect(ran.result).toMatchObject({ status: 'needs_verification', reason: 'COMMAND_WAITING_INPUT' });
    expect(ran.result.stepRun).toEqual({
      total: 5,
      completed: 5,
      stopReason: 'ALL_STEPS_DONE',
      remaining: [],
      unverifiedSteps: [5],
      notes: ['Step 1: no other tab was opened. The run goes on in the approved tab.'],
    });
  });

  it('stops at a step that nothing on the page fits, with what is done and what is left', async () => {
    const ran = await run(['click A', 'click the moon', 'click B'], {
      pages: counting,
      decisions: [click('a'), ...[1, 2, 3].map(() => ({ operation: 'BLOCKED' }))],
    });
    expect(ran.sent).toEqual(['page_click ref=a']);
    expect(ran.result.stepRun).toEqual({
      total: 3,
      completed: 1,
      stopReason: 'STEP_NOT_EXECUTED',
      stoppedAt: 2,
      stoppedStep: 'click the moon',
      detail: 'NO_SUPPORTED_ACTION',
      remaining: ['click the moon', 'click B'],
    });
  });

  it('looks twice more for what a step needs, but not for the very first', async () => {
    const later = await run(['click A', 'click B'], {
      pages: counting,
      decisions: [click('a'), { operation: 'BLOCKED' }, { operation: 'BLOCKED' }, click('b')],
    });
    expect(later.result.stepRun?.stopReason).toBe('ALL_STEPS_DONE');
    const first = await run(['click A', 'click B'], { pages: counting, decisions: [{ operation: 'BLOCKED' }] });
    expect(first.result.stepRun).toMatchObject({ stopReason: 'STEP_NOT_EXECUTED', completed: 0, stoppedAt: 1 });
  });

  it('stops at an action without effect, which is not left to do', async () => {
    const ran = await run(['press buy', 'scroll down'], {
      pages: { home: { ...shop.home!, elements: [{ ref: 'buy', label: 'Buy' }] } },
      decisions: [click('buy')],
    });
    expect(ran.sent).toEqual(['page_click ref=buy']);
    expect(ran.result.stepRun).toMatchObject({
      stopReason: 'STEP_NO_EFFECT',
      completed: 0,
      stoppedAt: 1,
      remaining: ['scroll down'],
    });
  });

  it('tolerates two scrolls or keys in a row that show nothing, not three', async () => {
    const two = await run(['scroll down', 'enter', 'click A'], { pages: counting, decisions: [click('a')] });
    expect(two.result.stepRun).toMatchObject({ stopReason: 'ALL_STEPS_DONE', unverifiedSteps: [1, 2] });
    const three = await run(['scroll down', 'enter', 'tab', 'click A'], { pages: counting });
    expect(three.result.stepRun).toMatchObject({
      stopReason: 'STEP_NO_EFFECT',
      stoppedAt: 3,
      remaining: ['click A'],
      unverifiedSteps: [1, 2],
    });
  });

  it('counts the end of the page as a scroll that shows nothing', async () => {
    const ran = await run(['scroll up', 'press buy'], { decisions: [click('buy')] });
    expect(ran.sent).toEqual(['page_click ref=buy']);
    expect(ran.result.stepRun).toMatchObject({ stopReason: 'ALL_STEPS_DONE', unverifiedSteps: [1] });
  });

  it('takes opening the address that is shown already for done', async () => {
    const ran = await run(['go to google.com', 'google.com']);
    expect(ran.result.stepRun).toMatchObject({ stopReason: 'ALL_STEPS_DONE', completed: 2 });
  });

  it('runs the parts of a joined step in order and completes it only when every part took effect', async () => {
    const ran = await run(['click A แล้วclick B', 'click C'], {
      pages: counting,
      decisions: [click('a'), click('b'), click('c')],
    });
    expect(ran.sent).toEqual(['page_click ref=a', 'page_click ref=b', 'page_click ref=c']);
    expect(ran.result.stepRun).toMatchObject({ total: 2, completed: 2 });
    const halved = await run(['click A then scroll down', 'click C'], { pages: counting, decisions: [click('a')] });
    expect(halved.result.stepRun).toMatchObject({
      stopReason: 'STEP_NO_EFFECT',
      completed: 0,
      doneParts: ['click A'],
      remaining: ['click C'],
    });
  });

  it.each(['lost', 'unknown'] as const)(
    'ends unknown at an action whose reply is %s, and repeats nothing',
    async (does) => {
      const ran = await run(['click A', 'click B'], {
        pages: counting,
        faults: [{ tool: 'page_click', does }],
        decisions: [click('a')],
      });
      expect(ran.sent).toEqual(['page_click ref=a']);
      expect(ran.result.reason).toBe('OUTCOME_UNKNOWN');
      expect(ran.result.stepRun).toMatchObject({
        stopReason: 'OUTCOME_UNKNOWN',
        stoppedAt: 1,
        remaining: ['click A', 'click B'],
      });
    },
  );

  it('keeps within the budgets of the whole run', async () => {
    const actions = await run(['click A', 'click B', 'click C'], {
      pages: counting,
      input: { maxSteps: 2 },
      decisions: [click('a'), click('b'), click('c')],
    });
    expect(actions.sent).toHaveLength(2);
    expect(actions.result.stepRun).toMatchObject({
      stopReason: 'STEP_NOT_EXECUTED',
      detail: 'ACTION_BUDGET',
      stoppedAt: 3,
    });
    const decisions = await run(['click A', 'click B', 'click C'], {
      pages: counting,
      input: { maxEvaluations: 2 },
      decisions: [click('a'), click('b')],
    });
    expect(decisions.result.stepRun).toMatchObject({
      stopReason: 'STEP_NOT_EXECUTED',
      detail: 'EVALUATION_BUDGET',
      stoppedAt: 3,
    });
  });

  it('stops when the provider refuses for good, and says so', async () => {
    const ran = await run(['click A', 'click B'], {
      pages: counting,
      decisions: [click('a'), { fails: new HostError('JEV_QUOTA_EXCEEDED', {}) }],
    });
    expect(ran.result).toMatchObject({ reason: 'JEV_QUOTA_EXCEEDED', status: 'blocked' });
    expect(ran.result.stepRun).toMatchObject({ stopReason: 'FAILED', detail: 'JEV_QUOTA_EXCEEDED', completed: 1 });
  });

  it('ends at its time, with what is done and what is left, and sends nothing afterwards', async () => {
    const pages = { home: { ...counting.home, elements: counting.home.elements.slice(0, 1) } };
    const ran = await run(['click A', 'click B', 'click A'], {
      pages,
      input: { timeoutMs: 1000 },
      decisions: [click('a'), ...Array.from({ length: 20 }, () => ({ operation: 'WAIT' }))],
    });
    expect(ran.result).toMatchObject({ reason: 'TASK_DEADLINE' });
    expect(ran.result.stepRun).toMatchObject({
      ...{ stopReason: 'TIMEOUT', completed: 1, stoppedAt: 2, stoppedStep: 'click B' },
      remaining: ['click B', 'click A'],
    });
    expect(ran.browser.done).toEqual(['page_click a']);
  });

  it('is cancelled between two steps without sending the next', async () => {
    const stop = new AbortController();
    const pages = {
      home: {
        ...counting.home,
        elements: counting.home.elements.map((element) => ({
          ...element,
          // biome-ignore lint/suspicious/noThenProperty: the name that the scripted browser gives it
          then: (browser: { addText(text: string): void }) => {
            browser.addText('pressed');
            stop.abort(Object.assign(new Error('superseded'), { code: 'REVISION_SUPERSEDED' }));
          },
        })),
      },
    };
    const ran = await run(['click A', 'click B'], { pages, decisions: [click('a'), click('b')], signal: stop.signal });
    expect(ran.browser.done).toEqual(['page_click a']);
    expect(ran.result.status).toBe('cancelled');
    expect(ran.result.stepRun).toMatchObject({ stopReason: 'CANCELLED', total: 2 });
  });

  it('asks the owner for a text that only the owner knows', async () => {
    const ran = await run(['click nothing', 'fill in the city'].reverse(), {
      start: 'form',
      decisions: [{ operation: 'TYPE_TEXT', type_text_target: 'city' }],
    });
    expect(ran.result.stepRun).toMatchObject({ stopReason: 'STEP_NOT_EXECUTED', detail: 'FIELD_TEXT_REQUIRED' });
    expect(ran.result.fieldRequest).toMatchObject({ label: 'City', reason: 'missing' });
  });

  it('tells each part what came before and which steps are done', async () => {
    const ran = await run(['click A', 'click B'], {
      pages: counting,
      input: { interactionContext: 'Earlier.' },
      decisions: [click('a'), click('b')],
    });
    expect((ran.asked[1]!.state as { previous_interaction: string }).previous_interaction).toBe(
      'Earlier.\nStep 1 done: click A',
    );
    expect(contextFor('x'.repeat(9000), ['click A'])).toHaveLength(8000);
  });

  it('opens the task’s start address before its first step', async () => {
    const ran = await run(['scroll down', 'press buy'], {
      start: 'google',
      input: { startUrl: 'http://shop.example/' },
      decisions: [click('buy')],
    });
    expect(ran.sent[0]).toBe('tab_navigate url=http://shop.example/');
    expect(ran.result.stepRun?.stopReason).toBe('ALL_STEPS_DONE');
  });
});
