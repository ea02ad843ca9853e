/** Typed programs as their callers, the plugin and the host see them: the artifact, the run envelope, the limits. */
import type { JevUsage, Json } from './jev.ts';

export interface ProgramLimits {
  /** Milliseconds from launch to the end. */
  timeoutMs: number;
  maxEvaluations: number;
  /** Host calls of every kind: tools, `sleep`, `emit`, `nextEvent`. */
  maxToolCalls: number;
  /** Tokens that the provider reported, in and out. */
  maxTokens: number;
}

/** An ordinary JSON value that can be stored and launched again. */
export interface ProgramArtifact {
  name: string;
  /** The body of an async function, in TypeScript. */
  code: string;
  inputSchema: { [key: string]: Json };
  outputSchema: { [key: string]: Json };
  /** Exact references, such as `jev.evaluate` or `browser.cdp`. Nothing else can be called. */
  requires: string[];
  limits?: Partial<ProgramLimits>;
}

export type ProgramState = 'running' | 'completed' | 'failed' | 'cancelled' | 'timed_out';

export interface ProgramEvent {
  /** From 1, without gaps; a gap in what `status` returns means that older events were dropped. */
  sequence: number;
  /** Milliseconds since the epoch. */
  at: number;
  value: Json;
}

export interface RunEnvelope {
  id: string;
  name: string;
  state: ProgramState;
  background: boolean;
  startedAt: number;
  endedAt?: number;
  result?: Json;
  /** At most 2,000 characters. */
  error?: string;
  evaluations: number;
  toolCalls: number;
  usage: JevUsage;
  /** At most the latest 64. */
  events: ProgramEvent[];
  /** The sequence that the next event will have. */
  nextSequence: number;
  logs: string[];
  observation?: ObservationReport;
}

export const observableEvents = ['input', 'turn_end', 'tool_error', 'agent_end', 'agent_settled'] as const;
export type ObservableEvent = (typeof observableEvents)[number];

/** What a background program wants to hear about its own conversation. */
export interface ObserveRequest {
  events: ObservableEvent[];
  include?: ('inputText' | 'assistantText' | 'toolResults')[];
  /** Characters of one event's payload, 256 to 8,192. */
  maxChars?: number;
  /** 1 to 32; when full, the oldest is dropped. */
  queueSize?: number;
  maxEventAgeMs?: number;
  delivery?: 'steer' | 'followUp';
  triggerTurn?: boolean;
  maxAdvice?: number;
}

/** One event of the conversation. The payload is untrusted text of people, models and tools. */
export interface ObservedEvent {
  /** `<epoch>:<sequence>` */
  id: string;
  sequence: number;
  event: ObservableEvent;
  source: 'main';
  sessionId: string;
  revision: number;
  at: number;
  payload: { [key: string]: Json };
  truncated: boolean;
}

export interface AdviceResult {
  delivered: boolean;
  reason?: 'disabled' | 'stale' | 'duplicate' | 'budget' | 'feedback' | 'delivery_failed';
}

export interface ObservationReport {
  events: ObservableEvent[];
  received: number;
  consumed: number;
  dropped: number;
  queued: number;
  adviceDelivered: number;
  adviceSuppressed: number;
}

/** A reference that a caller may use, as the host describes it. */
export interface ProgramTool {
  ref: string;
  description?: string;
  /** JSON Schema of the arguments and, where known, of the result. */
  inputSchema?: { [key: string]: Json };
  outputSchema?: { [key: string]: Json };
}

/** One finding of the type check, in the program's own lines and columns (both from 1). */
export interface ProgramDiagnostic {
  line: number;
  column: number;
  /** The compiler's number, such as 2339; 0 for findings that are not the compiler's. */
  code: number;
  message: string;
}

/** For whom programs run, and what they would be judged by. Never a credential. */
export interface ProgramsAbout {
  /** Opaque; the same for every call of one principal, agent and conversation. */
  owner: string;
  model: string;
  credentials: {
    configured: boolean;
    source: 'stored' | 'environment' | 'command' | 'file' | 'missing' | 'command-unsupported';
    /** Presence proves nothing; nobody was asked. */
    verified: false;
  };
}

/** What a caller may use of the references that a program requires. */
export interface DescribedReferences {
  tools: ProgramTool[];
  /** Known here, but not this caller's to use. */
  denied: string[];
  missing: string[];
  /** Changes whenever the caller's capabilities do; a launch is pinned to it. */
  generation: string;
}

export interface CheckedProgram {
  diagnostics: ProgramDiagnostic[];
  /** An expression that yields the program's async function; absent when there are findings. */
  javascript?: string;
  /** The mappings of its source map. */
  positions?: string;
}
