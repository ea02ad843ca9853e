/** Every phrase of the golden table, against a tab where everything is possible: exactly the calls that it may send. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { goldenCommands } from '../../sdk/commands/golden/commands.ts';
import type { ScriptedFault } from '../../sdk/testing/index.ts';
import { command, shop } from './testing/commands.ts';

/** A page that scrolls both ways, goes both ways through its history, and has one search field. */
const open = (_name: string, body: Record<string, unknown>): Record<string, unknown> => {
  const observation = (body.result as { observation?: Record<string, unknown> } | undefined)?.observation;
  const anywhere = { navigation: { can_go_back: true, can_go_forward: true }, scroll: { y: 0, up: true, down: true } };
  if ('error' in body && body.error !== 'CONSENT_REQUIRED') return { state: 'completed', result: {} };
  if (observation)
    return { ...body, result: { ...(body.result as object), observation: { ...observation, ...anywhere } } };
  return 'navigation' in body ? { ...body, ...anywhere } : body;
};

/** The one call that a meaning stands for; none for a new tab; undefined where a decision has to be made. */
function callOf(meaning: string): string[] | undefined {
  const text = /^(?:search|type): (.*)$/s.exec(meaning)?.[1];
  if (meaning.startsWith('search: ')) return [`page_type ref=q text=${text} submit=true`];
  if (meaning.startsWith('new tab')) return [];
  const [, direction] = /^scroll (up|down)$/.exec(meaning) ?? [];
  if (direction) return [`page_scroll direction=${direction} pixels=500`];
  const [, key, times] = /^key (\w+)(?: ×(\d+))?$/.exec(meaning) ?? [];
  if (key) return [`page_keypress key=${key}${times ? ` repeat=${times}` : ''}`];
  if (meaning === 'back' || meaning === 'forward') return [`tab_history direction=${meaning}`];
  const [, url] = /^open (\S+)$/.exec(meaning) ?? [];
  return url ? [`tab_navigate url=${url}`] : undefined;
}

const sayable = goldenCommands.map((golden) => ({
  ...golden,
  phrases: golden.phrases.filter((phrase) => phrase.trim() !== ''),
}));

describe('each phrase of the table', () => {
  for (const [index, { about, browser, phrases }] of sayable.entries()) {
    const calls = callOf(browser);
    if (calls) {
      it(`${about}, row ${index + 1} (${browser}): ${calls[0] ?? 'nothing'}, and no decision`, async () => {
        for (const phrase of phrases) {
          const run = await command(phrase, { reply: open, start: 'home', pages: { ...shop, back: shop.results! } });
          expect([phrase, run.sent, run.asked.length]).toEqual([phrase, calls, 0]);
        }
      });
    } else if (browser.startsWith('type: ')) {
      it(`${about}, row ${index + 1} (${browser}): one decision for the field, the text exactly`, async () => {
        for (const phrase of phrases) {
          const run = await command(phrase, { decisions: [{ operation: 'TYPE_TEXT', type_text_target: 'q' }] });
          expect([phrase, run.sent]).toEqual([phrase, [`page_type ref=q text=${browser.slice('type: '.length)}`]]);
        }
      });
    } else {
      it(`${about}, row ${index + 1}: goes to one decision as it was said, and nothing is sent without it`, async () => {
        for (const phrase of phrases) {
          const run = await command(phrase, { decisions: [{ operation: 'UNCLEAR' }] });
          expect([phrase, run.sent]).toEqual([phrase, []]);
          expect((run.asked[0]!.state as { goal: string }).goal).toBe(phrase.trim());
        }
      });
    }
  }
});

describe('whatever goes wrong', () => {
  const tools = [
    'page_click',
    'page_type',
    'page_select',
    'page_scroll',
    'page_keypress',
    'tab_history',
    'tab_navigate',
    'page_observe',
  ];
  const fault = fc.record({
    tool: fc.constantFrom(...tools),
    after: fc.nat(1),
    does: fc.constantFrom<ScriptedFault['does']>('stale', 'lost', 'unknown', { error: 'CONSENT_REQUIRED' }),
    cause: fc.constantFrom('TARGET_OBSCURED', 'FORM_STATE_CHANGED', 'NAVIGATION_PENDING'),
  });
  const words = fc.constantFrom(
    'scroll down',
    'enter',
    'ค้นหา แมว',
    'เข้า google',
    'กดซื้อ',
    'size 42',
    'พิมพ์ hello',
    'ขอ link แรก',
  );
  const decisions = Array.from({ length: 8 }, () => ({
    operation: (question: { criteria: object }) => ('CLICK' in question.criteria ? 'CLICK' : 'BLOCKED'),
    click_target: 'buy',
  }));

  it('a command reaches the page once at most, and what is not known is never sent again', async () => {
    await fc.assert(
      fc.asyncProperty(words, fc.array(fault, { maxLength: 4 }), async (said, faults) => {
        const run = await command(said, { faults: faults as ScriptedFault[], decisions: decisions as never });
        expect(run.browser.done.length).toBeLessThanOrEqual(1);
        const ids = run.browser.calls.flatMap(({ name, args }) =>
          tools.includes(name) && args.operation_id ? [args.operation_id] : [],
        );
        expect(new Set(ids).size).toBe(ids.length);
        const { lastAction, reason } = run.result;
        if (lastAction?.outcome === 'unknown') {
          expect(reason).toBe('OUTCOME_UNKNOWN');
          expect(ids.at(-1)).toBe(lastAction.operationId);
        } else {
          // What the run says of its action is what the device did.
          expect(run.browser.done.length === 1).toBe(lastAction?.outcome === 'confirmed');
          if (reason === 'COMMAND_WAITING_INPUT') expect(run.outcome?.done).toBe(lastAction?.outcome === 'confirmed');
        }
        expect(run.browser.leaseHeld()).toBe(false);
      }),
      { numRuns: 600, seed: 8 },
    );
  }, 120_000);
});
