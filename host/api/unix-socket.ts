/**
 * Listening on a Unix socket.
 *
 * Threat: a socket that a dead process left would keep the host from starting, and a socket of a living one must not be
 * taken from it. Only a path that is a socket and that nobody answers on is removed.
 */

import { readFileSync } from 'node:fs';
import { chmod, lstat, unlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createConnection } from 'node:net';
import { createSecureContext } from 'node:tls';
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

/** @throws INVALID_CONFIG when a file cannot be read, is not PEM of its kind, or the two do not belong together. */
export function tlsFiles(tls: { certFile: string; keyFile: string }): { cert: Buffer; key: Buffer } {
  const cert = readPem('certFile', tls.certFile);
  const key = readPem('keyFile', tls.keyFile);
  const tried = (name: string, path: string, files: { cert?: Buffer; key?: Buffer }): void => {
    try {
      createSecureContext(files);
    } catch (error) {
      // The library's own reason names the format, never the contents.
      const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown error';
      throw new HostError('INVALID_CONFIG', {
        path: `gateway.api.tls.${name}`,
        problem: `${path} cannot be used (${reason})`,
      });
    }
  };
  tried('certFile', tls.certFile, { cert });
  tried('keyFile', tls.keyFile, { cert, key });
  return { cert, key };
}

function readPem(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new HostError('INVALID_CONFIG', {
      path: `gateway.api.tls.${name}`,
      problem: `${path} cannot be read (${code})`,
    });
  }
}
