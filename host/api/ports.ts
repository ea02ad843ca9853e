/** What the surfaces need from the rest of the host. The container binds each port to the room that does the work. */
import type { Principal } from '../../core/authorization/authorization.ts';
import type { JevService } from '../../core/jev/service.ts';
import type { ContributedTool } from '../../sdk/contract/manifest.ts';
import type { Caller } from '../../sdk/contract/task.ts';
import type { TaskReceipts, TaskService } from '../tasks/service.ts';

export type { Access as AccessLevel, Principal } from '../../core/authorization/authorization.ts';

export interface Access {
  /** @returns undefined for a key that is unknown, expired or withdrawn. Takes the same time for each. */
  authenticate(secret: string): Principal | undefined;
  /** The principal as it is allowed now; undefined once its key is gone or expired. */
  principal(principalId: string): Principal | undefined;
  /** Ids of the agents that exist now. */
  agents(): readonly string[];
  agentName(agentId: string): { name?: string };
}

export interface Session {
  sessionId: string;
  conversationId: string;
}

export interface UsagePage {
  records: readonly object[];
  total: number;
}

export interface UsageReader {
  /** Newest first. */
  list(page: { agentId: string; limit: number; offset: number }): Promise<UsagePage>;
}

export interface ContributedTools {
  list(): (ContributedTool & { pluginId: string })[];
  call(pluginId: string, tool: string, args: unknown, caller: Caller, signal: AbortSignal): Promise<unknown>;
}

/** An approved tab that is bound to a conversation. No endpoint, no secret. */
export interface BindingView {
  id: string;
  name: string;
  agentId: string;
  principalId: string;
  conversationId: string;
  connectorId: string;
  scope: Record<string, string>;
}

export interface Bindings {
  list(caller: Caller): BindingView[];
  /** Looks at the tab under a short lease first; stores nothing when that fails. */
  create(
    caller: Caller,
    binding: { connectorId: string; name: string; scope: { device_id: string; grant_id: string; tab_id: string } },
    signal: AbortSignal,
  ): Promise<BindingView>;
  /** Fences what runs under it. */
  remove(caller: Caller, bindingId: string): Promise<void>;
}

/** Across all principals; the route has checked that the caller may. */
export interface Admin {
  tasks(page: { limit: number; offset: number }): Promise<object>;
  /** undefined when there is no such task. */
  receipts(taskId: string): Promise<object | undefined>;
  verifyAudit(head?: { seq: number; hash: string }): Promise<object>;
  audit(page: { fromSeq: number; limit: number }): Promise<readonly object[]>;
  /** Copies the store into a directory of this machine. @throws BACKUP_EXISTS, BACKUP_FAILED. */
  backup(directory: string): Promise<void>;
  plugins(): readonly object[];
  approvePlugin(pluginId: string): Promise<object>;
  enablePlugin(pluginId: string): Promise<object>;
}

/** The host's own browser device, as its owner sees it. */
export interface DeviceOwner {
  tabs(): Promise<object>;
  /** Lets connectors use a tab. @param grant control: to act, not only to look. ttlMs: how long. */
  grant(grant: { tab_id: string; control: boolean; ttlMs: number }): Promise<object>;
  /** Takes the permission back, at once. */
  revoke(grantId: string): Promise<void>;
}

export interface Health {
  /** False while the host starts, recovers or stops. */
  ready(): boolean;
  /** Lines of the Prometheus text format from other rooms. */
  metrics(): string[];
}

export interface Log {
  debug(details: Record<string, unknown>, text: string): void;
  info(details: Record<string, unknown>, text: string): void;
  warn(details: Record<string, unknown>, text: string): void;
  error(details: Record<string, unknown>, text: string): void;
}

export interface ApiDeps {
  access: Access;
  jev: JevService;
  /** Whether evaluations may carry images now; absent: they may not. */
  jevImages?(): boolean;
  usage: UsageReader;
  tasks: TaskService;
  receipts?: TaskReceipts;
  bindings?: Bindings;
  admin?: Admin;
  /** Absent while no device of the host's own runs. */
  device?(): DeviceOwner | undefined;
  plugins: ContributedTools;
  health: Health;
  log: Log;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Bytes that nobody can guess. */
  randomBytes(count: number): Uint8Array;
  uuid(): string;
  /** Of this package; clients see it. */
  version: string;
}
