/** Tools that plugins contribute, as references `<plugin>.<tool>`: the same tools that the caller has over MCP. */
import { randomUUID } from 'node:crypto';
import { isHostError } from '../../sdk/contract/errors.ts';
import { refuseProgram } from '../../sdk/programs/program-error.ts';
import type { PluginHost, RunAuthority } from '../plugins/ports.ts';
import type { ReferenceSource } from './references.ts';

export interface ContributedReferencesDeps {
  plugins: Pick<PluginHost, 'tools' | 'callContributed'>;
  /** The plugin that launches programs: a program may not launch programs. */
  launcher: string;
  /** May this caller use this tool now? Reads need less than writes. */
  allowed(caller: RunAuthority, readOnly: boolean): boolean;
}

export function contributedReferences(deps: ContributedReferencesDeps): ReferenceSource {
  const { plugins, launcher, allowed } = deps;

  return {
    find(ref, caller) {
      const dot = ref.indexOf('.');
      const [pluginId, name] = [ref.slice(0, dot), ref.slice(dot + 1)];
      if (pluginId === launcher) return undefined;
      const tool = plugins.tools().find((one) => one.pluginId === pluginId && one.name === name);
      if (!tool) return undefined;
      const readOnly = tool.annotations.readOnlyHint;
      return {
        ref,
        description: tool.description,
        inputSchema: tool.inputSchema as never,
        outputSchema: tool.outputSchema as never,
        allowed: allowed(caller, readOnly),
        async call(args, signal) {
          const call = { runId: randomUUID(), ports: {}, authority: caller, signal };
          try {
            return await plugins.callContributed(pluginId, name, args, call);
          } catch (error) {
            if (!isHostError(error, 'INVALID_INPUT')) throw error;
            const { path, problem } = error.details;
            const words = [path, problem].filter(Boolean).join(' ');
            return refuseProgram('PROGRAM_CALL_FAILED', `Invalid ${ref} arguments: ${words}`);
          }
        },
      };
    },
  };
}
