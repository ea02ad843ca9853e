import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Wire } from './guarded-endpoint.ts';
import { connect } from './peer.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** A connection that ended, as a slot holds one: its guard leads back to whoever calls. */
function ended(posted: unknown[]): WeakRef<object> {
  const wire: Wire = { post: (message) => posted.push(message), listen: () => {}, close: () => {} };
  const slot: { caller?: unknown } = {};
  const caller = connect(wire, ['run', 'ping'], { maxSize: 100, violated: () => void slot.caller });
  slot.caller = caller;
  caller.call('run', 'x').catch(() => {});
  caller.fail(new Error('gone'));
  return new WeakRef(slot);
}

describe('a connection that has ended', () => {
  it('is let go of with everything that it led to, and says nothing more', async () => {
    const posted: unknown[] = [];
    const slots = Array.from({ length: 20 }, () => ended(posted));
    const left = () => slots.filter((slot) => slot.deref() !== undefined).length;
    for (let round = 0; round < 100 && left() > 0; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(left()).toBe(0);
    expect(posted).toHaveLength(20);
  });

  it('refuses later calls with the reason of its end', async () => {
    const caller = connect({ post() {}, listen() {}, close() {} }, ['run'], { maxSize: 100, violated() {} });
    const pending = caller.call('run');
    caller.fail(new Error('gone'));
    await expect(pending).rejects.toThrow('gone');
    await expect(caller.call('run')).rejects.toThrow('gone');
    expect(caller.pending).toBe(0);
  });
});
