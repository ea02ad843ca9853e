/** Puts one decision to Jev and reads it: the same for an agent's goal and for a direct command. */
import type { JevResult } from '../../sdk/contract/jev.ts';
import { type Decision, readChoice, readDecision } from './decision.ts';
import { labelOf } from './execution.ts';
import { askForDecision, type Situation } from './questions.ts';
import type { Session } from './session.ts';
import { Stop } from './stop.ts';

export interface Decided {
  decision: Decision;
  /** Holds the answers to what was asked beside the decision, validated too. */
  result: JevResult;
}

/** @throws Stop when nothing can be asked, the evaluation fails, or its answer breaks one of its questions. */
export async function askJev(session: Session, situation: Situation): Promise<Decided> {
  const asked = askForDecision(situation);
  if ('refused' in asked) throw new Stop(asked.refused);
  const { offer, extraQuestions = {} } = situation;
  const from = session.ctx.clock.now();
  // The lease is renewed beside the decision: both are needed before anything is sent, neither needs the other.
  const [result] = await Promise.all([session.evaluate(asked.request), session.renew()]);
  const decision = readDecision(asked.request, offer, result);
  const ms = session.ctx.clock.now() - from;
  const offered = { CLICK: offer.CLICK.length, TYPE_TEXT: offer.TYPE_TEXT.length, SELECT: offer.SELECT.length };
  if ('refused' in decision) return invalid(session, decision.detail, { offered, ms });
  // Every question that was put beside must hold too: an answer is used whole or not at all.
  for (const [id, question] of Object.entries(extraQuestions)) {
    const choice = question.type === 'choice' ? readChoice(question, result.answers[id]) : 'ANSWER_TYPE';
    if (typeof choice === 'string') return invalid(session, choice, { offered, ms });
  }
  const { criteria } = asked.request.questions.operation as { criteria: object };
  tell(session, decision, result, { offered, operations: Object.keys(criteria).length, ms });
  return { decision, result };
}

/** @throws Stop INVALID_DECISION, as the provider's failure that it is. */
export function invalid(session: Session, detail: string, about: Asked = {}): never {
  session.trace.add('decision', { refused: 'INVALID_DECISION', detail, ...about });
  session.ctx.log.warn(`A decision did not pass validation (${detail}).`);
  throw new Stop('INVALID_DECISION', { providerFailure: { code: 'INVALID_DECISION', validationReason: detail } });
}

interface Asked {
  offered?: Record<string, number>;
  operations?: number;
  ms?: number;
}

function tell(session: Session, { operation, target }: Decision, result: JevResult, { ms = 0, ...about }: Asked): void {
  const probabilities = {
    operation_probability: operation.probability,
    operation_confidence: operation.confidence,
    ...(target && {
      target_probability: target.choice.probability,
      target_confidence: target.choice.confidence,
    }),
  };
  const { requestId, model } = result;
  session.trace.add('decision', {
    request: requestId,
    ...about,
    operation: operation.key,
    target: target?.choice.key,
    ...probabilities,
    ms,
  });
  session.tell({
    phase: 'decided',
    requestId,
    model,
    operation: operation.key,
    decision_ms: ms,
    ...(target && { label: labelOf(target.target) }),
    ...probabilities,
  });
}
