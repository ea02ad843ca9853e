/** What each evaluation cost and how it ended: metadata only, never state, questions, answers or credentials. */
import { createHash } from 'node:crypto';
import type { JevBilling, JevUsage } from '../../sdk/contract/jev.ts';
import type { Store } from '../store/store.ts';
import { createBoundedLog, type Page } from './bounded-log.ts';
import type { JevProvider } from './endpoint.ts';
import type { JevCaller } from './service.ts';

/** Records that are kept, over all agents. */
export const MAX_USAGE_RECORDS = 10_000;
const DEFAULT_PAGE = 50;

export interface UsageRecord {
  requestId: string;
  /** A hash; the principal itself is not stored. */
  principalId: string;
  agentId: string;
  sessionId?: string;
  taskId?: string;
  pluginId?: string;
  consumer: JevCaller['consumer'];
  provider: JevProvider;
  requestedModel: string;
  /** The version that the provider reported. */
  model?: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Milliseconds, waiting included. */
  elapsedMs: number;
  /** Milliseconds from sending to the whole answer. */
  providerMs?: number;
  outcome: 'completed' | 'failed';
  errorCode?: string;
  validationReason?: string;
  questions: number;
  usage?: JevUsage;
  billing?: JevBilling;
}

export interface UsageLog {
  add(record: UsageRecord): void;
  /** Newest first. */
  list(page: { agentId: string; limit?: number; offset?: number }): Promise<Page<UsageRecord>>;
  flush(): Promise<void>;
  readonly size: number;
  readonly dropped: number;
}

export function createUsageLog(deps: {
  store: Store;
  ids(): string;
  max?: number;
  onError?: (error: unknown) => void;
}): UsageLog {
  const log = createBoundedLog<UsageRecord>({
    store: deps.store,
    table: 'jev.usage',
    version: 1,
    max: deps.max ?? MAX_USAGE_RECORDS,
    ...(deps.onError ? { onError: deps.onError } : {}),
  });
  return {
    get size() {
      return log.size;
    },
    get dropped() {
      return log.dropped;
    },
    add: (record) => log.add(record.agentId, deps.ids(), record),
    list: ({ agentId, limit = DEFAULT_PAGE, offset = 0 }) => log.list(agentId, { limit, offset }),
    flush: () => log.flush(),
  };
}

const hashes = new Map<string, string>();
/** Principals whose hash is remembered; there are only as many as keys. */
const MAX_HASHES = 1024;

export function hashPrincipal(principalId: string): string {
  const known = hashes.get(principalId);
  if (known !== undefined) return known;
  if (hashes.size >= MAX_HASHES) hashes.clear();
  const hash = createHash('sha256').update(principalId).digest('hex');
  hashes.set(principalId, hash);
  return hash;
}
