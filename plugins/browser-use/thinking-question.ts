/** One question to Thinking. A failure is told as the provider's, and never taken for an answer. */
import type { ThinkingReply, ThinkingRequest } from '../../sdk/contract/thinking.ts';
import { EVALUATION_TIMEOUT_MS, type Session } from './session.ts';
import { providerStop, Stop } from './stop.ts';

/** @throws Stop with the provider's code, or ADAPTER_TIMEOUT. */
export async function askThinking(session: Session, request: ThinkingRequest): Promise<ThinkingReply> {
  try {
    return await session.within(session.ctx.thinking.assist(request), EVALUATION_TIMEOUT_MS, 'ADAPTER_TIMEOUT');
  } catch (error) {
    throw error instanceof Stop ? error : providerStop(error);
  }
}
