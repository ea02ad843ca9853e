/** The tools that a task may reach on its target, and what a reply of each kind of target proves. */
import type { ToolReply } from '../../sdk/contract/capabilities.ts';
import { browserLeaseTools, browserMutations, browserReads } from '../../sdk/devices/remote-browser-contract.ts';
import { readReply } from '../../sdk/devices/remote-browser-reply.ts';
import type { MutationNote } from './ports.ts';

export interface ToolSet {
  mutations: ReadonlySet<string>;
  leases: ReadonlySet<string>;
  reads: ReadonlySet<string>;
  /** Given back without a question about access. */
  release: string;
  /** Reads that take an operation id and no scope. */
  unscoped: ReadonlySet<string>;
  /** Anything unclear is `unknown`. */
  outcomeOf(reply: ToolReply): MutationNote['outcome'];
}

export const BROWSER_TOOLS: ToolSet = {
  mutations: new Set(browserMutations),
  leases: new Set(browserLeaseTools),
  reads: new Set(browserReads),
  release: 'browser_task_release',
  unscoped: new Set(['operation_status']),
  outcomeOf(reply) {
    const reading = readReply(reply);
    if (reading.kind === 'value') return reading.value.state === 'completed' ? 'confirmed' : 'unknown';
    return reading.kind === 'refused' && !reading.executed ? 'not_executed' : 'unknown';
  },
};

export const COMPUTER_TOOLS: ToolSet = {
  mutations: new Set(['computer_action']),
  leases: new Set(['computer_acquire', 'computer_release']),
  reads: new Set(['computer_observe', 'computer_screenshot', 'computer_operation_status']),
  release: 'computer_release',
  unscoped: new Set(),
  outcomeOf(reply) {
    const reading = readReply(reply);
    if (reading.kind === 'invalid') return 'unknown';
    if (reading.kind === 'refused') return reading.executed ? 'unknown' : 'not_executed';
    const { state } = reading.value;
    if (state === 'completed') return 'confirmed';
    return state === 'not_executed' ? 'not_executed' : 'unknown';
  },
};

export const toolSetOf = (adapter: string): ToolSet => (adapter === 'computer' ? COMPUTER_TOOLS : BROWSER_TOOLS);
