/**
 * The frames of one tab: which documents they show, which protocol session reaches each, and the world that the device's
 * script runs in.
 *
 * A world is found by its name, so the protocol's `Runtime` domain stays off: nothing of the page's console or errors has
 * to be carried, and a page cannot notice it.
 */
import type { EventListener, Protocol } from '../chromium/protocol.ts';
import { ProtocolError, SessionGone } from '../chromium/protocol.ts';
import { stale } from '../refusal.ts';

const WORLD = 'device';

export interface Frame {
  id: string;
  parentId: string | undefined;
  session: string;
  url: string;
  /** Names the document; every refs of it begins with this. */
  token: string;
  /** The execution context, once asked for. */
  world?: Promise<number>;
  /** Refs of elements that were looked behind and hide nothing. */
  lookedBehind?: Set<string>;
  /** Protocol numbers of elements that were marked as waiting for a click. */
  listeners?: Set<number>;
  /** The frame in whose world this one's holder is seen: its parent, or further out through frames of one origin. */
  outerId?: string;
  /** The outer frame's name for the element that holds this one. */
  ownerRef?: Promise<string>;
}

export interface FrameEvents {
  /** The main document was replaced. */
  navigated(url: string): void;
}

export class Frames {
  readonly #protocol: Protocol;
  readonly #script: string;
  readonly #events: FrameEvents;
  readonly #frames = new Map<string, Frame>();
  #documents = 0;
  mainId = '';

  constructor(protocol: Protocol, script: string, events: FrameEvents) {
    this.#protocol = protocol;
    this.#script = script;
    this.#events = events;
  }

  get main(): Frame {
    const frame = this.#frames.get(this.mainId);
    if (!frame) throw stale('NAVIGATION_PENDING');
    return frame;
  }

  get(id: string): Frame | undefined {
    return this.#frames.get(id);
  }

  childrenOf(parent: Frame): Frame[] {
    return [...this.#frames.values()].filter((frame) => frame.parentId === parent.id);
  }

  /** Follows a session: the tab's own, or that of a frame in another process. */
  async follow(session: string, parent?: string): Promise<void> {
    const { frameTree } = await this.#protocol.send('Page.getFrameTree', {}, session);
    this.#adopt(frameTree, session, parent);
    const on = (event: string, listener: EventListener) => this.#protocol.on(event, listener, session);
    on('Page.frameAttached', ({ frameId, parentFrameId }) => {
      if (!this.#frames.has(frameId)) this.#add(frameId, parentFrameId, session, '');
    });
    on('Page.frameNavigated', ({ frame }) => this.#navigated(frame, session));
    on('Page.navigatedWithinDocument', ({ frameId, url }) => {
      const frame = this.#frames.get(frameId);
      if (frame) frame.url = url;
    });
    on('Page.frameDetached', ({ frameId, reason }) => {
      // A swap hands the frame to another process; its new session takes it over.
      if (reason !== 'swap') this.#remove(frameId);
    });
  }

  #adopt(tree: FrameTree, session: string, parent?: string): void {
    const { frame } = tree;
    const known = this.#frames.get(frame.id);
    const parentId = frame.parentId ?? parent ?? known?.parentId;
    if (!parentId) this.mainId = frame.id;
    this.#add(frame.id, parentId, session, frame.url + (frame.urlFragment ?? ''));
    for (const child of tree.childFrames ?? []) this.#adopt(child, session);
  }

  #add(id: string, parentId: string | undefined, session: string, url: string): void {
    this.#frames.set(id, { id, parentId, session, url, token: this.#nextToken() });
  }

  #nextToken(): string {
    return `d${++this.#documents}`;
  }

