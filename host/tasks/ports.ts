/** What this room needs of the others; the container binds it. */
import type { Authorization } from '../../core/authorization/authorization.ts';
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import type { OwnerQuestion, ToolReply } from '../../sdk/contract/capabilities.ts';
import type { JevRequest, JevResult } from '../../sdk/contract/jev.ts';
import type { ThinkingReply, ThinkingRequest } from '../../sdk/contract/thinking.ts';

/** A target that one owner may use (host/connectors). */
export interface TaskTarget {
  id: string;
  adapter: string;
  name: string;
  agentId: string;
  principalId: string;
  conversationId: string;
  connectorId: string;
  scope: Record<string, string>;
  fields?: BrowserField[];
  budget?: Record<string, number>;
}

export interface Owner {
  agentId: string;
  principalId: string;
  conversationId: string;
}

export interface MutationNote {
  operationId: string;
  operation: string;
  outcome: 'confirmed' | 'not_executed' | 'unknown';
}

export interface TargetTools {
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  close(): Promise<void>;
}

export interface Targets {
  discover(owner: Owner & { writable?: boolean }, signal: AbortSignal): Promise<TaskTarget[]>;
  resolve(owner: Owner, id: string): TaskTarget | undefined;
  open(
    target: TaskTarget,
    checkpoint: ((mutation: { operationId: string; operation: string }) => Promise<void>) | undefined,
    allowed: () => boolean,
    settled?: (note: MutationNote) => void,
  ): Promise<TargetTools>;
}

export interface ControllerPorts {
  evaluate?(request: JevRequest, signal: AbortSignal): Promise<JevResult>;
  callTool?(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  progress?(event: Record<string, unknown>): void;
  ask?(question: OwnerQuestion, signal: AbortSignal): Promise<string>;
  confirm?(question: OwnerQuestion, signal: AbortSignal): Promise<boolean>;
  assist?(request: ThinkingRequest, signal: AbortSignal): Promise<ThinkingReply>;
}

/** The part of the plugin host that runs controllers (host/plugins/ports.ts). */
export interface ControllerRunner {
  controllerFor(adapter: string): string | undefined;
  run(
    pluginId: string,
    call: {
      runId: string;
      input: unknown;
      ports: ControllerPorts;
      authority: { principalId: string; agentId: string; conversationId: string; taskId?: string };
      signal: AbortSignal;
      deadlineMs?: number;
    },
  ): Promise<unknown>;
}

export interface Evaluations {
  evaluate(
    request: JevRequest,
    caller: {
      principalId: string;
      agentId: string;
      sessionId?: string;
      taskId?: string;
      consumer: 'controller';
      pluginId?: string;
    },
    options?: { signal?: AbortSignal },
  ): Promise<JevResult>;
  allowed(agentId: string): boolean;
}

/** Thinking, when the operator has set it up (host/plugins/thinking-port.ts). */
export interface Assistance {
  offers(): { textHelper: boolean; verifier: boolean; action?: boolean };
  forRun(authority: {
    principalId: string;
    agentId: string;
    conversationId: string;
    taskId?: string;
  }): NonNullable<ControllerPorts['assist']> | undefined;
}

export interface Features {
  /** Browser tasks are enabled (gateway.jev.features.browserTasks). */
  browserTasks: boolean;
  computerTasks: boolean;
  browserSteps: boolean;
  computerSteps: boolean;
  /** Decisions carry a picture of the page (gateway.jev.images.enabled). */
  images?: boolean;
}

export type { Authorization };
