/**
 * The names that the device gives to elements. An element keeps its ref while its document lives; no other element ever
 * gets it, and a document that comes back from history starts anew.
 */
let document = '';
let next = 1;
let refs = new WeakMap<Element, string>();
let elements = new Map<string, WeakRef<Element>>();
let references = 0;

/** @param token names the document as the device counts them. */
export function useDocument(token: string): void {
  if (token === document) return;
  document = token;
  next = 1;
  refs = new WeakMap();
  elements = new Map();
}

export function refOf(element: Element): string {
  let ref = refs.get(element);
  if (ref === undefined) {
    ref = `${document}e${next++}`;
    refs.set(element, ref);
    elements.set(ref, new WeakRef(element));
    if (++references % 5000 === 0) forgetDead();
  }
  return ref;
}

export function elementOf(ref: string): Element | undefined {
  const element = elements.get(ref)?.deref();
  return element?.isConnected ? element : undefined;
}

function forgetDead(): void {
  for (const [ref, reference] of elements) if (!reference.deref()) elements.delete(ref);
}