  #navigated(info: FrameInfo, session: string): void {
    const known = this.#frames.get(info.id);
    if (known && known.session !== session && info.parentId === undefined && known.parentId === undefined) return;
    const parentId = info.parentId ?? known?.parentId;
    for (const child of this.#frames.values()) if (child.parentId === info.id) this.#remove(child.id);
    this.#add(info.id, parentId, session, info.url + (info.urlFragment ?? ''));
    const added = this.#frames.get(info.id);
    if (added && known?.ownerRef) added.ownerRef = known.ownerRef;
    if (parentId === undefined) {
      this.mainId = info.id;
      this.#events.navigated(info.url);
    }
  }

  #remove(id: string): void {
    this.#frames.delete(id);
    for (const child of [...this.#frames.values()]) if (child.parentId === id) this.#remove(child.id);
  }

  /** Runs an expression in the frame's world and parses the text it answers. @throws Refusal STALE_OBSERVATION when the document went away. */
  async run<T>(frame: Frame, expression: string): Promise<T> {
    const value = await this.evaluate(frame, expression, true);
    return (typeof value === 'string' ? JSON.parse(value) : value) as T;
  }

  /** @returns the value, or the remote object where `byValue` is false. */
  async evaluate(frame: Frame, expression: string, byValue: boolean): Promise<unknown> {
    try {
      const contextId = await this.#worldOf(frame);
      const answer = await this.#protocol.send(
        'Runtime.evaluate',
        { expression, contextId, awaitPromise: true, returnByValue: byValue },
        frame.session,
      );
      if (answer.exceptionDetails) {
        throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
      }
      return byValue ? answer.result.value : answer.result;
    } catch (error) {
      if (error instanceof SessionGone || isLostDocument(error)) throw stale('NAVIGATION_PENDING');
      throw error;
    }
  }

