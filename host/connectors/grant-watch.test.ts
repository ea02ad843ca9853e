import { describe, expect, it } from 'vitest';
import { createFences } from '../../core/authorization/fences.ts';
import { createGrantWatch, GRANT_CHECK_MS } from './grant-watch.ts';
import { type ParsedGrants, parseGrants, permittedScopes, scopeKey } from './grants.ts';
import type { TargetBinding } from './ports.ts';

const binding = (id: string, more: Partial<TargetBinding> = {}): TargetBinding => ({
  ...{ id, adapter: 'browser', name: 'Tab', agentId: 'assistant', principalId: 'api:a', conversationId: 'c' },
  ...{ connectorId: 'relay', scope: { device_id: 'd', grant_id: `grant-${id}`, tab_id: 't' } },
  ...more,
});

/** A watch on a relay whose list a test writes, with a timer that it turns by hand. */
function watched() {
  const fences = createFences();
  const timers = new Set<() => void>();
  const asked: { binding: TargetBinding; answer(scopes: TargetBinding[]): void; fail(): void }[] = [];
  const waits: number[] = [];
  const watch = createGrantWatch({
    fences,
    granted: (about) =>
      new Promise((resolve, reject) =>
        asked.push({
          binding: about,
          answer: (given) => resolve(new Set(given.map(({ scope }) => scopeKey(scope)))),
          fail: () => reject(new Error('offline')),
        }),
      ),
    every(ms, call) {
      waits.push(ms);
      timers.add(call);
      return () => timers.delete(call);
    },
  });
  const turn = () => {
    for (const call of timers) call();
  };
  /** Answers the newest question and lets it be heard. */
  const answer = async (...given: TargetBinding[]) => {
    asked.at(-1)?.answer(given);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const permit = (one: TargetBinding) => fences.permit([`binding:${one.id}`]);
  return { watch, fences, timers, asked, waits, turn, answer, permit };
}

describe('a permission that a device’s owner takes back', () => {
  it('fences the run that works under it at the next read, five times a second, and no other', async () => {
    const { watch, permit, turn, answer, waits } = watched();
    const [a, b] = [binding('a'), binding('b')];
    const [mine, other] = [permit(a), permit(b)];
    watch.follow(a);
    watch.follow(b);
    expect(waits).toEqual([GRANT_CHECK_MS]);
    expect(GRANT_CHECK_MS).toBeLessThan(250);
    await answer(a, b);
    turn();
    await answer(a, b);
    turn();
    await answer(b);
    expect([mine.holds(), mine.signal.aborted]).toEqual([false, true]);
    expect([other.holds(), other.signal.aborted]).toEqual([true, false]);
  });

  it('is asked about one read at a time, however slow the relay is', async () => {
    const { watch, asked, turn, answer } = watched();
    const a = binding('a');
    watch.follow(a);
    for (let i = 0; i < 10; i++) turn();
    expect(asked).toHaveLength(1);
    await answer(a);
    turn();
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['a list that never held it', async (room: ReturnType<typeof watched>) => room.answer()],
    [
      'a list that cannot be read',
      async (room: ReturnType<typeof watched>) => {
        await room.answer(binding('a'));
        room.turn();
        room.asked.at(-1)?.fail();
        await new Promise((resolve) => setImmediate(resolve));
      },
    ],
  ])('is not concluded from %s', async (_what, happens) => {
    const room = watched();
    const mine = room.permit(binding('a'));
    room.watch.follow(binding('a'));
    await happens(room);
    room.turn();
    expect(mine.holds()).toBe(true);
    expect(room.asked).toHaveLength(_what.includes('cannot') ? 3 : 2);
  });

  it('judges no run by an answer to a question from before it began', async () => {
    const { watch, permit, answer, turn } = watched();
    const [a, b] = [binding('a'), binding('b')];
    watch.follow(a);
    const late = permit(b);
    watch.follow(b);
    await answer(a, b);
    turn();
    await answer(a);
    expect(late.holds()).toBe(true);
    turn();
    await answer(a, b);
    turn();
    await answer(a);
    expect(late.holds()).toBe(false);
  });

  it('fences at once when it is taken back through this host', () => {
    const { watch, permit } = watched();
    const [a, b] = [binding('a'), binding('b')];
    const [mine, other] = [permit(a), permit(b)];
    watch.follow(a);
    watch.follow(b);
    watch.withdrawn('elsewhere', 'grant-a');
    expect(mine.holds()).toBe(true);
    watch.withdrawn('relay', 'grant-a');
    expect([mine.holds(), other.holds()]).toEqual([false, true]);
  });

  it('is asked about only while something runs', async () => {
    const { watch, timers, turn, asked, answer } = watched();
    const first = watch.follow(binding('a'));
    const second = watch.follow(binding('b', { connectorId: 'second' }));
    expect(timers.size).toBe(2);
    first();
    expect(timers.size).toBe(1);
    second();
    expect(timers.size).toBe(0);
    turn();
    expect(asked).toHaveLength(2);
    await answer();
    watch.follow(binding('c'));
    watch.close();
    expect(timers.size).toBe(0);
  });
});

describe('what a relay’s list permits', () => {
  const grant = (more: object = {}) => ({
    ...{ id: 'g', deviceId: 'd', label: 'Mine', online: true, ready: true },
    policy: { control: true, tabs: [{ id: 't', title: '' }] },
    ...more,
  });
  const permits = (given: object) =>
    permittedScopes(parseGrants('browser', { grants: [given] }) as ParsedGrants, 1000).has(
      scopeKey({ device_id: 'd', grant_id: 'g', tab_id: 't' }),
    );

  it.each([
    ['a grant that holds', {}, true],
    ['a device that is offline for a moment', { online: false }, true],
    ['a grant that is not approved any more', { ready: false }, false],
    ['a grant without control', { policy: { control: false, tabs: [{ id: 't', title: '' }] } }, false],
    ['another tab', { policy: { control: true, tabs: [{ id: 'u', title: '' }] } }, false],
    ['a grant whose time is over', { expiresAt: 999 }, false],
  ])('%s', (_what, more, holds) => {
    expect(permits(grant(more))).toBe(holds);
  });
});
