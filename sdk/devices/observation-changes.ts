/**
 * Only what changed since an observation that the caller still has: the answer of `page_observe` with `detail: "changes"`.
 *
 * `{ protocol_version, generation, since, unchanged: true }`, or the fields of the observation that differ. `elements` holds
 * those that are new or different, `removed` the refs that are gone, `order` all refs when their order changed. Texts come
 * as edits (`text_edits`, `viewport_text_edits`) where those are shorter.
 */
import * as v from 'valibot';
import { Observation, type ObservedElement } from './remote-browser-contract.ts';
import { TextEdit, textEdits, withEdits } from './text-edits.ts';

const page = Observation.entries;
const Edits = v.optional(v.pipe(v.array(TextEdit), v.maxLength(24_000)));

export const ObservationChanges = v.object({
  protocol_version: v.literal(1),
  generation: page.generation,
  /** The generation of the observation that these are changes of. */
  since: page.generation,
  unchanged: v.optional(v.literal(true)),
  url: v.optional(page.url),
  title: v.optional(page.title),
  text: v.optional(page.text),
  text_edits: Edits,
  viewport_text: page.viewport_text,
  viewport_text_edits: Edits,
  scroll: v.optional(page.scroll),
  truncated: v.optional(page.truncated),
  navigation: page.navigation,
  /** Told once each, so none are those of the observation before. */
  notices: page.notices,
  elements: v.optional(page.elements),
  removed: v.optional(v.array(v.string())),
  order: v.optional(v.array(v.string())),
});
export type ObservationChanges = v.InferOutput<typeof ObservationChanges>;

const FIELDS = ['url', 'title', 'scroll', 'truncated', 'navigation'] as const;
const TEXTS = ['text', 'viewport_text'] as const;
const json = JSON.stringify;

export function changesSince(before: Observation, now: Observation): ObservationChanges {
  const known = new Map(before.elements.map((element) => [element.ref, json(element)]));
  const changed = now.elements.filter((element) => known.get(element.ref) !== json(element));
  const present = new Set(now.elements.map((element) => element.ref));
  const removed = before.elements.filter((element) => !present.has(element.ref)).map((element) => element.ref);
  const fields: Record<string, unknown> = {};
  for (const field of FIELDS) if (json(before[field]) !== json(now[field])) fields[field] = now[field];
  for (const field of TEXTS) {
    const [old = '', fresh = ''] = [before[field], now[field]];
    if (old === fresh) continue;
    const edits = textEdits(old, fresh);
    if (json(edits).length < json(fresh).length) fields[`${field}_edits`] = edits;
    else fields[field] = fresh;
  }
  if (now.notices) fields.notices = now.notices;
  const kept = before.elements.map((element) => element.ref).filter((ref) => present.has(ref));
  const keptNow = now.elements.map((element) => element.ref).filter((ref) => known.has(ref));
  const reordered = kept.join() !== keptNow.join() || changed.some((element) => !known.has(element.ref));
  const unchanged = changed.length === 0 && removed.length === 0 && !reordered && Object.keys(fields).length === 0;
  return {
    protocol_version: now.protocol_version,
    generation: now.generation,
    since: before.generation,
    ...(unchanged ? { unchanged: true } : fields),
    ...(changed.length > 0 ? { elements: changed } : {}),
    ...(removed.length > 0 ? { removed } : {}),
    ...(reordered ? { order: now.elements.map((element) => element.ref) } : {}),
  };
}

/**
 * The observation that the changes lead to.
 * @returns undefined when they are not changes of this observation; then ask for a full one.
 */
export function withChanges(before: Observation, changes: ObservationChanges): Observation | undefined {
  if (changes.since !== before.generation) return undefined;
  const text = changes.text ?? withEdits(before.text, changes.text_edits ?? []);
  const viewportText =
    changes.viewport_text ?? withEdits(before.viewport_text ?? '', changes.viewport_text_edits ?? []);
  const elements = elementsAfter(before.elements, changes);
  if (text === undefined || viewportText === undefined || !elements) return undefined;
  const { notices: _told, ...kept } = before;
  return {
    ...kept,
    generation: changes.generation,
    text,
    ...(before.viewport_text === undefined && viewportText === '' ? {} : { viewport_text: viewportText }),
    elements,
    ...(changes.notices ? { notices: changes.notices } : {}),
    ...Object.fromEntries(FIELDS.flatMap((field) => (changes[field] === undefined ? [] : [[field, changes[field]]]))),
  };
}

function elementsAfter(before: ObservedElement[], changes: ObservationChanges): ObservedElement[] | undefined {
  const all = new Map([...before, ...(changes.elements ?? [])].map((element) => [element.ref, element]));
  for (const ref of changes.removed ?? []) all.delete(ref);
  if (!changes.order) return [...all.values()];
  const ordered = changes.order.flatMap((ref) => all.get(ref) ?? []);
  return ordered.length === changes.order.length ? ordered : undefined;
}
