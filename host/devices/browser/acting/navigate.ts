/** `tab_navigate` and `tab_history`. */

import type { Navigation } from '../navigation/navigation.ts';
import { Refusal } from '../refusal.ts';
import { type Acted, type ActionContext, assertHandled } from './action.ts';
import { assertReady } from './target.ts';

/** Milliseconds for the first answer to a navigation: redirects, slow servers. */
const ANSWER_MS = 20_000;

export async function navigate(context: ActionContext, args: { url: string }, navigation: Navigation): Promise<Acted> {
  const { tab } = context;
  if (!tab.crashed) tab.assertAlive();
  const denied = await navigation.refusal(args.url);
  if (denied) throw new Refusal(denied.code, { cause: denied.cause });
  if (tab.dialog) throw new Refusal('STALE_OBSERVATION', { cause: 'DIALOG_OPENED' });
  await context.dispatching();
  if (tab.crashed || tab.unresponsive) await tab.revive();
  const { documents } = tab.activity;
  navigation.begin(tab.frames.mainId);
  const answer = await tab.activity.orUntil(
    tab.send('Page.navigate', { url: args.url }),
    () => tab.interrupted,
    ANSWER_MS,
  );
  if (!answer) {
    if (tab.dialog) return { result: { completed_action: 'NAVIGATE' }, frames: [tab.frames.mainId] };
    if (tab.closed || tab.crashed) assertHandled(tab, false);
    // The server has not answered yet: the navigation goes on, and the page says that it is loading.
    return { result: { completed_action: 'NAVIGATE', loading: true }, frames: [tab.frames.mainId] };
  }
  const blocked = navigation.blocked(tab.frames.mainId);
  const failed: string | undefined = answer.errorText;
  if (answer.loaderId && !failed)
    await tab.activity.until(() => tab.activity.documents > documents || tab.interrupted, ANSWER_MS);
  return {
    result: {
      completed_action: 'NAVIGATE',
      ...(blocked ? { navigation_blocked: blocked.code, cause: blocked.cause } : {}),
      ...(failed && !blocked ? { navigation_error: failed } : {}),
    },
    frames: [tab.frames.mainId],
  };
}

export async function history(
  context: ActionContext,
  args: { direction: 'back' | 'forward'; generation: string },
): Promise<Acted> {
  const { tab } = context;
  assertReady(tab, args.generation);
  if (tab.dialog) throw new Refusal('STALE_OBSERVATION', { cause: 'DIALOG_OPENED' });
  const { currentIndex, entries } = await tab.send('Page.getNavigationHistory');
  const entry = entries[currentIndex + (args.direction === 'back' ? -1 : 1)];
  if (!entry) throw new Refusal('HISTORY_UNAVAILABLE');
  await context.dispatching();
  const { documents } = tab.activity;
  const before = tab.url;
  await tab.activity.orUntil(
    tab.send('Page.navigateToHistoryEntry', { entryId: entry.id }),
    () => tab.interrupted,
    ANSWER_MS,
  );
  // The call is answered before the page changes; the change is a new document or a new address of this one.
  await tab.activity.until(
    () =>
      tab.activity.navigating ||
      tab.activity.documents !== documents ||
      tab.frames.main.url !== before ||
      tab.interrupted,
    1000,
  );
  return {
    result: { completed_action: args.direction === 'back' ? 'HISTORY_BACK' : 'HISTORY_FORWARD' },
    frames: [tab.frames.mainId],
  };
}
