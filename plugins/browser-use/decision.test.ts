import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JevQuestion, JevResult } from '../../sdk/contract/jev.ts';
import { resultFor } from '../../sdk/testing/index.ts';
import { offerTargets } from './candidates.ts';
import { readChoice, readDecision } from './decision.ts';
import { askForDecision } from './questions.ts';
import { button, pageWith } from './testing/pages.ts';

const question: JevQuestion & { type: 'choice' } = {
  type: 'choice',
  instructions: 'Which?',
  criteria: { A: null, B: null, C: null },
};
const answer = (more: object) => ({
  type: 'choice' as const,
  choice: 'A',
  probabilities: { A: 0.6, B: 0.3, C: 0.1 },
  confidence: 0.4,
  ...more,
});

describe('a choice', () => {
  it.each<[string, object, string]>([
    ['names no option', { choice: 'D' }, 'CHOICE_UNKNOWN'],
    ['names a property of every object', { choice: 'toString' }, 'CHOICE_UNKNOWN'],
    ['is not the most probable', { choice: 'B' }, 'CHOICE_NOT_MAXIMUM'],
    ['leaves an option out', { probabilities: { A: 0.7, B: 0.3 } }, 'PROBABILITY_KEYS'],
    ['adds an option', { probabilities: { A: 0.6, B: 0.3, C: 0.1, D: 0 } }, 'PROBABILITY_KEYS'],
    ['has a probability over one', { probabilities: { A: 1.6, B: -0.7, C: 0.1 } }, 'PROBABILITY_RANGE'],
    ['has a probability that is no number', { probabilities: { A: '0.6', B: 0.3, C: 0.1 } }, 'PROBABILITY_RANGE'],
    ['has a yes for a probability', { probabilities: { A: true, B: 0, C: 0 } }, 'PROBABILITY_RANGE'],
    ['sums to too little', { probabilities: { A: 0.6, B: 0.3, C: 0.07 } }, 'DISTRIBUTION_SUM'],
    ['sums to nothing', { probabilities: { A: 0, B: 0, C: 0 } }, 'DISTRIBUTION_SUM'],
    ['has no confidence', { confidence: undefined }, 'CONFIDENCE_RANGE'],
    ['has no probabilities', { probabilities: null }, 'PROBABILITIES'],
    ['is another kind of answer', { type: 'noul' }, 'ANSWER_TYPE'],
  ])('that %s decides nothing', (_name, more, rule) => {
    expect(readChoice(question, answer(more) as never)).toBe(rule);
  });

  it('within the rounding of hundredths is taken as it is', () => {
    expect(readChoice(question, answer({ probabilities: { A: 0.33, B: 0.33, C: 0.32 } }))).toEqual({
      key: 'A',
      probability: 0.33,
      confidence: 0.4,
    });
    expect(readChoice(question, answer({ probabilities: { A: 0.61, B: 0.3, C: 0.1 } }))).toMatchObject({ key: 'A' });
  });

  it('that is valid is never refused', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 3, maxLength: 3 }), (weights) => {
        const sum = weights.reduce((a, b) => a + b, 0);
        fc.pre(sum > 0);
        const [A = 0, B = 0, C = 0] = weights.map((weight) => weight / sum);
        const probabilities = { A, B, C };
        const choice = A >= B && A >= C ? 'A' : B >= C ? 'B' : 'C';
        expect(readChoice(question, answer({ choice, probabilities }))).toMatchObject({ key: choice });
      }),
    );
  });
});

describe('a decision', () => {
  const page = pageWith(Array.from({ length: 90 }, (_, i) => button(`b${i}`)));
  const offer = offerTargets(page, { goal: '', exhausted: () => false, withheld: () => false });
  const asked = askForDecision({ goal: 'g', supplied: [], page, offer, recent: [], earlier: [] });
  if ('refused' in asked) throw new Error(asked.refused);
  const { request } = asked;
  const decide = (answers: Parameters<typeof resultFor>[1], change: (result: JevResult) => void = () => {}) => {
    const result = resultFor(request, answers);
    change(result);
    return readDecision(request, offer, result);
  };

  it('takes the most probable target over all the questions that they were split into', () => {
    const none = { NONE: 1 };
    expect(
      decide({
        operation: 'CLICK',
        click_target: { b3: 0.4, NONE: 0.3, b4: 0.3 },
        click_target_2: { b40: 0.8, NONE: 0.2 },
        click_target_3: none,
      }),
    ).toMatchObject({ operation: { key: 'CLICK' }, target: { choice: { key: 'b40', probability: 0.8 } } });
  });

  it('has no target when every question answers NONE', () => {
    const none = 'NONE';
    const decision = decide({ operation: 'CLICK', click_target: none, click_target_2: none, click_target_3: none });
    expect(decision).not.toHaveProperty('target');
    expect(decision).toMatchObject({ operation: { key: 'CLICK' } });
  });

  it('is refused when an answer is missing, too many, or broken, even one that is not used', () => {
    const refused = { refused: 'INVALID_DECISION' };
    expect(decide({ operation: 'WAIT' }, (result) => void delete result.answers.click_target_2)).toMatchObject(refused);
    expect(
      decide({ operation: 'WAIT' }, (r) => void Object.assign(r.answers, { extra: r.answers.operation })),
    ).toMatchObject(refused);
    expect(
      decide({ operation: 'WAIT' }, (r) => void Object.assign(r.answers, { click_target: { type: 'noul', noul: 1 } })),
    ).toMatchObject(refused);
    expect(decide({ operation: 'WAIT' }, (r) => void Object.assign(r, { model: '' }))).toMatchObject(refused);
  });
});
