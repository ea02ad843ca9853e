import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JevAnswer, JevQuestion } from '../../sdk/contract/jev.ts';
import { answersTo, questions } from '../../test/jev/arbitraries.ts';
import { type ValidationReason, validateAnswer } from './answer-validation.ts';
import { type QuestionPlan, validateRequest } from './request-validation.ts';

const limits = { maxInputBytes: 1_048_576, maxQuestions: 256, images: { enabled: true, maxImageBytes: 1 } };
const usage = { input_tokens: 3, output_tokens: 0 };

function check(body: unknown, plan: readonly QuestionPlan[]) {
  return validateAnswer(body, { plan, requestedModel: 'cat/jev', wireRequestId: 'wire' });
}
function reason(body: unknown, plan: readonly QuestionPlan[]): string {
  try {
    check(body, plan);
    return 'accepted';
  } catch (error) {
    return (error as { details: { validationReason: string } }).details.validationReason;
  }
}
const planOf = (asked: Record<string, JevQuestion>) => validateRequest({ state: 's', questions: asked }, limits).plan;
const asked = questions.chain((made) => fc.record({ questions: fc.constant(made), answers: answersTo(made) }));

describe('a right answer', () => {
  it('is never refused, and its numbers are passed on as they came', () => {
    fc.assert(
      fc.property(asked, ({ questions: made, answers }) => {
        const sent = JSON.parse(JSON.stringify({ model: 'jev-1.13.0', answers, usage, x_more: { a: 1 } }));
        const result = check(sent, planOf(made));
        expect(result.answers).toEqual(JSON.parse(JSON.stringify(answers)));
        expect(Object.keys(result).sort()).toEqual(['answers', 'model', 'usage']);
      }),
      { numRuns: 150 },
    );
  });

  it('may carry more than was asked for; that is not passed on', () => {
    const plan = planOf({ q: { type: 'noul', instructions: 'x' } });
    const body = {
      model: 'm',
      answers: { q: { type: 'noul', noul: 0.5, confidence: 0.9, reasoning: 'text' } },
      usage: { ...usage, cost: 3 },
      billing: { charged_credits: 0.25, rate_version: 'v3', account: 'a' },
      request_id: 'wire',
      requested_model: 'cat/jev',
      routing: { key: 'secret' },
    };
    expect(check(body, plan)).toEqual({
      model: 'm',
      answers: { q: { type: 'noul', noul: 0.5 } },
      usage,
      billing: { charged_credits: 0.25, rate_version: 'v3' },
    });
  });
});

/** One change that makes a right answer wrong, and the reason that it must be refused with. */
interface Mutation {
  says: string;
  reason: ValidationReason;
  to: (answer: JevAnswer & Record<string, never>, pick: number) => unknown;
  of?: JevAnswer['type'];
  /** Whether the change can be made at all. */
  when?: (answer: JevAnswer) => boolean;
}

