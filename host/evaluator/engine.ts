/** What every engine of the stand-in is: questions in, answers out. */
import type { JevAnswer, JevQuestion } from '../../sdk/contract/jev.ts';

export interface EngineRequest {
  model: string;
  state: unknown;
  questions: Record<string, JevQuestion>;
  assets?: Record<string, unknown>;
}

export interface EngineReply {
  answers: Record<string, JevAnswer>;
  /** Where the probabilities came from, for all or by question; sent as `x_readout` beside the answers. */
  readout?: string | Record<string, string>;
  usage?: { input_tokens: number; output_tokens: number };
}

export interface Engine {
  /** Names it in /healthz and in the banner. */
  name: string;
  answer(request: EngineRequest, signal: AbortSignal): EngineReply | Promise<EngineReply>;
}
