/** Puts together one observation of a tab: its main document, its frames of other origins, or the dialog in front. */
import {
  type Observation,
  type ObservedElement,
  withoutImplied,
} from '../../../../sdk/devices/remote-browser-contract.ts';
import { Refusal, stale } from '../refusal.ts';
import { cut } from '../text.ts';
import type { Frame } from './frames.ts';
import { lookForListeners, openClosedRoots } from './hidden.ts';
import type { Dialog, ObservedFrames, Tab } from './tab.ts';

/** Limits of the wire contract. */
const ELEMENTS = 150;
const TEXT = 24_000;
const VIEWPORT_TEXT = 6000;
const TITLE = 4000;
const URL_CHARS = 8192;
/** Frames within frames that are read. */
const MAX_FRAMES = 20;
const MAX_DEPTH = 4;
/** Tries to read one document whole while the page goes from one to the next. */
const TRIES = 3;

/** What the page's script answers for one world. */
interface PageView {
  generation: number;
  url: string;
  title: string;
  text: string;
  viewport_text: string;
  elements: (ObservedElement & { in_viewport: boolean })[];
  found: number;
  scroll: { y: number; up: boolean; down: boolean };
  truncated: { text: boolean; viewport_text: boolean; elements: boolean; viewport_elements: boolean };
  ready: boolean;
  frames: { ref: string; visible: boolean }[];
  opaque: string[];
}

export async function observe(tab: Tab, options: { loading?: boolean } = {}): Promise<Observation> {
  tab.assertAlive();
  if (tab.dialog) return observeDialog(tab, tab.dialog);
  for (let attempt = 1; ; attempt++) {
    const { documents } = tab.activity;
    try {
      const observation = await observePage(tab, options.loading ?? false);
      // A view that began on one document and ended on another is nobody's.
      if (tab.activity.documents === documents) return observation;
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'STALE_OBSERVATION') throw error;
      if (tab.dialog) return observeDialog(tab, tab.dialog);
      if (attempt >= TRIES) throw error;
    }
    if (attempt >= TRIES) throw stale('NAVIGATION_PENDING');
    await tab.activity.until(() => (!tab.activity.navigating && tab.activity.parsed) || tab.interrupted, 1000);
  }
}

async function observePage(tab: Tab, loading: boolean): Promise<Observation> {
  const { main } = tab.frames;
  const [view, history] = await Promise.all([viewOf(tab, main), tab.send('Page.getNavigationHistory')]);
  const observed: ObservedFrames = {
    byToken: new Map([[main.token, { frameId: main.id, generation: view.generation }]]),
  };
  const inner = view.frames.length > 0 ? await observeFrames(tab, main, view, observed) : [];
  const elements = inFront([view, ...inner]);
  const text = [view.text, ...inner.map((frame) => frame.text)].filter(Boolean).join('\n');
  const viewportText = [
    view.viewport_text,
    ...inner.filter((frame) => frame.visible).map((frame) => frame.viewport_text),
  ]
    .filter(Boolean)
    .join('\n');
  const found = [view, ...inner].reduce((sum, frame) => sum + frame.found, 0);
  tab.url = view.url;
  tab.title = view.title;
  const notices = tab.notices.take();
  if (loading || tab.activity.navigating) notices.push({ kind: 'LOADING', text: 'The page is still loading.' });
  for (const failure of tab.activity.failed.splice(0)) notices.push({ kind: 'REQUEST_FAILED', text: failure });
  return withinBytes({
    protocol_version: 1,
    generation: tab.nextGeneration(observed),
    url: cut(view.url, URL_CHARS),
    title: cut(view.title, TITLE),
    text: cut(text, TEXT),
    viewport_text: cut(viewportText, VIEWPORT_TEXT),
    elements: elements.map(withoutImplied),
    scroll: view.scroll,
    truncated: {
      text: text.length > TEXT || [view, ...inner].some((frame) => frame.truncated.text),
      elements: found > elements.length || view.truncated.elements,
      viewport_elements: view.truncated.viewport_elements || inner.some((frame) => frame.truncated.viewport_elements),
      ...(view.title.length > TITLE ? { title: true } : {}),
      ...(view.url.length > URL_CHARS ? { url: true } : {}),
    },
    navigation: {
      can_go_back: history.currentIndex > 0,
      can_go_forward: history.currentIndex < history.entries.length - 1,
    },
    ...(notices.length > 0 ? { notices } : {}),
  });
}

/** Bytes of one observation: the host keeps no evidence that is larger. */
const MAX_BYTES = 240_000;

/** Gives up the least needed first: options beyond the chosen ones, then the end of the text. */
function withinBytes(observation: Observation): Observation {
  let fitting = observation;
  for (let room = TEXT; room > 500 && Buffer.byteLength(JSON.stringify(fitting)) > MAX_BYTES; room /= 2) {
    fitting = {
      ...fitting,
      text: cut(fitting.text, room),
      elements: fitting.elements.map((element) =>
        element.options && element.options.length > 20
          ? { ...element, options: element.options.slice(0, 20), options_truncated: true }
          : element,
      ),
      truncated: { ...fitting.truncated, text: true },
    };
  }
  return fitting;
}

