/**
 * Every sentence that programs and their callers may be told, each provoked by what really causes it. The sentences are a
 * contract: agents and programs read them.
 */
import { describe, expect, it } from 'vitest';
import { program, type WorkbenchOptions, workbench } from '../../test/support/programs.ts';

const evaluates = { requires: ['jev.evaluate'] };
const endless = 'while (true) await program.sleep(1);';
const noul = `{ type: 'noul', instructions: 'x' }`;
const ask = (request: string) => `await jev.evaluate(${request} as any);`;
const asking = (question: string) => ask(`{ state: 's', questions: { q: ${question} } }`);

type Provoke = () => Promise<unknown>;

/** The refusal of a launch, or of a call about a run. */
const refusal =
  (args: Record<string, unknown>, options: WorkbenchOptions = {}): Provoke =>
  () =>
    workbench(options)
      .run(args)
      .then(
        () => 'was not refused',
        (error) => error.message,
      );

/** The error of a run, without the place in the program. */
const ending =
  (code: string, more: Record<string, unknown> = {}, options: WorkbenchOptions = {}): Provoke =>
  async () => {
    const { state, error } = await workbench(options).run({ program: program(code, more) });
    return state === 'completed' ? 'completed' : error?.replace(/ \(line \d+, column \d+\)$/, '');
  };

/** What a program is told when it catches. */
const caught =
  (code: string, more: Record<string, unknown> = evaluates, options: WorkbenchOptions = {}): Provoke =>
  async () => {
    const run = await workbench(options).run({
      program: program(`try { ${code} } catch (error) { return (error as Error).message; } return 'nothing';`, more),
    });
    return run.result ?? run.error;
  };

const failing = (code: string, details: Record<string, unknown> = {}): WorkbenchOptions => ({
  evaluate: async () => {
    throw Object.assign(new Error('body with a secret'), { code, details });
  },
});
const answering = (answer: unknown): WorkbenchOptions => ({ evaluate: async () => answer });

