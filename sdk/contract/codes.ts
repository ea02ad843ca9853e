/**
 * The one catalogue of codes. Every stop, refusal and failure that leaves a part of this host carries one of these.
 *
 * Each entry says in a sentence what happened, what is safe to do next, and whether trying again is safe. An area keeps
 * its own file under `codes/`; docs/errors.md is generated from this catalogue.
 */
import { apiCodes } from './codes/api.ts';
import { authorizationCodes } from './codes/authorization.ts';
import { browserCodes } from './codes/browser.ts';
import { browserRunCodes } from './codes/browser-run.ts';
import { cliCodes } from './codes/cli.ts';
import { commandCodes } from './codes/command.ts';
import { configCodes } from './codes/config.ts';
import { credentialCodes } from './codes/credentials.ts';
import { deviceCodes } from './codes/device.ts';
import { jevCodes } from './codes/jev.ts';
import { pluginCodes } from './codes/plugin.ts';
import { programCodes } from './codes/program.ts';
import { storeCodes } from './codes/store.ts';
import { taskCodes } from './codes/task.ts';
import { thinkingCodes } from './codes/thinking.ts';

/** Numbers and names that a sentence may use. Never credentials, page text or field values. */
export type CodeDetails = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CodeEntry {
  /** One sentence in plain words. */
  readonly says: string | ((details: CodeDetails) => string);
  /** The safe next action. */
  readonly next: string;
  /**
   * - `safe`: nothing was done, the same call may be made again.
   * - `useless`: nothing was done, the same call will be refused again.
   * - `unsafe`: something may have been done; read before acting.
   */
  readonly retry: 'safe' | 'useless' | 'unsafe';
}

export const codes = {
  ...apiCodes,
  ...authorizationCodes,
  ...browserCodes,
  ...cliCodes,
  ...browserRunCodes,
  ...commandCodes,
  ...configCodes,
  ...deviceCodes,
  ...credentialCodes,
  ...jevCodes,
  ...pluginCodes,
  ...programCodes,
  ...storeCodes,
  ...taskCodes,
  ...thinkingCodes,
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof codes;

export function isCode(value: unknown): value is Code {
  return typeof value === 'string' && Object.hasOwn(codes, value);
}

export function describeCode(code: Code, details: CodeDetails = {}): string {
  const entry: CodeEntry = codes[code];
  return typeof entry.says === 'string' ? entry.says : entry.says(details);
}
