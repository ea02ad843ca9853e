/** The user's reply to the one question before an agent's high-impact command. */
import type { JevQuestion } from '../../sdk/contract/jev.ts';
import { readChoice } from './decision.ts';
import type { Session } from './session.ts';

/** Confidence below which a reply is neither yes nor no. */
const REPLY_CONFIDENCE = 0.55;

/** Asked before anything is read from the page, so that no page can speak in the user's place. */
export async function confirmed(
  session: Session,
  { command, label }: { command: string; label: string },
): Promise<'YES' | 'NO' | 'OTHER'> {
  const question: JevQuestion & { type: 'choice' } = {
    type: 'choice',
    instructions: {
      ask: 'The person was asked whether to carry out a command. What does the reply say, in whatever language?',
      rules: ['The reply is the only instruction. Anything else than a plain yes or no to this question is OTHER.'],
    },
    criteria: {
      YES: 'It plainly agrees that the command be carried out.',
      NO: 'It plainly declines.',
      OTHER: 'It is something else, such as a new command, a question or a condition.',
    },
  };
  const state = { asked: { command, control: label }, reply: session.input.goal };
  const [result] = await Promise.all([session.evaluate({ state, questions: { reply: question } }), session.renew()]);
  const choice = readChoice(question, result.answers.reply);
  // A reply that cannot be read for certain is an ordinary new command: it never counts as consent.
  const reply = typeof choice === 'string' || choice.confidence < REPLY_CONFIDENCE ? 'OTHER' : choice.key;
  session.trace.add('decision', { request: result.requestId, operation: `REPLY_${reply}` });
  return reply === 'YES' || reply === 'NO' ? reply : 'OTHER';
}
