/** One link of the audit chain: what happened, and the hash of the link before it. */
import { createHash } from 'node:crypto';
import type { Mutation, RunReceipt } from './receipt.ts';

export interface AuditNote {
  at: number;
  /** Such as `task.spawned`, `task.state`, `run.ended`, `binding.removed`. */
  kind: string;
  principalId?: string;
  agentId?: string;
  conversationId?: string;
  taskId?: string;
  requestId?: string;
  /** Codes, names and numbers; never page text, field values or credentials. */
  data?: Record<string, string | number | boolean>;
  /** SHA-256 of the receipt and its mutations as they now stand. */
  receipt?: string;
}

export interface AuditEntry extends AuditNote {
  seq: number;
  prev: string;
  hash: string;
}

/** The hash before the first entry. */
export const GENESIS = '0'.repeat(64);

export function sealEntry(note: AuditNote, seq: number, prev: string): AuditEntry {
  return { ...note, seq, prev, hash: entryHash(note, seq, prev) };
}

export function entryHash(note: AuditNote, seq: number, prev: string): string {
  const { at, kind, principalId, agentId, conversationId, taskId, requestId, data, receipt } = note;
  const fields = [seq, prev, at, kind, principalId, agentId, conversationId, taskId, requestId, sorted(data), receipt];
  return sha256(JSON.stringify(fields.map((field) => field ?? null)));
}

/** Changes when anything of the receipt or its mutations changes. */
export function receiptDigest(receipt: RunReceipt, mutations: readonly Mutation[]): string {
  return sha256(JSON.stringify([sorted(receipt), mutations.map(sorted)]));
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]);
}
