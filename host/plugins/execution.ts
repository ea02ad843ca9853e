/** Where a plugin's code runs. Two tiers serve one interface: a worker thread of the host, or one in a process of its own. */
import type { Wire } from './guarded-endpoint.ts';

export interface ExecutionOptions {
  pluginId: string;
  /** Megabytes after which the execution is ended. */
  memoryMb: number;
  /** Show authors where errors arise: stacks are visible inside the sandbox. Never for a real run. */
  check?: boolean;
}

export interface Execution {
  /** Host calls plugin. */
  readonly calls: Wire;
  /** Plugin calls host. */
  readonly capabilities: Wire;
  /** Resolves when the execution is gone, with the cause in words. Never rejects. */
  readonly ended: Promise<EndCause>;
  /** Returns at once; `ended` tells when it is done. */
  terminate(): void;
  /** Bytes of heap and buffers, where the running Node can tell. */
  memory(): Promise<number | undefined>;
  /** Share of the time since the last call in which its event loop was busy, 0 to 1, where it can be seen from outside. */
  busy(): number | undefined;
}

export interface EndCause {
  kind: 'stopped' | 'lost' | 'memory' | 'protocol';
  text: string;
}

export interface ExecutionService {
  readonly tier: 'thread' | 'process';
  start(options: ExecutionOptions): Execution;
}
