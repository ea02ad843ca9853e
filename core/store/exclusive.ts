/**
 * One process per data directory.
 *
 * Conditions are decided in memory before LMDB writes (lmdb-store.ts), which is only right with a single writer. On Linux
 * the name of an abstract socket is the lock: the kernel gives it to one process and takes it back at its death, so no
 * stale lock can be left by a kill. Elsewhere a socket file plays the part, and a dead one is replaced.
 */
import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { refuse } from '../../sdk/contract/errors.ts';

export interface Exclusive {
  release(): Promise<void>;
}

export async function holdExclusively(directory: string): Promise<Exclusive> {
  const address = lockAddress(directory);
  if (!address.startsWith('\0') && !(await answers(address))) rmSync(address, { force: true });
  const server = createServer((socket) => socket.destroy());
  const held = await listen(server, address);
  if (!held) refuse('STORE_UNAVAILABLE', { directory });
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

function lockAddress(directory: string): string {
  const id = createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 32);
  return process.platform === 'linux' ? `\0jev-host-store-${id}` : join(directory, 'store.lock');
}

function listen(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(address, () => resolve(true));
  });
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    const settle = (value: boolean) => {
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
