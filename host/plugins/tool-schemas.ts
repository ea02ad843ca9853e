/**
 * What a contributed tool promises in its manifest, held for every caller: agents over MCP, programs, and the host itself.
 *
 * Threat: a plugin's tool answers with something else than it promised, or is called with what its author never expected.
 * Arguments are held against the input schema before the plugin sees them, and the answer against the output schema before
 * anybody sees it.
 */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import type { ContributedTool, Manifest } from '../../sdk/contract/manifest.ts';

type JsonSchema = ContributedTool['inputSchema'];
type Check = (value: unknown) => { valid: boolean; errorMessage?: string | undefined };

/** Characters of what a validator says that are passed on. */
const MAX_PROBLEM_CHARS = 300;

/** @throws PLUGIN_MANIFEST_INVALID naming the first schema that is none. */
export function checkToolSchemas({ tools = [] }: Manifest): void {
  for (const [at, tool] of tools.entries()) {
    for (const which of ['inputSchema', 'outputSchema'] as const) {
      try {
        checkOf(tool[which]);
      } catch (error) {
        const problem = `it is not a JSON Schema (${(error as Error).message.slice(0, 200)})`;
        refuse('PLUGIN_MANIFEST_INVALID', { path: `tools.${at}.${which}`, problem });
      }
    }
  }
}

/** @throws INVALID_INPUT with the argument's name where the schema names it. */
export function checkToolInput({ inputSchema }: ContributedTool, args: unknown): void {
  const { valid, errorMessage } = checkOf(inputSchema)(args);
  if (valid) return;
  const unknown = unknownArgument(inputSchema, args);
  if (unknown !== undefined) refuse('INVALID_INPUT', { path: unknown, problem: 'this argument does not exist here' });
  // The library's words begin with the place: "data/text must be string".
  const [, place = '', problem] = /^data(\S*) (.*)$/s.exec(errorMessage ?? '') ?? [];
  const path = place.slice(1).replaceAll('/', '.').slice(0, 100);
  throw new HostError('INVALID_INPUT', {
    ...(path ? { path } : {}),
    problem: (problem ?? errorMessage ?? 'does not fit the input schema').slice(0, MAX_PROBLEM_CHARS),
  });
}

/** @throws PLUGIN_RESULT_INVALID; what the plugin said instead is not passed on. */
export function checkToolOutput(plugin: string, { name, outputSchema }: ContributedTool, answer: unknown): void {
  if (answer === null || typeof answer !== 'object' || !checkOf(outputSchema)(answer).valid)
    refuse('PLUGIN_RESULT_INVALID', { plugin, path: name });
}

/** Compiling a schema costs tens of milliseconds. Schemas are the manifest's own objects, and go with it. */
const compiled = new WeakMap<JsonSchema, Check>();

function checkOf(schema: JsonSchema): Check {
  const known = compiled.get(schema);
  if (known) return known;
  const made = new AjvJsonSchemaValidator().getValidator(schema) as Check;
  compiled.set(schema, made);
  return made;
}

function unknownArgument(schema: JsonSchema, args: unknown): string | undefined {
  const known = schema.properties as Record<string, unknown> | undefined;
  if (schema.additionalProperties !== false || !known || args === null || typeof args !== 'object') return undefined;
  return Object.keys(args)
    .find((key) => !Object.hasOwn(known, key))
    ?.slice(0, 100);
}
