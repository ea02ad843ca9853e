/** Connections to tool servers, and the fence that every mutation of a task passes in the transport. */
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import type { ToolReply } from '../../sdk/contract/capabilities.ts';

/** Where a task's tools are and under which consent. */
export interface TargetBinding {
  /** Stable id: `auto-…` for discovered targets, the config's id for manual ones. */
  id: string;
  adapter: string;
  name: string;
  agentId: string;
  principalId: string;
  conversationId: string;
  connectorId: string;
  /** For browsers exactly device_id, grant_id and tab_id. */
  scope: Record<string, string>;
  /** Values that the operator gave for fields of this target. */
  fields?: BrowserField[];
  /** Limits of the runs on this target; the names are those of BrowserRunInput. */
  budget?: Record<string, number>;
}

/** Called by the transport before a page mutation leaves; resolves when the checkpoint is on disk, rejects to stop it. */
export type Checkpoint = (mutation: { operationId: string; operation: string }) => Promise<void>;

/** What the device's reply proves about a mutation that was sent. */
export interface MutationNote {
  operationId: string;
  operation: string;
  outcome: 'confirmed' | 'not_executed' | 'unknown';
}

export interface FencedTools {
  /**
   * Calls one tool of the binding's server.
   *
   * Refuses with BROWSER_SCOPE_DENIED what is not allow-listed or not in scope, with BROWSER_CHECKPOINT_UNAVAILABLE a
   * mutation without a usable operation id, and re-checks access before every call except the release.
   */
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  close(): Promise<void>;
}

export interface Connectors {
  /** Targets that this caller may use now. Reads the relay's approved grants. */
  discover(
    caller: {
      agentId: string;
      principalId: string;
      conversationId: string;
      /** May ask a device's owner for approval, at most once a minute. */
      writable?: boolean;
    },
    signal: AbortSignal,
  ): Promise<TargetBinding[]>;
  /**
   * @param allowed asked before every call except the release; false fences the run.
   * @param settled told what became of each mutation.
   */
  open(
    binding: TargetBinding,
    checkpoint: Checkpoint | undefined,
    allowed: () => boolean,
    settled?: (note: MutationNote) => void,
  ): Promise<FencedTools>;
  /** The binding of an id as it stands now, for its owner; undefined when it is gone or somebody else's. */
  resolve(
    caller: { agentId: string; principalId: string; conversationId: string },
    id: string,
  ): TargetBinding | undefined;
}
