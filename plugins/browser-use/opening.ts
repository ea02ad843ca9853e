/** The first page of a run, and pages that are still being built. */
import type { Observation } from './observation.ts';
import { isEmpty } from './observation.ts';
import type { Acted, Session } from './session.ts';
import { Stop } from './stop.ts';

/** Reads of an empty page before the run gives up on it, without a paid decision. */
const EMPTY_READS = 5;
const EMPTY_WAIT_MS = 200;

/** Opens the address that the task names, or reads what is there. */
export async function firstPage(session: Session): Promise<Observation> {
  const { input } = session;
  if (input.startUrl !== undefined) return open(session, input.startUrl);
  try {
    return await session.read();
  } catch (error) {
    // The browser's own new-tab page cannot be read. A goal that names one address says where to go.
    const address = error instanceof Stop && error.reason === 'START_URL_REQUIRED' ? addressIn(input.goal) : undefined;
    if (address === undefined) throw error;
    return open(session, address);
  }
}

async function open(session: Session, url: string): Promise<Observation> {
  const acted = await navigateTo(session, url);
  if (acted.outcome === 'confirmed') return acted.page;
  throw new Stop(acted.code);
}

/**
 * Opens an address. A dialog of the browser that something earlier left open keeps a page from being left: it is closed,
 * once, without agreeing to what it asks.
 */
export async function navigateTo(session: Session, url: string): Promise<Acted> {
  const navigate = () => session.act('NAVIGATE', undefined, (id) => session.browser.navigate(id, { url }));
  const acted = await navigate();
  if (acted.outcome === 'confirmed' || acted.cause !== 'DIALOG_OPENED') return acted;
  session.trace.add('recovery', { code: acted.code, cause: acted.cause, during: 'action' });
  return (await closeDialog(session)) ? navigate() : acted;
}

async function closeDialog(session: Session): Promise<boolean> {
  const { elements, generation } = await session.read();
  // A message that only informs has no way to decline.
  const way = ['dialog-dismiss', 'dialog-accept'].map((ref) => elements.find((element) => element.ref === ref));
  const close = way[0] ?? way[1];
  if (!close) return false;
  const { ref, label } = close;
  const acted = await session.act('CLICK', label, (id) => session.browser.click(id, { ref, generation }));
  return acted.outcome === 'confirmed';
}

/** The one http address that a text names. */
export function addressIn(text: string): string | undefined {
  const found = new Set(text.match(/https?:\/\/[^\s"'<>“”]+[^\s"'<>“”.,;:!?)\]}]/giu) ?? []);
  const [address] = found;
  return found.size === 1 ? address : undefined;
}

/** Gives a page that is still being built a moment, before anything is paid for it. */
export async function filled(session: Session, page: Observation): Promise<Observation> {
  let now = page;
  for (let reads = 0; isEmpty(now); reads++) {
    if (reads >= EMPTY_READS) throw new Stop('PAGE_CONTENT_UNAVAILABLE');
    await session.pause(EMPTY_WAIT_MS);
    await session.renew();
    now = await session.read();
  }
  return now;
}
