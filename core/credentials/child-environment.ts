/**
 * The environments of processes that this host starts.
 *
 * Threat: a child prints its environment, loads a library that reads it, or is a plugin's sandbox that is broken out of.
 * Our own children therefore get a short list of harmless names; everything that somebody once exported into the service
 * stays behind, credentials that nobody told us about included. An agent's command line under `exec` needs its own
 * environment to work, so there the private names are removed instead (DECISIONS 13).
 */
import type { PrivateNames } from './private-names.ts';

export type Environment = Record<string, string>;

/** What a program needs to find its files, its language and its clock. Proxies are left out: their URLs hold passwords. */
const HARMLESS = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TERM',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'XDG_RUNTIME_DIR',
]);
const HARMLESS_PATTERN = /^LC_[A-Z]+$/;

export interface ChildEnvironmentOptions {
  /** Further names to pass on when they are set, such as DISPLAY for a browser. */
  allow?: readonly string[];
  /** Values of our own; they win over inherited ones. */
  set?: Readonly<Environment>;
}

/** The environment of a child of ours. Private names are removed last, whatever was allowed or set. */
export function childEnvironment(
  env: NodeJS.ProcessEnv,
  privateNames: PrivateNames,
  options: ChildEnvironmentOptions = {},
): Environment {
  const child: Environment = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (HARMLESS.has(name) || HARMLESS_PATTERN.test(name) || options.allow?.includes(name)) child[name] = value;
  }
  return withoutPrivateNames({ ...child, ...options.set }, privateNames);
}

/** The environment of an agent's own command line: its own, with overlays, minus every private name. */
export function agentEnvironment(
  env: NodeJS.ProcessEnv,
  privateNames: PrivateNames,
  overlay: Readonly<Environment> = {},
): Environment {
  return withoutPrivateNames({ ...env, ...overlay }, privateNames);
}

function withoutPrivateNames(env: NodeJS.ProcessEnv, privateNames: PrivateNames): Environment {
  const kept: Environment = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !privateNames.has(name)) kept[name] = value;
  }
  return kept;
}