const outside = (pick: number): number => (pick % 2 === 0 ? -1e-6 - pick : 1 + 1e-6 + pick);
const keyAt = (answer: JevAnswer, pick: number): string => {
  const keys = Object.keys((answer as { probabilities: Record<string, number> }).probabilities);
  return keys[pick % keys.length] ?? '';
};
const mutations: Mutation[] = [
  {
    says: 'another type',
    reason: 'ANSWER_TYPE',
    to: (answer) => ({ ...answer, type: answer.type === 'noul' ? 'choice' : 'noul' }),
  },
  { says: 'no object', reason: 'ANSWER_TYPE', to: (_, pick) => [null, 1, 'noul', [], true][pick % 5] },
  {
    says: 'a noul outside',
    of: 'noul',
    reason: 'NOUL_RANGE',
    to: (answer, pick) => ({ ...answer, noul: outside(pick) }),
  },
  {
    says: 'a noul that is no number',
    of: 'noul',
    reason: 'NOUL_RANGE',
    to: (answer, pick) => ({ ...answer, noul: ['0.5', null, Number.NaN, true, undefined][pick % 5] }),
  },
  ...(['choice', 'score'] as const).flatMap((of): Mutation[] => [
    {
      says: 'confidence outside',
      of,
      reason: 'DISTRIBUTION_SHAPE',
      to: (answer, pick) => ({ ...answer, confidence: outside(pick) }),
    },
    {
      says: 'confidence missing',
      of,
      reason: 'DISTRIBUTION_SHAPE',
      to: ({ ...answer }) => {
        delete (answer as { confidence?: number }).confidence;
        return answer;
      },
    },
    {
      says: 'an option too many',
      of,
      reason: 'DISTRIBUTION_SHAPE',
      to: (answer) => ({ ...answer, probabilities: { ...probabilities(answer), '\u0001new': 0 } }),
    },
    {
      says: 'an option missing',
      of,
      reason: 'DISTRIBUTION_SHAPE',
      to: (answer, pick) => {
        const own = { ...probabilities(answer) };
        delete own[keyAt(answer, pick)];
        return { ...answer, probabilities: own };
      },
    },
    {
      says: 'an option renamed',
      of,
      reason: 'DISTRIBUTION_SHAPE',
      to: (answer, pick) => {
        const own = { ...probabilities(answer) };
        const key = keyAt(answer, pick);
        const value = own[key] ?? 0;
        delete own[key];
        return { ...answer, probabilities: { ...own, [`${key}\u0001`]: value } };
      },
    },
    {
      says: 'a probability outside',
      of,
      reason: 'DISTRIBUTION_SHAPE',
      to: (answer, pick) => ({
        ...answer,
        probabilities: { ...probabilities(answer), [keyAt(answer, pick)]: outside(pick) },
      }),
    },
    {
      says: 'a sum that is off',
      of,
      reason: 'DISTRIBUTION_SUM',
      to: (answer, pick) => ({ ...answer, probabilities: scaled(probabilities(answer), 0.5 + (pick % 40) / 100) }),
    },
  ]),
  {
    says: 'a choice that was not offered',
    of: 'choice',
    reason: 'CHOICE_MISMATCH',
    to: (answer) => ({ ...answer, choice: '\u0001none' }),
  },
  {
    says: 'a choice below another',
    of: 'choice',
    reason: 'CHOICE_MISMATCH',
    when: (answer) => lowest(answer) !== undefined,
    to: (answer) => ({ ...answer, choice: lowest(answer) }),
  },
  {
    says: 'a score beside the distribution',
    of: 'score',
    reason: 'SCORE_MISMATCH',
    to: (answer, pick) => ({ ...answer, score: answer.score + (pick % 2 ? 0.0111 : -0.0111) }),
  },
  {
    says: 'a legend without a level',
    of: 'score',
    reason: 'SCORE_MISMATCH',
    to: (answer, pick) => {
      const legend = { ...(answer.legend as object) } as Record<string, string>;
      delete legend[keyAt(answer, pick)];
      return { ...answer, legend };
    },
  },
  {
    says: 'a legend that is no text',
    of: 'score',
    reason: 'SCORE_MISMATCH',
    to: (answer, pick) => ({ ...answer, legend: { ...(answer.legend as object), [keyAt(answer, pick)]: null } }),
  },
];

