import type { CodeEntry } from '../codes.ts';

const readFirst = 'Read fresh evidence of the page before anything is done again.';

export const browserCodes = {
  BROWSER_NOT_ALLOWED: {
    says: 'Browser tasks are switched off for this agent.',
    next: 'Ask the operator to enable gateway.jev.features.browserTasks and Jev for the agent, and to add gateway.jev.browser; "jev-host doctor" says which is missing.',
    retry: 'useless',
  },
  BROWSER_TARGET_NOT_AVAILABLE: {
    says: 'That browser target does not exist for this conversation, or its owner has withdrawn it.',
    next: 'List the targets again with capabilities_list and use one of them.',
    retry: 'useless',
  },
  INVALID_GATEWAY_TARGET: {
    says: 'The target is not described correctly.',
    next: 'Send adapter and session_id as capabilities_list returned them, and start_url only for a browser.',
    retry: 'useless',
  },
  INVALID_BROWSER_START_URL: {
    says: 'The start address is not a plain http or https address of at most 8192 characters.',
    next: 'Send an address with http or https and without a user name or password.',
    retry: 'useless',
  },
  INVALID_BROWSER_GOAL: {
    says: 'The goal is empty or longer than 8000 characters.',
    next: 'Send a goal of 1 to 8000 characters.',
    retry: 'useless',
  },
  BROWSER_FIELD_VALUE_TOO_LONG: {
    says: 'A field value is longer than 2000 characters.',
    next: 'Send a shorter value. Nothing was typed.',
    retry: 'useless',
  },
  BROWSER_REQUEST_ALREADY_SUBMITTED: {
    says: 'This run was submitted before.',
    next: 'Read the task; nothing is sent twice.',
    retry: 'useless',
  },
  BROWSER_RECEIPT_MISMATCH: {
    says: 'The receipt does not belong to this task.',
    next: 'Read the task and its receipts before acting again.',
    retry: 'unsafe',
  },
  INVALID_BROWSER_OPERATION: {
    says: 'The controller named an operation that no task may do.',
    next: readFirst,
    retry: 'unsafe',
  },
  INVALID_BROWSER_RESULT: {
    says: ({ path }) => `The controller’s result is not valid${path ? ` at ${path}` : ''}.`,
    next: readFirst,
    retry: 'unsafe',
  },
  BROWSER_REQUEST_ENDED: {
    says: 'The run has ended; it sends nothing more.',
    next: 'Read the task and start a new revision.',
    retry: 'useless',
  },
  BROWSER_SCOPE_DENIED: {
    says: 'The call named a tool or a tab outside what the owner approved, so it was not sent.',
    next: 'Use only the tools and the tab of the task.',
    retry: 'useless',
  },
  BROWSER_CHECKPOINT_UNAVAILABLE: {
    says: ({ problem }) =>
      `The action could not be written down first${problem ? ` (${problem})` : ''}, so it was not sent.`,
    next: 'Use a new operation id; if the disk is full or damaged, repair it first.',
    retry: 'safe',
  },
  BROWSER_ENDPOINT_CHANGED: {
    says: 'The tool server’s address changed while it was in use.',
    next: 'Start a new revision; it connects to the new address.',
    retry: 'safe',
  },
  BROWSER_CONNECTOR_CHANGED: {
    says: 'The connector was changed while it was in use.',
    next: 'List the targets again.',
    retry: 'safe',
  },
  BROWSER_CONNECTOR_UNAVAILABLE: {
    says: 'The connector is not configured or could not be reached.',
    next: 'Check the connector in the configuration and that its server runs.',
    retry: 'safe',
  },
  BROWSER_CONNECTOR_AUTH_UNSUPPORTED: {
    says: 'The connector does not use an Authorization header.',
    next: 'Configure the connector with a bearer credential.',
    retry: 'useless',
  },
  BROWSER_CREDENTIAL_UNAVAILABLE: {
    says: 'The connector’s credential cannot be read.',
    next: 'Check the file or variable that the configuration names.',
    retry: 'safe',
  },
  BROWSER_CREDENTIAL_INVALID: {
    says: 'The connector’s credential is empty, too long or not one line.',
    next: 'Put only the key into the file or variable.',
    retry: 'useless',
  },
  BROWSER_DISCOVERY_UNAVAILABLE: {
    says: 'The tool server did not list its grants.',
    next: 'Check that the server runs and accepts the credential, then list again.',
    retry: 'safe',
  },
  BROWSER_DISCOVERY_INVALID: {
    says: 'The tool server’s list of grants is not valid.',
    next: 'Report this to the server’s author.',
    retry: 'safe',
  },
  BROWSER_BINDING_LIMIT: {
    says: 'More than 100 targets are bound.',
    next: 'Remove bindings or end grants that are no longer needed.',
    retry: 'useless',
  },
  COMPUTER_DISCOVERY_INVALID: {
    says: 'The computer relay’s list of grants is not valid.',
    next: 'Report this to the relay’s author.',
    retry: 'safe',
  },
  BROWSER_TOOL_FAILURE: {
    says: 'The tool server reported a failure without a code.',
    next: readFirst,
    retry: 'unsafe',
  },
  INVALID_BROWSER_RESPONSE: {
    says: 'The tool server’s reply is not valid or too large.',
    next: readFirst,
    retry: 'unsafe',
  },
  ADAPTER_TIMEOUT: {
    says: 'The tool server did not answer in time.',
    next: readFirst,
    retry: 'unsafe',
  },
  ADAPTER_FAILURE: {
    says: 'The connection to the tool server failed.',
    next: readFirst,
    retry: 'unsafe',
  },
  BROWSER_OUTCOME_UNKNOWN: {
    says: 'It is not certain whether the last action took place.',
    next: `${readFirst} The host does not repeat it.`,
    retry: 'unsafe',
  },
  BROWSER_EXECUTION_INTERRUPTED: {
    says: 'The host stopped while the task was running. No second action was sent.',
    next: `${readFirst} Then continue with reconcile_browser, or cancel the task.`,
    retry: 'unsafe',
  },
  BROWSER_CANCEL_UNCONFIRMED: {
    says: 'The controller did not stop in time, so the last action is not certain.',
    next: readFirst,
    retry: 'unsafe',
  },
  BROWSER_EVIDENCE_UNAVAILABLE: {
    says: 'There is no evidence of this task that this caller may read.',
    next: 'Name a task of this conversation that has run.',
    retry: 'useless',
  },
  BROWSER_INSPECTION_UNAVAILABLE: {
    says: 'The tab could not be inspected now.',
    next: 'Wait until no run holds the tab (a lease of a dead process lasts a minute), then read again.',
    retry: 'safe',
  },
  BROWSER_INSPECTION_FAILED: {
    says: 'The tab’s server refused the inspection.',
    next: 'Check that the owner still shares the tab, then read again.',
    retry: 'safe',
  },
  BROWSER_INSPECTION_DENIED: {
    says: 'The tab’s server did not give a lease for the inspection.',
    next: 'Wait until no one else holds the tab, then read again.',
    retry: 'safe',
  },
  BROWSER_EVIDENCE_INVALID: {
    says: 'The observation is not valid.',
    next: 'Read again; if it stays, report it to the server’s author.',
    retry: 'safe',
  },
  BROWSER_EVIDENCE_TOO_LARGE: {
    says: 'The observation is larger than 262144 bytes.',
    next: 'Narrow the page (close what is not needed), then read again.',
    retry: 'safe',
  },
  STALE_BROWSER_EVIDENCE: {
    says: 'The evidence belongs to another run of the task.',
    next: 'Read fresh evidence and use its request id and evidence id.',
    retry: 'useless',
  },
  BROWSER_VERIFICATION_UNAVAILABLE: {
    says: 'This cannot be confirmed: the evidence is missing, older than five minutes, or the run is not of a kind that evidence can confirm.',
    next: 'Read fresh evidence, compare it with the whole goal, and confirm within five minutes.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
