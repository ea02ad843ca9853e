/**
 * The one line that says how a round ended: `Done:`, `Not done:`, `Unverified:` or `Unknown:`. Typed text never appears
 * in it, and what comes from a page is one short line in quotes.
 */
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import { codes, isCode } from '../../sdk/contract/codes.ts';
import { doneText } from './done-text.ts';
import type { Judgement } from './run-end.ts';
import { stepLine } from './step-line.ts';

const hints: Readonly<Record<string, string>> = {
  UNCLEAR: 'It was not clear what was meant. Say it in other words.',
  NO_SUPPORTED_ACTION: 'Nothing on the page fits. Look at the page, then name what is there.',
  LOW_OPERATION_CONFIDENCE: 'It was not certain enough what to do. Read the page and be more specific.',
  LOW_TARGET_CONFIDENCE: 'It was not certain enough which control was meant. Name it as the page does.',
  NO_PROGRESS: 'The page did not change any more. Read it and choose another way.',
  PAGE_CONTENT_UNAVAILABLE: 'The page stayed empty. Wait until it shows something, then try again.',
  WAIT_BUDGET: 'The page kept changing. Wait, then try again.',
  ACTION_SPACE_TOO_LARGE: 'The page offers more controls than can be compared. Narrow it first.',
  HISTORY_UNAVAILABLE: 'There is no page to go to in that direction.',
  SCROLL_LIMIT: 'The page is already at its end in that direction.',
  NEW_TAB_OUT_OF_SCOPE: 'Only the approved tab may be used. Name a site to open it there.',
  START_URL_REQUIRED: 'The tab shows no page. Give an address to start from.',
  KEY_UNSUPPORTED: 'The browser’s extension cannot press keys. Update it.',
  STALE_OBSERVATION: 'The page changed meanwhile. Try again.',
  STALE_RETRY_BUDGET: 'The page kept changing before anything could be done. Wait, then try again.',
  FIELD_TEXT_REQUIRED: 'A field needs a value that is not known.',
  COMPLETION_CANDIDATE: 'The page looks as the goal asks, but that is not proven.',
  ACTION_BUDGET: 'The number of actions for one run is used up. Look at the page and go on with a new revision.',
  EVALUATION_BUDGET: 'The number of decisions for one run is used up. Look at the page and go on with a new revision.',
  TARGET_OBSCURED: 'Something covers the control. Close what covers it first.',
  NAVIGATION_UNRESOLVED: 'No address was found for that site. Give the address.',
  NAVIGATION_DENIED: 'That address is not allowed here.',
  URL_NOT_ALLOWED: 'That address is not allowed here.',
  AUTH_REQUIRED: 'The site asks for a sign-in. The owner of the tab has to sign in.',
  CAPTCHA_REQUIRED: 'The site asks for a proof that a person is there. The owner of the tab has to give it.',
  CONSENT_BANNER: 'A consent dialog is in the way. The owner decides about it.',
  ADAPTER_TIMEOUT: 'The decision or the browser did not answer in time. Try again.',
  TASK_DEADLINE: 'The time for one run is over. Look at the page and go on with a new revision.',
  INVALID_DECISION: 'The decision could not be used. Try again.',
  ACCESS_DENIED: 'The permission for this was withdrawn.',
};

/** Ends of a command that are neither done nor a failure. */
const ownLines: Readonly<Record<string, string>> = {
  SESSION_READY: 'Ready: the session is open and waits for the next command.',
  READ_REQUEST: 'Read request: the agent reads the page and answers.',
  CONFIRMATION_DECLINED: 'Not done: the owner said no.',
};

const hintOf = (reason: string): string => hints[reason] ?? reasonSentence(reason);

export function outcomeLine(judgement: Judgement): string {
  const { verdict, code, result } = judgement;
  switch (verdict) {
    case 'uncertain':
      return `Unknown: ${sentence(code)} Look at the page before anything is repeated.`;
    case 'verified':
      return 'Done: the goal was verified independently.';
    case 'candidate':
      return `Unverified: ${hints[result?.reason ?? ''] ?? reasonSentence(result?.reason ?? code)} Read fresh evidence and confirm it.`;
    case 'cancelled':
      return 'Cancelled: nothing more is sent.';
    case 'superseded':
      return 'Stopped for a newer instruction.';
    case 'waiting':
      return waitingLine(judgement);
    case 'failed':
      return `Not done: ${failureHint(code, result)}`;
  }
}

function waitingLine({ result, question, code }: Judgement): string {
  if (question) return `Not done: ${question.text}`;
  if (code === 'REVISION_SUPERSEDED') return 'Paused: nothing more is sent until it goes on.';
  const outcome = result?.commandOutcome;
  if (!outcome) return 'Waiting for the next command.';
  if (result?.stepRun) return stepLine(result.stepRun, outcome, hintOf);
  if (!outcome.done && Object.hasOwn(ownLines, outcome.reason ?? '')) return ownLines[outcome.reason ?? ''] ?? '';
  if (!outcome.done) return `Not done: ${failureHint(outcome.reason ?? code, result)}`;
  const loading = outcome.reason === 'PAGE_STILL_LOADING' ? '; the page was still loading' : '';
  return `Done: ${doneText(outcome)}${loading}`;
}

function failureHint(code: string, result: BrowserRunResult | undefined): string {
  const reason = result?.reason && `BROWSER_${result.reason}` === code ? result.reason : code;
  const provider = result?.providerFailure?.code;
  const named = provider ? ` (${provider})` : '';
  return `${reason}${named}. ${hints[reason] ?? reasonSentence(reason)}`;
}

function reasonSentence(reason: string): string {
  for (const code of [reason, `BROWSER_${reason}`, `JEV_${reason}`]) {
    if (isCode(code)) return `${sentence(code)} ${codes[code].next}`;
  }
  return 'Read the page before going on.';
}

function sentence(code: string): string {
  if (!isCode(code)) return `${code}.`;
  const { says } = codes[code];
  return typeof says === 'string' ? says : says({});
}
