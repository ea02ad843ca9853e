/**
 * One pass over the page as it is drawn: the controls that are there, and the text in reading order.
 *
 * Only what is cheap happens here, for a page may have a hundred thousand elements; names, states and hit tests are worked
 * out later, for the few controls that are reported.
 */
import { type Box, type Clips, carried, isEmpty, meet, viewport } from './geometry.ts';
import { Lines } from './lines.ts';
import { isSemanticControl, roleOf } from './roles.ts';
import { cut, drawnChildren, frameDocument, isElement, isListener, isText, shadowOf, tagOf } from './tree.ts';

/** Elements after which looking stops, and the depth of nesting. */
const MAX_ELEMENTS = 200_000;
const MAX_DEPTH = 1200;
const MAX_CONTROLS = 20_000;
/** Characters of text taken from one node. */
const MAX_NODE_TEXT = 20_000;

export interface FoundControl {
  element: Element;
  role: string | null;
  /** Drawn in its place: the label of an input that is not drawn itself. */
  drawn: Element;
  /** Found by its pointer, or by nothing but its waiting for clicks. */
  guessed: false | 'pointer' | 'listener';
  order: number;
}

export interface Walked {
  controls: FoundControl[];
  text: string;
  viewportText: string;
  textCut: boolean;
  viewportTextCut: boolean;
  /** Looking stopped before the end. */
  stopped: boolean;
  /** Frames whose documents this world may not enter. */
  frames: Element[];
  /** Roots whose changes are to be watched. */
  roots: Node[];
  /** Elements that may have a closed shadow root: drawn, and nothing of theirs explains it. */
  opaque: Element[];
}

interface Surroundings {
  inert: boolean;
  ariaHidden: boolean;
  pointer: boolean;
  insideControl: boolean;
  /** Everything below is out of the modal dialog that is open. */
  outsideModal: boolean;
}

const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'TITLE', 'BASE']);
const NO_TEXT = new Set(['TEXTAREA', 'SELECT', 'INPUT', 'IFRAME', 'VIDEO', 'AUDIO', 'CANVAS', 'OBJECT', 'EMBED']);

export class Walk {
  readonly #clips: Clips;
  readonly #textLimit: number;
  readonly #viewportTextLimit: number;
  readonly #view: Box = viewport();
  readonly #seenAt = new Map<Element, boolean>();
  readonly controls: FoundControl[] = [];
  readonly frames: Element[] = [];
  readonly roots: Node[] = [];
  readonly opaque: Element[] = [];
  #elements = 0;
  #stopped = false;
  #text = new Lines();
  #viewportText = new Lines();
  #textFull = false;
  #viewportTextFull = false;

  constructor(clips: Clips, limits: { text: number; viewportText: number }) {
    this.#clips = clips;
    this.#textLimit = limits.text;
    this.#viewportTextLimit = limits.viewportText;
  }

  run(document: Document): Walked {
    this.#document(
      document,
      {
        inert: false,
        ariaHidden: false,
        pointer: false,
        insideControl: false,
        outsideModal: false,
      },
      0,
    );
    return {
      controls: this.controls,
      text: cut(this.#text.take(), this.#textLimit),
      viewportText: cut(this.#viewportText.take(), this.#viewportTextLimit),
      textCut: this.#textFull || this.#text.length > this.#textLimit,
      viewportTextCut: this.#viewportTextFull || this.#viewportText.length > this.#viewportTextLimit,
      stopped: this.#stopped,
      frames: this.frames,
      roots: this.roots,
      opaque: this.opaque,
    };
  }

  #document(document: Document, around: Surroundings, depth: number): void {
    const root = document.documentElement;
    if (!root) return;
    this.roots.push(document);
    const modal = document.querySelector('dialog:modal') !== null;
    this.#element(root, { ...around, outsideModal: around.outsideModal || modal }, depth);
  }

  #element(element: Element, around: Surroundings, depth: number): void {
    if (depth > MAX_DEPTH || ++this.#elements > MAX_ELEMENTS) {
      this.#stopped = true;
      return;
    }
    const tag = tagOf(element);
    if (SKIPPED.has(tag)) return;
    const style = getComputedStyle(element);
    const display = style.display;
    if (display === 'none') return;
    // An element without attributes that is no control by its tag can only show itself by its pointer.
    const plain = !element.hasAttributes() && !CONTROL_TAGS.has(tag);
    const here: Surroundings = { ...around };
    if (!around.insideControl) here.pointer = style.cursor === 'pointer';
    if (!plain) {
      if (element.hasAttribute('inert')) here.inert = true;
      if (element.getAttribute('aria-hidden') === 'true') here.ariaHidden = true;
      if (around.outsideModal && tag === 'DIALOG' && element.matches(':modal')) here.outsideModal = false;
    }
    if (
      !here.inert &&
      !here.ariaHidden &&
      !here.outsideModal &&
      !(plain && here.pointer === around.pointer && !isListener(element))
    ) {
      this.#control(element, tag, plain ? null : roleOf(element), around, here);
    }

