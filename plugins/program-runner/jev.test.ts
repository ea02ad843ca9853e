import { describe, expect, it } from 'vitest';
import { checkJevAnswer } from './jev-answer.ts';
import { jevFailure } from './jev-failure.ts';
import { checkJevRequest } from './jev-request.ts';

const REQUEST = 'Invalid Jev request: provide state, 1–128 questions, and an optional model ID';
const QUESTION = 'Invalid Jev question: each question needs a type and complete instructions';
const CHOICE = 'Choice requires 1–255 named options with descriptions or null';
const SCORE = 'Score requires 2–10 ordered descriptive levels';
const NOUL = 'Noul criteria may describe true and false only';
const KIND = 'Jev supports choice, score, and noul—not free-text generation';

const noul = { type: 'noul', instructions: 'Is it?' };
const ask = (question: unknown) => ({ state: 's', questions: { q: question } });
const options = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`o${n}`, null]));

describe('an evaluation request', () => {
  const good: [string, unknown][] = [
    ['asks one question about text', ask(noul)],
    ['asks about an object', { state: { a: 1 }, questions: { q: noul } }],
    ['asks about a list', { state: [], questions: { q: noul } }],
    ['names a model', { ...ask(noul), model: 'jev-1.13.0' }],
    [
      'asks 128 questions',
      { state: 's', questions: Object.fromEntries(Array.from({ length: 128 }, (_, n) => [`q${n}`, noul])) },
    ],
    ['offers 255 options', ask({ type: 'choice', instructions: 'Which?', criteria: options(255) })],
    ['offers one option', ask({ type: 'choice', instructions: 'Which?', criteria: { only: 'one' } })],
    [
      'has structured instructions',
      ask({ type: 'score', instructions: { rules: ['a'] }, criteria: ['low', { level: 'high' }] }),
    ],
    ['describes yes and no', ask({ ...noul, criteria: { true: 'yes', false: 'no' } })],
    ['leaves the criteria of a noul null', ask({ ...noul, criteria: null })],
  ];
  it.each(good)('%s', (_what, request) => {
    expect(checkJevRequest(request, 131_072)).toBe(request);
  });

  const bad: [string, unknown, string][] = [
    ['an unknown key', { ...ask(noul), apiKey: 'x' }, REQUEST],
    ['no state', { questions: { q: noul } }, REQUEST],
    ['a number as state', { state: 4, questions: { q: noul } }, REQUEST],
    ['null as state', { state: null, questions: { q: noul } }, REQUEST],
    ['no questions', { state: 's', questions: {} }, REQUEST],
    [
      '129 questions',
      { state: 's', questions: Object.fromEntries(Array.from({ length: 129 }, (_, n) => [`q${n}`, noul])) },
      REQUEST,
    ],
    ['a strange model', { ...ask(noul), model: 'a b' }, REQUEST],
    ['a list', [], REQUEST],
    ['a question without a type', ask({ instructions: 'x' }), QUESTION],
    ['empty instructions', ask({ type: 'noul', instructions: ' ' }), QUESTION],
    ['no instructions', ask({ type: 'noul' }), QUESTION],
    ['an unknown key in a question', ask({ ...noul, weight: 2 }), QUESTION],
    ['a long question id', { state: 's', questions: { ['q'.repeat(129)]: noul } }, QUESTION],
    ['free text', ask({ type: 'text', instructions: 'Write' }), KIND],
    ['a box', ask({ type: 'box', instructions: 'Where?' }), KIND],
    ['a choice without options', ask({ type: 'choice', instructions: 'x', criteria: {} }), CHOICE],
    ['a choice of 256', ask({ type: 'choice', instructions: 'x', criteria: options(256) }), CHOICE],
    ['a choice from a list', ask({ type: 'choice', instructions: 'x', criteria: ['a'] }), CHOICE],
    ['an option described by a number', ask({ type: 'choice', instructions: 'x', criteria: { a: 1 } }), CHOICE],
    ['a long option', ask({ type: 'choice', instructions: 'x', criteria: { ['a'.repeat(257)]: null } }), CHOICE],
    ['a score of one level', ask({ type: 'score', instructions: 'x', criteria: ['a'] }), SCORE],
    ['a score of eleven', ask({ type: 'score', instructions: 'x', criteria: Array(11).fill('a') }), SCORE],
    ['a score by names', ask({ type: 'score', instructions: 'x', criteria: { a: 'b' } }), SCORE],
    ['an empty level', ask({ type: 'score', instructions: 'x', criteria: ['a', ''] }), SCORE],
    ['a noul with a third side', ask({ ...noul, criteria: { maybe: 'x' } }), NOUL],
    [
      'a value that is not finite',
      { state: { a: Number.NaN }, questions: { q: noul } },
      'Jev request must contain only finite JSON values',
    ],
    ['too much', { state: 'x'.repeat(131_072), questions: { q: noul } }, 'Jev request exceeds 131072 bytes'],
  ];
  it.each(bad)('is refused for %s', (_what, request, message) => {
    expect(() => checkJevRequest(request, 131_072)).toThrow(message);
  });
});