  #worldOf(frame: Frame): Promise<number> {
    frame.world ??= this.#enter(frame).catch((error) => {
      delete frame.world;
      throw error;
    });
    return frame.world;
  }

  async #enter(frame: Frame): Promise<number> {
    const { executionContextId } = await this.#protocol.send(
      'Page.createIsolatedWorld',
      { frameId: frame.id, worldName: WORLD },
      frame.session,
    );
    // A document that was there before the device came has not run the script.
    const present = await this.#protocol.send(
      'Runtime.evaluate',
      { expression: 'typeof __device', contextId: executionContextId, returnByValue: true },
      frame.session,
    );
    if (present.result.value !== 'object') {
      await this.#protocol.send(
        'Runtime.evaluate',
        { expression: this.#script, contextId: executionContextId },
        frame.session,
      );
    }
    return executionContextId;
  }

  /** The ref, in the outermost world that may see it, of the element that holds the frame. */
  ownerRef(frame: Frame, parent: Frame): Promise<string> {
    frame.ownerRef ??= this.#findOwner(frame, parent).catch((error) => {
      delete frame.ownerRef;
      throw error;
    });
    return frame.ownerRef;
  }

  async #findOwner(frame: Frame, parent: Frame): Promise<string> {
    const { backendNodeId } = await this.#protocol.send('DOM.getFrameOwner', { frameId: frame.id }, parent.session);
    return this.refOfNode(parent, backendNodeId);
  }

  /**
   * Looks behind elements that are drawn and seem empty, and hands their closed shadow roots to the page's script.
   * @returns whether there were any.
   */
  async openClosedRoots(frame: Frame, refs: readonly string[]): Promise<boolean> {
    frame.lookedBehind ??= new Set();
    const seen = frame.lookedBehind;
    const fresh = refs.filter((ref) => !seen.has(ref));
    const found = await Promise.all(fresh.map((ref) => this.#openClosedRoot(frame, ref).catch(() => false)));
    for (const [index, ref] of fresh.entries()) if (!found[index]) seen.add(ref);
    return found.some(Boolean);
  }

  async #openClosedRoot(frame: Frame, ref: string): Promise<boolean> {
    const { objectId } = (await this.evaluate(frame, `__device.element(${JSON.stringify(ref)})`, false)) as {
      objectId?: string;
    };
    if (objectId === undefined) return false;
    const { node } = await this.#protocol.send('DOM.describeNode', { objectId, depth: 0, pierce: true }, frame.session);
    const root = node.shadowRoots?.find(
      (candidate: { shadowRootType: string }) => candidate.shadowRootType === 'closed',
    );
    if (!root) return false;
    const executionContextId = await this.#worldOf(frame);
    const { object } = await this.#protocol.send(
      'DOM.resolveNode',
      { backendNodeId: root.backendNodeId, executionContextId },
      frame.session,
    );
    await this.#protocol.send(
      'Runtime.callFunctionOn',
      {
        functionDeclaration: 'function(root){__device.addClosedRoot(this,root)}',
        objectId,
        arguments: [{ objectId: object.objectId }],
      },
      frame.session,
    );
    return true;
  }

  /**
   * Asks the browser which elements wait for a click, and marks those that are new. Pages of plain elements with listeners
   * show no other sign of what can be worked.
   * @returns whether there were any.
   */
  async markListeners(frame: Frame): Promise<boolean> {
    const { result } = await this.#protocol.send(
      'Runtime.evaluate',
      { expression: 'document.documentElement' },
      frame.session,
    );
    const { listeners } = await this.#protocol.send(
      'DOMDebugger.getEventListeners',
      { objectId: result.objectId, depth: -1, pierce: true },
      frame.session,
    );
    frame.listeners ??= new Set();
    const known = frame.listeners;
    const fresh = new Set<number>();
    for (const { type, backendNodeId } of listeners as { type: string; backendNodeId?: number }[])
      if (CLICKS.has(type) && backendNodeId !== undefined && !known.has(backendNodeId)) fresh.add(backendNodeId);
    const nodes = [...fresh].slice(0, MAX_LISTENERS);
    for (const node of nodes) known.add(node);
    await Promise.all(
      nodes.map((node) => this.#callOn(frame, node, 'function(){__device.markListener(this)}').catch(() => {})),
    );
    return nodes.length > 0;
  }

  refOfNode(frame: Frame, backendNodeId: number): Promise<string> {
    return this.#callOn(frame, backendNodeId, REF_IN_OUTERMOST);
  }

  async #callOn(frame: Frame, backendNodeId: number, functionDeclaration: string): Promise<string> {
    const executionContextId = await this.#worldOf(frame);
    const { object } = await this.#protocol.send(
      'DOM.resolveNode',
      { backendNodeId, executionContextId },
      frame.session,
    );
    const { objectId } = object;
    const answer = await this.#protocol.send(
      'Runtime.callFunctionOn',
      { functionDeclaration, objectId, returnByValue: true },
      frame.session,
    );
    void this.#protocol.send('Runtime.releaseObject', { objectId }, frame.session).catch(() => {});
    return answer.result.value;
  }
}

/** Events by which an element is worked with the pointer. */
const CLICKS = new Set(['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart']);
/** Elements marked in one go. */
const MAX_LISTENERS = 200;

interface FrameInfo {
  id: string;
  parentId?: string;
  url: string;
  urlFragment?: string;
}

interface FrameTree {
  frame: FrameInfo;
  childFrames?: FrameTree[];
}

export const SCRIPT_WORLD = WORLD;

/** Frames of one origin are read by the outermost of them, so the name is given there. */
const REF_IN_OUTERMOST = `function () {
  let outer = self;
  for (;;) {
    let next;
    try { next = outer.parent !== outer && outer.parent.__device ? outer.parent : undefined; } catch {}
    if (!next) return outer.__device.refOfElement(this);
    outer = next;
  }
}`;

function isLostDocument(error: unknown): boolean {
  return (
    error instanceof ProtocolError &&
    /Cannot find context|Execution context was destroyed|No frame (?:for|with) given id|Inspected target navigated|context with specified id|Frame (?:tree node )?(?:for the given frame )?(?:was )?not found|uniqueContextId not found|Invalid (?:context|frame)/i.test(
      error.message,
    )
  );
}
