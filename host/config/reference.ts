/** The configuration as JSON Schema, and as the table in docs/configuration.md. */
import { toJsonSchema } from '@valibot/to-json-schema';
import { meaningOf } from './meanings.ts';
import { HostConfig } from './schema.ts';

export interface JsonSchema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  additionalProperties?: JsonSchema | boolean;
}

/** JSON Schema (draft 2020-12) of the file, for editors that complete and check it. */
export function configJsonSchema(): JsonSchema {
  return {
    ...toJsonSchema(HostConfig, { target: 'draft-2020-12', typeMode: 'input', errorMode: 'ignore' }),
    title: 'jev-host configuration',
  } as JsonSchema;
}

/** Rows of the reference: every key with its kind, default and meaning. */
export function configReference(schema: JsonSchema = configJsonSchema()): string {
  const rows: string[] = [];
  walk(schema, '', rows);
  return ['| key | kind | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** Capabilities are many and take the same grant; one stands for all. */
const GRANTS = 'plugins.<id>.grants';

function walk(schema: JsonSchema, path: string, rows: string[]): void {
  const entries = Object.entries(schema.properties ?? {});
  for (const [key, entry] of path === GRANTS ? entries.slice(0, 1) : entries) {
    const name = path === '' ? key : path === GRANTS ? `${GRANTS}["<capability>"]` : `${path}.${key}`;
    const required = schema.required?.includes(key) && entry.default === undefined;
    rows.push(
      `| \`${name}\` | ${kind(entry)} | ${standard(entry, required === true)} | ${meaningOf(name, entry.description)} |`,
    );
    inside(entry, name, rows);
  }
}

function inside(entry: JsonSchema, name: string, rows: string[]): void {
  if (entry.properties) walk(entry, name, rows);
  if (entry.items) inside(entry.items, `${name}[]`, rows);
  if (typeof entry.additionalProperties === 'object') inside(entry.additionalProperties, `${name}.<id>`, rows);
  for (const option of entry.anyOf ?? []) inside(option, name, rows);
}

function kind(entry: JsonSchema): string {
  if (entry.const !== undefined) return `\`${JSON.stringify(entry.const)}\``;
  if (entry.enum) return entry.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (entry.anyOf) return [...new Set(entry.anyOf.map(kind))].join(' or ');
  if (entry.type === 'array') return `list of ${entry.items ? kind(entry.items) : 'values'}`;
  const range =
    entry.minimum !== undefined || entry.maximum !== undefined ? ` ${entry.minimum ?? ''}..${entry.maximum ?? ''}` : '';
  return `${entry.type ?? 'any'}${range}`;
}

function standard(entry: JsonSchema, required: boolean): string {
  if (required) return 'required';
  if (entry.default === undefined) return '';
  const text = JSON.stringify(entry.default);
  return text === '{}' || text === '[]' ? '' : `\`${text}\``;
}
