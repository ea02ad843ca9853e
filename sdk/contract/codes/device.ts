import type { CodeEntry } from '../codes.ts';

/** Stops and refusals of device servers. */
export const deviceCodes = {
  DEVICE_CHROMIUM_MISSING: {
    says: ({ path }) =>
      path ? `There is no Chromium at ${path}.` : 'No Chromium or Chrome was found on this machine.',
    next: 'Install the package `chromium`, or name the program in `devices.browser.executable`.',
    retry: 'safe',
  },
  DEVICE_CHROMIUM_TOO_OLD: {
    says: ({ found, oldest }) => `The browser is ${found}; this device needs version ${oldest} or newer.`,
    next: 'Update Chromium.',
    retry: 'useless',
  },
  DEVICE_CHROMIUM_FAILED: {
    says: ({ problem }) => `Chromium did not start: ${problem}`,
    next: 'Start Chromium by hand with the same account to see why; then start the device again.',
    retry: 'safe',
  },
  DEVICE_PROFILE_IN_USE: {
    says: ({ path, holder }) => `The profile ${path} is in use by ${holder}.`,
    next: 'Close that browser, or name another profile. Two browsers cannot share one.',
    retry: 'safe',
  },
  DEVICE_ATTACH_FAILED: {
    says: ({ address, problem }) => `No browser could be joined at ${address}: ${problem}`,
    next: 'Start Chrome with --remote-debugging-port and a profile of its own, then try again.',
    retry: 'safe',
  },
  DEVICE_NOT_READY: {
    says: ({ problem }) => `The device server did not start: ${problem}`,
    next: 'Run `jev-host device browser` by hand to see why.',
    retry: 'safe',
  },
  DEVICE_UNREACHABLE: {
    says: ({ address }) => `The device server at ${address} does not answer.`,
    next: 'Check that it is running and that the address and key are right.',
    retry: 'safe',
  },
  DEVICE_REFUSED: {
    says: ({ error }) => `The device refused: ${error}.`,
    next: 'docs/browser-device.md says what each code and cause means; `jev-host device tabs` shows which tabs and grants there are.',
    retry: 'safe',
  },
  BROWSER_BUSY: {
    says: 'Another run holds the tab.',
    next: 'Wait until it ends; a lease of a dead process lasts a minute. Nothing was sent.',
    retry: 'safe',
  },
  LEASE_REQUIRED: {
    says: 'The call needs the lease of the tab.',
    next: 'Take the tab with browser_task_acquire first. Nothing was sent.',
    retry: 'useless',
  },
  LEASE_EXPIRED: {
    says: 'The lease of the tab has ended.',
    next: 'Take the tab again, look at the page, then decide again. Nothing was sent.',
    retry: 'useless',
  },
  CONTROL_DENIED: {
    says: 'The owner of the device lets this tab be looked at, not worked.',
    next: 'Ask the owner for permission to act. Nothing was sent.',
    retry: 'useless',
  },
  VALUE_NOT_ACCEPTED: {
    says: 'The field does not take this value; it keeps what it had.',
    next: 'Send what the field takes: `cause` says what is wrong (VALUE_MALFORMED, VALUE_OUT_OF_RANGE, VALUE_OFF_STEP, VALUE_TOO_LONG), `accepts` what it takes. Nothing was sent.',
    retry: 'useless',
  },
  FILE_CHOOSER_REFUSED: {
    says: 'The control asks for files of the owner’s machine; the device gives none.',
    next: 'Ask the owner to choose the files in the browser’s window, then look at the page again. Nothing was sent.',
    retry: 'useless',
  },
  NOTHING_TO_SCROLL: {
    says: 'Nothing on the page scrolls further in that direction.',
    next: 'Look at the page again. Nothing was sent.',
    retry: 'useless',
  },
  PAGE_UNRESPONSIVE: {
    says: 'The page does not answer.',
    next: 'Look again in a moment, or open an address; the tab is then brought back.',
    retry: 'safe',
  },
  PAGE_CRASHED: {
    says: 'The page has crashed.',
    next: 'Open an address; the tab is then brought back.',
    retry: 'useless',
  },
  TAB_CLOSED: {
    says: 'The tab is not there any more.',
    next: 'List the targets again.',
    retry: 'useless',
  },
  DEVICE_BROWSER_LOST: {
    says: 'The browser ended; the device starts another one.',
    next: 'List the targets again, and read what became of the last operation.',
    retry: 'unsafe',
  },
  SCREENSHOT_TOO_LARGE: {
    says: 'The picture does not fit into a reply, even made smaller.',
    next: 'Ask for a smaller max_side, or for jpeg.',
    retry: 'useless',
  },
  TOO_MANY_GRANTS: {
    says: 'Fifty permissions are in force on this device.',
    next: 'Take some back with `jev-host device revoke`.',
    retry: 'useless',
  },
  DEVICE_FAILURE: {
    says: 'The device failed in a way it has no name for.',
    next: 'Read the page and the operation’s record before acting again.',
    retry: 'unsafe',
  },
} as const satisfies Record<string, CodeEntry>;
