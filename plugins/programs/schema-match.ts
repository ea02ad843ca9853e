/** Whether a JSON value fits a schema of the subset, by the rules of JSON Schema 2020-12. */
import type { Json } from '../../sdk/index.ts';
import { jsonText } from '../../sdk/programs/json-limits.ts';
import { refuseProgram } from '../../sdk/programs/program-error.ts';
import type { Schema, SchemaType } from './schema-subset.ts';

/**
 * Checks a value's size, shape and schema, in this order, and gives its JSON text.
 *
 * @throws PROGRAM_INVALID with the exact sentence
 */
export function conformingText(value: unknown, schema: Schema, label: string, maxBytes: number): string {
  const text = jsonText(value, label, maxBytes);
  if (!matches(value as Json, schema)) refuseProgram('PROGRAM_INVALID', `${label} does not match its declared schema`);
  return text;
}

export function matches(value: Json, schema: Schema): boolean {
  if (schema.type !== undefined && !isOfType(value, schema.type)) return false;
  if (schema.enum && !schema.enum.some((entry) => sameJson(entry, value))) return false;
  if (schema.const !== undefined && !sameJson(schema.const, value)) return false;
  if (typeof value === 'number' && !within(value, schema.minimum, schema.maximum)) return false;
  if (typeof value === 'string' && !stringFits(value, schema)) return false;
  if (Array.isArray(value)) {
    if (!arrayFits(value, schema)) return false;
  } else if (typeof value === 'object' && value !== null && !objectFits(value, schema)) return false;
  if (schema.allOf && !schema.allOf.every((branch) => matches(value, branch))) return false;
  if (schema.anyOf && !schema.anyOf.some((branch) => matches(value, branch))) return false;
  if (schema.oneOf && schema.oneOf.filter((branch) => matches(value, branch)).length !== 1) return false;
  return true;
}

function isOfType(value: Json, type: SchemaType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function within(size: number, least: number | undefined, most: number | undefined): boolean {
  return (least === undefined || size >= least) && (most === undefined || size <= most);
}

/** Lengths count code points, as JSON Schema says. */
function stringFits(value: string, schema: Schema): boolean {
  if (schema.minLength === undefined && schema.maxLength === undefined) return true;
  let length = 0;
  for (const _ of value) length++;
  return within(length, schema.minLength, schema.maxLength);
}

function arrayFits(value: Json[], schema: Schema): boolean {
  const { items } = schema;
  return (
    within(value.length, schema.minItems, schema.maxItems) && (!items || value.every((item) => matches(item, items)))
  );
}

function objectFits(value: { [key: string]: Json }, schema: Schema): boolean {
  const keys = Object.keys(value);
  if (!within(keys.length, schema.minProperties, schema.maxProperties)) return false;
  if (schema.required && !schema.required.every((key) => Object.hasOwn(value, key))) return false;
  const declared = schema.properties ?? {};
  const others = schema.additionalProperties ?? true;
  return keys.every((key) => {
    const child = value[key] as Json;
    if (Object.hasOwn(declared, key)) return matches(child, declared[key] as Schema);
    return typeof others === 'boolean' ? others : matches(child, others);
  });
}

/** Equality of JSON values: order of keys does not matter, order of items does. */
export function sameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameJson(item, right[index] as Json));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key] as Json, right[key] as Json));
}
