/** What has the focus. */
import type { Refused } from './aim.ts';
import * as changes from './changes.ts';
import { addressChanged } from './guard.ts';
import { accessibleName, tidy } from './names.ts';
import { isSensitive } from './secrets.ts';
import { activeElement, cut } from './tree.ts';

export function keyPlace(generation: number): { ok: true } | Refused {
  const stale = addressChanged(generation);
  if (stale) return { refused: stale };
  changes.begin(activeElement(document));
  return { ok: true };
}

/** What has the focus, for the host's own words. */
export function focusName(): string {
  const active = activeElement(document);
  if (!active || active === document.body) return '';
  return isSensitive(active) ? '' : cut(tidy(accessibleName(active)), 120);
}
