/** A controller that a test answers by hand, round by round, and the words that direct control is driven with. */
import { randomUUID } from 'node:crypto';
import type { ControlCommand } from '../../host/tasks/service.ts';
import type { BrowserRunInput, BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import { type Controller, caller, clickBuy, createTestRoom, type RoomOptions, result, settled } from './room.ts';

export const ready = result({
  reason: 'COMMAND_WAITING_INPUT',
  commandOutcome: { done: false, reason: 'SESSION_READY' },
});
export const done = (more: Partial<BrowserRunResult['commandOutcome']> = {}) =>
  result({
    reason: 'COMMAND_WAITING_INPUT',
    commandOutcome: { done: true, action: { kind: 'key', key: 'Enter' }, ...more },
  });
export const notDone = (reason: string, more: Partial<BrowserRunResult> = {}) =>
  result({ reason: 'COMMAND_WAITING_INPUT', commandOutcome: { done: false, reason }, steps: 0, ...more });
/** Acts on the page, then claims what the function makes of it. */
export const acting =
  (
    claim: (acted: Awaited<ReturnType<typeof clickBuy>>) => BrowserRunResult = (acted) => ({ ...done(), ...acted }),
  ): Controller =>
  async (_input, ports, signal) =>
    claim(await clickBuy(ports, signal));

/** A round that is at work until the test ends it, or until it is asked to stop. */
export interface Round {
  input: BrowserRunInput;
  stopped: boolean;
  end(claim: BrowserRunResult): void;
}

/** @param first what the first round (the agent's goal) ends with; later rounds wait for the test. */
export async function controlled(options: RoomOptions & { first?: BrowserRunResult | 'waits' } = {}) {
  const rounds: Round[] = [];
  const waiting: (() => void)[] = [];
  const controller: Controller = (input, _ports, signal) =>
    new Promise((resolve) => {
      const round: Round = { input, stopped: false, end: resolve };
      signal.addEventListener('abort', () => {
        round.stopped = true;
        resolve(result({ status: 'cancelled', reason: 'REVISION_SUPERSEDED' }));
      });
      rounds.push(round);
      for (const wake of waiting.splice(0)) wake();
      if (rounds.length === 1 && options.first !== 'waits') resolve(options.first ?? ready);
    });
  const room = createTestRoom({ controller, ...options });
  await room.service.start();
  const { taskId } = await room.spawn({ instructions: 'Open a session and wait' });
  if (options.first !== 'waits') await room.until(taskId, settled);

  const task = async () => (await room.service.status(caller(), { taskId }, new AbortController().signal)).task!;
  const control = async (action: ControlCommand['action'], text?: string, more: Partial<ControlCommand> = {}) =>
    room.service.control(caller(), {
      ...{ id: randomUUID(), taskId, action, expectedRevision: (await task()).revision },
      ...(text === undefined ? {} : { text }),
      ...more,
    });
  return {
    room,
    taskId,
    rounds,
    task,
    control,
    say: (text: string, more: Partial<ControlCommand> = {}) => control('revise', text, more),
    settled: () => room.until(taskId, settled),
    /** The n-th round, from 1, once it is at work. */
    async round(number: number): Promise<Round> {
      while (rounds.length < number) await new Promise<void>((wake) => waiting.push(wake));
      return rounds[number - 1]!;
    },
    /** Without the one that tells how the first round ended. */
    notices: async () =>
      (await room.service.status(caller(), { taskId }, new AbortController().signal)).notices.filter(
        ({ kind, revision }) => kind !== 'settled' || revision !== 1,
      ),
    events: async (type: string) => {
      const found = [];
      const stop = new AbortController();
      setImmediate(() => stop.abort());
      for await (const event of room.service.events(caller(), 0, stop.signal))
        if (event.type === type) found.push(event);
      return found;
    },
  };
}
