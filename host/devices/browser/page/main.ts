/**
 * The device's part inside a page. It runs in a world of its own: it shares the document with the page's scripts, and
 * nothing else. The page cannot see, call or change any of it.
 *
 * Every answer leaves as one JSON text, which is several times cheaper than an object graph.
 */
import { aim, throughFrame } from './aim.ts';
import * as changes from './changes.ts';
import { choose, mayChoose } from './choosing.ts';
import * as fields from './fields.ts';
import { focusName, keyPlace } from './focus.ts';
import { addressChanged } from './guard.ts';
import { maskSensitive, unmask } from './masks.ts';
import { type ObserveOptions, observe } from './observe.ts';
import { landed, listenOn } from './press-guard.ts';
import { elementOf, refOf, useDocument } from './refs.ts';
import { scrollDirectly, scrolledTo, scrollPlace } from './scrolling.ts';
import { motionSince, type SettleOptions, settle } from './settle.ts';
import { addClosedRoot, markListener, tagOf } from './tree.ts';

const text = JSON.stringify;

/** The last look, while nothing has happened since: most of a wait for rest is time in which it can be made. */
let prepared: { asked: string; state: string; answer: string } | undefined;

function look(token: string, options: ObserveOptions): string {
  useDocument(token);
  return text(observe(options));
}

const device = {
  observe(token: string, options: ObserveOptions): string {
    changes.end();
    const ready = prepared;
    prepared = undefined;
    if (ready && ready.asked === token + text(options) && ready.state === changes.stateOfPage()) return ready.answer;
    return look(token, options);
  },
  aim: (generation: number, ref: string, wanted: string | null) => text(aim(generation, ref, wanted)),
  landed: () => text(landed()),
  selectAll: (ref: string) => text(fields.selectAll(ref)),
  holds: (ref: string, wanted: string) => text(fields.holds(ref, wanted)),
  setValue: (ref: string, wanted: string) => text(fields.setValue(ref, wanted)),
  slider: (ref: string) => text(fields.sliderState(ref)),
  mayChoose: (generation: number, ref: string, option: string) => text(mayChoose(generation, ref, option)),
  choose: (generation: number, ref: string, option: string) => text(choose(generation, ref, option)),
  scrollPlace: (generation: number, down: boolean) => text(scrollPlace(generation, down)),
  scrolledTo: (before: number) => scrolledTo(before),
  scrollDirectly: (pixels: number) => text(scrollDirectly(pixels) ?? null),
  keyPlace: (generation: number) => text(keyPlace(generation)),
  throughFrame: (ref: string, x: number, y: number) => text(throughFrame(ref, x, y)),
  focusName: () => text(focusName()),
  begin: () => text(changes.begin(null) ?? null),
  /** @param token and `looked`: what the look after it will ask for. */
  async settle(options: SettleOptions, token?: string, looked?: ObserveOptions): Promise<string> {
    prepared = undefined;
    const settled = await settle(options, () => {
      if (token === undefined || looked === undefined) return;
      const answer = look(token, looked);
      prepared = { asked: token + text(looked), state: changes.stateOfPage(), answer };
    });
    return text(settled);
  },
  motionSince: async (age: number, max: number) => text(await motionSince(age, max)),
  path: (only: 'worked' | 'left') => changes.path(only),
  element: (ref: string) => elementOf(ref) ?? null,
  refOfElement: (element: Element) => refOf(element),
  markListener: (element: Element) => markListener(element),
  addClosedRoot: (host: Element, root: ShadowRoot) => addClosedRoot(host, root),
  pictureState: (generation: number) =>
    text({
      stale: addressChanged(generation),
      width: document.documentElement.clientWidth || innerWidth,
      height: innerHeight,
    }),
  maskSensitive: () => text(maskSensitive()),
  unmask: () => text(unmask() ?? null),
  state: () =>
    text({
      url: location.href,
      title: document.title,
      ready: document.readyState,
      body: tagOf(document.documentElement),
    }),
};

declare global {
  // eslint-disable-next-line no-var
  var __device: typeof device;
}

globalThis.__device ??= device;
listenOn(window);
changes.watch([document]);
