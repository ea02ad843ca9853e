/** Where things are: boxes in the coordinates of the frame that the device speaks to, cut by what clips them. */
import { drawnParent, frameDocument, frameOf, isInside, shadowOf, tagOf } from './tree.ts';

export interface Box {
  x: number;
  y: number;
  right: number;
  bottom: number;
}

export const area = (box: Box): number => Math.max(0, box.right - box.x) * Math.max(0, box.bottom - box.y);
/** Nothing that a person could see or point at; one pixel is how pages hide what only screen readers are to read. */
export const isEmpty = (box: Box): boolean => box.right - box.x < 2 || box.bottom - box.y < 2;

export const meet = (a: Box, b: Box): Box => ({
  x: Math.max(a.x, b.x),
  y: Math.max(a.y, b.y),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});

export const EVERYWHERE: Box = { x: -1e9, y: -1e9, right: 1e9, bottom: 1e9 };
export const viewport = (): Box => ({ x: 0, y: 0, right: innerWidth, bottom: innerHeight });

/** All that scrolling the page could show. What lies left of or above its origin is never seen. */
export function page(): Box {
  const root = document.documentElement;
  const toLeft = getComputedStyle(root).direction === 'rtl' ? root.scrollWidth : 0;
  return { x: -scrollX - toLeft, y: -scrollY, right: 1e9, bottom: 1e9 };
}

/** Where a document's own coordinates lie in those of the top document of this world; a frame may be drawn scaled. */
export interface Offset {
  x: number;
  y: number;
  scale: number;
}

export function offsetOf(document: Document): Offset {
  const frame = document === self.document ? null : frameOf(document);
  if (!frame) return { x: 0, y: 0, scale: 1 };
  const outer = offsetOf(frame.ownerDocument);
  const rect = frame.getBoundingClientRect();
  const scale = scaleOf(frame, rect);
  return {
    x: outer.x + (rect.x + frame.clientLeft * scale + padding(frame, 'paddingLeft') * scale) * outer.scale,
    y: outer.y + (rect.y + frame.clientTop * scale + padding(frame, 'paddingTop') * scale) * outer.scale,
    scale: outer.scale * scale,
  };
}

function scaleOf(frame: Element, rect: DOMRect): number {
  const width = (frame as HTMLElement).offsetWidth;
  return width > 0 && rect.width > 0 ? rect.width / width : 1;
}

function padding(frame: Element, side: 'paddingLeft' | 'paddingTop'): number {
  return Number.parseFloat(getComputedStyle(frame)[side]) || 0;
}

/** A point inside a frame's document, in the coordinates of the document around it. */
export function outOfFrame(frame: Element, x: number, y: number): { x: number; y: number } {
  const rect = frame.getBoundingClientRect();
  const scale = scaleOf(frame, rect);
  const outer = offsetOf(frame.ownerDocument);
  return {
    x: outer.x + (rect.x + (frame.clientLeft + padding(frame, 'paddingLeft') + x) * scale) * outer.scale,
    y: outer.y + (rect.y + (frame.clientTop + padding(frame, 'paddingTop') + y) * scale) * outer.scale,
  };
}

function intoFrame(frame: Element, x: number, y: number): { x: number; y: number } {
  const rect = frame.getBoundingClientRect();
  const scale = scaleOf(frame, rect);
  return {
    x: (x - rect.x) / scale - frame.clientLeft - padding(frame, 'paddingLeft'),
    y: (y - rect.y) / scale - frame.clientTop - padding(frame, 'paddingTop'),
  };
}

/** A box of a document in the coordinates of the top document. */
export function carried(rect: { x: number; y: number; right: number; bottom: number }, offset: Offset): Box {
  return {
    x: offset.x + rect.x * offset.scale,
    y: offset.y + rect.y * offset.scale,
    right: offset.x + rect.right * offset.scale,
    bottom: offset.y + rect.bottom * offset.scale,
  };
}

/** The box that a person sees; an inline element around block content has an empty one of its own, so its parts count. */
export function boxOf(element: Element, offset: Offset): Box {
  let rect = element.getBoundingClientRect();
  if (rect.width < 1 || rect.height < 1) {
    const inner = largestChild(element);
    if (inner) rect = inner;
  }
  return carried(rect, offset);
}

function largestChild(element: Element): DOMRect | undefined {
  let best: DOMRect | undefined;
  for (const child of element.children) {
    const rect = child.getBoundingClientRect();
    if (rect.width >= 1 && rect.height >= 1 && (!best || rect.width * rect.height > best.width * best.height))
      best = rect;
  }
  return best;
}

export interface Clip {
  /** What is left after every clipping ancestor. */
  seen: Box;
  /** What could be brought into view by scrolling a container; outside it nothing can be seen at all. */
  reachable: Box;
}