const sentences: [string, Provoke][] = [
  // Runs
  [
    'Jev program manager is closed',
    async () => {
      const bench = workbench();
      bench.manager.close(0);
      return bench.spawn({ program: program('return 1;') }).catch((error) => error.message);
    },
  ],
  [
    'Jev concurrent run limit reached',
    async () => {
      const bench = workbench({ settings: { maxConcurrentRuns: 1 } });
      const first = await bench.spawn({ program: program(endless) });
      const refused = await bench.spawn({ program: program('return 1;') }).catch((error) => error.message);
      await bench.stop(first.id);
      return refused;
    },
  ],
  [
    'Unknown or expired Jev run ID',
    () =>
      workbench()
        .status('none')
        .catch((error) => error.message),
  ],
  [
    'Jev run stopped',
    async () => {
      const bench = workbench();
      const { id } = await bench.spawn({ program: program(endless) });
      return (await bench.stop(id)).error;
    },
  ],
  [
    'Foreground caller cancelled',
    async () => {
      const abort = new AbortController();
      const options = { call: async () => abort.abort(), tools: [{ ref: 'a.b' }] };
      const code = `await tools.call({ ref: 'a.b' }); ${endless}`;
      return (await workbench(options).run({ program: program(code, { requires: ['a.b'] }) }, abort.signal)).error;
    },
  ],
  ['Jev deadline exceeded', ending(endless, { limits: { timeoutMs: 60, maxToolCalls: 10_000 } })],
  [
    'Jev provider closed',
    async () => {
      const bench = workbench();
      const { id } = await bench.spawn({ program: program(endless) });
      const waiting = bench.wait(id);
      await bench.status(id);
      bench.manager.close(0);
      return (await waiting).error;
    },
  ],

  // Launches
  ...['jev.run', 'jev.spawn', 'jev.status', 'jev.wait', 'jev.join', 'jev.stop', 'a.*', 'A.b', 'a.b c'].map(
    (ref): [string, Provoke] => [
      'Programs require exact action refs; recursive Jev lifecycle calls are not allowed',
      refusal({ program: program('return 1;', { requires: [ref] }) }),
    ],
  ),
  [
    "Jev program cannot widen its caller's capabilities: a.b",
    refusal({ program: program('return 1;', { requires: ['a.b'] }) }, { denied: ['a.b'] }),
  ],
  [
    'Missing Jev program capabilities: a.b, c.d',
    refusal({ program: program('return 1;', { requires: ['a.b', 'c.d'] }) }),
  ],
  [
    "Jev program typecheck failed: 1:7 Type 'string' is not assignable to type 'number'. (TS2322)",
    refusal({ program: program(`const n: number = 'x'; return n;`) }),
  ],
  [
    'Observation requires jev.spawn; foreground runs cannot wait for their own turn to end',
    refusal({ program: program('return 1;'), observe: { events: ['input'] } }),
  ],

  // Values
  ...(['Program input', 'Program schema'] as const).flatMap((label): [string, Provoke][] => {
    const args = (value: unknown) =>
      label === 'Program input'
        ? { program: program('return 1;'), input: value }
        : { program: program('return 1;', { outputSchema: { const: value } }) };
    const most = label === 'Program input' ? 32_768 : 16_384;
    return [
      [`${label} exceeds JSON complexity limits`, refusal(args(nested(40)))],
      [`${label} exceeds JSON complexity limits`, refusal(args(Array(100_001).fill(0)))],
      [`${label} must contain only finite JSON values`, refusal(args({ a: Number.NaN }))],
      [`${label} exceeds ${most} bytes`, refusal(args('é'.repeat(most / 2)))],
    ];
  }),
  [
    'Program input does not match its declared schema',
    refusal({ program: program('return 1;', { inputSchema: { type: 'string' } }), input: 4 }),
  ],
  ['Program output does not match its declared schema', ending('return 1;', { outputSchema: { type: 'string' } })],
  ['Program output exceeds 32768 bytes', ending(`return 'é'.repeat(20_000);`)],
  ['Program output must contain only finite JSON values', ending('return { a: 1 / 0 };')],
  [
    'Program output exceeds JSON complexity limits',
    ending('let v: any = 1; for (let n = 0; n < 40; n++) v = [v]; return v;'),
  ],
  ['Program event exceeds 4096 bytes', ending(`await program.emit('é'.repeat(3000)); return 1;`)],
  ['Program event must contain only finite JSON values', ending('await program.emit(undefined); return 1;')],
  [
    'Program event exceeds JSON complexity limits',
    ending('let v: any = 1; for (let n = 0; n < 40; n++) v = [v]; await program.emit(v); return 1;'),
  ],

  // Calls
  ['Capability not granted to Jev program: a.b', ending(`await tools.call({ ref: 'a.b' as string }); return 1;`)],
  ['Invalid Jev program tool call', ending(`await (tools as any).call({ ref: 1 }); return 1;`)],
  ['Invalid Jev program tool call', ending(`await (tools as any).call({ ref: 'a.b', more: 1 }); return 1;`)],
  ...['-1', 'NaN', '1 / 0', '60_001', `'1' as any`].map((ms): [string, Provoke] => [
    'Invalid program.sleep duration',
    ending(`await program.sleep(${ms}); return 1;`),
  ]),
  ['Jev tool-call budget exhausted', ending(endless, { limits: { maxToolCalls: 2 } })],
  [
    'Jev inference budget exhausted',
    ending(`${asking(noul)} try { ${asking(noul)} } catch {} return 1;`, {
      ...evaluates,
      limits: { maxEvaluations: 1 },
    }),
  ],
  [
    'Jev inference budget exhausted',
    ending(`${asking(noul)} ${asking(noul)} return 1;`, { ...evaluates, limits: { maxTokens: 5 } }),
  ],
  [
    'Jev reported-token budget exhausted',
    ending(`${asking(noul)} return 1;`, { ...evaluates, limits: { maxTokens: 4 } }),
  ],
  [
    'One Jev evaluation may be in flight per program; batch independent questions in one request',
    caught(`const one = ${asking(noul).replace('await ', '')} ${asking(noul)} await one;`),
  ],
  [
    'Only one program.nextEvent() may be pending',
    async () => {
      const bench = workbench();
      const code = `program.nextEvent().catch(() => null);
        try { await program.nextEvent(); } catch (error) { return (error as Error).message; } return 'nothing';`;
      const { id } = await bench.spawn({ program: program(code), observe: { events: ['input'] } });
      return (await bench.wait(id)).result;
    },
  ],

  // Requests
  ...[
    `{ questions: { q: ${noul} } }`,
    `{ state: 1, questions: { q: ${noul} } }`,
    `{ state: 's' }`,
    `{ state: 's', questions: {} }`,
    `{ state: 's', questions: { q: ${noul} }, apiKey: 'x' }`,
    `{ state: 's', questions: { q: ${noul} }, model: 'a b' }`,
    `{ state: 's', questions: { q: ${noul} }, model: 'x'.repeat(129) }`,
    `{ state: 's', questions: Object.fromEntries(Array.from({ length: 129 }, (_, n) => ['q' + n, ${noul}])) }`,
  ].map((request): [string, Provoke] => [
    'Invalid Jev request: provide state, 1–128 questions, and an optional model ID',
    caught(ask(request)),
  ]),
  ...[`{ instructions: 'x' }`, `{ type: 'noul' }`, `{ type: 'noul', instructions: ' ' }`, `{ ...${noul}, id: 1 }`].map(
    (question): [string, Provoke] => [
      'Invalid Jev question: each question needs a type and complete instructions',
      caught(asking(question)),
    ],
  ),
  [
    'Choice requires 1–255 named options with descriptions or null',
    caught(asking(`{ type: 'choice', instructions: 'x', criteria: {} }`)),
  ],
  [
    'Choice requires 1–255 named options with descriptions or null',
    caught(
      asking(
        `{ type: 'choice', instructions: 'x', criteria: Object.fromEntries(Array.from({ length: 256 }, (_, n) => [n, null])) }`,
      ),
    ),
  ],
  [
    'Score requires 2–10 ordered descriptive levels',
    caught(asking(`{ type: 'score', instructions: 'x', criteria: ['a'] }`)),
  ],
  [
    'Score requires 2–10 ordered descriptive levels',
    caught(asking(`{ type: 'score', instructions: 'x', criteria: Array(11).fill('a') }`)),
  ],
  ['Noul criteria may describe true and false only', caught(asking(`{ ...${noul}, criteria: { maybe: 'x' } }`))],
  [
    'Jev supports choice, score, and noul—not free-text generation',
    caught(asking(`{ type: 'text', instructions: 'x' }`)),
  ],
  ['Jev request exceeds 131072 bytes', caught(ask(`{ state: 'x'.repeat(131_072), questions: { q: ${noul} } }`))],
  ['Jev request must contain only finite JSON values', caught(ask(`{ state: [NaN], questions: { q: ${noul} } }`))],
  [
    'Jev request exceeds JSON complexity limits',
    caught(`let v: any = 1; for (let n = 0; n < 40; n++) v = [v]; ${ask(`{ state: v, questions: { q: ${noul} } }`)}`),
  ],

  // Answers
  ...[
    null,
    'yes',
    {},
    { model: 'm', answers: { q: { type: 'noul', noul: 2 } }, usage: { input_tokens: 0, output_tokens: 0 } },
  ].map((answer): [string, Provoke] => [
    'TypeSafe returned an invalid typed response',
    caught(asking(noul), evaluates, answering(answer)),
  ]),

  [
    'TypeSafe returned an invalid or oversized typed response',
    caught(asking(noul), evaluates, failing('JEV_INVALID_RESPONSE', { validationReason: 'ENVELOPE', status: 200 })),
  ],
  [
    'TypeSafe returned an invalid typed response',
    caught(asking(noul), evaluates, failing('JEV_INVALID_RESPONSE', { validationReason: 'USAGE' })),
  ],

  // The way to the provider
  ['TypeSafe HTTP 503', caught(asking(noul), evaluates, failing('JEV_PROVIDER_UNAVAILABLE', { status: 503 }))],
  ...[429, 529].map((status): [string, Provoke] => [
    `TypeSafe HTTP ${status}: rate limited; back off before retrying`,
    caught(asking(noul), evaluates, failing('JEV_RATE_LIMITED', { status })),
  ]),
  ['Jev network request failed', caught(asking(noul), evaluates, failing('JEV_PROVIDER_UNAVAILABLE'))],
  ['Jev network request failed', caught(asking(noul), evaluates, failing('ANYTHING'))],
  ['Jev request cancelled or timed out', caught(asking(noul), evaluates, failing('JEV_DEADLINE_EXCEEDED'))],
  ['Jev request cancelled or timed out', caught(asking(noul), evaluates, failing('JEV_CANCELLED'))],
  [
    'Jev credentials unavailable: set TYPESAFE_API_KEY or configure jev.credentialCommand',
    caught(
      asking(noul),
      evaluates,
      failing('JEV_AUTHENTICATION_FAILED', { source: 'TYPESAFE_API_KEY', problem: 'unset' }),
    ),
  ],
  [
    'Jev credential resolver failed',
    caught(
      asking(noul),
      evaluates,
      failing('JEV_AUTHENTICATION_FAILED', { source: 'command pass', problem: 'it ended with 1' }),
    ),
  ],
  ...['it is empty', 'it is not one line of plain characters'].map((problem): [string, Provoke] => [
    'Jev credential resolver returned an invalid credential',
    caught(asking(noul), evaluates, failing('JEV_AUTHENTICATION_FAILED', { source: 'command pass', problem })),
  ]),

  // Schemas
  ...[
    { $ref: '#' },
    { pattern: 'a' },
    { properties: [] },
    { required: 'a' },
    { additionalProperties: 1 },
    { items: 4 },
  ].map((outputSchema): [string, Provoke] => [
    'Unsupported program schema; use the documented bounded JSON Schema subset (no references or regexes)',
    refusal({ program: program('return 1;', { outputSchema }) }),
  ]),
  ['Invalid schema type', refusal({ program: program('return 1;', { outputSchema: { type: 'strng' } }) })],
  ['Invalid schema type', refusal({ program: program('return 1;', { outputSchema: { type: ['string'] } }) })],
  ...[{ anyOf: [] }, { oneOf: {} }, { allOf: Array(17).fill({}) }].map((outputSchema): [string, Provoke] => [
    'Invalid schema alternatives',
    refusal({ program: program('return 1;', { outputSchema }) }),
  ]),
  ...[{ maximum: '5' }, { minItems: -1 }, { maxLength: 1.5 }].map((outputSchema): [string, Provoke] => [
    'Invalid schema bound',
    refusal({ program: program('return 1;', { outputSchema }) }),
  ]),
  ...[{ enum: [] }, { enum: Array.from({ length: 257 }, (_, n) => n) }].map((outputSchema): [string, Provoke] => [
    'Invalid schema enum',
    refusal({ program: program('return 1;', { outputSchema }) }),
  ]),
];

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

describe('a sentence is exactly as documented', () => {
  it.each(sentences.map(([sentence, provoke], index) => [`${index + 1}. ${sentence}`, sentence, provoke] as const))(
    '%s',
    async (_title, sentence, provoke) => {
      expect(await provoke()).toBe(sentence);
    },
  );
});
