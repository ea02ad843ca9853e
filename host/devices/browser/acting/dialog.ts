/** A native dialog is answered through the protocol: there is no page to click on while it is open. */
import { Refusal, stale } from '../refusal.ts';
import type { Dialog } from '../tab/tab.ts';
import type { Acted, ActionContext } from './action.ts';

/** Milliseconds for the dialog to close. */
const CLOSE_MS = 3000;

export async function answerDialog({ tab, dispatching }: ActionContext, dialog: Dialog, ref: string): Promise<Acted> {
  if (ref !== 'dialog-accept' && ref !== 'dialog-dismiss') throw stale('DIALOG_OPENED');
  if (ref === 'dialog-dismiss' && dialog.kind === 'alert') throw stale('TARGET_GONE');
  await dispatching();
  const accept = ref === 'dialog-accept';
  await tab.send('Page.handleJavaScriptDialog', {
    accept,
    ...(accept && dialog.kind === 'prompt' ? { promptText: dialog.text } : {}),
  });
  // Who stays cancels the way to the other page.
  if (dialog.kind === 'beforeunload' && !accept) tab.activity.navigating = false;
  const closed = await tab.activity.until(() => tab.dialog !== dialog, CLOSE_MS);
  if (!closed) throw new Refusal('OUTCOME_UNKNOWN', { executed: true, cause: 'PAGE_UNRESPONSIVE' });
  return { result: { completed_action: accept ? 'DIALOG_ACCEPTED' : 'DIALOG_DISMISSED' }, frames: [tab.frames.mainId] };
}

/** Text for a prompt is kept here until the prompt is accepted; the page learns nothing before. */
export async function fillDialog(
  { dispatching }: ActionContext,
  dialog: Dialog,
  ref: string,
  text: string,
): Promise<Acted> {
  if (ref !== 'dialog-text' || dialog.kind !== 'prompt') throw stale('DIALOG_OPENED');
  await dispatching();
  dialog.text = text;
  return { result: { completed_action: 'TYPE_TEXT', text_inserted: true }, frames: [] };
}
