import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRecording } from '../../../sdk/contract/recording.ts';
import { drawsOf } from './draws.ts';
import { RunRecorder } from './recorder.ts';

const about = {
  plugin: { id: 'p', version: '1.0.0' },
  handler: 'run',
  runId: 'run-1',
  at: 0,
  input: { goal: 'x' },
  features: {},
  settings: {},
};

function recorded(work: (recorder: RunRecorder) => void, maxBytes?: number) {
  const lines: string[] = [];
  const recorder = new RunRecorder(about, (line) => lines.push(line), maxBytes);
  work(recorder);
  return lines.join('');
}

describe('a recording', () => {
  it('reads back as it was written, bytes included', () => {
    const bytes = Buffer.from([0, 255, 128, 7]);
    const text = recorded((recorder) => {
      recorder.answered(recorder.asked('image.transform', ['{}', bytes]), { info: '{}', data: new Uint8Array(bytes) });
      recorder.drew([5, 6]);
      recorder.failed(recorder.asked('storage.get', ['k']), { code: 'STORAGE_FULL', message: 'm', details: '{}' });
      recorder.aborted('cancelled');
      recorder.ended({ result: { done: true } });
    });
    const { events, ended } = readRecording(text);
    expect(events).toEqual([
      { asked: 1, name: 'image.transform', args: ['{}', new Uint8Array(bytes)] },
      { answered: 1, result: { info: '{}', data: new Uint8Array(bytes) } },
      { clock: [5, 6] },
      { asked: 2, name: 'storage.get', args: ['k'] },
      { failed: 2, code: 'STORAGE_FULL', message: 'm', details: '{}' },
      { aborted: 'cancelled' },
    ]);
    expect(ended).toEqual({ result: { done: true } });
  });

  it('never holds the lease of the tab, however deep it is quoted, and still tells one lease from another', () => {
    const token = fc.uuid();
    fc.assert(
      fc.property(token, token, fc.integer({ min: 0, max: 3 }), (first, second, depth) => {
        fc.pre(first !== second);
        const quoted = (value: unknown): string => {
          let text = JSON.stringify(value);
          for (let level = 0; level < depth; level++) text = JSON.stringify({ text });
          return text;
        };
        const text = recorded((recorder) => {
          recorder.answered(1, quoted({ protocol_version: 1, lease_token: first }));
          recorder.asked('tools.call', ['page_click', JSON.stringify({ lease_token: first })]);
          recorder.answered(2, quoted({ lease_token: second }));
          recorder.asked('tools.call', ['page_click', JSON.stringify({ other: `${second} and ${first}` })]);
        });
        expect(text).not.toContain(first);
        expect(text).not.toContain(second);
        const last = readRecording(text).events.at(-1) as { args: string[] };
        expect(last.args[1]).toContain('00000000-0000-4000-8000-000000000002 and 00000000-0000-4000-8000-000000000001');
      }),
      { numRuns: 50 },
    );
  });

  it('stops at its limit and says so; the run goes on', () => {
    const text = recorded((recorder) => {
      for (let call = 0; call < 50; call++) recorder.asked('tools.call', ['look', 'x'.repeat(100)]);
      recorder.ended({ result: null });
    }, 2000);
    expect(text.length).toBeLessThan(2100);
    expect(readRecording(text).ended).toEqual({ cut: 'full' });
  });

  it('ends when a page writes leases without end, each of which would be looked for in every line', () => {
    const text = recorded((recorder) => {
      for (let call = 1; call <= 300; call++) recorder.answered(call, `{"lease_token":"${crypto.randomUUID()}"}`);
    });
    expect(readRecording(text).ended).toEqual({ cut: 'full' });
    expect(text.split('\n').length).toBeLessThan(110);
  });

  it('of a killed host is read up to the line that was being written', () => {
    const text = recorded((recorder) => {
      recorder.asked('tools.call', ['look', '{}']);
      recorder.answered(1, 'seen');
    });
    const { events, ended } = readRecording(text.slice(0, -5));
    expect(events).toHaveLength(1);
    expect(ended).toBeUndefined();
  });

  it.each([
    ['nothing', '', 'Line 1'],
    ['another kind of file', '{"name":"x"}\n', 'Line 1'],
    ['no JSON', 'hello\n', 'not JSON'],
    ['a line that was altered', `${recorded(() => {})}{"asked":0,"name":"x","args":[]}\n`, 'Line 2'],
  ])('is refused with the line when it is %s', (_what, text, says) => {
    expect(() => readRecording(text)).toThrow(says);
  });

  it('leaves log lines out: they decide nothing', () => {
    const text = recorded((recorder) => recorder.answered(recorder.asked('log.write', ['info', 'secret']), null));
    expect(text).not.toContain('secret');
  });
});

describe('time and chance of a recorded run', () => {
  it('are the same again from the seed and the noted readings', () => {
    const seed = 'ab'.repeat(32);
    let time = 100;
    const first = drawsOf({ seed }, () => (time += 3));
    const before = [first.uuid(), first.now(), first.number(), first.now(), first.uuid()];
    const second = drawsOf({ seed, clock: first.taken() }, () => 0);
    expect([second.uuid(), second.now(), second.number(), second.now(), second.uuid()]).toEqual(before);
    expect(second.taken()).toEqual([]);
    expect(second.now()).toBe(106);
  });

  it('give ids of the right form that never repeat, and numbers below one', () => {
    const draws = drawsOf({ seed: 'cd'.repeat(32) }, Date.now);
    const ids = Array.from({ length: 1000 }, () => draws.uuid());
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (let i = 0; i < 1000; i++) expect(draws.number()).toSatisfy((n: number) => n >= 0 && n < 1);
  });
});
