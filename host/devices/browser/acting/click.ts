/** `page_click`: one press of the pointer on what was observed. */
import { stale } from '../refusal.ts';
import type { Frame } from '../tab/frames.ts';
import type { Tab } from '../tab/tab.ts';
import { type Acted, type ActionContext, assertHandled, framesOf } from './action.ts';
import { answerDialog } from './dialog.ts';
import { type Point, press } from './pointer.ts';
import { type Aim, assertTaken, dialogOf, locate, quoted, type Refused, throughFrames } from './target.ts';

export async function click(
  context: ActionContext,
  { ref, generation }: { ref: string; generation: string },
): Promise<Acted> {
  const { tab } = context;
  const dialog = dialogOf(tab, generation);
  if (dialog) return answerDialog(context, dialog, ref);
  const { frame, generation: seen } = locate(tab, generation, ref);
  const aim: Aim | Refused = await tab.look(frame, `__device.aim(${seen},${quoted(ref)},null)`);
  assertTaken(aim);
  const point = await throughFrames(tab, frame, aim.point);
  await context.dispatching();
  await pressOn(tab, frame, point);
  return { result: { completed_action: 'CLICK' }, frames: framesOf(tab, frame.id) };
}

/** Presses where the page's script is armed, and asks it whether the press reached what was meant. */
export async function pressOn(tab: Tab, frame: Frame, point: Point): Promise<void> {
  const handled = await press(tab, point);
  assertHandled(tab, handled);
  const outcome = await landed(tab, frame);
  if (outcome && !outcome.landed && outcome.by !== undefined)
    throw stale('TARGET_OBSCURED', { obscured_by: outcome.by });
}

/** @returns nothing when the press led away from the page or opened a dialog: then it certainly reached something of it. */
async function landed(tab: Tab, frame: Frame): Promise<{ landed: boolean; by?: string } | null> {
  if (tab.interrupted || tab.activity.navigating) return null;
  try {
    return await tab.look(frame, '__device.landed()');
  } catch {
    return null;
  }
}
