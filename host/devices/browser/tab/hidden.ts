/**
 * What the page's script cannot see and the protocol can: closed shadow roots, and who listens to what.
 */
import type { Frame, Frames } from './frames.ts';

/**
 * Looks behind elements that are drawn and seem empty, and hands their closed shadow roots to the page's script.
 * @returns whether there were any.
 */
export async function openClosedRoots(frames: Frames, frame: Frame, refs: readonly string[]): Promise<boolean> {
  frame.lookedBehind ??= new Set();
  const seen = frame.lookedBehind;
  const fresh = refs.filter((ref) => !seen.has(ref));
  const found = await Promise.all(fresh.map((ref) => openClosedRoot(frames, frame, ref).catch(() => false)));
  for (const [index, ref] of fresh.entries()) if (!found[index]) seen.add(ref);
  return found.some(Boolean);
}

async function openClosedRoot(frames: Frames, frame: Frame, ref: string): Promise<boolean> {
  const { objectId } = (await frames.evaluate(frame, `__device.element(${JSON.stringify(ref)})`, false)) as {
    objectId?: string;
  };
  if (objectId === undefined) return false;
  const { node } = await frames.send(frame, 'DOM.describeNode', { objectId, depth: 0, pierce: true });
  const root = node.shadowRoots?.find((candidate: { shadowRootType: string }) => candidate.shadowRootType === 'closed');
  if (!root) return false;
  await frames.send(frame, 'Runtime.callFunctionOn', {
    functionDeclaration: 'function(root){__device.addClosedRoot(this,root)}',
    objectId,
    arguments: [{ objectId: await frames.handleOf(frame, root.backendNodeId) }],
  });
  return true;
}

/** Events by which an element is worked with the pointer. */
const CLICKS = new Set(['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart']);
/** Elements marked in one go: those of a page that has more come with the following looks. */
const MAX_LISTENERS = 250;
/** Milliseconds between scans that nobody waits for. */
const SCAN_EVERY_MS = 1000;
/** Controls below which a look waits for a scan each time. */
const FEW_CONTROLS = 25;
/** Handles of nodes and listeners, given back together: those of a scan, and those of an input's way. */
const SCAN = 'device-scan';
const WAY = 'device-way';

interface Listener {
  type: string;
  backendNodeId?: number;
}

/**
 * Asks the browser which elements wait for a click, and marks those that are new. Pages of plain elements with listeners
 * show no other sign of what can be worked. The first look at a document waits for it, and so does each look at a page of
 * few controls; other pages are scanned beside the work, and the next look knows.
 * @returns whether there is something that this look has not seen.
 */
export async function lookForListeners(frames: Frames, frame: Frame, controls: number, now: number): Promise<boolean> {
  const waits = frame.scannedAt === undefined || controls < FEW_CONTROLS;
  if (!waits && now - (frame.scannedAt ?? 0) < SCAN_EVERY_MS) return false;
  frame.scannedAt = now;
  // The document may go away under the scan; the look that follows says so.
  const scan = markListeners(frames, frame).catch(() => false);
  return waits ? scan : false;
}

async function markListeners(frames: Frames, frame: Frame): Promise<boolean> {
  const [root, executionContextId] = await Promise.all([
    frames.send(frame, 'Runtime.evaluate', { expression: 'document.documentElement', objectGroup: SCAN }),
    frames.worldOf(frame),
  ]);
  try {
    const { listeners } = await frames.send(frame, 'DOMDebugger.getEventListeners', {
      objectId: root.result.objectId,
      depth: -1,
      pierce: true,
    });
    frame.listeners ??= new Set();
    const known = frame.listeners;
    const fresh = new Set<number>();
    for (const { type, backendNodeId } of listeners as Listener[])
      if (CLICKS.has(type) && backendNodeId !== undefined && !known.has(backendNodeId)) fresh.add(backendNodeId);
    const nodes = [...fresh].slice(0, MAX_LISTENERS);
    if (nodes.length === 0) return false;
    for (const node of nodes) known.add(node);
    const handles = await Promise.all(nodes.map((node) => frames.handleOf(frame, node, SCAN).catch(() => undefined)));
    await frames.send(frame, 'Runtime.callFunctionOn', {
      executionContextId,
      functionDeclaration: 'function(...elements){elements.forEach(__device.markListener)}',
      arguments: handles.flatMap((objectId) => (objectId === undefined ? [] : [{ objectId }])),
    });
    return true;
  } finally {
    giveBack(frames, frame, SCAN);
  }
}

