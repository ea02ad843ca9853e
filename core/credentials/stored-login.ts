/** The key that `jev-host login` stored: one file in the data directory that only its owner may read. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HostError } from '../../sdk/contract/errors.ts';
import { credentialText } from './credential-text.ts';

export function storedLoginFile(dataDir: string): string {
  return join(dataDir, 'credentials', 'jev.key');
}

export async function hasStoredLogin(dataDir: string): Promise<boolean> {
  return stat(storedLoginFile(dataDir)).then(
    (found) => found.isFile(),
    () => false,
  );
}

/**
 * Replaces the stored key. The file is made with mode 0600 before anything is written into it and moved into place, so
 * that no reader ever sees half a key or a readable one.
 */
export async function storeLogin(dataDir: string, key: string): Promise<string> {
  const file = storedLoginFile(dataDir);
  const text = credentialText(key, 'the typed key');
  const directory = join(dataDir, 'credentials');
  const draft = join(directory, `.jev.key.${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(`${text}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new HostError('CREDENTIAL_NOT_STORED', {
      path: file,
      problem: (error as NodeJS.ErrnoException).code ?? 'unknown',
    });
  }
  return file;
}

/** @returns whether there was one. */
export async function removeLogin(dataDir: string): Promise<boolean> {
  const there = await hasStoredLogin(dataDir);
  await rm(storedLoginFile(dataDir), { force: true });
  return there;
}