describe('a wrong answer', () => {
  it.each(mutations.map((mutation) => [`${mutation.of ?? 'any'}: ${mutation.says}`, mutation] as const))(
    'is always refused with its reason (%s)',
    (_, mutation) => {
      let met = 0;
      fc.assert(
        fc.property(asked, fc.nat(1000), ({ questions: made, answers }, pick) => {
          const id = Object.keys(answers).find((one) => {
            const answer = answers[one] as JevAnswer;
            return (mutation.of === undefined || answer.type === mutation.of) && (mutation.when?.(answer) ?? true);
          });
          fc.pre(id !== undefined);
          met += 1;
          const wrong = { ...answers, [id]: mutation.to(answers[id] as never, pick) };
          expect(reason({ model: 'm', answers: wrong, usage }, planOf(made))).toBe(mutation.reason);
        }),
        { numRuns: 30 },
      );
      expect(met).toBeGreaterThan(10);
    },
  );

  it('is refused when ids are missing, added or changed', () => {
    fc.assert(
      fc.property(asked, ({ questions: made, answers }) => {
        const plan = planOf(made);
        const [first] = Object.keys(answers);
        const { [first ?? '']: dropped, ...rest } = answers;
        for (const ids of [rest, { ...answers, '\u0001': dropped }, { ...rest, [`${first}\u0001`]: dropped }]) {
          expect(reason({ model: 'm', answers: ids, usage }, plan)).toBe('ANSWER_KEYS');
        }
      }),
    );
  });

  it('of any shape is refused and never breaks the service', () => {
    fc.assert(
      fc.property(fc.jsonValue(), questions, (body, made) => {
        const text = JSON.parse(JSON.stringify(body));
        expect(reason(text, planOf(made))).toMatch(/^[A-Z_]+$/);
      }),
    );
  });

  const one = planOf({ q: { type: 'noul', instructions: 'x' } });
  const right = { model: 'm', answers: { q: { type: 'noul', noul: 1 } }, usage };
  it.each<[string, unknown, string]>([
    ['an array', [right], 'ENVELOPE'],
    ['null', null, 'ENVELOPE'],
    ['no model', { ...right, model: undefined }, 'ENVELOPE'],
    ['an empty model', { ...right, model: '' }, 'ENVELOPE'],
    ['a model of 1025 characters', { ...right, model: 'x'.repeat(1025) }, 'ENVELOPE'],
    ['a model of 1024 characters', { ...right, model: 'x'.repeat(1024) }, 'accepted'],
    ['answers as a list', { ...right, answers: [] }, 'ENVELOPE'],
    ['usage as text', { ...right, usage: '3' }, 'ENVELOPE'],
    ['half a token', { ...right, usage: { input_tokens: 0.5, output_tokens: 0 } }, 'USAGE'],
    ['tokens beyond what can be counted', { ...right, usage: { input_tokens: 2 ** 53, output_tokens: 0 } }, 'USAGE'],
    ['tokens as text', { ...right, usage: { input_tokens: '1', output_tokens: 0 } }, 'USAGE'],
    ['another requested model', { ...right, requested_model: 'jev' }, 'MODEL_IDENTITY'],
    ['a requested model that is null', { ...right, requested_model: null }, 'MODEL_IDENTITY'],
    ['another request', { ...right, request_id: 'WIRE' }, 'REQUEST_IDENTITY'],
    ['a negative charge', { ...right, billing: { charged_credits: -0.01 } }, 'BILLING'],
    ['a charge without an end', { ...right, billing: { charged_credits: Number.POSITIVE_INFINITY } }, 'BILLING'],
    ['billing that is null', { ...right, billing: null }, 'BILLING'],
    ['a rate that is a number', { ...right, billing: { charged_credits: 1, rate_version: 3 } }, 'BILLING'],
    ['a charge of nothing', { ...right, billing: { charged_credits: 0 } }, 'accepted'],
  ])('with %s is %3$s', (_, body, expected) => {
    expect(reason(body, one)).toBe(expected);
  });
});