function giveBack(frames: Frames, frame: Frame, objectGroup: string): void {
  void frames.send(frame, 'Runtime.releaseObjectGroup', { objectGroup }).catch(() => {});
}

/** Events that no input brings about by itself. Whoever listens to any other one may answer the input. */
const UNRELATED = new Set([
  ...['load', 'DOMContentLoaded', 'readystatechange', 'error', 'abort', 'unhandledrejection', 'rejectionhandled'],
  ...['unload', 'beforeunload', 'pagehide', 'pageshow', 'visibilitychange', 'freeze', 'resume'],
  ...['resize', 'online', 'offline', 'storage', 'message', 'messageerror', 'popstate', 'hashchange'],
  ...['animationstart', 'animationiteration', 'animationend', 'animationcancel'],
  ...['transitionrun', 'transitionstart', 'transitionend', 'transitioncancel'],
]);
/** What an element hears that the pointer or the focus leaves. */
const LEFT = /^(?:mouse|pointer)(?:out|leave|over|enter|move)$|^(?:blur|focusout|focus|focusin|change)$/;
/** Elements on the way of an input that are asked. */
const MAX_PATH = 64;

/**
 * Whether anything of the page listens where the events of the last input passed, or notices that it was left for it. When
 * in doubt, something does: in shadow roots, in frames within frames, on very long ways.
 */
export async function isHeard(frames: Frames, frame: Frame): Promise<boolean> {
  if (!frames.isOutermost(frame)) return true;
  const ask = async (expression: string, contextId?: number): Promise<string | undefined> => {
    const own = contextId === undefined ? {} : { contextId };
    const answer = await frames.send(frame, 'Runtime.evaluate', { expression, objectGroup: WAY, ...own });
    return answer.result.objectId;
  };
  const listens = async (objectId: string | undefined, to: (type: string) => boolean) => {
    if (objectId === undefined) return true;
    const { listeners } = await frames.send(frame, 'DOMDebugger.getEventListeners', { objectId, depth: 1 });
    return (listeners as Listener[]).some(({ type }) => to(type));
  };
  // Asked by the page's own handle of it: from the device's world, only the device's listeners are told, and with those of
  // all worlds asked for, Chromium 156 lost its renderer at the next document once in forty times.
  const elementListens = async (objectId: string, to: (type: string) => boolean) => {
    const { node } = await frames.send(frame, 'DOM.describeNode', { objectId, depth: 0 });
    const { object } = await frames.send(frame, 'DOM.resolveNode', {
      backendNodeId: node.backendNodeId,
      objectGroup: WAY,
    });
    return listens(object.objectId, to);
  };
  const anyOf = async (only: 'worked' | 'left', to: (type: string) => boolean): Promise<boolean> => {
    const objectId = await ask(`__device.path('${only}')`, await frames.worldOf(frame));
    if (objectId === undefined) return true;
    const { result } = await frames.send(frame, 'Runtime.getProperties', { objectId, ownProperties: true });
    const handles = (result as { name: string; value?: { objectId: string } }[]).flatMap(({ name, value }) =>
      /^\d+$/.test(name) && value ? [value.objectId] : [],
    );
    if (handles.length > MAX_PATH) return true;
    return (await Promise.all(handles.map((handle) => elementListens(handle, to)))).some(Boolean);
  };
  const related = (type: string) => !UNRELATED.has(type);
  try {
    const heard = await Promise.all([
      ...['document', 'window'].map(async (own) => listens(await ask(own), related)),
      anyOf('worked', related),
      anyOf('left', (type) => LEFT.test(type)),
    ]);
    return heard.some(Boolean);
  } finally {
    giveBack(frames, frame, WAY);
  }
}
