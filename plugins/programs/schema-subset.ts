/**
 * The part of JSON Schema that programs may use. Everything else is refused, never ignored: a keyword that is not
 * understood would be a check that the author believes in and nobody makes.
 *
 * Threat: a schema is written by a model. There are no references and no regular expressions, so checking a value takes
 * time in proportion to its size, and size and depth of the schema itself are bounded.
 */
import type { Json } from '../../sdk/index.ts';
import { jsonText } from '../../sdk/programs/json-limits.ts';
import { refuseProgram } from '../../sdk/programs/program-error.ts';

/** Bytes of JSON that one schema may take. */
export const MAX_SCHEMA_BYTES = 16_384;
/** Schemas within the schema, itself included. */
export const MAX_SCHEMA_NODES = 128;
/** Levels of schemas within schemas. */
export const MAX_SCHEMA_DEPTH = 12;
export const MAX_ALTERNATIVES = 16;
export const MAX_ENUM = 256;

export const schemaTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type SchemaType = (typeof schemaTypes)[number];

/** A schema that passed {@link checkSchema}. */
export interface Schema {
  type?: SchemaType;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: Json[];
  const?: Json;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  description?: string;
  title?: string;
}

const UNSUPPORTED =
  'Unsupported program schema; use the documented bounded JSON Schema subset (no references or regexes)';

const counts = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const;
const alternatives = ['anyOf', 'oneOf', 'allOf'] as const;
const known = new Set<string>([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'minimum',
  'maximum',
  'description',
  'title',
  ...counts,
  ...alternatives,
]);

const unsupported = () => refuseProgram('PROGRAM_INVALID', UNSUPPORTED);

/**
 * @returns the same schema, known to be within the subset
 * @throws PROGRAM_INVALID with the exact sentence
 */
export function checkSchema(schema: unknown): Schema {
  jsonText(schema, 'Program schema', MAX_SCHEMA_BYTES);
  const seen = { nodes: 0 };
  visit(schema, 1, seen);
  return schema as Schema;
}

function visit(node: unknown, depth: number, seen: { nodes: number }): void {
  if (!isObject(node) || ++seen.nodes > MAX_SCHEMA_NODES || depth > MAX_SCHEMA_DEPTH) unsupported();
  const schema = node as Record<string, unknown>;
  const has = (key: string) => Object.hasOwn(schema, key);
  if (Object.keys(schema).some((key) => !known.has(key))) unsupported();
  if (has('type') && !schemaTypes.includes(schema.type as SchemaType))
    refuseProgram('PROGRAM_INVALID', 'Invalid schema type');
  for (const key of ['description', 'title']) if (has(key) && typeof schema[key] !== 'string') unsupported();
  if (has('required') && !isStringList(schema.required)) unsupported();

  for (const key of ['minimum', 'maximum'])
    if (has(key) && !Number.isFinite(schema[key])) refuseProgram('PROGRAM_INVALID', 'Invalid schema bound');
  for (const key of counts)
    if (has(key) && !(Number.isSafeInteger(schema[key]) && (schema[key] as number) >= 0))
      refuseProgram('PROGRAM_INVALID', 'Invalid schema bound');

  if (has('enum') && !isListOf(schema.enum, 1, MAX_ENUM)) refuseProgram('PROGRAM_INVALID', 'Invalid schema enum');

  for (const child of children(schema, has)) visit(child, depth + 1, seen);
}

function children(schema: Record<string, unknown>, has: (key: string) => boolean): unknown[] {
  const found: unknown[] = [];
  if (has('properties')) {
    if (!isObject(schema.properties)) unsupported();
    found.push(...Object.values(schema.properties as object));
  }
  if (has('additionalProperties') && typeof schema.additionalProperties !== 'boolean')
    found.push(schema.additionalProperties);
  if (has('items')) found.push(schema.items);
  for (const key of alternatives) {
    if (!has(key)) continue;
    if (!isListOf(schema[key], 1, MAX_ALTERNATIVES)) refuseProgram('PROGRAM_INVALID', 'Invalid schema alternatives');
    found.push(...(schema[key] as unknown[]));
  }
  return found;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isListOf(value: unknown, least: number, most: number): value is unknown[] {
  return Array.isArray(value) && value.length >= least && value.length <= most;
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
