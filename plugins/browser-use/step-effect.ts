/** Whether an action of a step changed the page, with a moment for the change to show. */
import { sameAddress } from '../../sdk/commands/address.ts';
import type { CommandAction } from './direct-outcome.ts';
import { fingerprint, type Observation } from './observation.ts';
import type { Session } from './session.ts';
import { Stop } from './stop.ts';

/** Further reads for a change to show, and milliseconds between them. */
const LOOKS = 4;
const LOOK_MS = 400;
/** Reads for a new address to settle, and milliseconds between them. */
const SETTLE_READS = 8;
const SETTLE_MS = 300;

/** @param before the page at which the action was sent; undefined on a blank tab. Afterwards the session's page is fresh. */
export async function hasEffect(
  session: Session,
  before: Observation | undefined,
  action: CommandAction | undefined,
): Promise<boolean> {
  if (!before) return true;
  try {
    let page = session.page ?? (await session.read());
    const was = fingerprint(before);
    for (let look = 0; look < LOOKS && fingerprint(page) === was; look++) {
      await session.pause(LOOK_MS);
      page = await session.read();
    }
    if (page.url !== before.url) await settle(session, page);
    if (fingerprint(page) !== was) return true;
    // Opening the address that is shown already is what was asked for, even where nothing looks different.
    return action?.kind === 'navigate' && action.url !== undefined && sameAddress(action.url) === sameAddress(page.url);
  } catch (error) {
    // A page that cannot be read because it keeps changing has changed.
    if (error instanceof Stop && error.reason === 'STALE_RETRY_BUDGET') return true;
    throw error;
  }
}

/** Reads until the page stays the same for one look, so that the next step sees the page and not its beginning. */
async function settle(session: Session, first: Observation): Promise<void> {
  let last = fingerprint(first);
  for (let reads = 0; reads < SETTLE_READS; reads++) {
    await session.pause(SETTLE_MS);
    const now = fingerprint(await session.read());
    if (now === last) return;
    last = now;
  }
}
