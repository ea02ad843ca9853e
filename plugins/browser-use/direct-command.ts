/**
 * One direct command: read by the grammar and sent, or decided once and sent, or told why not.
 *
 * Never more than one action. An action that may have run ends the command as unknown; nothing is sent again for it.
 */
import { parseCommand } from '../../sdk/commands/command.ts';
import { confirmed } from './direct-confirmation.ts';
import { decideAndAct, namedAddress } from './direct-decision.ts';
import { type Author, type Order, withGoal } from './direct-order.ts';
import { type Settled, settled, waiting } from './direct-outcome.ts';
import { carryOutReading, openAddress } from './direct-primitives.ts';
import { search } from './direct-search.ts';
import type { Session } from './session.ts';
import { codeOf, Stop, type StopExtras } from './stop.ts';

export async function runCommand(session: Session): Promise<Stop> {
  const { goal, confirmation, agentCommand } = session.input;
  let words = goal;
  let author: Author = agentCommand ? 'agent' : 'user';
  if (confirmation) {
    const reply = await confirmed(session, confirmation).catch((error: unknown) => stopOf(error));
    if (reply instanceof Stop) {
      const end = settled(session, reply, undefined);
      return end instanceof Stop ? end : waiting(end, reply.extras);
    }
    if (reply === 'NO') return waiting({ done: false, reason: 'CONFIRMATION_DECLINED' });
    if (reply === 'YES') [words, author] = [confirmation.command, 'confirmed'];
    else author = 'user';
  }
  const { end, extras } = await carryOut(session, words, author);
  return end instanceof Stop ? end : waiting(end, extras);
}

/**
 * Carries out one command within a session that holds the lease.
 *
 * @returns how it settled, or the stop that ends the run; with what the stop behind it told besides.
 */
export async function carryOut(
  session: Session,
  words: string,
  author: Author,
): Promise<{ end: Settled | Stop; extras: StopExtras }> {
  const order: Order = {
    session: withGoal(session, words),
    words,
    author,
    reading: parseCommand(words, 'browser'),
  };
  const before = session.lastAction;
  try {
    return { end: await carryOutOrder(order), extras: {} };
  } catch (error) {
    const stop = stopOf(error);
    // An action of an earlier part says nothing about this command.
    const own = session.lastAction !== before;
    const end = settled(own ? session : withoutAction(session), stop, order.attempted);
    return { end, extras: stop.extras };
  }
}

async function carryOutOrder(order: Order): Promise<Settled> {
  const { session, reading } = order;
  try {
    const end = await carryOutReading(order);
    if (end) return end;
    const page = session.page ?? (await session.read());
    const found = reading?.kind === 'search' ? await search(order, reading.text, page) : undefined;
    return found ?? (await decideAndAct(order, page));
  } catch (error) {
    // Nothing can be read on a blank tab, but a site that the words name can be opened on it.
    const blank = error instanceof Stop && error.reason === 'START_URL_REQUIRED' && session.input.textHelper;
    if (!blank || order.author === 'agent' || reading !== undefined) throw error;
    return openAddress(order, await namedAddress(order));
  }
}

const withoutAction = (session: Session): Session => Object.create(session, { lastAction: { value: undefined } });

const stopOf = (error: unknown): Stop => (error instanceof Stop ? error : new Stop(codeOf(error) ?? 'ADAPTER_FAILURE'));
