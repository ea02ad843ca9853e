/** Why a controller's run in a browser ends, and what its single steps may run into. Sorted by name. */
import type { CodeEntry } from '../codes.ts';

export const browserRunCodes = {
  ACTION_BUDGET: {
    says: 'The run reached its limit of actions.',
    next: 'Read the page. Update the task to go on from where it stands, or ask the operator for a larger budget.',
    retry: 'safe',
  },
  ACTION_SPACE_TOO_LARGE: {
    says: 'The page offers more choices than one decision can hold.',
    next: 'Give guidance that narrows the page, such as a search or a filter.',
    retry: 'useless',
  },
  AUTH_REQUIRED: {
    says: 'The page asks for a sign-in.',
    next: 'Let the browser’s owner sign in by hand, then update the task. Nothing is typed into sign-in fields.',
    retry: 'useless',
  },
  CAPTCHA_REQUIRED: {
    says: 'The page asks for proof that a person is there.',
    next: 'Let the browser’s owner answer it by hand, then update the task.',
    retry: 'useless',
  },
  COMMAND_WAITING_INPUT: {
    says: 'The command is settled and the session waits for the next one.',
    next: 'Send the next command.',
    retry: 'safe',
  },
  COMPLETION_CANDIDATE: {
    says: 'The controller believes that the goal is reached. Nothing has proved it yet.',
    next: 'Read fresh evidence, compare it with the whole goal, then confirm with verify_browser or give guidance.',
    retry: 'useless',
  },
  CONSENT_BANNER: {
    says: 'A consent banner is in the way, and accepting it is the owner’s choice.',
    next: 'Let the owner answer the banner, or name the choice in the goal.',
    retry: 'useless',
  },
  CONSENT_REQUIRED: {
    says: 'The device’s owner has not approved this, or took the approval back.',
    next: 'Ask the owner to approve the tab.',
    retry: 'useless',
  },
  EVALUATION_BUDGET: {
    says: 'The run reached its limit of decisions.',
    next: 'Read the page. Update the task to go on from where it stands, or ask the operator for a larger budget.',
    retry: 'safe',
  },
  EVALUATION_INPUT_TOO_LARGE: {
    says: 'The page is too large to be put into one decision, even shortened.',
    next: 'Give guidance that leads to a smaller page.',
    retry: 'useless',
  },
  FIELD_CONTEXT_CHANGED: {
    says: 'The field changed while its text was written, so the text was not used.',
    next: 'Nothing was typed. The run decides afresh.',
    retry: 'safe',
  },
  FIELD_TEXT_REQUIRED: {
    says: 'A field needs a value that was not supplied.',
    next: 'Answer with the value, or ask the user for it. Where a label stands for several fields, look at the page first.',
    retry: 'safe',
  },
  FIELD_VALUE_ALREADY_PRESENT: {
    says: 'The field already shows the text that was to be typed.',
    next: 'Nothing was typed. The run decides afresh.',
    retry: 'safe',
  },
  HISTORY_UNAVAILABLE: {
    says: 'There is no page to go to in that direction.',
    next: 'Name the page to open instead.',
    retry: 'useless',
  },
  INVALID_CONTRACT: {
    says: 'A part of the run answered with something that its contract does not allow.',
    next: 'Check the versions of the device, the controller and any hook that is installed.',
    retry: 'useless',
  },
  INVALID_DECISION: {
    says: 'The answer to a decision breaks its own question.',
    next: 'Check that the provider speaks the evaluation contract. Nothing was done on the page.',
    retry: 'safe',
  },
  LOW_OPERATION_CONFIDENCE: {
    says: 'The decision about what to do was not certain enough.',
    next: 'Read fresh evidence and give guidance for the next step.',
    retry: 'safe',
  },
  LOW_TARGET_CONFIDENCE: {
    says: 'None of the offered controls was chosen with enough certainty.',
    next: 'Read fresh evidence and name the control, or give guidance for the next step.',
    retry: 'safe',
  },
  NAVIGATION_DENIED: {
    says: 'The rules of the device do not let this address be visited; the cause says which, or that no such name was found.',
    next: 'Check the address, use another one, or ask the owner of the device to allow it.',
    retry: 'useless',
  },
  NO_PROGRESS: {
    says: 'The last actions changed nothing, or led to the same page again and again.',
    next: 'Read fresh evidence and give different guidance. An unchanged page alone does not show that the site refuses.',
    retry: 'safe',
  },
  NO_SUPPORTED_ACTION: {
    says: 'Nothing that the page offers brings the goal nearer.',
    next: 'Read fresh evidence and give guidance, or change the goal.',
    retry: 'safe',
  },
  OBSERVATION_TRUNCATED: {
    says: 'The page shows more controls than were read, so completion cannot be judged.',
    next: 'Read fresh evidence, then give guidance that narrows the page.',
    retry: 'safe',
  },
  OUTCOME_UNKNOWN: {
    says: 'It is not known whether the last action happened.',
    next: 'Read its operation status and fresh evidence, then reconcile. It is never sent again by itself.',
    retry: 'unsafe',
  },
  PAGE_CONTENT_UNAVAILABLE: {
    says: 'The page stayed empty.',
    next: 'Check the page in the browser; it may still be loading or may have failed.',
    retry: 'safe',
  },
  SESSION_READY: {
    says: 'The session is open and waits for the first command.',
    next: 'Send a command.',
    retry: 'safe',
  },
  STALE_OBSERVATION: {
    says: 'The page changed before the action, so nothing was done.',
    next: 'Read the page again and decide afresh.',
    retry: 'safe',
  },
  STALE_RETRY_BUDGET: {
    says: 'The page kept changing while it was read or before the action.',
    next: 'Wait for the page to settle, then update the task.',
    retry: 'safe',
  },
  START_URL_REQUIRED: {
    says: 'The tab shows the browser’s own new-tab page, which cannot be read.',
    next: 'Name the address to open.',
    retry: 'safe',
  },
  TARGET_OBSCURED: {
    says: 'Something covers the chosen control.',
    next: 'Read fresh evidence. Close or move what covers it first.',
    retry: 'safe',
  },
  TEXT_BUDGET: {
    says: 'The run reached its limit of generated texts.',
    next: 'Supply the field values with the task.',
    retry: 'useless',
  },
  URL_NOT_ALLOWED: {
    says: 'This address cannot be opened: only public http and https addresses that the device allows can.',
    next: 'Use another address, or ask the device’s owner to allow it.',
    retry: 'useless',
  },
  VERIFICATION_FAILED: {
    says: 'An independent look at the page does not show the goal reached.',
    next: 'Read fresh evidence and give guidance for what is missing.',
    retry: 'safe',
  },
  VERIFIED: {
    says: 'Independent evidence shows the goal reached.',
    next: 'Nothing to do.',
    retry: 'useless',
  },
  WAIT_BUDGET: {
    says: 'The page was waited for as often as allowed.',
    next: 'Check whether the page still loads, then update the task.',
    retry: 'safe',
  },
} as const satisfies Record<string, CodeEntry>;
