/** A JSON Schema as a TypeScript type. What cannot be said in types becomes `any`: the run-time check decides. */

/** Levels of the schema that are followed; deeper ones are `any`. */
const MAX_DEPTH = 12;
/** Characters of one type; a larger one is `any`, so that a tool's schema cannot slow the check of every program. */
const MAX_CHARS = 20_000;

export interface TypeOptions {
  /** Properties that the schema does not require are optional (arguments), instead of typed as present (results). */
  optional?: boolean;
}

export function typeOf(schema: unknown, options: TypeOptions = {}): string {
  const text = write(schema, options, 0);
  return text.length > MAX_CHARS ? 'any' : text;
}

function write(schema: unknown, options: TypeOptions, depth: number): string {
  if (depth > MAX_DEPTH || typeof schema !== 'object' || schema === null) return 'any';
  const node = schema as Record<string, unknown>;
  if (Object.hasOwn(node, 'const')) return literal(node.const);
  if (Array.isArray(node.enum)) return union(node.enum.map(literal));
  for (const key of ['anyOf', 'oneOf'])
    if (Array.isArray(node[key])) return union(node[key].map((entry) => write(entry, options, depth + 1)));
  if (Array.isArray(node.allOf))
    return node.allOf.map((entry) => `(${write(entry, options, depth + 1)})`).join(' & ') || 'any';
  const types = Array.isArray(node.type) ? node.type : [node.type];
  return union(types.map((type) => ofType(type, node, options, depth)));
}

function ofType(type: unknown, node: Record<string, unknown>, options: TypeOptions, depth: number): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `Array<${node.items === undefined ? 'any' : write(node.items, options, depth + 1)}>`;
    case 'object':
      return objectType(node, options, depth);
    default:
      return 'any';
  }
}

function objectType(node: Record<string, unknown>, options: TypeOptions, depth: number): string {
  const properties = typeof node.properties === 'object' && node.properties !== null ? node.properties : {};
  const required = Array.isArray(node.required) ? node.required : [];
  const members = Object.entries(properties).map(([key, child]) => {
    const mark = options.optional && !required.includes(key) ? '?' : '';
    return `${JSON.stringify(key)}${mark}: ${write(child, options, depth + 1)}`;
  });
  if (node.additionalProperties !== false) members.push('[key: string]: any');
  return `{ ${members.join('; ')} }`;
}

function literal(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  return 'any';
}

function union(types: string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.length === 0 || distinct.includes('any')) return 'any';
  return distinct.length === 1 ? (distinct[0] as string) : distinct.map((type) => `(${type})`).join(' | ');
}
