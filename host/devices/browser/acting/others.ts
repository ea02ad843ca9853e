/** `page_select`, `page_scroll` and `page_keypress`. */
import type { BrowserKey } from '../../../../sdk/devices/remote-browser-contract.ts';
import { Refusal, stale } from '../refusal.ts';
import { type Acted, type ActionContext, assertHandled, framesOf } from './action.ts';
import { pressOn } from './click.ts';
import { pressKey } from './keyboard.ts';
import { type Point, wheel } from './pointer.ts';
import { type Aim, assertReady, assertTaken, locate, quoted, type Refused, throughFrames } from './target.ts';

export async function select(
  context: ActionContext,
  args: { ref: string; generation: string; option_ref: string },
): Promise<Acted> {
  const { tab } = context;
  const { frame, generation } = locate(tab, args.generation, args.ref);
  // A native list is set inside the page, so the record must be on disk before the page is asked.
  const check: { ok: true; native: boolean } | Refused = await tab.look(
    frame,
    `__device.mayChoose(${generation},${quoted(args.ref)},${quoted(args.option_ref)})`,
  );
  assertTaken(check);
  if (check.native) await context.dispatching();
  const chosen: { chosen: true } | { click: Aim } | Refused = await tab.look(
    frame,
    `__device.choose(${generation},${quoted(args.ref)},${quoted(args.option_ref)})`,
  );
  assertTaken(chosen);
  if ('click' in chosen) {
    const point = await throughFrames(tab, frame, chosen.click.point);
    await context.dispatching();
    await pressOn(tab, frame, point);
  }
  return { result: { completed_action: 'SELECT' }, frames: framesOf(tab, frame.id) };
}

export async function scroll(
  context: ActionContext,
  args: { direction: 'up' | 'down'; pixels: number; generation: string },
): Promise<Acted> {
  const { tab } = context;
  const { frame, generation } = locate(tab, args.generation);
  const down = args.direction === 'down';
  const place: { point: Point; before: number } | Refused = await tab.look(
    frame,
    `__device.scrollPlace(${generation},${down})`,
  );
  assertTaken(place);
  await context.dispatching();
  const pixels = down ? args.pixels : -args.pixels;
  assertHandled(tab, await wheel(tab, place.point, pixels));
  let after = await scrolledTo(context, frame.id, place.before);
  if (after === place.before) {
    await tab.look(frame, `__device.scrollDirectly(${pixels})`).catch(() => {});
    after = await scrolledTo(context, frame.id, place.before);
  }
  return {
    result: { completed_action: down ? 'SCROLL_DOWN' : 'SCROLL_UP', scrolled: after - place.before },
    frames: framesOf(tab, frame.id),
  };
}

async function scrolledTo({ tab }: ActionContext, frameId: string, before: number): Promise<number> {
  const frame = tab.frames.get(frameId);
  if (!frame || tab.interrupted) return Number.NaN;
  try {
    return await tab.look<number>(frame, `__device.scrolledTo(${before})`);
  } catch {
    return Number.NaN;
  }
}

export async function keypress(
  context: ActionContext,
  args: { key: BrowserKey; generation: string; repeat?: number | undefined },
): Promise<Acted> {
  const { tab } = context;
  assertReady(tab, args.generation);
  if (tab.dialog) throw stale('DIALOG_OPENED');
  const { frame, generation } = locate(tab, args.generation);
  const place: { ok: true } | Refused = await tab.look(frame, `__device.keyPlace(${generation})`);
  assertTaken(place);
  await context.dispatching();
  assertHandled(tab, await pressKey(tab, args.key, args.repeat ?? 1));
  return {
    result: { completed_action: 'KEY', key: args.key },
    frames: framesOf(tab, frame.id),
    expects: 'suggestions',
  };
}

export { Refusal };
