/**
 * The script engine: answers from a file of rules, first match wins. It is what tests use, where an answer must be known
 * beforehand.
 */
import * as v from 'valibot';
import type { JevAnswer, JevQuestion } from '../../sdk/contract/jev.ts';
import { choiceAnswer, roundToHundredths, scoreAnswer } from './distribution.ts';
import type { Engine, EngineRequest } from './engine.ts';
import { answerGenerally } from './lexical/general.ts';
import { decide } from './lexical/lexical-engine.ts';
import { textOf } from './lexical/words.ts';

const Text = v.pipe(v.string(), v.maxLength(4000));

const Rule = v.strictObject({
  when: v.optional(
    v.strictObject({
      /** The question's id. */
      question: v.optional(Text),
      /** Text that the state must contain, in any case. */
      contains: v.optional(Text),
      /** Text that the question's instructions must contain, in any case. */
      asks: v.optional(Text),
    }),
    {},
  ),
  /**
   * A choice: an option's key, or words that its description contains. A noul: a number from 0 to 1. A score: a level's
   * index. An object is sent as the answer as it stands.
   */
  answer: v.union([Text, v.number(), v.record(v.string(), v.unknown())]),
  /** What the chosen option gets; the rest is spread evenly. */
  probability: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)), 0.97),
  /** How often the rule answers before it is passed over. */
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

export const Script = v.strictObject({
  rules: v.pipe(v.array(Rule), v.maxLength(10_000)),
  /** Who answers when no rule does. */
  otherwise: v.optional(v.picklist(['lexical', 'first']), 'first'),
});
export type Script = v.InferInput<typeof Script>;

export function scriptEngine(script: Script): Engine {
  const { rules, otherwise } = v.parse(Script, script);
  const used = new Map<(typeof rules)[number], number>();

  const ruleFor = (id: string, question: JevQuestion, state: string) =>
    rules.find((rule) => {
      const { question: wanted, contains, asks } = rule.when;
      if (wanted !== undefined && wanted !== id) return false;
      if (rule.times !== undefined && (used.get(rule) ?? 0) >= rule.times) return false;
      if (contains !== undefined && !state.includes(contains.toLowerCase())) return false;
      if (asks !== undefined && !textOf(question.instructions).toLowerCase().includes(asks.toLowerCase())) return false;
      return answerFrom(question, rule.answer, rule.probability) !== undefined;
    });

  return {
    name: 'script',
    answer(request) {
      const state = textOf(request.state).toLowerCase();
      const fallback = otherwise === 'lexical' ? decide(request) : {};
      const answers: Record<string, JevAnswer> = {};
      for (const [id, question] of Object.entries(request.questions)) {
        const rule = ruleFor(id, question, state);
        if (rule) used.set(rule, (used.get(rule) ?? 0) + 1);
        answers[id] =
          (rule && answerFrom(question, rule.answer, rule.probability)) ?? fallback[id] ?? first(question, request);
      }
      return { answers, readout: 'script' };
    },
  };
}

function answerFrom(question: JevQuestion, wanted: unknown, probability: number): JevAnswer | undefined {
  if (typeof wanted === 'object') return wanted as JevAnswer;
  if (question.type === 'noul') {
    const noul = Number(wanted);
    return noul >= 0 && noul <= 1 ? { type: 'noul', noul } : undefined;
  }
  if (question.type === 'score') {
    const level = Number(wanted);
    if (!Number.isInteger(level) || level < 0 || level >= question.criteria.length) return undefined;
    return scoreAnswer(question.criteria, spread(question.criteria.length, level, probability));
  }
  if (question.type === 'choice') {
    const options = Object.keys(question.criteria);
    const at = optionAt(options, question.criteria, String(wanted));
    return at < 0 ? undefined : choiceAnswer(options, spread(options.length, at, probability));
  }
  return undefined;
}

function optionAt(options: readonly string[], criteria: Record<string, unknown>, wanted: string): number {
  const exact = options.indexOf(wanted);
  if (exact >= 0) return exact;
  return options.findIndex((key) => textOf(criteria[key]).toLowerCase().includes(wanted.toLowerCase()));
}

function spread(count: number, chosen: number, probability: number): number[] {
  if (count === 1) return [1];
  const rest = (1 - probability) / (count - 1);
  return roundToHundredths(Array.from({ length: count }, (_, index) => (index === chosen ? probability : rest)));
}

function first(question: JevQuestion, request: EngineRequest): JevAnswer {
  if (question.type !== 'choice') return answerGenerally(question, request.state);
  const options = Object.keys(question.criteria);
  return choiceAnswer(options, spread(options.length, 0, 0.97));
}
