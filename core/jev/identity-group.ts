/**
 * The upstream identity that Claude Code uses on this machine: an address and a credential that belong together.
 *
 * Threat: an address from one place and a key from another would send somebody's key to somebody else. So as soon as the
 * settings name any part of an identity, all of it must be there; otherwise all of it comes from the environment.
 */
import { refuse } from '../../sdk/contract/errors.ts';
import { credentialText } from '../credentials/credential-text.ts';
import { baseUrlProblem } from './endpoint.ts';

const URL_NAME = 'ANTHROPIC_BASE_URL';
/** In the order in which they are preferred. */
const TOKEN_NAMES = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'] as const;

type Group = Readonly<Record<string, unknown>>;

export interface Identity {
  baseUrl: string;
  credential: string;
}

/**
 * @param settings the `env` part of Claude's settings file, if there is one.
 * @throws JEV_INVALID_CONFIG when the chosen group is incomplete or its address is not allowed.
 */
export function resolveIdentity(settings: Group | undefined, env: Group): Identity {
  const fromSettings = settings !== undefined && [URL_NAME, ...TOKEN_NAMES].some((name) => has(settings, name));
  const group = fromSettings ? settings : env;
  const source = fromSettings ? 'the Claude settings' : 'the environment';
  const baseUrl = text(group, URL_NAME);
  if (baseUrl === undefined) refuse('JEV_INVALID_CONFIG', { problem: `${URL_NAME} is missing in ${source}` });
  const problem = baseUrlProblem(baseUrl);
  if (problem) refuse('JEV_INVALID_CONFIG', { problem: `${URL_NAME} in ${source} is not ${problem}` });
  for (const name of TOKEN_NAMES) {
    const token = text(group, name);
    if (token !== undefined) return { baseUrl, credential: credentialText(token, `${name} in ${source}`) };
  }
  return refuse('JEV_INVALID_CONFIG', { problem: `a credential is missing in ${source}` });
}

function has(group: Group, name: string): boolean {
  return Object.hasOwn(group, name) && group[name] !== undefined && group[name] !== '';
}

function text(group: Group, name: string): string | undefined {
  const value = has(group, name) ? group[name] : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
