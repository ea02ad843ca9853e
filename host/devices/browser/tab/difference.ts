/**
 * Only what changed since an observation that the caller still has.
 *
 * `{ protocol_version, generation, since, unchanged: true }`, or the fields of the observation that differ: `elements`
 * holds those that are new or different, `removed` the refs that are gone, `order` all refs when their order changed.
 */
import type { Observation, ObservedElement } from '../../../../sdk/devices/remote-browser-contract.ts';
import type { Tab } from './tab.ts';

/** Observations that can be asked for differences from. */
const KEPT = 4;

export function remember(tab: Tab, observation: Observation): void {
  tab.remembered.set(observation.generation, observation);
  if (tab.remembered.size > KEPT) {
    const oldest = tab.remembered.keys().next().value;
    if (oldest !== undefined) tab.remembered.delete(oldest);
  }
}

export function changesSince(before: Observation, now: Observation): Record<string, unknown> {
  const known = new Map(before.elements.map((element) => [element.ref, JSON.stringify(element)]));
  const changed: ObservedElement[] = now.elements.filter(
    (element) => known.get(element.ref) !== JSON.stringify(element),
  );
  const present = new Set(now.elements.map((element) => element.ref));
  const removed = before.elements.filter((element) => !present.has(element.ref)).map((element) => element.ref);
  const fields: Record<string, unknown> = {};
  for (const field of [
    'url',
    'title',
    'text',
    'viewport_text',
    'scroll',
    'truncated',
    'navigation',
    'notices',
  ] as const)
    if (JSON.stringify(before[field]) !== JSON.stringify(now[field])) fields[field] = now[field];
  const kept = before.elements.map((element) => element.ref).filter((ref) => present.has(ref));
  const keptNow = now.elements.map((element) => element.ref).filter((ref) => known.has(ref));
  const reordered = kept.join() !== keptNow.join();
  const unchanged = changed.length === 0 && removed.length === 0 && !reordered && Object.keys(fields).length === 0;
  return {
    protocol_version: now.protocol_version,
    generation: now.generation,
    since: before.generation,
    ...(unchanged ? { unchanged: true } : fields),
    ...(changed.length > 0 ? { elements: changed } : {}),
    ...(removed.length > 0 ? { removed } : {}),
    ...(reordered || changed.some((element) => !known.has(element.ref))
      ? { order: now.elements.map((element) => element.ref) }
      : {}),
  };
}
