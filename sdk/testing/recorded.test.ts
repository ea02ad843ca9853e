import { describe, expect, it } from 'vitest';
import type { JevRequest } from '../contract/jev.ts';
import { failingEvaluator, scriptedEvaluator, slowEvaluator, stubEvaluator } from './evaluators.ts';
import { recordingEvaluator, replayEvaluator } from './recorded.ts';

const { signal } = new AbortController();
const ask = (criteria: Record<string, null>, requestId?: string): JevRequest => ({
  state: 'page',
  questions: { target: { type: 'choice', instructions: 'Which?', criteria } },
  ...(requestId === undefined ? {} : { requestId }),
});

describe('a recorded run', () => {
  it('is replayed without the evaluator that it came from', async () => {
    const recorded = recordingEvaluator(stubEvaluator({ target: { A: 0.3, B: 0.7 } }));
    const first = await recorded(ask({ A: null, B: null }, 'one'), signal);
    const replay = replayEvaluator(JSON.parse(JSON.stringify(recorded.recording)));
    expect(await replay(ask({ A: null, B: null }, 'two'), signal)).toEqual({ ...first, requestId: 'two' });
    replay.finished();
  });

  it('names the first decision that differs, and where', async () => {
    const recorded = recordingEvaluator(stubEvaluator());
    await recorded(ask({ A: null }), signal);
    await recorded(ask({ A: null, B: null }), signal);
    const replay = replayEvaluator(recorded.recording);
    await replay(ask({ A: null }), signal);
    await expect(replay(ask({ A: null, C: null }), signal)).rejects.toMatchObject({
      name: 'ReplayDiffers',
      step: 2,
      path: 'questions.target.criteria.B',
    });
  });

  it('is over when it is over, and not before', async () => {
    const recorded = recordingEvaluator(stubEvaluator());
    await recorded(ask({ A: null }), signal);
    const replay = replayEvaluator(recorded.recording);
    expect(() => replay.finished()).toThrow('0 of 1');
    await replay(ask({ A: null }), signal);
    await expect(replay(ask({ A: null }), signal)).rejects.toThrow('ends after 1');
  });

  it('fails where the recorded one failed', async () => {
    const recorded = recordingEvaluator(failingEvaluator('JEV_RATE_LIMITED'));
    await expect(recorded(ask({ A: null }), signal)).rejects.toMatchObject({ code: 'JEV_RATE_LIMITED' });
    await expect(replayEvaluator(recorded.recording)(ask({ A: null }), signal)).rejects.toMatchObject({
      code: 'JEV_RATE_LIMITED',
    });
  });
});

describe('evaluators for tests', () => {
  it('refuse an answer that the question does not offer', async () => {
    await expect(stubEvaluator({ target: 'Z' })(ask({ A: null }), signal)).rejects.toThrow('not offered');
  });

  it('follow a script, and fail when it has run out', async () => {
    const scripted = scriptedEvaluator([{ target: 'B' }, { fails: new Error('down') }]);
    expect((await scripted(ask({ A: null, B: null }), signal)).answers.target).toMatchObject({ choice: 'B' });
    await expect(scripted(ask({ A: null }), signal)).rejects.toThrow('down');
    await expect(scripted(ask({ A: null }), signal)).rejects.toThrow('one too many');
    expect(scripted.requests).toHaveLength(3);
  });

  it('can be slow, and end when they are cancelled', async () => {
    const stop = new AbortController();
    const pending = slowEvaluator(60_000)(ask({ A: null }), stop.signal);
    stop.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
  });

  it('give exact shapes to every kind of question', async () => {
    const request: JevRequest = {
      state: 'x',
      questions: {
        yes: { type: 'noul', instructions: 'Is it?' },
        how: { type: 'score', instructions: 'How much?', criteria: ['none', 'some', 'all'] },
        where: { type: 'box', instructions: 'Where?' },
      },
    };
    const { answers } = await stubEvaluator({ yes: 0.25, how: { 0: 1, 2: 1 } })(request, signal);
    expect(answers).toEqual({
      yes: { type: 'noul', noul: 0.25 },
      how: {
        type: 'score',
        score: 1,
        probabilities: { 0: 0.5, 1: 0, 2: 0.5 },
        legend: { 0: 'none', 1: 'some', 2: 'all' },
        confidence: 1,
      },
      where: { type: 'box', box: { top: 0, bottom: 1, left: 0, right: 1 }, confidence: 1 },
    });
  });
});
