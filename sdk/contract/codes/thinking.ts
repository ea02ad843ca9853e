/** What can go wrong on the way to the Thinking model. A failure is told as such; it never becomes a text. */
import type { CodeEntry } from '../codes.ts';

const refused = (status: number, next: string, retry: CodeEntry['retry'] = 'safe'): CodeEntry => ({
  says: `The Thinking model’s provider refused the call (HTTP ${status}).`,
  next,
  retry,
});

export const thinkingCodes = {
  BROWSER_TEXT_BUSY: {
    says: 'Too many calls to the Thinking model are waiting.',
    next: 'Try again in a moment. Nothing was sent.',
    retry: 'safe',
  },
  BROWSER_TEXT_CREDENTIAL_UNAVAILABLE: {
    says: 'The credential of the Thinking model cannot be read.',
    next: 'Check gateway.jev.thinking with `jev-host doctor`.',
    retry: 'useless',
  },
  BROWSER_TEXT_HTTP_400: refused(400, 'Check the model name and the api setting.', 'useless'),
  BROWSER_TEXT_HTTP_401: refused(401, 'Check the credential.', 'useless'),
  BROWSER_TEXT_HTTP_402: refused(402, 'Inspect the account at the provider.', 'useless'),
  BROWSER_TEXT_HTTP_403: refused(403, 'Check what the credential may do.', 'useless'),
  BROWSER_TEXT_HTTP_404: refused(404, 'Check baseUrl and the model name.', 'useless'),
  BROWSER_TEXT_HTTP_408: refused(408, 'Try again; nothing was done on the page.', 'safe'),
  BROWSER_TEXT_HTTP_413: refused(413, 'Give guidance that leads to a smaller page.', 'useless'),
  BROWSER_TEXT_HTTP_422: refused(422, 'Check the model name and the api setting.', 'useless'),
  BROWSER_TEXT_HTTP_429: refused(429, 'Wait for the time the provider named.', 'safe'),
  BROWSER_TEXT_HTTP_500: refused(500, 'Check the provider, then try again.', 'safe'),
  BROWSER_TEXT_HTTP_502: refused(502, 'Check the provider, then try again.', 'safe'),
  BROWSER_TEXT_HTTP_503: refused(503, 'Check the provider, then try again.', 'safe'),
  BROWSER_TEXT_HTTP_504: refused(504, 'Check the provider, then try again.', 'safe'),
  BROWSER_TEXT_HTTP_529: refused(529, 'Wait, then try again.', 'safe'),
  BROWSER_TEXT_HTTP_ERROR: {
    says: ({ status }) => `The Thinking model’s provider refused the call${status ? ` (HTTP ${status})` : ''}.`,
    next: 'Check baseUrl: redirects are refused.',
    retry: 'useless',
  },
  BROWSER_TEXT_INPUT_TOO_LARGE: {
    says: 'The request to the Thinking model is too large. Nothing was sent.',
    next: 'Give guidance that leads to a smaller page.',
    retry: 'useless',
  },
  BROWSER_TEXT_INVALID_RESPONSE: {
    says: 'The Thinking model’s answer is not one that can be used, so nothing was taken from it.',
    next: 'Supply the value with the task, or check the model.',
    retry: 'safe',
  },
  BROWSER_TEXT_TIMEOUT: {
    says: 'The Thinking model took longer than its limit.',
    next: 'Try again, or supply the value with the task.',
    retry: 'safe',
  },
  BROWSER_TEXT_UNAVAILABLE: {
    says: 'The Thinking model could not be reached.',
    next: 'Check the provider, then update the task.',
    retry: 'safe',
  },
  THINKING_BUDGET: {
    says: 'The run asked the Thinking model more often than the operator allows.',
    next: 'Supply the field values with the task.',
    retry: 'useless',
  },
  THINKING_CHANGED: {
    says: 'The Thinking configuration changed during a call, so the answer was dropped.',
    next: 'Update the task to go on under the new configuration.',
    retry: 'safe',
  },
  THINKING_NOT_CONFIGURED: {
    says: 'No Thinking model is set up.',
    next: 'Ask the operator to set gateway.jev.thinking, or supply the values with the task.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
