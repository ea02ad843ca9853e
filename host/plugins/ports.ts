/** What the plugin host offers to the rest of the host, and what a run needs from it. */
import type { OwnerQuestion, ProviderMessage, ToolReply } from '../../sdk/contract/capabilities.ts';
import type { JevRequest, JevResult } from '../../sdk/contract/jev.ts';
import type { CapabilityId, ContributedTool } from '../../sdk/contract/manifest.ts';
import type { CheckedProgram, DescribedReferences, ProgramsAbout } from '../../sdk/contract/program.ts';
import type { ThinkingReply, ThinkingRequest } from '../../sdk/contract/thinking.ts';
import type { TasksCommand } from './capabilities/tasks-control.ts';

/**
 * The powers of one run. The caller supplies exactly those that the task's authority covers; a port that is absent is a
 * capability that is denied, whatever the manifest and the operator say.
 */
export interface RunPorts {
  evaluate?(request: JevRequest, signal: AbortSignal): Promise<JevResult>;
  /** A tool of the run's own target, behind the mutation fence. */
  callTool?(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  progress?(event: Record<string, unknown>): void;
  ask?(question: OwnerQuestion, signal: AbortSignal): Promise<string>;
  confirm?(question: OwnerQuestion, signal: AbortSignal): Promise<boolean>;
  /** Serves `thinking.assist`: the Thinking plugin or an operator's helper answers. */
  assist?(request: ThinkingRequest, signal: AbortSignal): Promise<ThinkingReply>;
  /** Serves `thinking.provider`, to the Thinking plugin only. */
  think?(
    request: { messages: ProviderMessage[]; maxTokens?: number; timeoutMs?: number },
    signal: AbortSignal,
  ): Promise<{ text: string; stop: string }>;
  /** Serves `model.messages`: the operator's model, with the run's own budget. */
  model?: RunPorts['think'];
  /** Serves `image`: scale, crop, mark, mask. */
  image?(
    operation: Record<string, unknown>,
    data: Uint8Array,
    signal: AbortSignal,
  ): Promise<{ info: Record<string, unknown>; data: Uint8Array }>;
  /** Serves `cdp.call`; the method is on the grant's list already. */
  cdp?(command: CdpCommand, signal: AbortSignal): Promise<unknown>;
  /** Serves `tasks.control`, in the name of whoever called the plugin's tool. */
  control?(command: TasksCommand, signal: AbortSignal): Promise<unknown>;
  /** Serve `speech`. */
  transcribe?(
    options: Record<string, unknown>,
    audio: Uint8Array,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>>;
  speak?(options: Record<string, unknown>, signal: AbortSignal): Promise<Uint8Array>;
  /** Serves `program`: one running program, with its caller's powers. */
  program?: ProgramPort;
  /** Serves `programs`: what a caller may do about its own programs. */
  programs?: ProgramsPort;
}

export interface CdpCommand {
  method: string;
  params: Record<string, unknown>;
  sessionId?: string | undefined;
  browser?: string | undefined;
}

export interface ProgramPort {
  call(ref: string, args: unknown, signal: AbortSignal): Promise<unknown>;
  report(report: unknown): void;
  observe?(signal: AbortSignal): Promise<unknown>;
  advise?(advice: unknown, signal: AbortSignal): Promise<unknown>;
}

export interface ProgramsPort {
  about(): Promise<ProgramsAbout>;
  describe(references: unknown): Promise<DescribedReferences>;
  check(source: unknown): Promise<CheckedProgram>;
  start(run: unknown): Promise<void>;
  stop(id: string): Promise<void>;
}

/** For whom a run works: recorded with what it does. */
export interface RunAuthority {
  principalId: string;
  agentId: string;
  conversationId: string;
  taskId?: string;
}

export interface RunCall {
  runId: string;
  /** JSON; parsed by the plugin with the adapter's schema. */
  input: unknown;
  ports: RunPorts;
  authority: RunAuthority;
  signal: AbortSignal;
  /** At most the manifest's deadline. */
  deadlineMs?: number;
}

export interface PluginState {
  id: string;
  version: string;
  kind: 'controller' | 'helper' | 'frontend';
  adapter?: string;
  state: 'starting' | 'serving' | 'held' | 'failed' | 'disabled' | 'stopped';
  reason?: string;
  /** Names in its manifest or its grants that give nothing. */
  warnings?: string[];
  tier: 'thread' | 'process';
  generation: number;
  grants: CapabilityId[];
  runs: number;
  calls: number;
  crashes: number;
  memoryBytes: number;
  /** Milliseconds from the start of a worker to a plugin that can be called. */
  activationMs?: number;
  /** Where the time of the last load went. */
  boot?: { bundleMs: number; startMs: number; evaluateMs: number; activateMs: number };
  /** A version that waits for the operator, and what is different about it. */
  held?: { version: string; sha256: string; difference: string[] };
}

export interface PluginHost {
  /** One report per plugin; a plugin that fails never stops the host unless it is required. */
  start(): Promise<PluginState[]>;
  /**
   * Runs a controller.
   * @throws PLUGIN_LOST, PLUGIN_UNRESPONSIVE, PLUGIN_DEADLINE, PLUGIN_PROTOCOL, PLUGIN_NOT_AVAILABLE.
   */
  run(pluginId: string, call: RunCall): Promise<unknown>;
  /** The serving controller of an adapter. */
  controllerFor(adapter: string): string | undefined;
  /** Tools that serving helpers and frontends contribute, with the plugin that serves each. */
  tools(): (ContributedTool & { pluginId: string })[];
  callContributed(pluginId: string, tool: string, args: unknown, call: Omit<RunCall, 'input'>): Promise<unknown>;
  list(): PluginState[];
  stop(): Promise<void>;
}
