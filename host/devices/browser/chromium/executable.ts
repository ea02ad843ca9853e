/** Where Chromium is, and whether it is new enough. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { refuse } from '../../../../sdk/contract/errors.ts';

/** Oldest major version that the protocol calls of this device were proved with is far newer; below this one some are missing. */
export const OLDEST_MAJOR = 125;

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const PLACES = [
  '/usr/lib/chromium/chromium',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** @param path the value of PATH. @throws DEVICE_CHROMIUM_MISSING */
export function findChromium(configured: string | undefined, path: string | undefined): string {
  const candidates = configured
    ? [configured]
    : [
        ...NAMES.flatMap((name) =>
          (path ?? '')
            .split(delimiter)
            .filter(Boolean)
            .map((dir) => join(dir, name)),
        ),
        ...PLACES,
      ];
  for (const candidate of candidates) {
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // The next place.
    }
  }
  return refuse('DEVICE_CHROMIUM_MISSING', configured ? { path: configured } : {});
}

/** @param product for example `Chrome/156.0.8078.114`. @throws DEVICE_CHROMIUM_TOO_OLD */
export function checkVersion(product: string): void {
  const major = Number(/\/(\d+)\./.exec(product)?.[1]);
  if (!(major >= OLDEST_MAJOR)) refuse('DEVICE_CHROMIUM_TOO_OLD', { found: product, oldest: OLDEST_MAJOR });
}