describe('the rounding envelope', () => {
  const options = (n: number) =>
    planOf({
      q: {
        type: 'choice',
        instructions: 'x',
        criteria: Object.fromEntries(Array.from({ length: n }, (_, i) => [`o${i}`, null])),
      },
    });
  const choice = (shares: number[]) => ({
    model: 'm',
    usage,
    answers: {
      q: {
        type: 'choice',
        choice: `o${shares.indexOf(Math.max(...shares))}`,
        probabilities: Object.fromEntries(shares.map((value, i) => [`o${i}`, value])),
        confidence: 0.5,
      },
    },
  });

  it.each<[string, number[], string]>([
    ['one option at 1', [1], 'accepted'],
    ['one option at 0.99 (half a hundredth allowed)', [0.99], 'DISTRIBUTION_SUM'],
    ['two options at 0.99 (a hundredth allowed)', [0.5, 0.49], 'accepted'],
    ['two options at 1.01', [0.51, 0.5], 'accepted'],
    ['two options at 0.98', [0.5, 0.48], 'DISTRIBUTION_SUM'],
    ['three options at 0.99', [0.33, 0.33, 0.33], 'accepted'],
    ['three options at 0.98', [0.33, 0.33, 0.32], 'DISTRIBUTION_SUM'],
    ['four options at 0.98 (two hundredths allowed)', [0.25, 0.25, 0.24, 0.24], 'accepted'],
    ['four options at 1.02', [0.26, 0.26, 0.25, 0.25], 'accepted'],
    ['four options at 0.97', [0.25, 0.24, 0.24, 0.24], 'DISTRIBUTION_SUM'],
    ['five options at 0.97: more options allow no more', [0.2, 0.2, 0.19, 0.19, 0.19], 'DISTRIBUTION_SUM'],
    ['exact numbers at 1.001', [0.5005, 0.5005], 'accepted'],
    ['exact numbers at 1.0011', [0.5005, 0.5006], 'DISTRIBUTION_SUM'],
    ['exact numbers at 0.999', [0.4995, 0.4995], 'accepted'],
    ['exact numbers at 0.9989', [0.4995, 0.4994], 'DISTRIBUTION_SUM'],
    ['one exact number among hundredths', [0.25, 0.25, 0.25, 0.241], 'DISTRIBUTION_SUM'],
  ])('%s is %3$s', (_, shares, expected) => {
    expect(reason(choice(shares), options(shares.length))).toBe(expected);
  });

  it('holds for every hundredth that JSON can write', () => {
    for (let cents = 0; cents <= 100; cents++) {
      expect(reason(choice([cents / 100, (100 - cents) / 100]), options(2)), String(cents)).toBe('accepted');
      expect(
        reason(choice([Number(`0.${String(cents % 100).padStart(2, '0')}`), 1 - (cents % 100) / 100]), options(2)),
      ).toBe('accepted');
    }
  });

  it.each([
    [0.5, 0.50001, 'accepted'],
    [0.5, 0.500012, 'CHOICE_MISMATCH'],
  ])('lets the chosen one stand at %s beside %s: %s', (chosen, other, expected) => {
    const body = choice([chosen, other]);
    body.answers.q.choice = 'o0';
    expect(reason(body, options(2))).toBe(expected);
  });

  it.each([
    [1.99, [0, 0, 1], 'accepted'],
    [2, [0, 0, 1], 'accepted'],
    [1.989, [0, 0, 1], 'SCORE_MISMATCH'],
    [1.9, [0, 0, 1], 'SCORE_MISMATCH'],
    [2.001, [0, 0, 1], 'SCORE_MISMATCH'],
    [0, [1, 0, 0], 'accepted'],
    [-0.001, [1, 0, 0], 'SCORE_MISMATCH'],
    [1.8, [0, 0, 0.9], 'DISTRIBUTION_SUM'],
  ])('a score of %s over %s is %s', (score, shares, expected) => {
    const body = {
      model: 'm',
      usage,
      answers: {
        q: { type: 'score', score, confidence: 0.99, probabilities: { ...shares }, legend: { 0: 'a', 1: 'b', 2: 'c' } },
      },
    };
    const plan = planOf({ q: { type: 'score', instructions: 'x', criteria: ['a', 'b', 'c'] } });
    expect(reason(body, plan)).toBe(expected);
    if (expected === 'accepted')
      expect(check(body, plan).answers.q).toMatchObject({ score, probabilities: { ...shares } });
  });
});

function probabilities(answer: unknown): Record<string, number> {
  return (answer as { probabilities: Record<string, number> }).probabilities;
}
function scaled(shares: Record<string, number>, factor: number): Record<string, number> {
  return Object.fromEntries(Object.entries(shares).map(([key, value]) => [key, value * factor]));
}
/** An option clearly below the chosen one. */
function lowest(answer: JevAnswer): string | undefined {
  if (answer.type !== 'choice') return undefined;
  const top = answer.probabilities[answer.choice] ?? 0;
  return Object.keys(answer.probabilities).find((key) => (answer.probabilities[key] ?? 0) < top - 0.001);
}
