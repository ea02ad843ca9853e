/** The one line about a step list: how far it came, why it stopped, and what is left. No text of a step is repeated. */
import type { CommandOutcome, StepRun } from '../../sdk/contract/browser-run.ts';
import { doneText } from './done-text.ts';

export function stepLine(run: StepRun, outcome: CommandOutcome, hint: (reason: string) => string): string {
  const last = outcome.action ? ` Last action: ${doneText(outcome)}.` : '';
  const silent = run.unverifiedSteps?.length ? ` No change was seen after step ${run.unverifiedSteps.join(', ')}.` : '';
  const notes = (run.notes ?? []).map((note) => ` ${note}`).join('');
  if (run.stopReason === 'ALL_STEPS_DONE') return `Done: all ${run.total} steps.${last}${silent}${notes}`;
  const at = `stopped at step ${run.stoppedAt ?? run.completed + 1} of ${run.total}`;
  const why = run.stopReason === 'STEP_NO_EFFECT' ? noEffect : because(run, hint);
  const parts = run.doneParts?.length ? ` Parts of it that are done: ${run.doneParts.length}.` : '';
  return `Not done: ${at}. ${why}${parts} Steps left: ${run.remaining.length}.${last}${silent}${notes}`;
}

const noEffect = 'STEP_NO_EFFECT. It was sent, and nothing on the page changed.';

function because({ stopReason, detail }: StepRun, hint: (reason: string) => string): string {
  return detail === undefined ? `${stopReason}.` : `${detail}. ${hint(detail)}`;
}
