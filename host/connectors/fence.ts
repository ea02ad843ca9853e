/**
 * The fence that every tool call of a task passes, in the transport, where no plugin reaches (wire-contracts 2.8).
 *
 * Threat: the controller is hostile or wrong. It can name any tool, any tab and any operation id. Only listed tools pass,
 * only with exactly the approved scope; a mutation is on disk before it leaves; access is asked before every call, and
 * once more before a reply is handed over, except for the release, which only gives something back.
 */
import type { ToolReply } from '../../sdk/contract/capabilities.ts';
import { isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { Checkpoint, FencedTools, MutationNote } from './ports.ts';
import type { ToolSet } from './tool-sets.ts';

export interface FenceOptions {
  tools: ToolSet;
  scope: Readonly<Record<string, string>>;
  send(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  checkpoint: Checkpoint | undefined;
  /** Told what the device said of a mutation. */
  settled?: ((note: MutationNote) => void) | undefined;
  allowed(): boolean;
  close(): Promise<void>;
}

/** The device's answer when it is certain that a call never reached it. */
const NOT_SENT: ToolReply = {
  content: [{ type: 'text', text: JSON.stringify({ error: 'DEVICE_OFFLINE', action_executed: false }) }],
  isError: true,
};

export function fence(options: FenceOptions): FencedTools {
  const { tools, scope, checkpoint, settled, allowed } = options;

  function check(name: string, args: Record<string, unknown>): void {
    const known = tools.mutations.has(name) || tools.leases.has(name) || tools.reads.has(name);
    if (!known) refuse('BROWSER_SCOPE_DENIED', { tool: name.slice(0, 128) });
    for (const [field, value] of Object.entries(scope)) {
      const given = Object.hasOwn(args, field) ? args[field] : undefined;
      if (tools.unscoped.has(name) ? given !== undefined && given !== value : given !== value) {
        refuse('BROWSER_SCOPE_DENIED', { tool: name, field });
      }
    }
  }

  async function mutate(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply> {
    const operationId = Object.hasOwn(args, 'operation_id') ? args.operation_id : undefined;
    if (!checkpoint || typeof operationId !== 'string') refuse('BROWSER_CHECKPOINT_UNAVAILABLE', {});
    const note = (outcome: MutationNote['outcome']) => settled?.({ operationId, operation: name, outcome });
    await checkpoint({ operationId, operation: name });
    // The disk took its time: what was allowed before it must still be, or the action stays here.
    if (signal.aborted || !allowed()) {
      note('not_executed');
      refuse('ACCESS_DENIED', {});
    }
    try {
      const reply = await options.send(name, args, signal);
      note(tools.outcomeOf(reply));
      return reply;
    } catch (error) {
      if (isHostError(error, 'BROWSER_CONNECTOR_UNAVAILABLE')) {
        note('not_executed');
        return NOT_SENT;
      }
      note('unknown');
      throw error;
    }
  }

  return {
    async call(name, args, signal) {
      check(name, args);
      if (name === tools.release) return options.send(name, args, signal);
      if (!allowed()) refuse('ACCESS_DENIED', {});
      const reply = tools.mutations.has(name)
        ? await mutate(name, args, signal)
        : await options.send(name, args, signal);
      // Something may have been done, so this is not the refusal that says nothing was.
      if (!allowed()) refuse('ADAPTER_FAILURE', { problem: 'access was withdrawn' });
      return reply;
    },
    close: () => options.close(),
  };
}
