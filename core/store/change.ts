/** The inside of the opaque changes and conditions of `store.ts`, for the stores of this room only. */
import type { Change, Condition } from './store.ts';

export interface Write {
  table: string;
  key: Buffer;
  /** The record to put for a given row version; absent to remove. */
  record?: (version: number) => Buffer;
}

export interface Unchanged {
  table: string;
  key: Buffer;
  version: number;
}

export const asChange = (write: Write): Change => write as unknown as Change;
export const asWrite = (change: Change): Write => change as unknown as Write;
export const asCondition = (unchanged: Unchanged): Condition => unchanged as unknown as Condition;
export const asUnchanged = (condition: Condition): Unchanged => condition as unknown as Unchanged;
