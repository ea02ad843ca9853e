/**
 * From scores to a distribution as the real service writes one: hundredths that sum to exactly 1, the chosen one highest,
 * and a confidence that follows from the concentration.
 */
import type { ChoiceAnswer, ScoreAnswer } from '../../sdk/contract/jev.ts';

/** Softmax of the scores, in hundredths by largest remainder. */
export function hundredths(scores: readonly number[]): number[] {
  const top = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - top));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return roundToHundredths(weights.map((weight) => weight / total));
}

export function roundToHundredths(shares: readonly number[]): number[] {
  const exact = shares.map((value) => value * 100);
  const floors = exact.map(Math.floor);
  let left = 100 - floors.reduce((sum, value) => sum + value, 0);
  const byRemainder = exact
    .map((value, index) => ({ index, remainder: value - (floors[index] ?? 0) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of byRemainder) {
    if (left <= 0) break;
    floors[index] = (floors[index] ?? 0) + 1;
    left -= 1;
  }
  return floors.map((value) => value / 100);
}

/** The concentration of a distribution, as the service documents it: 0 when even, 1 when certain. */
function choiceConfidence(probabilities: readonly number[]): number {
  const n = probabilities.length;
  if (n === 1) return 1;
  const highest = Math.max(...probabilities);
  return clip((highest - 1 / n) / (1 - 1 / n));
}

function scoreConfidence(probabilities: readonly number[]): number {
  const n = probabilities.length;
  const mode = probabilities.indexOf(Math.max(...probabilities));
  let spread = 0;
  let even = 0;
  for (let level = 0; level < n; level++) {
    spread += (probabilities[level] ?? 0) * Math.abs(level - mode);
    even += Math.abs(level - (n - 1) / 2) / n;
  }
  return clip(even === 0 ? 1 : 1 - spread / even);
}

/** @param shares one per option, summing to 1 within rounding. The first of the highest is chosen. */
export function choiceAnswer(options: readonly string[], shares: readonly number[]): ChoiceAnswer {
  const best = shares.indexOf(Math.max(...shares));
  return {
    type: 'choice',
    choice: options[best] ?? '',
    probabilities: Object.fromEntries(options.map((option, index) => [option, shares[index] ?? 0])),
    confidence: choiceConfidence(shares),
  };
}

export function scoreAnswer(levels: readonly unknown[], shares: readonly number[]): ScoreAnswer {
  const score = shares.reduce((sum, value, level) => sum + value * level, 0);
  return {
    type: 'score',
    score: Math.round(score * 100) / 100,
    probabilities: Object.fromEntries(shares.map((value, level) => [String(level), value])),
    legend: Object.fromEntries(
      levels.map((level, index) => [String(index), typeof level === 'string' ? level : JSON.stringify(level)]),
    ),
    confidence: scoreConfidence(shares),
  };
}

function clip(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 100) / 100;
}
