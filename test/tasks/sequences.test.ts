/**
 * Random sequences of commands, pauses, hand-overs and faults: order is kept, nothing is dropped silently, nothing is
 * done twice. The device's own log is the judge of what was done.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isHostError } from '../../sdk/contract/errors.ts';
import { scriptedBrowser } from '../../sdk/testing/scripted-browser.ts';
import { done, notDone, ready } from './commands.ts';
import { type Controller, caller, clickBuy, createTestRoom, result, settled } from './room.ts';

type Nature = 'acts' | 'finds nothing' | 'reads' | 'loses the reply' | 'fails';
type Op =
  | { do: 'say'; nature: Nature; slow: number }
  | { do: 'pause' | 'resume' | 'agent' | 'user' | 'take turn' | 'cancel' | 'settle' | 'pause a while' }
  | { do: 'tick'; times: number };

const natures = fc.oneof(
  { weight: 10, arbitrary: fc.constant<Nature>('acts') },
  { weight: 4, arbitrary: fc.constant<Nature>('finds nothing') },
  { weight: 1, arbitrary: fc.constantFrom<Nature>('reads', 'loses the reply', 'fails') },
);
const ops = fc.array(
  fc.oneof(
    { weight: 40, arbitrary: fc.record({ do: fc.constant('say' as const), nature: natures, slow: fc.nat(12) }) },
    { weight: 12, arbitrary: fc.record({ do: fc.constant('tick' as const), times: fc.integer({ min: 1, max: 8 }) }) },
    {
      weight: 20,
      arbitrary: fc.record({
        do: fc.constantFrom('pause', 'resume', 'agent', 'user', 'take turn', 'settle', 'pause a while'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  ) as fc.Arbitrary<Op>,
  { minLength: 3, maxLength: 10 },
);

const moment = () => new Promise<void>((resolve) => setImmediate(resolve));
async function moments(count: number, signal?: AbortSignal) {
  for (let index = 0; index < count && !signal?.aborted; index++) await moment();
}

it('1,000 random sequences keep order, drop nothing silently and repeat nothing', async () => {
  const seen = new Map<string, number>();
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(ops, async (sequence) => {
      await play(sequence, count);
    }),
    { numRuns: 1000, seed: 20_261_201 },
  );
  // The sequences reached what they are meant to try.
  for (const what of ['ran', 'dropped', 'handed over', 'unknown', 'failed', 'cancelled', 'resumed']) {
    expect([what, (seen.get(what) ?? 0) > 5]).toEqual([what, true]);
  }
}, 300_000);

async function play(sequence: readonly Op[], count: (what: string) => void): Promise<void> {
  const browser = scriptedBrowser({
    pages: { shop: { url: 'https://shop.example/', elements: [{ ref: 'e1', label: 'Buy', operations: ['CLICK'] }] } },
  });
  const started: string[] = [];
  const done_: string[] = [];
  let current = '';
  let unknownAt: number | undefined;

  const callTool: typeof browser.callTool = async (name, args, signal) => {
    const reply = await browser.callTool(name, args, signal);
    if (name !== 'page_click') return reply;
    done_.push(current);
    if (/loses/.test(current)) throw new Error('the connection was lost');
    return reply;
  };
  const controller: Controller = async (input, ports, signal) => {
    if (!input.command) {
      // A goal of the agent, with whatever corrections the user gave: they have arrived now.
      const corrections = [...input.goal.matchAll(/user correction: (.+)$/gm)].map(([, text]) => text ?? '').reverse();
      started.push(...corrections.filter((text) => !started.includes(text)));
      await moments(2, signal);
      return signal.aborted ? result({ status: 'cancelled', reason: 'REVISION_SUPERSEDED', steps: 0 }) : ready;
    }
    const words = input.goal;
    started.push(words);
    await moments(Number(words.split('/')[1] ?? 0), signal);
    if (signal.aborted) return result({ status: 'cancelled', reason: 'REVISION_SUPERSEDED', steps: 0 });
    if (/finds/.test(words)) return notDone('UNCLEAR');
    if (/reads/.test(words)) return notDone('READ_REQUEST');
    if (/fails/.test(words)) return result({ status: 'blocked', reason: 'CONSENT_REQUIRED', steps: 0 });
    current = words;
    const operationId = randomUUID();
    try {
      return { ...done(), ...(await clickBuy(ports, signal, operationId)) };
    } catch {
      unknownAt = started.length;
      return result({ reason: 'OUTCOME_UNKNOWN', lastAction: { operationId, operation: 'CLICK', outcome: 'unknown' } });
    }
  };
  const room = createTestRoom({ controller, browser, callTool });
  await room.service.start();
  const { taskId } = await room.spawn();
  await room.until(taskId, settled);
  const none = new AbortController().signal;
  const task = async () => (await room.service.status(caller(), { taskId }, none)).task!;
  const accepted: string[] = [];

  for (const [index, op] of sequence.entries()) {
    const { revision } = await task();
    try {
      if (op.do === 'say') {
        const text = `c${index} ${op.nature}/${op.slow}`;
        await room.service.control(caller(), {
          id: randomUUID(),
          taskId,
          action: 'revise',
          expectedRevision: revision,
          text,
        });
        accepted.push(text);
      } else if (op.do === 'tick') await moments(op.times);
      else if (op.do === 'settle') await room.until(taskId, settled);
      else if (op.do === 'cancel') await room.service.cancel(caller(), { taskId, by: 'user' });
      else if (op.do === 'take turn') {
        const instruction = `agent ${index} acts/2`;
        await room.service.update(caller(), { taskId, expectedRevision: revision, instruction, mode: 'when_ready' });
      } else {
        const whole = op.do === 'pause a while' ? (['pause', 'resume'] as const) : [op.do];
        for (const action of whole) {
          await room.service.control(caller(), { id: randomUUID(), taskId, action, expectedRevision: revision });
          if (action === 'resume') count('resumed');
          else if (whole.length > 1) await room.until(taskId, settled);
        }
      }
    } catch (error) {
      // A refusal says why; anything else is a fault of this host.
      if (!isHostError(error)) throw error;
    }
  }
  const end = await room.until(taskId, settled);

  const dropped: string[] = [];
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  for await (const { type, data } of room.service.events(caller(), 0, stop.signal)) {
    if (type === 'task.command_queue_dropped')
      dropped.push(...(data.commands as { text: string }[]).map(({ text }) => text));
    if (type === 'task.notice' && (data.notice as { kind: string }).kind === 'handoff') count('handed over');
  }
  expect(new Set(dropped).size).toBe(dropped.length);
  if (end.outcome === 'unknown') count('unknown');
  if (end.state === 'failed') count('failed');
  if (end.state === 'cancelled') count('cancelled');

  // Every command that was accepted ran, or is listed as not sent, or is what a pause holds.
  for (const text of accepted) {
    const ran = started.includes(text);
    const listed = dropped.includes(text);
    const held = !ran && !listed && end.executionControl?.phase === 'paused' && end.currentInstructions.includes(text);
    expect([text, ran, listed, held].filter((fate) => fate === true)).toHaveLength(1);
    count(ran ? 'ran' : listed ? 'dropped' : 'held');
  }
  // In the order in which they were said; a resumed one begins again where it was.
  const first = started.filter((text, index) => text.startsWith('c') && started.indexOf(text) === index);
  expect(first).toEqual(accepted.filter((text) => started.includes(text)));
  // Nothing reached the page twice, and nothing began after an outcome that nobody knows.
  expect(new Set(done_).size).toBe(done_.length);
  expect(browser.done).toHaveLength(done_.length);
  if (unknownAt !== undefined) expect(started).toHaveLength(unknownAt);
  expect(end.queuedCommands).toBeUndefined();
}
