/** What a pointer would really touch. */
import { area, type Box, boxOf, type Clips, elementAt, isEmpty, meet } from './geometry.ts';
import { accessibleName, tidy } from './names.ts';
import { roleOf } from './roles.ts';
import { cut, drawnParent, isInside, laidOutText, tagOf } from './tree.ts';

export interface Point {
  x: number;
  y: number;
}

/** Whether an event that lands on `hit` works `target`. */
export function works(hit: Element | null, target: Element, drawn: Element): boolean {
  if (!hit) return false;
  if (isInside(hit, target) || isInside(hit, drawn)) return true;
  // A click on the label works its input.
  const labels = (target as HTMLInputElement).labels;
  if (labels) for (const label of labels) if (isInside(hit, label)) return true;
  return false;
}

/** @returns a point of the box where the target is touched, or what is in the way. */
export function touch(target: Element, drawn: Element, seen: Box): { point: Point } | { cover: Element | null } {
  let cover: Element | null = null;
  for (const [index, point] of points(drawn, seen).entries()) {
    const hit = elementAt(point.x, point.y);
    if (works(hit, target, drawn)) return { point };
    if (index === 0 || !cover) cover = hit;
  }
  return { cover };
}

/** The middle first, then points nearer the corners, for covers that leave a part free. */
function* pointsOf(box: Box): Iterable<Point> {
  const width = box.right - box.x;
  const height = box.bottom - box.y;
  for (const [a, b] of [
    [0.5, 0.5],
    [0.25, 0.5],
    [0.75, 0.5],
    [0.5, 0.2],
    [0.5, 0.8],
    [0.1, 0.2],
    [0.9, 0.8],
  ] as const)
    yield { x: box.x + width * a, y: box.y + height * b };
}

function points(drawn: Element, seen: Box): Point[] {
  const all = [...pointsOf(seen)];
  // A link over several lines has a hollow middle.
  const parts = drawn.getClientRects();
  const first = parts.length > 1 ? parts[0] : undefined;
  if (first) {
    const full = drawn.getBoundingClientRect();
    const { x, y } = { x: seen.x - full.x, y: seen.y - full.y };
    all.splice(1, 0, {
      x: first.x + first.width / 2 + (full.x < 0 ? 0 : x),
      y: first.y + first.height / 2 + (full.y < 0 ? 0 : y),
    });
  }
  return all;
}

/** What is in the way, in words: its own name, the dialog or banner it belongs to, or the start of its text. */
export function coverName(cover: Element | null): string {
  if (!cover) return 'something outside the page';
  for (let current: Element | null = cover, steps = 0; current && steps < 12; current = drawnParent(current), steps++) {
    const tag = tagOf(current);
    if (tag === 'BODY' || tag === 'HTML') break;
    const role = roleOf(current);
    const named =
      current.getAttribute('aria-label') ||
      current.hasAttribute('aria-labelledby') ||
      role === 'dialog' ||
      role === 'alertdialog' ||
      role === 'button' ||
      role === 'link';
    if (!named) continue;
    const name = cut(tidy(accessibleName(current)), 80);
    if (name) return role ? `${role} "${name}"` : `"${name}"`;
  }
  const text = cut(tidy(laidOutText(cover)), 80);
  if (text) return `"${text}"`;
  const id = cover.id || (cover.getAttribute('class') ?? '').split(/\s+/)[0];
  return id ? `${tagOf(cover).toLowerCase()} "${cut(id, 60)}"` : tagOf(cover).toLowerCase();
}

export interface Placed {
  box: Box;
  /** What of it is in view now. */
  seen: Box;
  inView: boolean;
  /** It could be brought into view. */
  reachable: boolean;
}

export function placeOf(drawn: Element, clips: Clips): Placed {
  const box = boxOf(drawn, clips.offset(drawn.ownerDocument));
  const clip = clips.around(drawn);
  const seen = meet(box, clip.seen);
  return {
    box,
    seen,
    inView: !isEmpty(seen) && area(seen) >= Math.min(16, area(box)),
    reachable: !isEmpty(box) && !isEmpty(meet(box, clip.reachable)),
  };
}
