/**
 * A picture of what is in view, bound to an observation, with sensitive fields painted out before it is taken.
 *
 * Threat: a picture shows what an observation hides. The fields are hidden in the page for the moment of the picture, which
 * a page that watches its own styles can notice; where a field cannot be hidden, no picture is taken.
 */
import { MAX_REPLY_CHARS, type Screenshot } from '../../../../sdk/devices/remote-browser-contract.ts';
import { assertReady } from '../acting/target.ts';
import { Refusal, stale } from '../refusal.ts';
import type { Tab } from './tab.ts';

/** Characters of base64 that leave room for the rest of the reply. */
const MAX_DATA = MAX_REPLY_CHARS - 4096;
const JPEG_QUALITY = 70;
/** How much smaller each further try is. */
const SMALLER = 0.7;
const TRIES = 5;

export async function screenshot(
  tab: Tab,
  options: { generation: string; format: 'png' | 'jpeg'; max_side: number },
): Promise<Screenshot> {
  assertReady(tab, options.generation);
  if (tab.dialog) throw stale('DIALOG_OPENED');
  const { main } = tab.frames;
  const seen = tab.generations.get(options.generation)?.byToken.get(main.token);
  if (!seen) throw stale('OBSERVATION_FORGOTTEN');
  const current = await tab.look<{ stale?: string; width: number; height: number }>(
    main,
    `__device.pictureState(${seen.generation})`,
  );
  if (current.stale) throw stale(current.stale);

  const frames = [main, ...framesBelow(tab)];
  let masked = 0;
  try {
    for (const frame of frames) masked += await tab.look<number>(frame, '__device.maskSensitive()');
    const { width, height } = current;
    let scale = Math.min(1, options.max_side / Math.max(width, height));
    for (let attempt = 0; attempt < TRIES; attempt++, scale *= SMALLER) {
      const { data } = await tab.send('Page.captureScreenshot', {
        format: options.format,
        ...(options.format === 'jpeg' ? { quality: JPEG_QUALITY } : {}),
        clip: { x: await scrollX(tab), y: await scrollY(tab), width, height, scale },
        captureBeyondViewport: false,
        optimizeForSpeed: true,
      });
      if (data.length > MAX_DATA) continue;
      return {
        generation: options.generation,
        mimeType: options.format === 'png' ? 'image/png' : 'image/jpeg',
        data,
        width: Math.round(width * scale),
        height: Math.round(height * scale),
        scale,
        viewport: { width, height },
        masked,
        capturedAt: tab.now(),
      };
    }
    throw new Refusal('SCREENSHOT_TOO_LARGE');
  } finally {
    for (const frame of frames) await tab.look(frame, '__device.unmask()').catch(() => {});
  }
}

const scrollX = (tab: Tab) => tab.look<number>(tab.frames.main, 'scrollX');
const scrollY = (tab: Tab) => tab.look<number>(tab.frames.main, 'scrollY');

function framesBelow(tab: Tab) {
  const all = [];
  const queue = [tab.frames.main];
  for (let frame = queue.shift(); frame; frame = queue.shift()) {
    const children = tab.frames.childrenOf(frame);
    all.push(...children);
    queue.push(...children);
  }
  return all;
}
