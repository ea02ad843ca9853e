/** Answers that are JSON and yet wrong in one place. */
import { type AnswerFault, answer, type Body, type Fault } from './fault.ts';

export const answerFaults = {
  // The envelope.
  'no-model': answer('leaves the model out', without('model')),
  'empty-model': answer('names an empty model', (body) => ({ ...body, model: '' })),
  'no-answers': answer('leaves the answers out', without('answers')),
  'no-usage': answer('leaves the usage out', without('usage')),
  'negative-usage': answer('counts less than nothing', (body) => ({
    ...body,
    usage: { input_tokens: -1, output_tokens: 0 },
  })),
  'fractional-usage': answer('counts half a token', (body) => ({
    ...body,
    usage: { input_tokens: 1.5, output_tokens: 0 },
  })),
  'other-requested-model': answer('answers for another model', (body) => ({
    ...body,
    requested_model: 'someone/else',
  })),
  'other-request-id': answer('answers another request', (body) => ({ ...body, request_id: 'not-this-one' })),
  'negative-billing': answer('charges less than nothing', (body) => ({ ...body, billing: { charged_credits: -1 } })),
  'billing-text': answer('charges a text', (body) => ({ ...body, billing: { charged_credits: 'free' } })),
  // The answers. Each applies to the first question of the kind that it needs.
  'missing-answer': answer('leaves one answer out', (body) => {
    const [first] = Object.keys(answers(body));
    return { ...body, answers: Object.fromEntries(Object.entries(answers(body)).filter(([id]) => id !== first)) };
  }),
  'extra-answer': answer('answers what was not asked', (body) => ({
    ...body,
    answers: { ...answers(body), x_extra: { type: 'noul', noul: 0.5 } },
  })),
  'renamed-answer': answer('changes the case of an id', (body) => ({
    ...body,
    answers: Object.fromEntries(Object.entries(answers(body)).map(([id, value]) => [`${id} `, value])),
  })),
  'null-answer': answer(
    'answers null',
    each(undefined, () => null),
  ),
  'other-type': answer(
    'answers with another type',
    each(undefined, (given) => ({ ...given, type: 'verdict' })),
  ),
  'noul-above-1': answer(
    'a probability above 1',
    each('noul', (given) => ({ ...given, noul: 1.01 })),
  ),
  'noul-text': answer(
    'a probability as text',
    each('noul', (given) => ({ ...given, noul: '0.5' })),
  ),
  'noul-null': answer(
    'a probability that is null',
    each('noul', (given) => ({ ...given, noul: null })),
  ),
  'no-confidence': answer(
    'leaves the confidence out',
    each('choice', ({ confidence: _, ...given }) => given),
  ),
  'confidence-above-1': answer(
    'more than certain',
    each('choice', (given) => ({ ...given, confidence: 1.5 })),
  ),
  'no-probabilities': answer(
    'leaves the distribution out',
    each('choice', ({ probabilities: _, ...given }) => given),
  ),
  'missing-option': answer(
    'leaves an option out',
    each('choice', (given) => changed(given, (p, [first]) => delete p[first ?? ''])),
  ),
  'extra-option': answer(
    'adds an option',
    each('choice', (given) => changed(given, (p) => (p.x_other = 0))),
  ),
  'negative-probability': answer(
    'a probability below 0',
    each('choice', (given) => changed(given, (p, [first]) => (p[first ?? ''] = -0.01))),
  ),
  'probability-text': answer(
    'a probability as text',
    each('choice', (given) => changed(given, (p, [first]) => (p[first ?? ''] = '1'))),
  ),
  'sum-low': answer(
    'probabilities that sum to 0.9',
    each('choice', (given) => changed(given, scale(0.9))),
  ),
  'sum-high': answer(
    'probabilities that sum to 1.1',
    each('choice', (given) => changed(given, scale(1.1))),
  ),
  'unknown-choice': answer(
    'chooses what was not offered',
    each('choice', (given) => ({ ...given, choice: 'x_other' })),
  ),
  'not-the-highest': answer(
    'chooses the least probable',
    each('choice', (given) => {
      const entries = Object.entries(given.probabilities as Record<string, number>);
      const [lowest] = entries.sort((a, b) => a[1] - b[1]);
      return { ...given, choice: lowest?.[0] };
    }),
  ),
  'score-off': answer(
    'a score beside its distribution',
    each('score', (given) => ({ ...given, score: Number(given.score) + 0.05 })),
  ),
  'score-above': answer(
    'a score above the highest level',
    each('score', (given) => ({ ...given, score: 10 })),
  ),
  'legend-null': answer(
    'no legend',
    each('score', (given) => ({ ...given, legend: null })),
  ),
  'legend-short': answer(
    'a legend that lacks a level',
    each('score', (given) => {
      const { '0': _, ...legend } = given.legend as Record<string, string>;
      return { ...given, legend };
    }),
  ),
  'box-outside': answer(
    'a box beyond the image',
    each('box', (given) => ({ ...given, box: { top: 0, bottom: 1.2, left: 0, right: 1 } })),
  ),
  'box-upside-down': answer(
    'a box whose bottom is above its top',
    each('box', (given) => ({ ...given, box: { top: 0.8, bottom: 0.2, left: 0, right: 1 } })),
  ),
} as const satisfies Record<string, Fault>;

function answers(body: Body): Record<string, unknown> {
  return body.answers as Record<string, unknown>;
}

function without(key: string): AnswerFault['change'] {
  return (body) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== key));
}

/** Changes the first answer of the type; without a type, the very first. */
function each(type: string | undefined, change: (given: Body) => unknown): AnswerFault['change'] {
  return (body) => {
    const given = answers(body) as Record<string, Body>;
    const id = Object.keys(given).find((key) => type === undefined || given[key]?.type === type);
    return id === undefined ? body : { ...body, answers: { ...given, [id]: change(given[id] ?? {}) } };
  };
}

function changed(given: Body, change: (probabilities: Body, keys: string[]) => unknown): Body {
  const probabilities = { ...(given.probabilities as Body) };
  change(probabilities, Object.keys(probabilities));
  return { ...given, probabilities };
}

function scale(factor: number): (probabilities: Body, keys: string[]) => void {
  return (probabilities, keys) => {
    for (const key of keys) probabilities[key] = Math.min(1, Number(probabilities[key]) * factor);
    // A single option cannot be raised above 1.
    const highest = keys.reduce((sum, key) => sum + Number(probabilities[key]), 0);
    if (factor > 1 && highest <= 1.05) for (const key of keys) probabilities[key] = 1;
  };
}
