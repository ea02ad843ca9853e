/** Questions of any kind, by the words that they share with what they are about. */
import type { JevAnswer, JevQuestion } from '../../../sdk/contract/jev.ts';
import { choiceAnswer, hundredths, scoreAnswer } from '../distribution.ts';
import { contentWords, share, textOf } from './words.ts';

type Choice = Extract<JevQuestion, { type: 'choice' }>;

export function answerGenerally(question: JevQuestion, state: unknown): JevAnswer {
  switch (question.type) {
    case 'noul':
      return { type: 'noul', noul: likelihood(question, state) };
    case 'choice':
      return answerChoice(question, state);
    case 'score':
      return scoreAnswer(question.criteria, hundredths(overlaps(question.criteria.map(textOf), state, question)));
    case 'box':
      // Words show no place in a picture.
      return { type: 'box', box: { top: 0, bottom: 1, left: 0, right: 1 }, confidence: 0 };
  }
}

/** Share of the instructions' words that the state has; with criteria, which of the two shares more. */
function likelihood(question: Extract<JevQuestion, { type: 'noul' }>, state: unknown): number {
  const { criteria } = question;
  if (criteria?.true !== undefined && criteria.false !== undefined) {
    const [yes = 0] = hundredths(overlaps([textOf(criteria.true), textOf(criteria.false)], state, question));
    return yes;
  }
  const asked = contentWords(`${textOf(question.instructions)} ${textOf(criteria?.true ?? '')}`);
  const overlap = share(asked, new Set(contentWords(textOf(state))));
  return Math.round((0.05 + 0.9 * overlap) * 100) / 100;
}

function answerChoice(question: Choice, state: unknown): JevAnswer {
  const options = Object.keys(question.criteria);
  const texts = options.map((key) => `${key.replaceAll('_', ' ')} ${textOf(question.criteria[key] ?? '')}`);
  const scores = overlaps(texts, state, question);
  return choiceAnswer(
    options,
    hundredths(scores.map((score, index) => score + (/^(?:none|other)$/i.test(options[index] ?? '') ? 0.6 : 0))),
  );
}

/** Overlap of each text with the state and the instructions, not counting words that all of them share. */
function overlaps(texts: readonly string[], state: unknown, question: JevQuestion): number[] {
  const about = new Set([...contentWords(textOf(state)), ...contentWords(textOf(question.instructions))]);
  const own = texts.map(contentWords);
  const common = new Set(own[0]?.filter((word) => own.length > 1 && own.every((list) => list.includes(word))) ?? []);
  return own.map((list) => {
    const telling = [...new Set(list)].filter((word) => !common.has(word));
    const hits = telling.filter((word) => about.has(word)).length;
    return telling.length === 0 ? 0 : 1.5 * hits + 2 * (hits / telling.length);
  });
}
