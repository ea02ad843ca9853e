/** Commands that the grammar reads: one call to the device each, without a decision. */
import type { Command } from '../../sdk/commands/command.ts';
import { done, notDone, type Order, refuse, sendPrimitive } from './direct-order.ts';
import type { CommandAction, Settled } from './direct-outcome.ts';
import { navigateTo } from './opening.ts';

type Of<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

/** @returns undefined where the words need a decision after all. */
export async function carryOutReading(order: Order): Promise<Settled | undefined> {
  const { reading } = order;
  switch (reading?.kind) {
    case 'scroll':
      return scroll(order, reading.direction);
    case 'key':
      // The agent's words are not the user's: a key could submit something, so its impact is judged first.
      return order.author === 'agent' ? undefined : press(order, reading.key, reading.count);
    case 'history':
      return history(order, reading);
    case 'open':
      return openAddress(order, reading.url);
    case 'new_tab':
      return newTab(order);
    default:
      return undefined;
  }
}

export function scroll(order: Order, direction: 'up' | 'down'): Promise<Settled> {
  const { session } = order;
  order.attempted = { kind: 'scroll', direction };
  return sendPrimitive(order, ({ scroll: can, generation }) =>
    can[direction]
      ? session.act(direction === 'up' ? 'SCROLL_UP' : 'SCROLL_DOWN', undefined, (id) =>
          session.browser.scroll(id, { direction, generation }),
        )
      : { refused: 'SCROLL_LIMIT' },
  );
}

export function press(order: Order, key: Of<'key'>['key'], repeat: number): Promise<Settled> {
  const { session } = order;
  order.attempted = { kind: 'key', key };
  return sendPrimitive(order, ({ navigation, generation }) =>
    navigation
      ? session.act('KEY', undefined, (id) => session.browser.press(id, { key, generation, repeat }))
      : { refused: 'KEY_UNSUPPORTED' },
  );
}

/** A device that does not tell its history leaves back and forward to the decision: the page may have a control for it. */
async function history(order: Order, { direction }: Of<'history'>): Promise<Settled | undefined> {
  const page = await order.session.read();
  return page.navigation ? goThrough(order, direction) : undefined;
}

export async function goThrough(order: Order, direction: 'back' | 'forward'): Promise<Settled> {
  const { session } = order;
  order.attempted = { kind: 'history', direction };
  return sendPrimitive(
    order,
    ({ navigation, generation }) =>
      navigation?.[direction === 'back' ? 'can_go_back' : 'can_go_forward']
        ? session.act(direction === 'back' ? 'HISTORY_BACK' : 'HISTORY_FORWARD', undefined, (id) =>
            session.browser.history(id, { direction, generation }),
          )
        : { refused: 'HISTORY_UNAVAILABLE' },
    session.page,
  );
}

/** Needs no page: an address is opened from wherever the tab is, a blank one included. */
export async function openAddress(order: Order, url: string): Promise<Settled> {
  const { session } = order;
  order.attempted = { kind: 'navigate', url };
  for (let resends = 0; ; resends++) {
    const acted = await navigateTo(session, url);
    if (acted.outcome === 'confirmed') return done(order);
    refuse(session, acted);
    if (resends >= 1) return notDone(order, 'STALE_OBSERVATION');
  }
}

/** A binding is one approved tab: another one would widen what was approved without anybody noticing. */
export function newTab(order: Order): Settled {
  order.attempted = { kind: 'new_tab' } satisfies CommandAction;
  return notDone(order, 'NEW_TAB_OUT_OF_SCOPE');
}
