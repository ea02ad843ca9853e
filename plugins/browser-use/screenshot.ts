/**
 * The picture that goes with a decision, when images are enabled.
 *
 * Threat: a picture shows what the element list leaves out on purpose. It is therefore taken only when nothing sensitive
 * is in view, neither before nor right after the capture, and no element in view is missing from the list.
 */
import type { JevAsset } from '../../sdk/contract/jev.ts';
import { fingerprint, mayShowSensitive, type Observation } from './observation.ts';
import type { Session } from './session.ts';

/** Pixels that a side of an image may have (jev-facts A3). */
const MAX_SIDE = 1568;
const MIN_SIDE = 280;

export interface Pictured {
  /** The page that the decision is about: read again after the capture. */
  page: Observation;
  screenshot?: JevAsset;
}

export async function pictureOf(session: Session, page: Observation): Promise<Pictured> {
  const skip = (code: 'SCREENSHOT_SKIPPED_SENSITIVE' | 'SCREENSHOT_UNAVAILABLE', at: Observation, why?: string) => {
    session.trace.add('recovery', { code, cause: why });
    return { page: at };
  };
  if (mayShowSensitive(page)) return skip('SCREENSHOT_SKIPPED_SENSITIVE', page);
  const taken = await session.browser.screenshot({ generation: page.generation, format: 'jpeg', maxSide: MAX_SIDE });
  const after = await session.read();
  if (mayShowSensitive(after)) return skip('SCREENSHOT_SKIPPED_SENSITIVE', after);
  if (!taken.ok) return skip('SCREENSHOT_UNAVAILABLE', after, taken.code);
  const { data, mimeType, width, height, masked } = taken.value;
  // The device painted something out that the list did not mark: the two disagree, and the picture is not sent.
  if (masked > 0) return skip('SCREENSHOT_SKIPPED_SENSITIVE', after, 'MASKED');
  const fits = Math.min(width, height) >= MIN_SIDE && Math.max(width, height) <= MAX_SIDE;
  if (!fits) return skip('SCREENSHOT_UNAVAILABLE', after, 'SIZE');
  if (fingerprint(after) !== fingerprint(page)) return skip('SCREENSHOT_UNAVAILABLE', after, 'PAGE_CHANGED');
  const format = mimeType === 'image/png' ? 'png' : 'jpeg';
  return { page: after, screenshot: { type: 'image', format, data_base64: data } };
}
