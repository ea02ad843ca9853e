/**
 * One tool as data, and the frame that every call passes: arguments are checked, an unknown one is refused by name, and a
 * refusal is a result that a model can read and correct.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { HostError, refuse } from '../../../sdk/contract/errors.ts';
import type { Caller } from '../../../sdk/contract/task.ts';
import { atLeast } from '../access.ts';
import { invalid } from '../input.ts';
import type { AccessLevel, Log } from '../ports.ts';
import { toolBody } from '../status-codes.ts';

export type JsonSchemaObject = Record<string, unknown>;

/** Sends news of a call that takes time; a client that did not ask for it gets none. */
export type Report = (progress: number, message: string) => void;

export interface CallContext {
  caller: Caller;
  signal: AbortSignal;
  report: Report;
}

export interface ToolDescription {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchemaObject;
  outputSchema: JsonSchemaObject;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
}

export interface Tool {
  readonly description: ToolDescription;
  readonly access: AccessLevel;
  /** @throws HostError for every refusal. */
  call(args: unknown, context: CallContext): Promise<Record<string, unknown>>;
}

/** Hints for clients: all four are always said, since their defaults assume the worst. */
export const hints = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  /** Costs money at a provider, changes nothing. */
  evaluates: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  acts: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  settles: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
} as const;

export function defineTool<const I extends v.GenericSchema>(spec: {
  name: string;
  title: string;
  description: string;
  input: I;
  output: v.GenericSchema;
  annotations: ToolDescription['annotations'];
  access: AccessLevel;
  call(args: v.InferOutput<I>, context: CallContext): Promise<Record<string, unknown>>;
}): Tool {
  const { name, title, description, annotations } = spec;
  return {
    description: {
      name,
      title,
      description,
      inputSchema: jsonSchema(spec.input),
      outputSchema: orRefusal(jsonSchema(spec.output)),
      annotations,
    },
    access: spec.access,
    async call(args, context) {
      const parsed = v.safeParse(spec.input, args ?? {}, { abortEarly: true });
      if (!parsed.success) throw invalid(parsed.issues[0]);
      return spec.call(parsed.output, context);
    },
  };
}

function jsonSchema(schema: v.GenericSchema): JsonSchemaObject {
  return toJsonSchema(schema, { target: 'draft-2020-12', typeMode: 'input', errorMode: 'ignore' }) as JsonSchemaObject;
}

const REFUSAL: JsonSchemaObject = {
  type: 'object',
  description: 'A refused call.',
  properties: {
    error: { type: 'string', description: 'One exact code; docs/errors.md explains each.' },
    message: { type: 'string' },
  },
  required: ['error', 'message'],
};

/** A result or a refusal: clients that check results against the schema must be able to check both. */
export function orRefusal(schema: JsonSchemaObject): JsonSchemaObject {
  const { $schema, ...result } = schema;
  return { ...($schema !== undefined && { $schema }), type: 'object', anyOf: [result, REFUSAL] };
}

/** A type and not an interface: the SDK's results are open. */
export type ToolResult = {
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: true;
};

/** Never rejects: whatever happens is a result, and what was not expected is logged under a reference. */
export async function callTool(
  tool: Tool,
  args: unknown,
  context: CallContext,
  deps: { log: Log; uuid(): string },
): Promise<ToolResult> {
  try {
    if (!atLeast(context.caller.access, tool.access)) refuse('ACCESS_DENIED');
    return toolResult(await tool.call(args, context));
  } catch (error) {
    if (error instanceof HostError) return refusal(error);
    const reference = deps.uuid();
    deps.log.error({ reference, tool: tool.description.name, error: stackOf(error) }, 'a tool failed unexpectedly');
    return refusal(new HostError('INTERNAL', { reference }));
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A result in both of its forms. */
export function toolResult(body: Record<string, unknown>): ToolResult {
  // One serialisation for both forms: what the schema promises is what the text says.
  const text = JSON.stringify(body);
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
}

function refusal(error: HostError): ToolResult {
  return { ...toolResult(toolBody(error)), isError: true };
}
