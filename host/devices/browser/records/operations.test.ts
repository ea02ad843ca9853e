import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLmdbStore } from '../../../../core/store/lmdb-store.ts';
import type { Store } from '../../../../core/store/store.ts';
import { type OperationRecord, Operations } from './operations.ts';

let directory: string;
let store: Store;
/** Lets the writes that wait reach the disk, oldest first. */
let waiting: (() => void)[];
let failing = false;
let operations: Operations;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'operations-'));
  store = await openLmdbStore({ directory });
  waiting = [];
  failing = false;
  const slow: Store = {
    ...store,
    table: (definition) => store.table(definition),
    commit: async (changes, conditions) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (failing) throw new Error('the disk is full');
      return store.commit(changes, conditions);
    },
  };
  operations = new Operations(slow, 'run-1', Date.now);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

const onDisk = (id: string) => store.table<OperationRecord>({ name: 'operations', version: 1 }).get([id])?.state;
/** Ends every write that has come or comes while `work` goes on. */
async function writing<T>(work: Promise<T>): Promise<T> {
  let done = false;
  const mark = () => {
    done = true;
  };
  work.then(mark, mark);
  while (!done) {
    waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await work;
}

describe('what the device says of an operation', () => {
  it('is never ahead of what a kill would leave, whichever state is being written', async () => {
    const id = randomUUID();
    const operation = operations.accept(id, 'page_click');
    const told: [string, string | undefined][] = [];
    const ask = async () => {
      const { state } = await operations.status(id);
      told.push([state, onDisk(id)]);
    };
    const asked = [ask()];
    const dispatched = operation?.dispatched();
    asked.push(ask());
    await writing(Promise.all([...asked, dispatched]));
    const ended = operation?.end('completed');
    const last = ask();
    await writing(Promise.all([ended, last]));
    expect(told.map(([state]) => state)).toContain('completed');
    for (const [state, kept] of told) expect(kept).toBe(state);
  });

  it('does not let an operation be sent whose record could not be written', async () => {
    failing = true;
    const operation = operations.accept(randomUUID(), 'page_click');
    await expect(writing(operation?.dispatched() ?? Promise.resolve())).rejects.toThrow('the disk is full');
  });

  it('keeps an id used, though its record could not be written', async () => {
    failing = true;
    const id = randomUUID();
    const operation = operations.accept(id, 'page_click');
    await writing(operation?.end('not_executed') ?? Promise.resolve()).catch(() => {});
    expect(operations.accept(id, 'page_click')).toBeUndefined();
    expect(await operations.status(id)).toEqual({ operation_id: id, state: 'not_found' });
  });
});
