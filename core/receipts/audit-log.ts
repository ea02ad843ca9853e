/**
 * The audit log: every change of state in one chain of hashes.
 *
 * A change writes its note in its own transaction, into an outbox, so a crash cannot separate the two. One writer then
 * moves the notes into the chain in the order in which they were written. Concurrent changes do not wait for each other,
 * and the chain still has one order.
 */
import type { Change, Store } from '../store/store.ts';
import { type AuditEntry, type AuditNote, GENESIS, sealEntry } from './audit-entry.ts';

/** Notes that one transaction moves into the chain. */
const BATCH = 256;
/**
 * Milliseconds that notes wait for others before they are moved. They are on disk already; moving each by itself would make
 * every change wait for the flush of somebody else's note.
 */
const GATHER_MS = 25;

export const auditTables = {
  chain: { name: 'audit', version: 1 },
  outbox: { name: 'audit-outbox', version: 1 },
  anchor: { name: 'audit-anchor', version: 1 },
} as const;

export interface AuditHead {
  seq: number;
  hash: string;
}

/** Where the chain begins after older entries were pruned: the last one that went. An entry of the chain says the same. */
export interface AuditAnchor extends AuditHead {
  prunedAt: number;
}

export interface AuditLog {
  /** A change to commit together with what it tells of. */
  note(note: AuditNote): Change;
  /** Call after a commit that held notes; returns at once. They are in the chain a moment later. */
  kick(): void;
  head(): AuditHead;
  entries(range: { fromSeq?: number; limit?: number; reverse?: boolean }): IterableIterator<AuditEntry>;
  /** Resolves when every committed note is in the chain. */
  drain(): Promise<void>;
}

export function createAuditLog(store: Store): AuditLog {
  const chain = store.table<AuditEntry>(auditTables.chain);
  const outbox = store.table<AuditNote>(auditTables.outbox);
  const anchor = store.table<AuditAnchor>(auditTables.anchor);
  let order = nextOrder();
  let moving: Promise<void> | undefined;
  let gathering: NodeJS.Timeout | undefined;

  /** Notes are ordered by a counter that goes on where the last process stopped. */
  function nextOrder(): number {
    for (const row of outbox.range({ reverse: true, limit: 1 })) return Number(row.key[0]) + 1;
    return 0;
  }

  function head(): AuditHead {
    for (const { value } of chain.range({ reverse: true, limit: 1 })) return { seq: value.seq, hash: value.hash };
    return anchor.get(['anchor']) ?? { seq: 0, hash: GENESIS };
  }

  async function move(): Promise<void> {
    for (;;) {
      const rows = [...outbox.range({ limit: BATCH })];
      if (rows.length === 0) return;
      let { seq, hash } = head();
      const changes = rows.flatMap((row) => {
        const entry = sealEntry(row.value, ++seq, hash);
        hash = entry.hash;
        return [chain.put([entry.seq], entry), outbox.remove(row.key)];
      });
      await store.commit(changes);
    }
  }

  function start(): Promise<void> {
    clearTimeout(gathering);
    gathering = undefined;
    moving ??= move().finally(() => {
      moving = undefined;
    });
    return moving;
  }

  function kick(): void {
    // A store that cannot be written keeps the notes in the outbox; the next change or start moves them.
    gathering ??= setTimeout(() => start().catch(() => {}), GATHER_MS).unref();
  }

  return {
    note: (note) => outbox.put([order++], note),
    kick,
    head,
    *entries({ fromSeq = 1, limit, reverse = false }) {
      const bound = limit === undefined ? {} : { limit };
      const after = reverse ? {} : { after: [fromSeq - 1] };
      for (const row of chain.range({ ...bound, ...after, reverse })) yield row.value;
    },
    async drain() {
      while (moving || outbox.range({ limit: 1 }).next().value !== undefined) await start();
    },
  };
}