const LOOK = JSON.stringify({ elements: ELEMENTS, text: TEXT, viewportText: VIEWPORT_TEXT });

/** What a look at a frame asks its script for; the wait before it prepares just that. */
export const lookArguments = (frame: Frame) => `${JSON.stringify(frame.token)},${LOOK}`;

type FrameView = PageView & { visible: boolean };

/** Frames of other origins, each read in its own world, and those within them. */
async function observeFrames(
  tab: Tab,
  outer: Frame,
  view: PageView,
  observed: ObservedFrames,
  depth = 0,
): Promise<FrameView[]> {
  const places = new Map(view.frames.map((place) => [place.ref, place]));
  const below = async (parent: Frame): Promise<FrameView[]> => {
    const views = await Promise.all(tab.frames.childrenOf(parent).map((frame) => readFrame(frame, parent)));
    return views.flat();
  };
  const readFrame = async (frame: Frame, parent: Frame): Promise<FrameView[]> => {
    if (observed.byToken.size >= MAX_FRAMES) return [];
    try {
      const place = places.get(await tab.frames.ownerRef(frame, parent));
      // A frame of this origin was read with its outer one; what it holds may be of another.
      if (!place) return await below(frame);
      frame.outerId = outer.id;
      const inner = await viewOf(tab, frame);
      observed.byToken.set(frame.token, { frameId: frame.id, generation: inner.generation });
      for (const element of inner.elements) element.in_viewport &&= place.visible;
      const deeper =
        inner.frames.length > 0 && depth < MAX_DEPTH ? await observeFrames(tab, frame, inner, observed, depth + 1) : [];
      return [{ ...inner, visible: place.visible }, ...deeper];
    } catch {
      // A frame that is loading or frozen is left out; the page around it can still be worked.
      return [];
    }
  };
  return below(outer);
}

/** One world's view; looked at again when something was found that does not show by itself. */
async function viewOf(tab: Tab, frame: Frame): Promise<PageView> {
  const look = () => tab.look<PageView>(frame, `__device.observe(${lookArguments(frame)})`);
  const view = await look();
  const hidden = view.opaque.length > 0 && (await openClosedRoots(tab.frames, frame, view.opaque));
  const listening = await lookForListeners(tab.frames, frame, view.found, tab.now());
  return hidden || listening ? look() : view;
}

/** All that is in view comes first, whatever frame it is in. */
function inFront(views: PageView[]): ObservedElement[] {
  const all = views.flatMap((view) => view.elements);
  if (views.length === 1) return all;
  return [...all.filter((element) => element.in_viewport), ...all.filter((element) => !element.in_viewport)].slice(
    0,
    ELEMENTS,
  );
}

/** A native dialog stands in front of everything; the page behind it cannot even be asked. */
function observeDialog(tab: Tab, dialog: Dialog): Observation {
  const generation = tab.nextGeneration({ byToken: new Map(), dialog });
  const what = { alert: 'message', confirm: 'question', prompt: 'question', beforeunload: 'leave-page question' }[
    dialog.kind
  ];
  const message =
    dialog.kind === 'beforeunload' ? 'Leave this page? Changes that were made may not be saved.' : dialog.message;
  const button = (ref: string, label: string): ObservedElement => ({
    ref,
    label,
    tag: 'dialog',
    role: 'button',
    context: `dialog: ${cut(message, 200)}`,
    operations: ['CLICK'],
  });
  const elements = [button('dialog-accept', dialog.kind === 'beforeunload' ? 'Leave' : 'OK')];
  if (dialog.kind !== 'alert')
    elements.push(button('dialog-dismiss', dialog.kind === 'beforeunload' ? 'Stay' : 'Cancel'));
  if (dialog.kind === 'prompt') {
    elements.push({
      ref: 'dialog-text',
      label: cut(message, 250) || 'Answer',
      tag: 'dialog',
      role: 'textbox',
      value: cut(dialog.text, 2000),
      operations: ['TYPE_TEXT'],
    });
  }
  return {
    protocol_version: 1,
    generation,
    url: cut(tab.url, URL_CHARS),
    title: cut(tab.title, TITLE),
    text: cut(message, TEXT),
    viewport_text: cut(message, VIEWPORT_TEXT),
    elements,
    scroll: { up: false, down: false },
    truncated: { text: message.length > TEXT, elements: false },
    navigation: { can_go_back: false, can_go_forward: false },
    notices: [
      { kind: 'DIALOG', text: `The page shows a ${what} of the browser; it waits for an answer.` },
      ...tab.notices.take(),
    ],
  };
}
