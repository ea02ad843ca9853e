/** The powers that this controller asks for. */
import type { RunContext } from '../../sdk/contract/capabilities.ts';

export type Context = RunContext<
  'jev.evaluate' | 'tools.call' | 'thinking.assist' | 'task' | 'clock' | 'random' | 'log'
>;
