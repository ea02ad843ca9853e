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
  /** When it was last asked for such. */
  scannedAt?: number;
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

  /** Whether the frame is the outermost of its process, so that its page's own world is the session's default one. */
  isOutermost(frame: Frame): boolean {
    const parent = frame.parentId === undefined ? undefined : this.#frames.get(frame.parentId);
    return parent === undefined || parent.session !== frame.session;
  }

  /** Frames of other origins, which were each read in a world of their own. */
  get apart(): Frame[] {
    return [...this.#frames.values()].filter((frame) => frame.outerId !== undefined);
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
      const contextId = await this.worldOf(frame);
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

  /** The execution context of the device's script in the frame. */
  worldOf(frame: Frame): Promise<number> {
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

  refOfNode(frame: Frame, backendNodeId: number): Promise<string> {
    return this.#callOn(frame, backendNodeId, REF_IN_OUTERMOST);
  }

  /** Asks the frame's session. */
  send(frame: Frame, method: string, params: Record<string, unknown> = {}) {
    return this.#protocol.send(method, params, frame.session);
  }

  /** The protocol's handle of a node, in the device's world. */
  async handleOf(frame: Frame, backendNodeId: number, objectGroup?: string): Promise<string> {
    const executionContextId = await this.worldOf(frame);
    const { object } = await this.send(frame, 'DOM.resolveNode', {
      backendNodeId,
      executionContextId,
      ...(objectGroup === undefined ? {} : { objectGroup }),
    });
    return object.objectId;
  }

  async #callOn(frame: Frame, backendNodeId: number, functionDeclaration: string): Promise<string> {
    const objectId = await this.handleOf(frame, backendNodeId);
    const answer = await this.#protocol.send(
      'Runtime.callFunctionOn',
      { functionDeclaration, objectId, returnByValue: true },
      frame.session,
    );
    void this.#protocol.send('Runtime.releaseObject', { objectId }, frame.session).catch(() => {});
    return answer.result.value;
  }
}

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