describe('an answer', () => {
  const request = checkJevRequest(
    {
      state: 's',
      questions: {
        n: noul,
        c: { type: 'choice', instructions: 'x', criteria: { a: 'A', b: null } },
        s: { type: 'score', instructions: 'x', criteria: ['low', { level: 'high' }] },
      },
    },
    131_072,
  );
  const answers = () => ({
    n: { type: 'noul', noul: 0.25 },
    c: { type: 'choice', choice: 'b', probabilities: { a: 0.6, b: 0.39 }, confidence: 0.2 },
    s: {
      type: 'score',
      score: 0.5,
      probabilities: { 0: 0.5, 1: 0.5 },
      legend: { 0: 'evil', 1: 'words' },
      confidence: 0,
    },
  });
  const response = () => ({
    model: 'jev-1.13.0',
    answers: answers() as Record<string, unknown>,
    usage: { input_tokens: 3, output_tokens: 0 } as unknown,
  });

  it('comes through with the question’s own words for the levels of a score', () => {
    const checked = checkJevAnswer(request, { ...response(), extra: 'dropped' });
    expect(checked).toEqual({
      model: 'jev-1.13.0',
      usage: { input_tokens: 3, output_tokens: 0 },
      answers: { ...answers(), s: { ...answers().s, legend: { 0: 'low', 1: '{"level":"high"}' } } },
    });
  });

  const broken: [string, (given: ReturnType<typeof response>) => unknown][] = [
    ['leaves a question out', ({ answers: { n: _, ...rest }, ...more }) => ({ ...more, answers: rest })],
    [
      'answers what was not asked',
      (given) => ({ ...given, answers: { ...given.answers, x: { type: 'noul', noul: 1 } } }),
    ],
    ['invents an option', (given) => ({ ...given, answers: { ...given.answers, c: { ...answers().c, choice: 'z' } } })],
    [
      'has a probability too many',
      (given) => ({
        ...given,
        answers: { ...given.answers, c: { ...answers().c, probabilities: { a: 0.6, b: 0.4, z: 0 } } },
      }),
    ],
    [
      'has a probability that is no number',
      (given) => ({
        ...given,
        answers: { ...given.answers, c: { ...answers().c, probabilities: { a: Number.NaN, b: 1 } } },
      }),
    ],
    [
      'does not add up',
      (given) => ({
        ...given,
        answers: { ...given.answers, c: { ...answers().c, probabilities: { a: 0.6, b: 0.3 } } },
      }),
    ],
    ['says more than yes', (given) => ({ ...given, answers: { ...given.answers, n: { type: 'noul', noul: 2 } } })],
    ['answers with another type', (given) => ({ ...given, answers: { ...given.answers, n: answers().c } })],
    [
      'scores past the last level',
      (given) => ({ ...given, answers: { ...given.answers, s: { ...answers().s, score: 1.1 } } }),
    ],
    ['counts negative tokens', (given) => ({ ...given, usage: { input_tokens: -1, output_tokens: 0 } })],
    ['counts half tokens', (given) => ({ ...given, usage: { input_tokens: 1.5, output_tokens: 0 } })],
    ['has no usage', (given) => ({ ...given, usage: undefined })],
    ['has a very long model name', (given) => ({ ...given, model: 'x'.repeat(129) })],
    ['is no object', () => 'yes'],
  ];
  it.each(broken)('that %s is refused', (_what, change) => {
    expect(() => checkJevAnswer(request, change(response()))).toThrow('TypeSafe returned an invalid typed response');
  });
});

describe('a failed evaluation is named in the words programs know', () => {
  const cases: [string, unknown, string][] = [
    ['a status', { code: 'JEV_PROVIDER_UNAVAILABLE', details: { status: 503 } }, 'TypeSafe HTTP 503'],
    [
      'too many requests',
      { code: 'JEV_RATE_LIMITED', details: { status: 429 } },
      'TypeSafe HTTP 429: rate limited; back off before retrying',
    ],
    [
      'overload',
      { code: 'JEV_RATE_LIMITED', details: { status: 529 } },
      'TypeSafe HTTP 529: rate limited; back off before retrying',
    ],
    ['the network', { code: 'JEV_PROVIDER_UNAVAILABLE', details: {} }, 'Jev network request failed'],
    ['a deadline', { code: 'JEV_DEADLINE_EXCEEDED' }, 'Jev request cancelled or timed out'],
    ['a cancellation', { code: 'JEV_CANCELLED' }, 'Jev request cancelled or timed out'],
    [
      'a deadline while the answer came',
      { code: 'JEV_DEADLINE_EXCEEDED', details: { phase: 'response' } },
      'Jev response cancelled or timed out',
    ],
    [
      'a cancellation while the answer came',
      { code: 'JEV_CANCELLED', details: { phase: 'response' } },
      'Jev response cancelled or timed out',
    ],
    [
      'nothing in the answer',
      { code: 'JEV_INVALID_RESPONSE', details: { status: 200, empty: true } },
      'TypeSafe returned an empty response',
    ],
    [
      'no credential',
      { code: 'JEV_AUTHENTICATION_FAILED' },
      'Jev credentials unavailable: set TYPESAFE_API_KEY or configure jev.credentialCommand',
    ],
    ['a wrong answer', { code: 'JEV_INVALID_RESPONSE' }, 'TypeSafe returned an invalid typed response'],
    ['no more right', { code: 'JEV_ACCESS_DENIED', message: 'not now' }, 'JEV_ACCESS_DENIED: not now'],
    ['anything else, without repeating it', new Error('Bearer secret'), 'Jev network request failed'],
  ];
  it.each(cases)('%s', (_what, error, message) => {
    expect(jevFailure(error).message).toBe(message);
  });
});
