/** What a restored store says of itself until recovery has handed every waiting task back to its owner. */
export interface RestoreMark {
  /** Milliseconds since the epoch: when the backup was taken, and when it was restored. */
  takenAt: number;
  restoredAt: number;
}

export const restoreTable = { name: 'restored', version: 1 } as const;
export const RESTORE_KEY = ['mark'];
