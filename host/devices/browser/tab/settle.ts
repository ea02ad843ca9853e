/**
 * Waits until the page has answered an input, and no longer.
 *
 * The page itself says when it has come to rest; the protocol says whether a new document or a request of the page is still
 * on its way. What has not come by the limit is reported as loading.
 */
import { isHeard } from './hidden.ts';
import { lookArguments } from './observation.ts';
import type { Tab } from './tab.ts';

/** Milliseconds of rest after a change (two drawn frames); of watching when nothing changed; when only the value did. */
const QUIET_MS = 34;
const WATCH_MS = 450;
const WATCH_VALUE_MS = 350;
/** A field of a form that is sent by a button. */
const WATCH_PLAIN_MS = 100;
/** A field that offers suggestions, or filters as it is typed into. */
const WATCH_SUGGESTIONS_MS = 450;
/** Milliseconds after which a restless page is read as it is. */
const RESTLESS_MS = 1500;
/** Milliseconds to wait for what moves or fades in. */
const MOTION_MS = 600;
/** Milliseconds for a new document to arrive, and then to be parsed. */
const DOCUMENT_MS = 10_000;
const PARSE_MS = 5000;
/** Milliseconds for requests that the input brought about: when nothing has changed yet, and when something has. */
const REQUESTS_MS = 5000;
const REQUESTS_AFTER_CHANGE_MS = 2500;
/** Milliseconds that the page gets to show what a request brought. */
const AFTER_REQUEST_MS = 60;

export interface SettleOptions {
  expects?: 'suggestions' | 'nothing';
  frames: readonly string[];
}

export interface Rest {
  /** Something was still on its way when the time was up. */
  loading: boolean;
  changed: boolean;
}

export async function settle(tab: Tab, options: SettleOptions): Promise<Rest> {
  const rest = await atRest(tab, options);
  await motionElsewhere(tab, options.frames);
  return rest;
}

/** What the page told a frame of another origin may be moving there still. */
async function motionElsewhere(tab: Tab, looked: readonly string[]): Promise<void> {
  const frames = tab.frames.apart.filter((frame) => !looked.includes(frame.id));
  if (frames.length === 0) return;
  const motion = `__device.motionSince(${tab.now() - tab.activity.inputAt},${MOTION_MS})`;
  const ends = Promise.all(frames.map((frame) => tab.frames.run(frame, motion).catch(() => {})));
  await tab.activity.orUntil(ends, () => tab.activity.navigating || tab.interrupted, MOTION_MS);
}

async function atRest(tab: Tab, options: SettleOptions): Promise<Rest> {
  const { activity } = tab;
  const startDocuments = activity.documents;
  let changed = false;
  let requestsUntil = 0;
  let atLeast = 0;
  let first = true;
  for (;;) {
    if (tab.interrupted) return { loading: false, changed: true };
    if (activity.navigating) {
      changed = true;
      await activity.until(() => !activity.navigating || tab.interrupted, DOCUMENT_MS);
      if (activity.navigating && !tab.interrupted) return { loading: true, changed };
      continue;
    }
    if (activity.documents !== startDocuments && !activity.parsed) {
      changed = true;
      await activity.until(() => activity.parsed || activity.navigating || tab.interrupted, PARSE_MS);
      if (activity.navigating || tab.interrupted) continue;
      if (!activity.parsed) return { loading: true, changed };
    }
    const documents = activity.documents;
    const arrived = changed || documents !== startDocuments;
    let rest = await inPage(tab, options, { changed: arrived, atLeast, first, ask: !arrived });
    if (rest.undecided && (await somebodyListens(tab, options)))
      rest = await inPage(tab, options, { changed: false, atLeast, first: false, ask: false });
    first = false;
    if (tab.interrupted || activity.navigating || activity.documents !== documents) {
      atLeast = 0;
      continue;
    }
    changed ||= rest.changed;
    if (activity.requests === 0) return { loading: rest.restless, changed };
    const now = tab.now();
    if (requestsUntil === 0) requestsUntil = now + (changed ? REQUESTS_AFTER_CHANGE_MS : REQUESTS_MS);
    const left = requestsUntil - now;
    if (left <= 0) return { loading: true, changed };
    const before = activity.requests;
    await activity.until(() => activity.requests < before || activity.navigating || tab.interrupted, left);
    atLeast = AFTER_REQUEST_MS;
  }
}

interface PageRest {
  changed: boolean;
  restless: boolean;
  undecided?: boolean;
}

/** A page in which nobody listens to the input is not watched for an answer. */
async function somebodyListens(tab: Tab, { frames }: SettleOptions): Promise<boolean> {
  const frame = tab.frames.get(frames.at(-1) ?? '');
  // The document or the browser went away: the watching that follows sees it.
  return !frame || isHeard(tab.frames, frame).catch(() => true);
}

interface Watching {
  /** Something has changed already. */
  changed: boolean;
  /** Milliseconds to go on in any case. */
  atLeast: number;
  first: boolean;
  ask: boolean;
}

async function inPage(tab: Tab, options: SettleOptions, { changed, atLeast, first, ask }: Watching): Promise<PageRest> {
  const { activity } = tab;
  const wait = JSON.stringify({
    quiet: QUIET_MS,
    watch: changed ? QUIET_MS : WATCH_MS,
    watchValue: changed ? QUIET_MS : watchValue(options),
    sent: first,
    ask,
    atLeast,
    max: RESTLESS_MS,
    motion: MOTION_MS,
  });
  const { documents } = activity;
  const looks = Promise.all(options.frames.map((id) => settledFrame(tab, id, wait)));
  // A new document or a dialog ends the watching; what the old document would have said no longer matters.
  const left = () => activity.navigating || activity.documents !== documents || tab.interrupted;
  const rests = await activity.orUntil(looks, left, RESTLESS_MS + MOTION_MS + PARSE_MS);
  if (!rests) return { changed: true, restless: !left() };
  return {
    changed: rests.some((rest) => rest.changed),
    restless: rests.some((rest) => rest.restless),
    undecided: rests.every((rest) => rest.undecided),
  };
}

const watchValue = ({ expects }: SettleOptions) =>
  expects === 'suggestions' ? WATCH_SUGGESTIONS_MS : expects === 'nothing' ? WATCH_PLAIN_MS : WATCH_VALUE_MS;

async function settledFrame(tab: Tab, id: string, wait: string): Promise<PageRest> {
  const frame = tab.frames.get(id);
  if (!frame) return { changed: true, restless: false };
  try {
    return await tab.frames.run<PageRest>(frame, `__device.settle(${wait},${lookArguments(frame)})`);
  } catch {
    // The document went away meanwhile; the loop sees what came instead.
    return { changed: true, restless: false };
  }
}
