/** Tools that plugins serve. The plugin host holds arguments and answers against their schemas, whoever calls. */
import type { ContributedTool } from '../../../sdk/contract/manifest.ts';
import type { ContributedTools } from '../ports.ts';
import { orRefusal, type Tool } from './tool.ts';

export function contributedTools(plugins: ContributedTools): () => Tool[] {
  // The list is made anew for every request, its schemas are not: they are the manifest's own objects, and another
  // generation of a plugin has others.
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
    call: async (args, { caller, signal }) =>
      (await plugins.call(tool.pluginId, name, args ?? {}, caller, signal)) as Record<string, unknown>,
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
