/** Requests and right answers of every kind, for property tests. */
import fc from 'fast-check';
import type { JevAnswer, JevQuestion } from '../../sdk/contract/jev.ts';

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
export const key = fc
  .oneof(fc.string({ minLength: 1, maxLength: 20 }), fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }))
  .filter((text) => !FORBIDDEN.has(text));

export const content = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 4 }),
  fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
) as fc.Arbitrary<string | []>;

const noul = fc.record({
  type: fc.constant('noul' as const),
  instructions: content,
  criteria: fc.option(fc.record({ true: content, false: content }, { requiredKeys: [] }), { nil: undefined }),
});
const choice = fc.record({
  type: fc.constant('choice' as const),
  instructions: content,
  criteria: fc.dictionary(key, fc.option(content, { nil: null }), { minKeys: 1, maxKeys: 60 }),
});
const score = fc.record({
  type: fc.constant('score' as const),
  instructions: content,
  criteria: fc.array(content, { minLength: 2, maxLength: 10 }),
});

export const question = fc.oneof(noul, choice, score).map((made): JevQuestion => {
  // JSON has no undefined.
  return JSON.parse(JSON.stringify(made));
});
export const questions = fc.dictionary(key, question, { minKeys: 1, maxKeys: 6 });
export const request = fc.record({ state: content, questions });

/** Any distribution over n options: exact, or rounded to hundredths as the provider does. */
function distribution(n: number): fc.Arbitrary<number[]> {
  return fc
    .tuple(fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: n, maxLength: n }), fc.boolean())
    .map(([weights, rounded]) => {
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const exact = weights.map((weight) => weight / total);
      const hundredths = exact.map((value) => Math.round(value * 100) / 100);
      const drift = Math.abs(hundredths.reduce((sum, value) => sum + value, 0) - 1);
      // Beyond the envelope a provider's own rounding is refused; that is tested by its numbers.
      return rounded && drift <= Math.min(0.02, 0.005 * n) ? hundredths : exact;
    });
}

export function answerTo(asked: JevQuestion): fc.Arbitrary<JevAnswer> {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  if (asked.type === 'noul') return unit.map((value) => ({ type: 'noul', noul: value }));
  if (asked.type === 'choice') {
    const options = Object.keys(asked.criteria);
    return fc.tuple(distribution(options.length), unit).map(([shares, confidence]) => ({
      type: 'choice',
      choice: options[shares.indexOf(Math.max(...shares))] ?? '',
      probabilities: Object.fromEntries(options.map((option, index) => [option, shares[index] ?? 0])),
      confidence,
    }));
  }
  if (asked.type === 'score') {
    const levels = asked.criteria;
    return fc.tuple(distribution(levels.length), unit).map(([shares, confidence]) => ({
      type: 'score',
      score: Math.min(
        levels.length - 1,
        shares.reduce((sum, value, level) => sum + value * level, 0),
      ),
      probabilities: Object.fromEntries(shares.map((value, level) => [String(level), value])),
      legend: Object.fromEntries(levels.map((_, level) => [String(level), `level ${level}`])),
      confidence,
    }));
  }
  return fc.constant({ type: 'box', box: { top: 0.1, bottom: 0.9, left: 0.2, right: 0.8 } });
}

export function answersTo(asked: Record<string, JevQuestion>): fc.Arbitrary<Record<string, JevAnswer>> {
  const entries = Object.entries(asked);
  return fc
    .tuple(...entries.map(([, one]) => answerTo(one)))
    .map((answers) => Object.fromEntries(entries.map(([id], index) => [id, answers[index] as JevAnswer])));
}
