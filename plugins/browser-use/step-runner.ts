/**
 * The user's own step list on one lease: part after part, each a direct command, until all are done or one is not.
 *
 * No step is sent twice, skipped or moved. Where the run stops it says which steps are done, which one stopped it, and
 * which are left; whoever goes on can do so from there.
 */

import { splitParts } from '../../sdk/commands/steps.ts';
import type { BrowserRunInput, StepRun } from '../../sdk/contract/browser-run.ts';
import type { CommandAction } from './direct-outcome.ts';
import { firstPage } from './opening.ts';
import type { Session } from './session.ts';
import { hasEffect } from './step-effect.ts';
import { type PartEnd, runPart } from './step-part.ts';
import { codeOf, Stop, type StopExtras } from './stop.ts';

/** Milliseconds that a step run may take. */
export const STEP_RUN_MS = 120_000;
/** Scrolls and keys without a visible change, in a row, at which a run gets nowhere. */
const UNCHANGED_LIMIT = 3;

interface Halt {
  stopReason: StepRun['stopReason'];
  detail?: string;
  /** The stop that the whole run ends with, where the session does not simply wait for the next command. */
  stop?: Stop;
  extras?: StopExtras;
}

interface Running {
  session: Session;
  steps: readonly string[];
  completed: string[];
  /** Step numbers, from 1. */
  unverified: number[];
  notes: string[];
  doneParts: string[];
  unchangedInRow: number;
  lastAction?: CommandAction;
}

export async function runSteps(session: Session, steps: NonNullable<BrowserRunInput['steps']>): Promise<Stop> {
  const run: Running = { session, steps, completed: [], unverified: [], notes: [], doneParts: [], unchangedInRow: 0 };
  if (session.input.startUrl !== undefined) await firstPage(session);
  for (const step of steps) {
    run.doneParts = [];
    const halt = await runStep(run, step);
    if (halt) return ended(run, halt);
    run.completed.push(step);
  }
  run.doneParts = [];
  return ended(run, { stopReason: 'ALL_STEPS_DONE' });
}

async function runStep(run: Running, step: string): Promise<Halt | undefined> {
  const parts = splitParts(step);
  for (const part of parts) {
    const halt = await runOnePart(run, part, parts.length > 1).catch(haltOf);
    if (halt) return halt;
    run.doneParts.push(part);
  }
  return undefined;
}

async function runOnePart(run: Running, part: string, joined: boolean): Promise<Halt | undefined> {
  const { session, completed, doneParts } = run;
  session.check();
  const first = completed.length === 0 && doneParts.length === 0;
  const ran = await runPart(session, part, { first, completed: [...completed, ...doneParts] });
  const { end, before } = ran;
  if (end instanceof Stop) return haltOf(end);
  const number = completed.length + 1;
  if (end.reason === 'NEW_TAB_OUT_OF_SCOPE') {
    run.notes.push(`Step ${number}: no other tab was opened. The run goes on in the approved tab.`);
    return undefined;
  }
  const atTheEnd = end.reason === 'SCROLL_LIMIT';
  if (!end.done && !atTheEnd) return notExecuted(end.reason, ran);
  if (end.done && end.action) run.lastAction = end.action;
  const loading = end.reason === 'PAGE_STILL_LOADING';
  if (!atTheEnd && (loading || (await hasEffect(session, before, end.action)))) {
    run.unchangedInRow = 0;
    return undefined;
  }
  return withoutEffect(run, end.action, joined, number);
}

/** A scroll or a key may rightly change nothing that shows; anything else must. */
function withoutEffect(
  run: Running,
  action: CommandAction | undefined,
  joined: boolean,
  number: number,
): Halt | undefined {
  run.unchangedInRow += 1;
  const mayShowNothing = action?.kind === 'scroll' || action?.kind === 'key';
  if (!mayShowNothing || joined || run.unchangedInRow >= UNCHANGED_LIMIT) return { stopReason: 'STEP_NO_EFFECT' };
  run.unverified.push(number);
  return undefined;
}

function notExecuted(reason: string | undefined, { extras }: PartEnd): Halt {
  return { stopReason: 'STEP_NOT_EXECUTED', ...(reason === undefined ? {} : { detail: reason }), extras };
}

function haltOf(error: unknown): Halt {
  const stop = error instanceof Stop ? error : new Stop(codeOf(error) ?? 'ADAPTER_FAILURE');
  if (stop.reason === 'OUTCOME_UNKNOWN') return { stopReason: 'OUTCOME_UNKNOWN', stop };
  if (stop.reason === 'TASK_DEADLINE') return { stopReason: 'TIMEOUT', stop };
  if (stop.status === 'cancelled') return { stopReason: 'CANCELLED', detail: stop.reason, stop };
  return { stopReason: 'FAILED', detail: stop.reason, stop };
}

function ended(run: Running, { stopReason, detail, stop, extras: told = {} }: Halt): Stop {
  const { steps, completed, unverified, notes, doneParts, lastAction } = run;
  const at = completed.length;
  const stoppedStep = stopReason === 'ALL_STEPS_DONE' ? undefined : steps[at];
  // The step that showed no effect was sent: it is not left to do, and must not be sent again by whoever goes on.
  const left = stopReason === 'STEP_NO_EFFECT' ? at + 1 : at;
  const stepRun: StepRun = {
    total: steps.length,
    completed: at,
    stopReason,
    ...(stoppedStep === undefined ? {} : { stoppedAt: at + 1, stoppedStep }),
    ...(detail === undefined ? {} : { detail: detail.slice(0, 200) }),
    remaining: steps.slice(left),
    ...(unverified.length > 0 ? { unverifiedSteps: [...new Set(unverified)] } : {}),
    ...(doneParts.length > 0 ? { doneParts } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
  const commandOutcome = {
    done: stopReason === 'ALL_STEPS_DONE',
    ...(lastAction && { action: lastAction }),
    ...(stopReason === 'ALL_STEPS_DONE' ? {} : { reason: detail ?? stopReason }),
  };
  const extras = { ...told, stepRun, commandOutcome };
  return stop
    ? new Stop(stop.reason, { ...stop.extras, ...extras }, stop.status)
    : new Stop('COMMAND_WAITING_INPUT', extras);
}
