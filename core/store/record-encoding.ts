/**
 * One stored record: a short header, then the value as JSON.
 *
 * LMDB proves nothing about the bytes of a page, so every record carries a checksum: a damaged record is recognised and
 * named instead of being half understood.
 */
import { crc32 } from 'node:zlib';
import { refuse } from '../../sdk/contract/errors.ts';
import type { TableDefinition } from './store.ts';

/** Layout of the header: format byte, schema version, row version, checksum of everything else. */
const FORMAT = 1;
const SCHEMA_AT = 1;
const VERSION_AT = 3;
const CHECKSUM_AT = 11;
const HEADER_BYTES = 15;

/** The value as it will be stored; taken when a change is computed, so that later edits of the object do not count. */
export function encodeValue(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('Only JSON values can be stored.');
  return text;
}

export function encodeRecord(text: string, schema: number, version: number): Buffer {
  const size = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + size);
  bytes[0] = FORMAT;
  bytes.writeUInt16BE(schema, SCHEMA_AT);
  bytes.writeDoubleBE(version, VERSION_AT);
  bytes.write(text, HEADER_BYTES, 'utf8');
  bytes.writeUInt32BE(checksum(bytes), CHECKSUM_AT);
  return bytes;
}

/** The row version alone, without reading the value. */
export function versionOf(bytes: Buffer): number {
  return bytes.length >= HEADER_BYTES ? bytes.readDoubleBE(VERSION_AT) : 0;
}

/** @throws STORE_DAMAGED when the bytes are not what was written; STORE_NEWER when a later host wrote them. */
export function decodeRecord<T>(bytes: Buffer, table: TableDefinition<T>): { value: T; version: number } {
  if (!isWhole(bytes)) refuse('STORE_DAMAGED', { table: table.name });
  const schema = bytes.readUInt16BE(SCHEMA_AT);
  if (schema > table.version) refuse('STORE_NEWER', { table: table.name, found: schema, known: table.version });
  const stored: unknown = JSON.parse(bytes.toString('utf8', HEADER_BYTES));
  const value = schema < table.version && table.migrate ? table.migrate(stored, schema) : (stored as T);
  return { value, version: versionOf(bytes) };
}

/** Whether the bytes are what was written. */
export function isWhole(bytes: Buffer): boolean {
  return bytes.length >= HEADER_BYTES && bytes[0] === FORMAT && checksum(bytes) === bytes.readUInt32BE(CHECKSUM_AT);
}

function checksum(bytes: Buffer): number {
  return crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(0, CHECKSUM_AT)));
}
