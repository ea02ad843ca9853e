/**
 * Listening on a Unix socket.
 *
 * Threat: a socket that a dead process left would keep the host from starting, and a socket of a living one must not be
 * taken from it. Only a path that is a socket and that nobody answers on is removed.
 */
import { chmod, lstat, unlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createConnection } from 'node:net';
import { HostError } from '../../sdk/contract/errors.ts';

/** Bytes of a socket's path on Linux. */
const MAX_PATH_BYTES = 107;

/** @param mode who may connect; what they may do is decided by key or ticket. */
export async function listenOnSocket(server: Server, path: string, mode: number): Promise<void> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new HostError('INVALID_CONFIG', {
      path: 'gateway.api.socket',
      problem: `is longer than ${MAX_PATH_BYTES} bytes`,
    });
  await removeDeadSocket(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
  await chmod(path, mode);
}

async function removeDeadSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isSocket() || (await answers(path)))
    throw new HostError('INVALID_CONFIG', { path: 'gateway.api.socket', problem: `${path} is already in use` });
  await unlink(path);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Ends the server and what is connected to it. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
