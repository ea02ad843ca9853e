/**
 * Where a running device is and with which keys: one private file in its directory. A host that was restarted finds its
 * device by it, and so does the owner's command line.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { BrowserDeviceConfig } from './config.ts';

const Address = v.object({
  url: v.string(),
  pid: v.number(),
  /** Tells this process from a later one with the same number. */
  started: v.optional(v.string()),
  instance: v.string(),
  connectorKey: v.string(),
  ownerKey: v.string(),
  /** Of the configuration that it runs with. */
  settings: v.string(),
});
export type Address = v.InferOutput<typeof Address>;

export interface Keys {
  connectorKey: string;
  ownerKey: string;
}

const addressFile = (directory: string) => join(directory, 'address.json');

export function readAddress(directory: string): Address | undefined {
  return read(addressFile(directory), Address);
}

export function writeAddress(directory: string, address: Address): void {
  writePrivately(addressFile(directory), JSON.stringify(address));
}

export function removeAddress(directory: string): void {
  rmSync(addressFile(directory), { force: true });
}

/** Files that hold one bare key each, for a connector's or a command's configuration to name. */
export const connectorKeyFile = (directory: string) => join(directory, 'connector.key');
export const ownerKeyFile = (directory: string) => join(directory, 'owner.key');

/** The device's keys, made at its first start and kept. */
export function keysOf(directory: string): Keys {
  const key = (file: string) => {
    const known = readText(file);
    if (known) return known;
    const made = `jd_${randomBytes(24).toString('base64url')}`;
    writePrivately(file, made);
    return made;
  };
  return { connectorKey: key(connectorKeyFile(directory)), ownerKey: key(ownerKeyFile(directory)) };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

export function settingsHash(config: BrowserDeviceConfig, version: string): string {
  return createHash('sha256')
    .update(JSON.stringify([config, version]))
    .digest('hex')
    .slice(0, 32);
}

function read<T>(file: string, schema: v.GenericSchema<unknown, T>): T | undefined {
  try {
    const parsed = v.safeParse(schema, JSON.parse(readFileSync(file, 'utf8')));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

export function writePrivately(file: string, text: string): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${process.pid}.tmp`;
  writeFileSync(fresh, text, { mode: 0o600 });
  renameSync(fresh, file);
}