/**
 * What clips an element's box, ancestor by ancestor. Scrolling containers hide what lies outside until they are scrolled;
 * others hide it for good.
 */
export class Clips {
  readonly #known = new Map<Element, Clip>();
  readonly #all: Clip = { seen: viewport(), reachable: page() };
  readonly #offsets = new Map<Document, Offset>();

  offset(document: Document): Offset {
    let offset = this.#offsets.get(document);
    if (!offset) {
      offset = offsetOf(document);
      this.#offsets.set(document, offset);
    }
    return offset;
  }

  /** What the ancestors of the element leave of anything inside them. */
  around(element: Element): Clip {
    const style = getComputedStyle(element);
    if (style.position === 'fixed') return this.#frame(element);
    const parent = drawnParent(element);
    return parent ? this.#inside(parent, style.position === 'absolute') : this.#all;
  }

  #frame(element: Element): Clip {
    const frame = element.ownerDocument === self.document ? null : frameOf(element.ownerDocument);
    return frame ? this.#inside(frame, false) : this.#all;
  }

  #inside(element: Element, escaping: boolean): Clip {
    if (!escaping) {
      const known = this.#known.get(element);
      if (known) return known;
    }
    const clip = this.#compute(element, escaping);
    if (!escaping) this.#known.set(element, clip);
    return clip;
  }

  #compute(element: Element, escaping: boolean): Clip {
    const style = getComputedStyle(element);
    const tag = tagOf(element);
    // The root's and the body's overflow belong to the viewport.
    const isRoot =
      tag === 'HTML' || (tag === 'BODY' && element.ownerDocument.documentElement === element.parentElement);
    const holds = style.position !== 'static' || style.transform !== 'none';
    const outer =
      style.position === 'fixed'
        ? this.#frame(element)
        : this.#parent(element, escaping && !holds ? true : style.position === 'absolute');
    if (isRoot && tag === 'BODY') return outer;
    const clipsX = !isRoot && style.overflowX !== 'visible';
    const clipsY = !isRoot && style.overflowY !== 'visible';
    if (tag !== 'IFRAME' && ((!clipsX && !clipsY) || (escaping && !holds))) return outer;
    const rect = element.getBoundingClientRect();
    const box0 = carried(rect, this.offset(element.ownerDocument));
    const box: Box = {
      x: clipsX || tag === 'IFRAME' ? box0.x : -1e9,
      y: clipsY || tag === 'IFRAME' ? box0.y : -1e9,
      right: clipsX || tag === 'IFRAME' ? box0.right : 1e9,
      bottom: clipsY || tag === 'IFRAME' ? box0.bottom : 1e9,
    };
    const seen = meet(outer.seen, box);
    if (tag === 'IFRAME') return { seen, reachable: isEmpty(meet(outer.reachable, box)) ? box : EVERYWHERE };
    const scrollsX = scrolls(style.overflowX) && element.scrollWidth > element.clientWidth;
    const scrollsY = scrolls(style.overflowY) && element.scrollHeight > element.clientHeight;
    const hidden = isEmpty(meet(outer.reachable, box));
    // What a scrolling container holds is reachable if the container is.
    const reachable: Box = hidden
      ? meet(outer.reachable, box)
      : {
          x: scrollsX ? -1e9 : Math.max(outer.reachable.x, box.x),
          right: scrollsX ? 1e9 : Math.min(outer.reachable.right, box.right),
          y: scrollsY ? -1e9 : Math.max(outer.reachable.y, box.y),
          bottom: scrollsY ? 1e9 : Math.min(outer.reachable.bottom, box.bottom),
        };
    return { seen, reachable };
  }

  #parent(element: Element, escaping: boolean): Clip {
    const parent = drawnParent(element);
    if (!parent || element === self.document.documentElement) return this.#all;
    return this.#inside(parent, escaping);
  }
}

const scrolls = (overflow: string) => overflow === 'auto' || overflow === 'scroll' || overflow === 'overlay';

/** The innermost element at a point, through open and known closed shadow roots and frames of this origin. */
export function elementAt(x: number, y: number): Element | null {
  let document: Document = self.document;
  let at = { x, y };
  let hit: Element | null = document.elementFromPoint(at.x, at.y);
  for (let depth = 0; hit && depth < 64; depth++) {
    const shadow = shadowOf(hit);
    const inner: Element | null | undefined = shadow?.elementFromPoint(at.x, at.y);
    if (inner && inner !== hit && isInside(inner, hit)) {
      hit = inner;
      continue;
    }
    const framed = tagOf(hit) === 'IFRAME' ? frameDocument(hit) : null;
    if (!framed) return hit;
    at = intoFrame(hit, at.x, at.y);
    document = framed;
    const within: Element | null = document.elementFromPoint(at.x, at.y);
    if (!within) return hit;
    hit = within;
  }
  return hit;
}
