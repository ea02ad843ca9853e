/** How one direct command or step list may end without doing what was meant. Sorted by name. */
import type { CodeEntry } from '../codes.ts';

export const commandCodes = {
  CONFIRMATION_DECLINED: {
    says: 'The owner said no, and nothing was done.',
    next: 'Send the next command.',
    retry: 'useless',
  },
  CONFIRMATION_REQUIRED: {
    says: 'The agent’s command would have a high impact, so the owner is asked first. Nothing was sent.',
    next: 'Answer yes or no with the next command.',
    retry: 'useless',
  },
  KEY_UNSUPPORTED: {
    says: 'The browser’s extension cannot press keys.',
    next: 'Update the extension, or name a control on the page.',
    retry: 'useless',
  },
  NAVIGATION_UNRESOLVED: {
    says: 'No address was found for the site that was named.',
    next: 'Give the address.',
    retry: 'useless',
  },
  NEW_TAB_OUT_OF_SCOPE: {
    says: 'Only one tab is approved, so no other one was opened.',
    next: 'Name a site to open it in the approved tab.',
    retry: 'useless',
  },
  PAGE_STILL_LOADING: {
    says: 'The command ran, and the page was still loading when the round ended.',
    next: 'Look at the page before the next command.',
    retry: 'unsafe',
  },
  READ_REQUEST: {
    says: 'The command only asks about what is shown.',
    next: 'Read fresh evidence and answer in a few short sentences. Nothing may be done on the page.',
    retry: 'useless',
  },
  SCROLL_LIMIT: {
    says: 'The page is already at its end in that direction.',
    next: 'Send another command.',
    retry: 'useless',
  },
  STEP_NOT_EXECUTED: {
    says: 'A step of the list was not carried out, so the ones after it were not sent.',
    next: 'Look at the page; the report names the step and the steps left.',
    retry: 'safe',
  },
  STEP_NO_EFFECT: {
    says: 'A step of the list was sent, and nothing on the page changed.',
    next: 'Look at the page before going on with the steps left.',
    retry: 'unsafe',
  },
  UNCLEAR: {
    says: 'It was not clear what the command means.',
    next: 'Say it in other words.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
