/** What moves, fades or grows on the page after an input, such as a dialog that fades in. */
import { isInside, squeeze } from './tree.ts';

const MOVING =
  /^(?:opacity|transform|translate|scale|height|width|max-?[hH]eight|max-?[wW]idth|top|left|right|bottom|visibility|display|clip-?[pP]ath)$/;

/**
 * Waits for finite animations and transitions that move or show things, in any of the roots.
 *
 * @param max milliseconds to wait, and beyond which an animation is not waited for.
 * @param since when the input began; what ran before it does not count.
 * @param decorated the control whose own look does not count: the mark in a box that was ticked.
 * @returns whether there were any.
 */
export async function motionEnds(
  roots: readonly DocumentOrShadowRoot[],
  max: number,
  since: number,
  decorated: Element | null,
): Promise<boolean> {
  const ends = performance.now() + max;
  let waited = false;
  for (const animation of roots.flatMap((root) => root.getAnimations())) {
    if (animation.playState !== 'running') continue;
    const timing = animation.effect?.getComputedTiming();
    const left = Number(timing?.endTime ?? Infinity) - Number(animation.currentTime ?? 0);
    const age = Number(animation.currentTime ?? 0);
    if (!Number.isFinite(left) || left > max || age > performance.now() - since + 50 || !moves(animation)) continue;
    if (decorated && decorates(animation, decorated)) continue;
    waited = true;
    await Promise.race([animation.finished.catch(() => {}), pause(Math.max(0, ends - performance.now()))]);
  }
  return waited;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function moves(animation: Animation): boolean {
  const property = (animation as CSSTransition).transitionProperty;
  if (property) return MOVING.test(property);
  const frames = (animation.effect as KeyframeEffect | null)?.getKeyframes?.() ?? [];
  return frames.some((frame) => Object.keys(frame).some((key) => MOVING.test(key)));
}

/** Drawn for the control or its label, and nothing to read or to work. */
function decorates(animation: Animation, control: Element): boolean {
  const { target, pseudoElement } = animation.effect as KeyframeEffect;
  const parts = [control, ...((control as HTMLInputElement).labels ?? [])];
  if (!target || !parts.some((part) => isInside(target, part))) return false;
  return pseudoElement !== null || target === control || !hasContent(target);
}

/** Something to read or to work is in it. */
export function hasContent(element: Element): boolean {
  return (
    squeeze(element.textContent ?? '') !== '' || element.querySelector('input,button,select,textarea,a,img') !== null
  );
}
