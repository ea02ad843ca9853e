import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { JevQuestion } from '../../sdk/contract/jev.ts';
import { FORCED_SHARE, openaiEngine, readShares } from './openai/openai-engine.ts';
import { scriptEngine } from './script-engine.ts';

const signal = new AbortController().signal;
const team: JevQuestion = {
  type: 'choice',
  instructions: 'Which team?',
  criteria: { billing: 'refunds', technical: 'bugs', other: null },
};

describe('the script engine', () => {
  const answer = (
    script: Parameters<typeof scriptEngine>[0],
    questions: Record<string, JevQuestion>,
    state: unknown = 's',
  ) => scriptEngine(script).answer({ model: 'm', state, questions }, signal);

  it('takes the first rule that fits the question, the state and the instructions', async () => {
    const rules = [
      { when: { question: 'team', contains: 'REFUND' }, answer: 'billing', probability: 0.8 },
      { when: { asks: 'which team' }, answer: 'bugs' },
      { answer: 'other' },
    ];
    expect((await answer({ rules }, { team }, { text: 'a refund' })).answers.team).toMatchObject({
      choice: 'billing',
      probabilities: { billing: 0.8 },
    });
    expect((await answer({ rules }, { team })).answers.team).toMatchObject({ choice: 'technical' });
  });

  it('passes over rules that are used up or name an option that is not there', async () => {
    const engine = scriptEngine({
      rules: [{ answer: 'billing', times: 1 }, { answer: 'nowhere' }, { answer: 'technical' }],
    });
    const ask = async () => (await engine.answer({ model: 'm', state: 's', questions: { team } }, signal)).answers.team;
    expect(await ask()).toMatchObject({ choice: 'billing' });
    expect(await ask()).toMatchObject({ choice: 'technical' });
  });

  it('answers nouls and scores by number, and whatever else as it stands', async () => {
    const questions: Record<string, JevQuestion> = {
      sure: { type: 'noul', instructions: 'x' },
      tone: { type: 'score', instructions: 'x', criteria: ['a', 'b'] },
      team,
    };
    const { answers } = await answer(
      {
        rules: [
          { when: { question: 'sure' }, answer: 0.25 },
          { when: { question: 'tone' }, answer: 1 },
          { answer: { type: 'broken' } },
        ],
      },
      questions,
    );
    expect(answers.sure).toEqual({ type: 'noul', noul: 0.25 });
    expect(answers.tone).toMatchObject({ score: 0.97, probabilities: { 0: 0.03, 1: 0.97 } });
    expect(answers.team).toEqual({ type: 'broken' });
  });

  it('refuses a script with a key that it does not know', () => {
    expect(() => scriptEngine({ rules: [{ answr: 'x' } as never] })).toThrow();
  });
});

describe('the openai engine', () => {
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  /** Stands for a model server: says which letter it takes, with or without probabilities. */
  async function modelServer(
    choose: (prompt: string) => { letter: string; alternatives?: [string, number][] } | number,
  ) {
    const prompts: string[] = [];
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        const prompt = JSON.parse(text).messages[1].content as string;
        prompts.push(prompt);
        const chosen = choose(prompt);
        if (typeof chosen === 'number') {
          response.writeHead(chosen).end('no');
          return;
        }
        const logprobs = chosen.alternatives && {
          content: [{ top_logprobs: chosen.alternatives.map(([token, p]) => ({ token, logprob: Math.log(p) })) }],
        };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            choices: [{ message: { content: chosen.letter }, logprobs }],
            usage: { prompt_tokens: 10, completion_tokens: 1 },
          }),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push(server);
    const { port } = server.address() as AddressInfo;
    return { prompts, engine: openaiEngine({ baseUrl: `http://127.0.0.1:${port}/v1/`, model: 'small' }) };
  }

  it('takes the shares of the letters where the server tells them', async () => {
    const { engine } = await modelServer(() => ({
      letter: 'B',
      alternatives: [
        [' B', 0.6],
        ['A', 0.2],
        ['The', 0.2],
      ],
    }));
    const reply = await engine.answer({ model: 'm', state: 's', questions: { team } }, signal);
    expect(reply.answers.team).toMatchObject({
      choice: 'technical',
      probabilities: { billing: 0.25, technical: 0.75, other: 0 },
    });
    expect(reply.readout).toEqual({ team: 'token probabilities' });
    expect(reply.usage).toEqual({ input_tokens: 10, output_tokens: 1 });
  });

  it('says that it was a forced choice where the server does not', async () => {
    const { engine } = await modelServer(() => ({ letter: 'A' }));
    const reply = await engine.answer(
      { model: 'm', state: 's', questions: { team, sure: { type: 'noul', instructions: 'x' } } },
      signal,
    );
    expect(reply.answers.team).toMatchObject({
      choice: 'billing',
      probabilities: { billing: FORCED_SHARE, technical: 0.05, other: 0.05 },
    });
    expect(reply.answers.sure).toEqual({ type: 'noul', noul: FORCED_SHARE });
    expect(reply.readout).toEqual({ team: 'forced choice', sure: 'forced choice' });
  });

  it('finds one option among many by rounds', async () => {
    const criteria = Object.fromEntries(
      Array.from({ length: 55 }, (_, i) => [`o${i}`, i === 47 ? 'the needle' : `hay ${i}`]),
    );
    const { engine, prompts } = await modelServer((prompt) => {
      const letter = /^([A-T])\. .*needle/m.exec(prompt)?.[1] ?? 'A';
      return {
        letter,
        alternatives: [
          [letter, 0.9],
          [letter === 'A' ? 'B' : 'A', 0.1],
        ],
      };
    });
    const reply = await engine.answer(
      { model: 'm', state: 's', questions: { many: { type: 'choice', instructions: 'x', criteria } } },
      signal,
    );
    expect(reply.answers.many).toMatchObject({ choice: 'o47' });
    expect(prompts).toHaveLength(4);
  });

  it('tells an unavailable provider when the model server fails', async () => {
    const { engine } = await modelServer(() => 500);
    await expect(engine.answer({ model: 'm', state: 's', questions: { team } }, signal)).rejects.toMatchObject({
      status: 503,
    });
    const away = openaiEngine({ baseUrl: 'http://127.0.0.1:1', model: 'x' });
    await expect(away.answer({ model: 'm', state: 's', questions: { team } }, signal)).rejects.toMatchObject({
      status: 503,
    });
  });

  it.each([
    ['B', 1],
    [' b', 1],
    ['(B)', 1],
    ['B.', 1],
    ['**B**', 1],
    ['Because', -1],
    ['E', -1],
    ['', -1],
  ])('reads %j as option %s of four', (text, at) => {
    const { shares } = readShares({ text, usage: { input: 0, output: 0 } }, 4);
    expect(shares.indexOf(FORCED_SHARE)).toBe(at);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  });
});
