import { describe, expect, it } from 'vitest';
import type { RunnerObserve } from '../../sdk/index.ts';
import { program, workbench } from '../../test/support/programs.ts';
import { Observation, type ObservationHost } from './observation.ts';

const wanted: RunnerObserve = {
  events: ['input', 'turn_end'],
  include: ['inputText'],
  maxChars: 256,
  queueSize: 2,
  maxEventAgeMs: 1000,
  delivery: 'steer',
  triggerTurn: false,
  maxAdvice: 2,
};

function event(sequence: number, more: Record<string, unknown> = {}) {
  return {
    id: `e:${sequence}`,
    sequence,
    event: 'turn_end',
    source: 'main',
    sessionId: 's',
    revision: 1,
    at: 1000,
    payload: { inputText: `words ${sequence}`, assistantText: 'private' },
    truncated: false,
    feedback: false,
    ...more,
  };
}

/** A host whose events the test hands over one by one. */
function ears(more: Partial<RunnerObserve> = {}, advise?: ObservationHost['advise']) {
  const waiting: ((event: unknown) => void)[] = [];
  const stored: unknown[] = [];
  const advised: unknown[] = [];
  const clock = { now: 1000 };
  const observation = new Observation(
    { ...wanted, ...more },
    {
      now: () => clock.now,
      observe: () =>
        new Promise((resolve) => {
          if (stored.length > 0) resolve(stored.shift());
          else waiting.push(resolve);
        }),
      advise: async (advice) => {
        advised.push(advice);
        return advise ? advise(advice) : { delivered: true };
      },
    },
  );
  observation.listen(() => undefined);
  return {
    observation,
    advised,
    clock,
    async tell(...events: unknown[]) {
      for (const one of events) {
        const next = waiting.shift();
        if (next) next(one);
        else stored.push(one);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

describe('an observing program', () => {
  it('hears the events it asked for, with the texts it asked for', async () => {
    const { observation, tell } = ears();
    const next = observation.next();
    await tell(event(1, { event: 'agent_end' }), event(2));
    expect(await next).toMatchObject({
      id: 'e:2',
      event: 'turn_end',
      source: 'main',
      payload: { inputText: 'words 2' },
    });
    expect((await next).payload).not.toHaveProperty('assistantText');
    expect(observation.counts).toMatchObject({ received: 1, consumed: 1, dropped: 0, queued: 0 });
  });

  it('hears long texts cut, and is told so', async () => {
    const { observation, tell } = ears();
    await tell(event(1, { payload: { inputText: 'x'.repeat(300) } }));
    const heard = await observation.next();
    expect(heard.truncated).toBe(true);
    expect(heard.payload.inputText).toHaveLength(256);
  });

  it('loses the oldest when it does not listen', async () => {
    const { observation, tell } = ears();
    await tell(event(1), event(2), event(3));
    expect((await observation.next()).id).toBe('e:2');
    expect(observation.counts).toMatchObject({ received: 3, dropped: 1, queued: 1 });
  });

  it('is not told what is old', async () => {
    const { observation, tell, clock } = ears();
    await tell(event(1));
    clock.now = 5000;
    const next = observation.next();
    await tell(event(2, { at: 5000 }));
    expect((await next).id).toBe('e:2');
    expect(observation.counts.dropped).toBe(1);
  });

  it('ignores what is no event', async () => {
    const { observation, tell } = ears();
    await tell(null, 1, {}, { event: 'turn_end' }, event(1, { event: 'other' }), event(1, { id: 4 }));
    expect(observation.counts.received).toBe(0);
  });
});

describe('advice', () => {
  const advice = { eventId: 'e:1', message: 'look again' };

  async function heard(more: Partial<RunnerObserve> = {}, told: Record<string, unknown> = {}) {
    const bench = ears(more);
    await bench.tell(event(1, told));
    await bench.observation.next();
    return bench;
  }

  it('is delivered once for an event that the program was given', async () => {
    const { observation, advised } = await heard();
    expect(await observation.advise(advice)).toEqual({ delivered: true });
    expect(await observation.advise(advice)).toEqual({ delivered: false, reason: 'duplicate' });
    expect(advised).toEqual([advice]);
    expect(observation.counts).toMatchObject({ adviceDelivered: 1, adviceSuppressed: 1 });
  });

  it('is disabled without a way of delivery', async () => {
    const { delivery: _, ...silent } = wanted;
    const observation = new Observation(silent, {
      now: () => 1000,
      observe: () => new Promise(() => undefined),
      advise: async () => ({ delivered: true }),
    });
    expect(await observation.advise(advice)).toEqual({ delivered: false, reason: 'disabled' });
  });

  it('is stale for an unknown event, an old one, and one before a newer word of the person', async () => {
    const { observation, tell, clock } = await heard();
    expect(await observation.advise({ ...advice, eventId: 'e:9' })).toEqual({ delivered: false, reason: 'stale' });
    clock.now = 5000;
    expect(await observation.advise(advice)).toEqual({ delivered: false, reason: 'stale' });
    clock.now = 1000;
    await tell(event(2, { revision: 2 }));
    expect(await observation.advise(advice)).toEqual({ delivered: false, reason: 'stale' });
  });

  it('is not taken on what advice caused', async () => {
    const { observation } = await heard({}, { feedback: true });
    expect(await observation.advise(advice)).toEqual({ delivered: false, reason: 'feedback' });
  });

  it('comes to an end', async () => {
    const bench = ears({ maxAdvice: 1 });
    await bench.tell(event(1));
    await bench.observation.next();
    await bench.tell(event(2));
    await bench.observation.next();
    expect(await bench.observation.advise(advice)).toEqual({ delivered: true });
    expect(await bench.observation.advise({ ...advice, eventId: 'e:2' })).toEqual({
      delivered: false,
      reason: 'budget',
    });
  });

  it('that the host did not deliver is said to be so', async () => {
    const bench = ears({}, async () => ({ delivered: false, reason: 'duplicate' }));
    await bench.tell(event(1));
    await bench.observation.next();
    expect(await bench.observation.advise(advice)).toEqual({ delivered: false, reason: 'duplicate' });
    const broken = ears({}, async () => {
      throw new Error('gone');
    });
    await broken.tell(event(1));
    await broken.observation.next();
    expect(await broken.observation.advise(advice)).toEqual({ delivered: false, reason: 'delivery_failed' });
  });

  it('of another shape is refused', async () => {
    const { observation } = await heard();
    for (const wrong of [
      null,
      {},
      { eventId: '', message: 'x' },
      { eventId: 'e', message: '' },
      { eventId: 'e', message: 'x'.repeat(2001) },
    ])
      await expect(observation.advise(wrong)).rejects.toThrow(/^Invalid program\.advise arguments/);
  });
});

describe('a program of the guide that observes', () => {
  it('hears an event, advises, and reports both', async () => {
    const events = [event(1, { at: Date.now() })];
    const bench = workbench({
      observe: () => (events.length > 0 ? Promise.resolve(events.shift()) : new Promise(() => undefined)),
    });
    const task = await bench.spawn({
      program: program(
        `const event = await program.nextEvent();
         const advised = await program.advise({ eventId: event.id, message: 'Look first' });
         return { event: event.event, delivered: advised.delivered };`,
      ),
      observe: { events: ['turn_end'], delivery: 'steer' },
    });
    const end = await bench.wait(task.id);
    expect(end).toMatchObject({
      state: 'completed',
      result: { event: 'turn_end', delivered: true },
      observation: { events: ['turn_end'], received: 1, consumed: 1, queued: 0, adviceDelivered: 1 },
    });
  });

  it('may wait for one event at a time', async () => {
    const bench = workbench({ observe: () => new Promise(() => undefined) });
    const task = await bench.spawn({
      program: program(
        `const first = program.nextEvent();
         try { await program.nextEvent(); } catch (error) { return String(error); }
         return await first;`,
      ),
      observe: { events: ['input'] },
    });
    expect(await bench.wait(task.id)).toMatchObject({ result: 'Error: Only one program.nextEvent() may be pending' });
  });

  it('is cancelled when its conversation is halted', async () => {
    const bench = workbench({
      observe: async () => {
        throw new Error('The conversation was halted');
      },
    });
    const task = await bench.spawn({
      program: program('return await program.nextEvent();'),
      observe: { events: ['input'] },
    });
    expect(await bench.wait(task.id)).toMatchObject({ state: 'cancelled', observation: { queued: 0 } });
  });

  it('needs a way of delivery to trigger a turn', async () => {
    await expect(
      workbench().spawn({ program: program('return null'), observe: { events: ['input'], triggerTurn: true } }),
    ).rejects.toThrow(/triggerTurn needs delivery/);
  });
});
