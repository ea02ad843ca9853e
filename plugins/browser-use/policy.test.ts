import { describe, expect, it } from 'vitest';
import type { Decision } from './decision.ts';
import { type Gates, judge } from './policy.ts';
import { button } from './testing/pages.ts';

const gates: Gates = { operationConfidence: 0, targetConfidence: 0, sessionStart: false, steps: 0, maxSteps: 5 };
const target = { key: 'a', operation: 'CLICK' as const, element: button('a') };
const decision = (key: string, confidence = 0.5, targetConfidence?: number): Decision => ({
  operation: { key, probability: 0.5, confidence },
  ...(targetConfidence === undefined
    ? {}
    : { target: { target, choice: { key: 'a', probability: 0.5, confidence: targetConfidence } } }),
});

describe('what follows from a decision', () => {
  it.each<[string, Decision, Partial<Gates>, object]>([
    ['the best choice is carried out, however unsure', decision('CLICK', 0, 0), {}, { act: target }],
    [
      'an unsure operation stops at its gate',
      decision('CLICK', 0.4, 1),
      { operationConfidence: 0.5 },
      { stop: 'LOW_OPERATION_CONFIDENCE' },
    ],
    [
      'an unsure target stops at its gate',
      decision('CLICK', 1, 0.4),
      { targetConfidence: 0.5 },
      { stop: 'LOW_TARGET_CONFIDENCE' },
    ],
    ['no target at all stops', decision('CLICK'), {}, { stop: 'LOW_TARGET_CONFIDENCE' }],
    [
      'the operation’s gate comes before a claim of completion',
      decision('DONE', 0.1),
      { operationConfidence: 0.5 },
      { stop: 'LOW_OPERATION_CONFIDENCE' },
    ],
    ['words without a task open the session', decision('BLOCKED'), { sessionStart: true }, { ready: true }],
    ['a question opens the session', decision('READ_REQUEST'), { sessionStart: true }, { ready: true }],
    ['unclear words open the session', decision('UNCLEAR'), { sessionStart: true }, { ready: true }],
    ['blocked is blocked', decision('BLOCKED'), {}, { blocked: true }],
    ['a claim of completion needs no action left', decision('DONE'), { steps: 5 }, { done: true }],
    ['an action over the limit stops', decision('CLICK', 1, 1), { steps: 5 }, { stop: 'ACTION_BUDGET' }],
    ['a wait over the limit stops', decision('WAIT'), { steps: 5 }, { stop: 'ACTION_BUDGET' }],
    ['a wait waits', decision('WAIT'), {}, { wait: true }],
    ['up scrolls up', decision('SCROLL_UP'), {}, { scroll: 'up' }],
    ['down scrolls down', decision('SCROLL_DOWN'), {}, { scroll: 'down' }],
    ['anything else is not carried out', decision('toString'), {}, { other: 'toString' }],
  ])('%s', (_name, given, more, expected) => {
    expect(judge(given, { ...gates, ...more })).toEqual(expected);
  });
});
