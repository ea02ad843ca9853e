/** One direct command on its way: whose it is, what it says, and what it may do. */
import type { Command } from '../../sdk/commands/command.ts';
import type { CommandAction, Settled } from './direct-outcome.ts';
import type { Observation } from './observation.ts';
import type { Acted, Session } from './session.ts';
import { Stop } from './stop.ts';

/**
 * - `user`: the user's own words.
 * - `confirmed`: a command that the user said yes to; as the user's own, but it is known to be an action.
 * - `agent`: the agent's command for words of the user that came to nothing. Its impact is asked for.
 * - `part`: one part of the user's step list.
 */
export type Author = 'user' | 'confirmed' | 'agent' | 'part';

export interface Order {
  /** The run's session; its goal is these words. */
  readonly session: Session;
  readonly words: string;
  readonly author: Author;
  /** What the grammar reads in the words. */
  readonly reading: Command | undefined;
  /** What the command is about to do; kept for the words of the outcome when it stops there. */
  attempted?: CommandAction;
  /** Why the decision before was not carried out. */
  recovery?: { [key: string]: string };
}

/** Milliseconds before a changing page is looked at again. */
export const LOOK_AGAIN_MS = 1000;
/** Times that a page is looked at again for one command, while nothing of it has run. */
export const LOOKS_AGAIN = 2;
/** Times that a primitive is sent again after the device refused it as stale: certain that it did nothing. */
const RESENDS = 1;

/** The session with the command's words for its goal; everything else is the run's own. */
export function withGoal(session: Session, goal: string): Session {
  return Object.create(session, { input: { value: { ...session.input, goal }, enumerable: true } }) as Session;
}

export const done = (order: Order): Settled => ({
  done: true,
  ...(order.attempted === undefined ? {} : { action: order.attempted }),
});

export const notDone = (order: Order, reason: string): Settled => ({
  done: false,
  ...(order.attempted === undefined ? {} : { action: order.attempted }),
  reason,
});

/**
 * Sends one primitive for the page as it is, and once more for a fresh page where the device refused it as stale.
 * `send` sends it, or says that on this page there is nothing to send.
 */
export async function sendPrimitive(
  order: Order,
  send: (page: Observation) => Promise<Acted> | { refused: string },
  first?: Observation,
): Promise<Settled> {
  const { session } = order;
  let page = first ?? (await session.read());
  for (let resends = 0; ; resends++) {
    const sent = send(page);
    if ('refused' in sent) return notDone(order, sent.refused);
    const acted = await sent;
    if (acted.outcome === 'confirmed') return done(order);
    refuse(session, acted);
    if (resends >= RESENDS) throw new Stop('STALE_OBSERVATION');
    await session.pause(LOOK_AGAIN_MS);
    page = await session.read();
  }
}

/** Lets a stale refusal pass, counted; anything else, or a covered target, ends the command. */
export function refuse(session: Session, { code, cause }: { code: string; cause?: string }): void {
  session.trace.add('recovery', { code, cause, during: 'action' });
  if (code !== 'STALE_OBSERVATION') throw new Stop(code);
  session.counts.staleRetries += 1;
  if (cause === 'TARGET_OBSCURED') throw new Stop('TARGET_OBSCURED');
}
