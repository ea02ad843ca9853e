import { describe, expect, it } from 'vitest';
import { agents, caller, createTestRoom, keys, result, SCOPE } from '../../test/tasks/room.ts';
import { ACCESS_CHECK_MS } from './run.ts';

/** A run that waits for its end, then claims success and tries to act. */
function waiting() {
  const stopped = { signal: false, acted: undefined as string | undefined };
  let ready: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    ready = resolve;
  });
  let over: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });
  const room = createTestRoom({
    async controller(_input, ports, signal) {
      ready();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      stopped.signal = true;
      const click = { ...SCOPE, operation_id: '00000000-0000-4000-8000-000000000099' };
      stopped.acted = await ports.callTool('page_click', click, new AbortController().signal).then(
        () => 'sent',
        (error: { code: string }) => error.code,
      );
      over();
      return result({ status: 'succeeded', reason: 'VERIFIED' });
    },
  });
  return { room, stopped, started, ended };
}

const withdrawals: [string, (room: ReturnType<typeof createTestRoom>) => void][] = [
  [
    'its key is removed',
    (room) => room.authorization.reconfigure({ keys: keys.filter(({ id }) => id !== 'a'), agents }),
  ],
  [
    'its agent is removed',
    (room) => room.authorization.reconfigure({ keys, agents: agents.filter(({ id }) => id !== 'assistant') }),
  ],
  [
    'its agent loses its tools',
    (room) => room.authorization.reconfigure({ keys, agents: [{ id: 'assistant', allow_tools: false }] }),
  ],
  ['its connector is changed', (room) => room.authorization.fences.withdraw('connector:device')],
  ['its binding is removed', (room) => room.authorization.fences.withdraw(`binding:${room.target(caller())}`)],
  ['its plugin loses a grant', (room) => room.authorization.fences.withdraw('plugin:browser-use')],
];

describe('running work', () => {
  it.each(withdrawals)('ends when %s, can send nothing more, and its result is discarded', async (_what, withdraw) => {
    const { room, stopped, started, ended } = waiting();
    await room.service.start();
    const { taskId } = await room.spawn();
    await started;
    withdraw(room);
    await ended;
    expect(stopped).toEqual({ signal: true, acted: expect.stringMatching(/^(ACCESS_DENIED|BROWSER_)/) });
    expect(room.browser.done).toEqual([]);
    await room.service.stop();
    const task = room.store
      .table<{ state: string; outcome: string; failure: { code: string } }>({ name: 'tasks', version: 1 })
      .get([taskId]);
    expect(task).toMatchObject({ state: 'failed', outcome: 'blocked_by_policy', failure: { code: 'ACCESS_DENIED' } });
  });

  it('is looked at often enough for switches that have no fence', () => {
    expect(ACCESS_CHECK_MS).toBeLessThan(250);
  });

  it('goes on when somebody else’s key is withdrawn', async () => {
    const { room, stopped, started } = waiting();
    await room.service.start();
    await room.spawn();
    await started;
    room.authorization.reconfigure({ keys: keys.filter(({ id }) => id !== 'b'), agents });
    expect(stopped.signal).toBe(false);
    await room.service.stop();
  });
});
