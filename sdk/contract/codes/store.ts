import type { CodeEntry } from '../codes.ts';

export const storeCodes = {
  STORE_UNAVAILABLE: {
    says: 'The store cannot be opened.',
    next: 'Check that the data directory exists, is writable and is not used by another host.',
    retry: 'safe',
  },
  STORE_NEWER: {
    says: ({ found, known }) => `The store was written by a newer version (schema ${found}, this host knows ${known}).`,
    next: 'Start the newer version, or point this one at another data directory.',
    retry: 'useless',
  },
  STORE_OLDER: {
    says: ({ table, found, known }) =>
      `The table "${table}" has schema ${found}, and this host (schema ${known}) has no way to read it.`,
    next: 'Start the version that wrote the store, or point this one at another data directory.',
    retry: 'useless',
  },
  STORE_WRITE_FAILED: {
    says: 'A record could not be written to disk, so nothing was sent.',
    next: 'Free disk space or repair the data directory, then try again.',
    retry: 'safe',
  },
  STORE_DAMAGED: {
    says: 'A record in the store cannot be read.',
    next: 'Stop the host and restore the data directory from a backup. Reading other records still works.',
    retry: 'useless',
  },
  BACKUP_EXISTS: {
    says: ({ directory }) =>
      `${directory ?? 'The directory'} holds a store or a backup already, and nothing is written over it.`,
    next: 'Name another directory.',
    retry: 'useless',
  },
  BACKUP_FAILED: {
    says: ({ directory, problem }) => `The backup could not be written to ${directory} (${problem}).`,
    next: 'Name a directory that the host may write to and that has room for the whole store.',
    retry: 'safe',
  },
  BACKUP_INVALID: {
    says: ({ directory, problem }) => `${directory} is no usable backup: ${problem}.`,
    next: 'Use another backup. Nothing was changed.',
    retry: 'useless',
  },
  RESTORE_REFUSED: {
    says: ({ directory }) => `${directory} holds a store already, and nothing was changed.`,
    next: 'Restore into an empty data directory, or add --replace: the store that is there is kept under another name.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
