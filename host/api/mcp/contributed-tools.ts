/**
 * Tools that plugins serve.
 *
 * Threat: a plugin's tool answers with something else than it promised. Arguments are checked against its input schema
 * before the plugin sees them, and its answer against its output schema before the agent sees it.
 */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { HostError, refuse } from '../../../sdk/contract/errors.ts';
import type { ContributedTool } from '../../../sdk/contract/manifest.ts';
import type { ContributedTools } from '../ports.ts';
import { orRefusal, type Tool } from './tool.ts';

type Check = (value: unknown) => { valid: boolean; errorMessage?: string | undefined };

export function contributedTools(plugins: ContributedTools): () => Tool[] {
  // Compiling a schema costs tens of milliseconds. The list is made anew for every request, its schemas are not: they are the
  // manifest's own objects, and another generation of a plugin has others.
  const made = new WeakMap<ContributedTool['inputSchema'], Tool>();
  return () =>
    plugins.list().map((tool) => {
      const known = made.get(tool.inputSchema);
      if (known) return known;
      const fresh = wrap(tool, plugins);
      made.set(tool.inputSchema, fresh);
      return fresh;
    });
}

function wrap(tool: ContributedTool & { pluginId: string }, plugins: ContributedTools): Tool {
  const input = checkOf(tool.inputSchema);
  const output = checkOf(tool.outputSchema);
  const { name, title, description, annotations } = tool;
  const inputSchema = withoutHeaders(tool.inputSchema) as Record<string, unknown>;
  return {
    description: {
      name,
      title,
      description,
      inputSchema,
      outputSchema: orRefusal(tool.outputSchema),
      annotations: { ...annotations },
    },
    access: annotations.readOnlyHint ? 'read' : 'write',
    async call(args, { caller, signal }) {
      const given = args ?? {};
      const checkedInput = input(given);
      if (!checkedInput.valid) throw inputProblem(inputSchema, given, checkedInput.errorMessage);
      const answer = await plugins.call(tool.pluginId, name, given, caller, signal);
      const checkedOutput = output(answer);
      if (!checkedOutput.valid || answer === null || typeof answer !== 'object')
        return refuse('PLUGIN_RESULT_INVALID', { plugin: tool.pluginId, path: name });
      return answer as Record<string, unknown>;
    },
  };
}

/** Compiles the schema when it is first needed. */
function checkOf(schema: Record<string, unknown>): Check {
  let check: Check | undefined;
  return (value) => {
    check ??= new AjvJsonSchemaValidator().getValidator(schema) as Check;
    return check(value);
  };
}

/** A plugin cannot ask clients to repeat an argument in an HTTP header, where proxies would log it. */
function withoutHeaders(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutHeaders);
  if (schema === null || typeof schema !== 'object') return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => (key === 'x-mcp-header' ? [] : [[key, withoutHeaders(value)]])),
  );
}

function inputProblem(schema: Record<string, unknown>, args: unknown, message: string | undefined): HostError {
  const known = schema.properties as Record<string, unknown> | undefined;
  if (schema.additionalProperties === false && known && args !== null && typeof args === 'object')
    for (const key of Object.keys(args))
      if (!Object.hasOwn(known, key))
        return new HostError('INVALID_INPUT', {
          path: key.slice(0, 100),
          problem: 'this argument does not exist here',
        });
  return new HostError('INVALID_INPUT', { problem: (message ?? 'does not fit the input schema').slice(0, 300) });
}
