import type { CodeEntry } from '../codes.ts';

export const taskCodes = {} as const satisfies Record<string, CodeEntry>;
