import type { CodeEntry } from '../codes.ts';

export const jevCodes = {
  JEV_DISABLED: { says: 'Jev is switched off.', next: 'Set gateway.jev.enabled to true.', retry: 'useless' },
  JEV_ACCESS_DENIED: {
    says: 'This agent may not use Jev, or the access was withdrawn while the answer was on its way.',
    next: 'Ask the operator to allow the agent.',
    retry: 'useless',
  },
  JEV_INVALID_CONFIG: {
    says: 'The Jev configuration cannot be used as it is.',
    next: 'Run `jev-host doctor` and correct what it names.',
    retry: 'useless',
  },
  JEV_INVALID_REQUEST: {
    says: ({ path, problem }) =>
      `The evaluation request is not valid${path ? ` at ${path}` : ''}${problem ? `: ${problem}` : '.'}`,
    next: 'Correct the request. Nothing was sent to the provider.',
    retry: 'useless',
  },
  JEV_QUEUE_FULL: {
    says: 'Too many evaluations are waiting.',
    next: 'Wait a moment, then ask again. Nothing was sent to the provider.',
    retry: 'safe',
  },
  JEV_CANCELLED: {
    says: 'The evaluation was cancelled. The provider may have done the work.',
    next: 'Ask again only if the answer is still wanted.',
    retry: 'unsafe',
  },
  JEV_DEADLINE_EXCEEDED: {
    says: 'The evaluation took longer than its deadline. The provider may have done the work.',
    next: 'Check the provider; a new request may be charged again.',
    retry: 'unsafe',
  },
  JEV_AUTHENTICATION_FAILED: {
    says: 'The provider did not accept the credential, or the credential could not be read.',
    next: 'Run `jev-host doctor`; check the key file or variable.',
    retry: 'useless',
  },
  JEV_MODEL_UNAVAILABLE: {
    says: 'The provider does not offer the configured model.',
    next: 'Choose a model from the provider’s catalogue.',
    retry: 'useless',
  },
  JEV_QUOTA_EXCEEDED: {
    says: 'The account at the provider has no quota left.',
    next: 'Inspect the account. The host does not switch to another one.',
    retry: 'useless',
  },
  JEV_RATE_LIMITED: {
    says: 'The provider asks to slow down.',
    next: 'Wait for the time the provider named, then ask again.',
    retry: 'safe',
  },
  JEV_PROVIDER_UNAVAILABLE: {
    says: 'The provider could not be reached or failed.',
    next: 'Check the provider; a new request may be charged again.',
    retry: 'unsafe',
  },
  JEV_INVALID_RESPONSE: {
    says: ({ validationReason }) =>
      `The provider’s answer did not pass validation${validationReason ? ` (${validationReason})` : ''}.`,
    next: 'Check that the endpoint speaks the structured evaluation contract.',
    retry: 'unsafe',
  },
  JEV_REQUEST_CONFLICT: {
    says: 'This request id was used before.',
    next: 'Use a new id for a new request. The earlier answer is not repeated.',
    retry: 'useless',
  },
  JEV_OUTCOME_UNKNOWN: {
    says: 'The provider does not know whether it did the work.',
    next: 'Check usage at the provider before asking again.',
    retry: 'unsafe',
  },
} as const satisfies Record<string, CodeEntry>;
