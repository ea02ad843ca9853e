/**
 * The tree as it is drawn: shadow roots in place of their hosts' children, slotted nodes in place of their slots, and the
 * documents of frames that may be looked into.
 *
 * Elements of frames come from other realms, so nothing here asks `instanceof`.
 */

/** Closed shadow roots that the device found through the protocol; the page itself cannot be asked for them. */
const closedRoots = new WeakMap<Element, ShadowRoot>();
let anyClosed = false;

export function addClosedRoot(host: Element, root: ShadowRoot): void {
  closedRoots.set(host, root);
  anyClosed = true;
}

/** Events from inside a closed root name only its host. */
export const hidesRoot = (element: Element): boolean => closedRoots.has(element);

export function shadowOf(element: Element): ShadowRoot | null {
  return element.shadowRoot ?? (anyClosed ? (closedRoots.get(element) ?? null) : null);
}

export const isElement = (node: Node): node is Element => node.nodeType === 1;
export const isText = (node: Node): node is Text => node.nodeType === 3;

/** The tag's name, upper-case in every namespace, so that SVG and XHTML need no cases of their own. */
export function tagOf(element: Element): string {
  const tag = element.tagName;
  // Nearly every element is HTML, whose names are upper-case already.
  return tag.charCodeAt(0) < 97 ? tag : tag.toUpperCase();
}

export function drawnChildren(element: Element): ArrayLike<Node> {
  const shadow = shadowOf(element);
  if (shadow) return shadow.childNodes;
  if (element.tagName === 'SLOT') {
    const assigned = (element as HTMLSlotElement).assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  return element.childNodes;
}

/** The element that is drawn around this one; out of a frame's document it is the frame. */
export function drawnParent(node: Node): Element | null {
  const slot = (node as Element).assignedSlot;
  if (slot) return slot;
  const parent = node.parentNode;
  if (!parent) return null;
  if (isElement(parent)) return parent;
  if (parent.nodeType === 11) return (parent as ShadowRoot).host ?? null;
  return frameOf(parent as Document);
}

export function frameOf(document: Document): Element | null {
  try {
    return document.defaultView?.frameElement ?? null;
  } catch {
    return null;
  }
}

/** The document of a frame of the same origin; null for any other. */
export function frameDocument(frame: Element): Document | null {
  try {
    return (frame as HTMLIFrameElement).contentDocument;
  } catch {
    return null;
  }
}

export function isInside(node: Node | null, container: Element): boolean {
  for (let current: Node | null = node; current; current = drawnParent(current) ?? null)
    if (current === container) return true;
  // A slotted node is also inside its host by the plain tree.
  for (let current: Node | null = node; current; current = current.parentNode ?? (current as ShadowRoot).host ?? null)
    if (current === container) return true;
  return false;
}

export function closest(element: Element, wanted: (candidate: Element) => boolean): Element | null {
  for (let current = drawnParent(element); current; current = drawnParent(current)) if (wanted(current)) return current;
  return null;
}

export function byId(from: Element, id: string): Element | null {
  const root = from.getRootNode() as Document | ShadowRoot;
  return root.getElementById?.(id) ?? null;
}

export function referenced(from: Element, attribute: string): Element[] {
  const ids = from.getAttribute(attribute);
  if (!ids) return [];
  return ids
    .trim()
    .split(/\s+/)
    .map((id) => byId(from, id))
    .filter((found) => found !== null);
}

export function activeElement(document: Document): Element | null {
  let active = document.activeElement;
  for (;;) {
    const inner: Element | null | undefined =
      active &&
      (shadowOf(active)?.activeElement ?? (tagOf(active) === 'IFRAME' ? frameDocument(active)?.activeElement : null));
    if (!inner) return active;
    active = inner;
  }
}

export const squeeze = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Cuts between characters, never inside one, and drops halves of pairs that the page left alone. */
export function cut(text: string, max: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= max) return whole;
  const last = whole.charCodeAt(max - 1);
  return whole.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max);
}

/** Text as it is laid out, with the line breaks that are seen. */
export function laidOutText(element: Element): string {
  // biome-ignore lint/performance/useDomNodeTextContent: only this one knows what is drawn, and where lines end.
  return (element as HTMLElement).innerText ?? '';
}

/** Elements that wait for a click, as the device learnt from the browser. */
const listened = new WeakSet<Element>();
export const markListener = (element: Element): void => void listened.add(element);
export const isListener = (element: Element): boolean => listened.has(element);
