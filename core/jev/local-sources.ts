/** Where this machine keeps what a connection is made from: the stored login and Claude's settings. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { HostError } from '../../sdk/contract/errors.ts';
import type { CredentialResolver } from '../credentials/resolver.ts';
import { hasStoredLogin, storedLoginFile } from '../credentials/stored-login.ts';
import type { ConnectionSources } from './connection.ts';

/** Bytes of a settings file that are read. */
const MAX_SETTINGS_BYTES = 1024 * 1024;

export function localSources(deps: {
  credentials: CredentialResolver;
  env: NodeJS.ProcessEnv;
  dataDir: string;
}): ConnectionSources {
  return {
    credentials: deps.credentials,
    env: deps.env,
    storedLogin: async () => ((await hasStoredLogin(deps.dataDir)) ? storedLoginFile(deps.dataDir) : undefined),
    claudeSettings: () => readClaudeSettings(deps.env),
  };
}

function claudeSettingsFile(env: NodeJS.ProcessEnv): string | undefined {
  const directory = env.CLAUDE_CONFIG_DIR ?? (env.HOME ? join(env.HOME, '.claude') : undefined);
  return directory === undefined ? undefined : join(directory, 'settings.json');
}

/**
 * The `env` part of Claude's settings, read anew each time.
 * @returns undefined when there is no such file.
 * @throws JEV_INVALID_CONFIG when there is one that cannot be read: going on to the environment would mix identities.
 */
export async function readClaudeSettings(env: NodeJS.ProcessEnv): Promise<Record<string, unknown> | undefined> {
  const file = claudeSettingsFile(env);
  if (file === undefined) return undefined;
  let text: string;
  try {
    const handle = await open(file, 'r');
    try {
      const { size } = await handle.stat();
      if (size > MAX_SETTINGS_BYTES) throw new HostError('JEV_INVALID_CONFIG', { problem: `${file} is too large` });
      text = await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (error instanceof HostError) throw error;
    throw new HostError('JEV_INVALID_CONFIG', { problem: `${file} cannot be read (${code ?? 'unknown'})` });
  }
  try {
    const settings: unknown = JSON.parse(text);
    const group = typeof settings === 'object' && settings !== null ? (settings as { env?: unknown }).env : undefined;
    return typeof group === 'object' && group !== null ? (group as Record<string, unknown>) : undefined;
  } catch {
    throw new HostError('JEV_INVALID_CONFIG', { problem: `${file} is not JSON` });
  }
}
