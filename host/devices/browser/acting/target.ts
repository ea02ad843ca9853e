/** From a ref of an observation to a point of the screen, if what the observation showed is still so. */
import { Refusal, stale } from '../refusal.ts';
import type { Frame } from '../tab/frames.ts';
import type { Dialog, Tab } from '../tab/tab.ts';
import type { Point } from './pointer.ts';

/** What the page's script answers when it will not. */
export interface Refused {
  refused: string;
  by?: string;
  /** Why a field does not take the value, and what it takes. */
  cause?: string;
  accepts?: string;
}

export interface Aim {
  point: Point;
  focused: boolean;
  entry?: 'keys' | 'set' | 'edit' | 'slider' | 'none';
  multiline?: boolean;
  autocomplete?: boolean;
  plain?: boolean;
}

export interface Located {
  frame: Frame;
  /** The page's own number of the observation. */
  generation: number;
}

/** @throws Refusal STALE_OBSERVATION when the observation is not known any more or its document is gone. */
export function locate(tab: Tab, generation: string, ref?: string): Located {
  assertReady(tab, generation);
  const observed = tab.generations.get(generation);
  const token = ref === undefined ? tab.frames.main.token : /^(d\d+)e\d+$/.exec(ref)?.[1];
  const seen = token === undefined ? undefined : observed?.byToken.get(token);
  const frame = seen && tab.frames.get(seen.frameId);
  if (!seen || frame?.token !== token || !frame)
    throw stale(ref === undefined ? 'OBSERVATION_FORGOTTEN' : 'TARGET_GONE');
  return { frame, generation: seen.generation };
}

/** The page is there, it is the one that was observed, and no dialog has come in front of it. */
export function assertReady(tab: Tab, generation: string): void {
  tab.assertAlive();
  if (tab.activity.navigating && !tab.dialog) throw stale('NAVIGATION_PENDING');
  const observed = tab.generations.get(generation);
  if (!observed) throw stale('OBSERVATION_FORGOTTEN');
  if (tab.dialog !== observed.dialog) throw stale(tab.dialog ? 'DIALOG_OPENED' : 'DIALOG_CLOSED');
}

/** The dialog that the observation showed, when it is what the call is about. */
export function dialogOf(tab: Tab, generation: string): Dialog | undefined {
  assertReady(tab, generation);
  return tab.dialog;
}

export function assertTaken<T extends object>(answer: T | Refused): asserts answer is T {
  if (!('refused' in answer)) return;
  const { refused, cause, accepts } = answer;
  if (refused === 'NOTHING_TO_SCROLL' || refused === 'FILE_CHOOSER_REFUSED') throw new Refusal(refused);
  if (refused === 'VALUE_NOT_ACCEPTED') throw notAccepted(cause, accepts);
  throw stale(refused, answer.by === undefined ? {} : { obscured_by: answer.by });
}

/** The field does not take the value; it keeps what it had. */
export const notAccepted = (cause?: string, accepts?: string): Refusal =>
  new Refusal('VALUE_NOT_ACCEPTED', {
    ...(cause === undefined ? {} : { cause }),
    facts: accepts === undefined ? {} : { accepts },
  });

/** Points inside a frame of another origin are carried out through every document around it. */
export async function throughFrames(tab: Tab, frame: Frame, point: Point): Promise<Point> {
  let current = frame;
  let at = point;
  while (current.outerId !== undefined) {
    const outer = tab.frames.get(current.outerId);
    const parent = current.parentId === undefined ? undefined : tab.frames.get(current.parentId);
    if (!outer || !parent) throw stale('TARGET_GONE');
    const ref = await tab.frames.ownerRef(current, parent);
    const answer: Point | Refused = await tab.look(
      outer,
      `__device.throughFrame(${JSON.stringify(ref)},${at.x},${at.y})`,
    );
    assertTaken(answer);
    at = answer;
    current = outer;
  }
  return at;
}

export const quoted = (value: unknown): string => JSON.stringify(value);
