/** Waits until the page has come to rest after an input, and no longer. */
import { currentEffect, type Effect, note, noticedSoFar, rootsSeen } from './changes.ts';
import { motionEnds } from './motion.ts';

type Answer = Pick<Effect, 'begun' | 'target' | 'changed' | 'valueChanged'>;

/** Milliseconds between looks. */
const LOOK_MS = 8;

export interface SettleOptions {
  /** Milliseconds without a change after which the page is at rest. */
  quiet: number;
  /** Milliseconds to go on watching when nothing noticeable changed. */
  watch: number;
  /** The same, when the control's own value changed and nothing else. */
  watchValue: number;
  /** End as undecided when nothing but the control's own value changed: whether to go on watching is decided outside. */
  ask: boolean;
  /** All of the input has been sent: watching counts from now. */
  sent: boolean;
  /** Milliseconds to go on from now in any case: a request has just brought something. */
  atLeast: number;
  /** Milliseconds after which a restless page is read as it is. */
  max: number;
  /** Milliseconds to wait for what is moving or fading in. */
  motion: number;
}

export interface Settled {
  changed: boolean;
  valueChanged: boolean;
  /** It was still changing when the time was up. */
  restless: boolean;
  /** It rests, but somebody who listens may answer yet. */
  undecided?: boolean;
}

/** Milliseconds before the expected rest in which a look at the page is prepared. */
const AHEAD_MS = 30;
/** Looks that are prepared during one wait; a restless page is looked at when the wait ends. */
const MAX_AHEAD = 2;

/** @param prepare called while the page rests already, towards the end of the wait. */
export async function settle(options: SettleOptions, prepare: () => void = () => {}): Promise<Settled> {
  const current = currentEffect() ?? {
    begun: performance.now(),
    since: performance.now(),
    target: null,
    address: location.href,
    changed: true,
    valueChanged: false,
    lastAt: performance.now(),
  };
  const drawn = nextFrame();
  const started = performance.now();
  let ahead = 0;
  let moved = false;
  let preparedAt = -1;
  if (options.sent) current.since = started;
  for (;;) {
    const now = performance.now();
    if (!current.changed && location.href !== current.address) current.changed = true;
    const watchFor = current.changed ? 0 : current.valueChanged ? options.watchValue : options.watch;
    const restsIn = Math.max(
      current.lastAt + options.quiet - now,
      current.since + watchFor - now,
      started + options.atLeast - now,
    );
    if (restsIn <= 0) break;
    if (options.ask && !current.changed && current.valueChanged && current.lastAt + options.quiet <= now) {
      // What ends a motion may be heard, though nobody hears the input.
      if (!moved && (await motionOf(current, options.motion))) {
        moved = true;
        current.lastAt = performance.now();
        continue;
      }
      prepare();
      return { changed: false, valueChanged: true, restless: false, undecided: true };
    }
    if (now - Math.max(current.since, started) >= options.max)
      return { changed: current.changed, valueChanged: current.valueChanged, restless: true };
    if (restsIn <= AHEAD_MS && preparedAt !== noticedSoFar() && ahead < MAX_AHEAD) {
      ahead++;
      preparedAt = noticedSoFar();
      prepare();
      continue;
    }
    // Looking too late would be a wait for nothing, at every action.
    await pause(Math.min(LOOK_MS, restsIn));
  }
  await drawn;
  await motionOf(current, options.motion);
  return { changed: current.changed, valueChanged: current.valueChanged, restless: false };
}

/**
 * Waits for what the input set in motion. Styles alone can show, hide or move things when a value changes, and no node tells
 * of it.
 */
async function motionOf(effect: Answer, max: number): Promise<boolean> {
  if (!effect.changed && !effect.valueChanged) return false;
  const waited = await motionEnds(rootsSeen(), max, effect.begun, effect.changed ? null : effect.target);
  if (waited) note();
  return waited;
}

/**
 * Waits for what an input elsewhere set in motion here, such as a frame that was told of it.
 * @param age milliseconds since that input.
 */
export const motionSince = (age: number, max: number): Promise<boolean> =>
  motionEnds(rootsSeen(), max, performance.now() - age, null);

/** One drawn frame, or a little while on a page that draws none. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => resolve());
    setTimeout(resolve, 50);
  });
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
