/**
 * `page_type`: what the field holds is replaced by the text, as a user would: touch the field, select all, type.
 *
 * Afterwards the field is read again inside the page. A field that took the keys differently is given the text whole once
 * more; what it then holds is said, never the value itself.
 */
import { Refusal, stale } from '../refusal.ts';
import type { Frame } from '../tab/frames.ts';
import type { Tab } from '../tab/tab.ts';
import { type Acted, type ActionContext, assertHandled, framesOf } from './action.ts';
import { pressOn } from './click.ts';
import { fillDialog } from './dialog.ts';
import { pressKey, typeText } from './keyboard.ts';
import { type Aim, assertTaken, dialogOf, locate, notAccepted, quoted, type Refused, throughFrames } from './target.ts';

export interface TypeArguments {
  ref: string;
  generation: string;
  text: string;
  submit?: boolean | undefined;
}

/** Steps of one key by which a slider is moved at most. */
const MAX_SLIDER_STEPS = 400;

export async function type(context: ActionContext, args: TypeArguments): Promise<Acted> {
  const { tab } = context;
  const dialog = dialogOf(tab, args.generation);
  if (dialog) return fillDialog(context, dialog, args.ref, args.text);
  const { frame, generation: seen } = locate(tab, args.generation, args.ref);
  const aim: Aim | Refused = await tab.look(frame, `__device.aim(${seen},${quoted(args.ref)},${quoted(args.text)})`);
  assertTaken(aim);
  const point = await throughFrames(tab, frame, aim.point);
  await context.dispatching();
  const expects: Acted['expects'] | undefined =
    aim.autocomplete || args.submit ? 'suggestions' : aim.plain ? 'nothing' : undefined;
  const acted = { frames: framesOf(tab, frame.id), ...(expects ? { expects } : {}) };

  if (aim.entry === 'set') {
    const set = await after<'same' | 'other' | 'refused'>(
      tab,
      frame,
      `__device.setValue(${quoted(args.ref)},${quoted(args.text)})`,
    );
    // The page has not heard of a value that the field does not take.
    if (set === 'refused') throw notAccepted();
    if (args.submit) await enter(tab);
    return {
      ...acted,
      result: {
        completed_action: 'TYPE_TEXT',
        text_inserted: true,
        exact: set === 'same',
        ...(set === 'other' ? { value_differs: true } : {}),
        input_route: 'set',
      },
    };
  }

  await pressOn(tab, frame, point);
  if (tab.interrupted) return { ...acted, result: { completed_action: 'FOCUS', text_inserted: false } };
  if (aim.entry === 'slider') {
    const reached = await moveSlider(tab, frame, args);
    return {
      ...acted,
      result: { completed_action: 'TYPE_TEXT', text_inserted: true, exact: reached, input_route: 'keys' },
    };
  }
  if (aim.entry === 'none') return { ...acted, result: { completed_action: 'FOCUS', text_inserted: false } };
  const selected = await after<{ focused: boolean; empty: boolean }>(
    tab,
    frame,
    `__device.selectAll(${quoted(args.ref)})`,
  );
  if (!selected.focused) return { ...acted, result: { completed_action: 'FOCUS', text_inserted: false } };

  const multiline = aim.multiline ?? false;
  const held = await enterText(tab, frame, args, { multiline, empty: selected.empty });
  if (args.submit) await enter(tab);
  return {
    ...acted,
    result: {
      completed_action: 'TYPE_TEXT',
      text_inserted: true,
      exact: held === 'same',
      ...(held === 'other' ? { value_differs: true } : {}),
    },
  };
}

type Held = 'same' | 'formatted' | 'other';

async function enterText(
  tab: Tab,
  frame: Frame,
  { ref, text }: TypeArguments,
  field: { multiline: boolean; empty: boolean },
): Promise<Held> {
  const read = () => after<Held>(tab, frame, `__device.holds(${quoted(ref)},${quoted(text)})`);
  if (text === '') {
    if (!field.empty) assertHandled(tab, await pressKey(tab, 'Delete'));
    return tab.interrupted ? 'other' : read();
  }
  assertHandled(tab, await typeText(tab, text, { multiline: field.multiline }));
  if (tab.interrupted || tab.activity.navigating) return 'other';
  const held = await read();
  if (held !== 'other') return held;
  // The field made something else of the keys: select what is there and give it the text whole.
  const again = await after<{ focused: boolean }>(tab, frame, `__device.selectAll(${quoted(ref)})`);
  if (!again.focused) return 'other';
  assertHandled(tab, await typeText(tab, text, { multiline: field.multiline, whole: true }));
  return tab.interrupted ? 'other' : read();
}

/** A slider that is made of plain elements is moved by its keys, and read after each run of them. */
async function moveSlider(tab: Tab, frame: Frame, { ref, text }: TypeArguments): Promise<boolean> {
  const wanted = Number(text.trim().replace(/[%\s]/g, ''));
  if (!Number.isFinite(wanted)) return false;
  let step = 0;
  let before = Number.NaN;
  for (let moved = 0; moved < MAX_SLIDER_STEPS; ) {
    const state = await after<{ now: number } | null>(tab, frame, `__device.slider(${quoted(ref)})`);
    if (!state || !Number.isFinite(state.now)) return false;
    if (state.now === wanted || tab.interrupted) return state.now === wanted;
    if (step === 0 && Number.isFinite(before)) {
      step = Math.abs(state.now - before);
      // A key that moves nothing, or past the value, ends it at the nearest place.
      if (step === 0) return false;
    }
    if (step > 0 && Math.abs(state.now - wanted) < step / 2) return false;
    before = state.now;
    const times = step === 0 ? 1 : Math.max(1, Math.floor(Math.abs(wanted - state.now) / step));
    assertHandled(
      tab,
      await pressKey(tab, wanted > state.now ? 'ArrowRight' : 'ArrowLeft', Math.min(times, MAX_SLIDER_STEPS)),
    );
    moved += times;
  }
  return false;
}

async function enter(tab: Tab): Promise<void> {
  if (tab.interrupted) return;
  assertHandled(tab, await pressKey(tab, 'Enter'));
}

/** A look after the first input: if the page went away meanwhile, what was sent may have done it. */
async function after<T>(tab: Tab, frame: Frame, expression: string): Promise<T> {
  try {
    return await tab.look<T>(frame, expression);
  } catch (error) {
    const cause = error instanceof Refusal ? (error.cause_ ?? error.code) : 'PAGE_UNRESPONSIVE';
    throw new Refusal('OUTCOME_UNKNOWN', { executed: true, cause });
  }
}

export { stale };