    const block = display !== 'inline' && display !== 'contents';
    if (block) this.#break(display);
    if (tag === 'BR') this.#break('block');
    else if (tag === 'IFRAME' || tag === 'FRAME') this.#frame(element, here, depth);
    else this.#children(element, tag, here, depth);
    if (block) this.#break(display);
  }

  #children(element: Element, tag: string, here: Surroundings, depth: number): void {
    const shadow = shadowOf(element);
    if (shadow) this.roots.push(shadow);
    const silent = NO_TEXT.has(tag) || (this.#textFull && this.#viewportTextFull);
    const closed = tag === 'DETAILS' && !(element as HTMLDetailsElement).open;
    let readable: boolean | undefined;
    const visit = (child: Node) => {
      if (isElement(child)) {
        if (!closed || tagOf(child) === 'SUMMARY') this.#element(child, here, depth + 1);
      } else if (!silent && !closed && isText(child)) {
        readable ??= isReadable(element);
        if (readable) this.#say(child.data, element);
      }
    };
    if (shadow || tag === 'SLOT') {
      const children = drawnChildren(element);
      for (let i = 0; i < children.length && !this.#stopped; i++) {
        const child = children[i];
        if (child) visit(child);
      }
      return;
    }
    let child = element.firstChild;
    if (!child && mayHideRoot(tag)) this.opaque.push(element);
    for (; child && !this.#stopped; child = child.nextSibling) visit(child);
  }

  #control(element: Element, tag: string, role: string | null, around: Surroundings, here: Surroundings): void {
    if (this.controls.length >= MAX_CONTROLS) {
      this.#stopped = true;
      return;
    }
    const found = (drawn: Element, control: Element, controlRole: string | null, guessed: FoundControl['guessed']) =>
      this.controls.push({ element: control, role: controlRole, drawn, guessed, order: this.controls.length });

    if (tag === 'LABEL') {
      // An input that is not drawn is worked through its label.
      const input = (element as HTMLLabelElement).control;
      if (input && getComputedStyle(input).display === 'none' && (input as HTMLInputElement).type !== 'hidden') {
        found(element, input, roleOf(input), false);
      }
      if (input || !here.pointer) {
        here.insideControl = around.insideControl;
        here.pointer = here.pointer || around.pointer;
        return;
      }
    }
    if (isSemanticControl(element, role)) {
      found(element, element, role, false);
      // What is drawn inside a button or link belongs to it; what is inside a row or a cell may be worked on its own.
      if (role !== 'row' && role !== 'gridcell' && role !== 'listitem' && role !== 'article') here.insideControl = true;
      return;
    }
    const editable = (element as HTMLElement).isContentEditable;
    if (
      ((here.pointer && !around.pointer) || isListener(element)) &&
      !around.insideControl &&
      !editable &&
      tag !== 'HTML' &&
      tag !== 'BODY'
    ) {
      found(element, element, role, here.pointer ? 'pointer' : 'listener');
    }
  }

  #frame(frame: Element, here: Surroundings, depth: number): void {
    if (!isReadable(frame)) return;
    const document = frameDocument(frame);
    if (document) this.#document(document, { ...here, pointer: false, outsideModal: here.outsideModal }, depth + 1);
    else if (!here.inert && !here.ariaHidden && !here.outsideModal) this.frames.push(frame);
  }

  #break(display: string): void {
    const kind = display.startsWith('inline') || display === 'table-cell' ? 'space' : 'line';
    if (!this.#textFull) this.#text.break(kind);
    if (!this.#viewportTextFull) this.#viewportText.break(kind);
  }

  #say(data: string, parent: Element): void {
    if (this.#textFull && this.#viewportTextFull) return;
    const raw = data.length > MAX_NODE_TEXT ? data.slice(0, MAX_NODE_TEXT) : data;
    if (!/\S/.test(raw)) {
      if (raw) {
        this.#text.space();
        this.#viewportText.space();
      }
      return;
    }
    const keepsLines = /^pre|^break-spaces/.test(
      getComputedStyle(parent).whiteSpaceCollapse || getComputedStyle(parent).whiteSpace,
    );
    if (!this.#textFull) {
      this.#text.add(raw, keepsLines);
      this.#textFull = this.#text.length > this.#textLimit;
    }
    if (!this.#viewportTextFull && this.#inView(parent)) {
      this.#viewportText.add(raw, keepsLines);
      this.#viewportTextFull = this.#viewportText.length > this.#viewportTextLimit;
    }
  }

  #inView(element: Element): boolean {
    const known = this.#seenAt.get(element);
    if (known !== undefined) return known;
    const offset = this.#clips.offset(element.ownerDocument);
    const rect = element.getBoundingClientRect();
    const box = carried(rect, offset);
    let seen = !isEmpty(meet(box, this.#view));
    if (seen) seen = !isEmpty(meet(box, this.#clips.around(element).seen));
    this.#seenAt.set(element, seen);
    return seen;
  }
}

/** Tags that may be controls without any attribute. */
const CONTROL_TAGS = new Set([
  'BUTTON',
  'INPUT',
  'SELECT',
  'TEXTAREA',
  'SUMMARY',
  'LABEL',
  'DETAILS',
  'DIALOG',
  'IFRAME',
  'SLOT',
]);

/** Drawn, and not see-through. */
const isReadable = (element: Element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

/** A custom element, or one of the few plain ones that may have a shadow root, drawn with nothing inside. */
const mayHideRoot = (tag: string) =>
  tag.includes('-') || tag === 'DIV' || tag === 'SPAN' || tag === 'SECTION' || tag === 'ARTICLE';
