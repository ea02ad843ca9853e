import type { CodeEntry } from '../codes.ts';

export const browserCodes = {} as const satisfies Record<string, CodeEntry>;
