import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCode } from '../../sdk/contract/codes.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import type { JevRequest, JevResult } from '../../sdk/contract/jev.ts';
import { browserMutations } from '../../sdk/devices/remote-browser-contract.ts';
import { resultFor, type ScriptedFault, scriptedBrowser } from '../../sdk/testing/index.ts';
import { runInline } from './testing/inline.ts';

const mutations = new Set<string>(browserMutations);

/** What may go wrong with a call, at a random place of the run. */
const fault: fc.Arbitrary<ScriptedFault> = fc.record({
  tool: fc.constantFrom(...browserMutations, 'page_observe', 'browser_task_renew'),
  after: fc.nat(6),
  does: fc.constantFrom<ScriptedFault['does']>(
    'stale',
    'lost',
    'unknown',
    { error: 'TARGET_GONE' },
    { error: 'NAVIGATION_DENIED', action_executed: false },
    { error: 'not a code', action_executed: 'false' },
    { state: 'completed' },
    { access: 'withdrawn' },
    { replayed: true },
    {},
  ),
  cause: fc.constantFrom('TARGET_OBSCURED', 'NAVIGATION_PENDING', 'FORM_STATE_CHANGED'),
});

const pages = () => {
  let n = 0;
  // biome-ignore lint/suspicious/noThenProperty: the scripted browser's name for what an action does.
  const more = { then: (state: { addText(text: string): void }) => state.addText(`${++n}`) };
  return {
    one: {
      url: 'http://site.example/',
      text: 'One',
      scroll: { up: true, down: true },
      elements: [
        { ref: 'go', label: 'Go on', goto: 'two' },
        { ref: 'n', label: 'Name', tag: 'input', ...more },
        { ref: 'm', label: 'Motto', tag: 'input' },
        {
          ref: 's',
          label: 'Size',
          options: [
            { ref: 'a', label: 'A' },
            { ref: 'b', label: 'B' },
          ],
        },
        { ref: 'p', label: 'Password', tag: 'input', sensitive: true },
      ],
    },
    two: { url: 'http://site.example/two', text: 'Two', elements: [{ ref: 'back', label: 'Back', goto: 'one' }] },
  };
};

/** Answers at random among what is offered, and sometimes not at all. */
function randomEvaluator(choices: readonly number[], failsAt: number) {
  let asked = 0;
  return async (request: JevRequest): Promise<JevResult> => {
    asked += 1;
    if (asked === failsAt) throw new HostError('JEV_PROVIDER_UNAVAILABLE');
    const pick = (keys: string[], i: number) =>
      keys[(choices[(asked * 7 + i) % choices.length] ?? 0) % keys.length] ?? '';
    const answers = Object.entries(request.questions).map(([id, question], i) => [
      id,
      question.type === 'choice' ? pick(Object.keys(question.criteria), i) : 0,
    ]);
    return resultFor(request, Object.fromEntries(answers));
  };
}

describe('whatever the device and the evaluator do', () => {
  it('nothing is sent twice, nothing is sent after an unknown outcome, budgets hold, and the end has its code', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fault, { maxLength: 5 }),
        fc.array(fc.nat(40), { minLength: 5, maxLength: 40 }),
        fc.nat(30),
        fc.option(fc.nat(12), { nil: undefined }),
        async (faults, choices, failsAt, cancelAfter) => {
          const browser = scriptedBrowser({ pages: pages(), faults });
          const cancel = new AbortController();
          let calls = 0;
          const { result } = await runInline(
            {
              goal: 'Do it',
              scope: browser.scope,
              fields: [{ label: 'Name', text: 'Ada' }],
              maxSteps: 8,
              maxEvaluations: 12,
              textHelper: true,
            },
            {
              signal: cancel.signal,
              evaluate: randomEvaluator(choices, failsAt),
              assist: async () => ({ text: choices[0] === 0 ? null : 'a motto' }),
              async callTool(name, args, signal) {
                calls += 1;
                if (calls === cancelAfter) cancel.abort();
                // As in the host, a run that is cancelled may still end what it began.
                return browser.callTool(name, args, cancel.signal.aborted ? new AbortController().signal : signal);
              },
            },
          );
          const sent = browser.calls.filter(({ name }) => mutations.has(name));
          const ids = sent.map(({ args }) => String(args.operation_id));
          expect(new Set(ids).size).toBe(ids.length);
          expect(sent.map(({ args }) => args.ref)).not.toContain('p');
          const actions = (result.trace?.events ?? []).filter(({ phase }) => phase === 'action');
          const unknown = actions.findIndex(({ outcome }) => outcome === 'unknown');
          if (unknown >= 0) {
            expect(unknown).toBe(actions.length - 1);
            expect(result).toMatchObject({ status: 'needs_verification', reason: 'OUTCOME_UNKNOWN' });
          }
          // What is reported last is what was sent last.
          if (ids.length > 0) expect(result.lastAction?.operationId).toBe(ids.at(-1));
          expect(result.steps).toBeLessThanOrEqual(8);
          expect(result.evaluations).toBeLessThanOrEqual(12);
          // The device's own codes pass through; every other one is in the catalogue.
          expect(isCode(result.reason) || result.reason === 'TARGET_GONE', result.reason).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
