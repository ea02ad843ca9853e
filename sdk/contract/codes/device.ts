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
    next: 'Run `jev-host device tabs` to see which tabs and grants there are.',
    retry: 'safe',
  },
} as const satisfies Record<string, CodeEntry>;
