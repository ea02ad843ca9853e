/** Which of the controls found are looked at closely, and which are reported. */
import { type Box, boxOf, type Clips } from './geometry.ts';
import { type Placed, placeOf } from './hit.ts';
import { tagOf } from './tree.ts';
import type { FoundControl } from './walk.ts';

export interface Candidate extends FoundControl {
  place: Placed;
  obscured?: string;
}

/** Controls in view that are looked at closely, whatever the limit of those reported. */
const MAX_EXAMINED_IN_VIEW = 1500;

/**
 * The nearest controls, looked at closely until there are enough. On a page of thousands most are far from the view and
 * cost one box each.
 */
export function placed(
  controls: FoundControl[],
  clips: Clips,
  enough: number,
): { candidates: Candidate[]; found: number } {
  const near = controls
    .map((control) => ({
      control,
      distance: distanceOf(boxOf(control.drawn, clips.offset(control.drawn.ownerDocument))),
    }))
    .sort((a, b) => a.distance - b.distance || a.control.order - b.control.order);
  const found: Candidate[] = [];
  const seen = new Map<Element, Candidate>();
  let examined = 0;
  for (const { control, distance } of near) {
    if (found.length > enough && (distance > 0 || examined >= MAX_EXAMINED_IN_VIEW)) break;
    examined++;
    const drawn = standIn(control, clips);
    if (!drawn) continue;
    const { place } = drawn;
    const known = seen.get(control.element);
    if (known) {
      if (!known.place.inView && place.inView) Object.assign(known, { drawn: drawn.element, place });
      continue;
    }
    const candidate = { ...control, drawn: drawn.element, place };
    seen.set(control.element, candidate);
    found.push(candidate);
  }
  return { candidates: withoutWrappers(found), found: found.length + (near.length - examined) };
}

/** Pixels from the view; 0 inside it. */
function distanceOf(box: Box): number {
  return Math.max(0, -box.bottom, box.y - innerHeight) + Math.max(0, -box.right, box.x - innerWidth);
}

/** An input that is see-through or without a box is drawn by its label or by what lies around it. */
function standIn(control: FoundControl, clips: Clips): { element: Element; place: Placed } | undefined {
  const own = placeOf(control.drawn, clips);
  if (own.reachable && isDrawn(control.drawn)) return { element: control.drawn, place: own };
  const tag = tagOf(control.element);
  if (tag === 'SELECT' && own.reachable && isShown(control.drawn)) return { element: control.drawn, place: own };
  if (tag !== 'INPUT') return undefined;
  for (const label of (control.element as HTMLInputElement).labels ?? []) {
    const place = placeOf(label, clips);
    if (place.reachable && isDrawn(label)) return { element: label, place };
  }
  // See-through over a drawn box: the input itself takes the click.
  const type = (control.element as HTMLInputElement).type;
  if (own.reachable && isShown(control.drawn) && /^(?:checkbox|radio|file|range|color|date)$/.test(type))
    return { element: control.drawn, place: own };
  return undefined;
}

/** Drawn, and not see-through. */
const isDrawn = (element: Element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
/** Drawn, be it see-through: a select or checkbox laid over a drawn box. */
const isShown = (element: Element) => element.checkVisibility({ visibilityProperty: true });

/** Something with a pointer around other controls is one of its own only if it is clearly more than their frame. */
function withoutWrappers(candidates: Candidate[]): Candidate[] {
  const semantic = candidates.filter((candidate) => !candidate.guessed);
  const byElement = new Map<Element, number>();
  for (const candidate of semantic) {
    const size = boxArea(candidate);
    for (
      let current = candidate.element.parentElement, steps = 0;
      current && steps < 12;
      current = current.parentElement, steps++
    )
      byElement.set(current, (byElement.get(current) ?? 0) + size);
  }
  return candidates.filter((candidate) => {
    if (!candidate.guessed) return true;
    const inner = byElement.get(candidate.element);
    if (inner === undefined) return true;
    // What listens around other controls listens for them.
    return candidate.guessed === 'pointer' && boxArea(candidate) > inner * 3;
  });
}

const boxArea = ({ place: { box } }: Candidate) => Math.max(1, (box.right - box.x) * (box.bottom - box.y));

/** In view first, then the nearest; within each, the page's own order. */
export function mostRelevant(candidates: Candidate[], limit: number): Candidate[] {
  const far = ({ place }: Candidate) => (place.inView ? 0 : 1 + distanceOf(place.box));
  const ranked = candidates.map((candidate) => ({ candidate, distance: far(candidate) }));
  ranked.sort((a, b) => a.distance - b.distance || a.candidate.order - b.candidate.order);
  return ranked
    .slice(0, limit)
    .sort((a, b) => Number(a.distance > 0) - Number(b.distance > 0) || a.candidate.order - b.candidate.order)
    .map(({ candidate }) => candidate);
}
