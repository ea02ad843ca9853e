/**
 * The device's own record of every mutation, kept for a day: what a caller asks after it lost the answer.
 *
 * `accepted` is written when the call is taken, `dispatched` before the first input leaves, and the end when it is known.
 * After a kill, what was only accepted had not been sent; what was dispatched and not ended is unknown.
 */
import type { Store, Table } from '../../../../core/store/store.ts';
import type { OperationStatus } from '../../../../sdk/devices/remote-browser-contract.ts';

/** Milliseconds that a record is kept. */
export const KEPT_MS = 24 * 60 * 60 * 1000;
/** Records removed at once. */
const PRUNE_BATCH = 500;

type State = 'accepted' | 'dispatched' | 'completed' | 'not_executed' | 'unknown';

export interface OperationRecord {
  operation: string;
  state: State;
  acceptedAt: number;
  settledAt?: number;
  error?: string;
  cause?: string;
  /** The device process that took it; a record of another one has no end to come. */
  run: string;
}

export class Operations {
  readonly #store: Store;
  readonly #records: Table<OperationRecord>;
  readonly #byTime: Table<null>;
  readonly #now: () => number;
  readonly #run: string;
  /** Operations of this process that have not ended, each with its last write. */
  readonly #open = new Map<string, { record: OperationRecord; written: Promise<unknown> }>();

  /** @param run names this process. */
  constructor(store: Store, run: string, now: () => number) {
    this.#store = store;
    this.#records = store.table<OperationRecord>({ name: 'operations', version: 1 });
    this.#byTime = store.table<null>({ name: 'operations-by-time', version: 1 });
    this.#run = run;
    this.#now = now;
  }

  /**
   * Takes an operation id, for good.
   * @returns undefined when it was used before.
   */
  accept(id: string, operation: string): OpenOperation | undefined {
    const key = id.toLowerCase();
    if (this.#open.has(key) || this.#records.get([key])) return undefined;
    const record: OperationRecord = { operation, state: 'accepted', acceptedAt: this.#now(), run: this.#run };
    const open: { record: OperationRecord; written: Promise<unknown> } = {
      record,
      written: this.#write(key, record, true),
    };
    this.#open.set(key, open);
    const write = (change: Partial<OperationRecord>) => {
      const next = { ...open.record, ...change };
      open.record = next;
      // One after the other, so that an older state never comes to lie over a newer one.
      open.written = open.written.catch(() => {}).then(() => this.#write(key, next));
      return open.written;
    };
    // Who waits for "dispatched" hears of a failure; an operation that never gets there needs no record.
    const accepted = open.written;
    accepted.catch(() => {});
    return {
      dispatched: async () => {
        await accepted;
        await write({ state: 'dispatched' });
      },
      end: async (state, code, cause) => {
        await write({
          state,
          settledAt: this.#now(),
          ...(code === undefined ? {} : { error: code }),
          ...(cause === undefined ? {} : { cause }),
        });
        this.#open.delete(key);
      },
    };
  }

  isKnown(id: string): boolean {
    const key = id.toLowerCase();
    return this.#open.has(key) || this.#records.get([key]) !== undefined;
  }

  /** Keeps the id of a call that sends nothing to the page, so that it is not taken twice. */
  remember(id: string, operation: string): void {
    const at = this.#now();
    const record: OperationRecord = { operation, state: 'completed', acceptedAt: at, settledAt: at, run: this.#run };
    this.#write(id.toLowerCase(), record, true).catch(() => {});
  }

  /** What is on disk of an operation. A state that is still being written is waited for: what is said here outlives a kill. */
  async status(id: string): Promise<OperationStatus> {
    const key = id.toLowerCase();
    await this.#open.get(key)?.written.catch(() => {});
    const record = this.#records.get([key]);
    if (!record || this.#now() - record.acceptedAt > KEPT_MS) return { operation_id: id, state: 'not_found' };
    return {
      operation_id: id,
      state: record.run === this.#run ? record.state : afterKill(record.state),
      operation: record.operation,
      accepted_at: record.acceptedAt,
      ...(record.settledAt === undefined ? {} : { settled_at: record.settledAt }),
      ...(record.error === undefined ? {} : { code: record.error }),
      ...(record.cause === undefined ? {} : { cause: record.cause }),
    };
  }

  /** Removes what is older than a day. @returns how many went. */
  async prune(): Promise<number> {
    const before = this.#now() - KEPT_MS;
    const old = [];
    for (const { key } of this.#byTime.range({ limit: PRUNE_BATCH })) {
      if (Number(key[0]) >= before) break;
      old.push(key);
    }
    if (old.length === 0) return 0;
    await this.#store.commit(old.flatMap((key) => [this.#byTime.remove(key), this.#records.remove([String(key[1])])]));
    return old.length + (old.length === PRUNE_BATCH ? await this.prune() : 0);
  }

  async #write(key: string, record: OperationRecord, first = false): Promise<void> {
    await this.#store.commit([
      this.#records.put([key], { ...record }),
      ...(first ? [this.#byTime.put([record.acceptedAt, key], null)] : []),
    ]);
  }
}

export interface OpenOperation {
  /** Resolves when the record is on disk. @throws STORE_WRITE_FAILED: then nothing may be sent. */
  dispatched(): Promise<void>;
  end(state: 'completed' | 'not_executed' | 'unknown', error?: string, cause?: string): Promise<void>;
}

function afterKill(state: State): State {
  if (state === 'accepted') return 'not_executed';
  return state === 'dispatched' ? 'unknown' : state;
}
