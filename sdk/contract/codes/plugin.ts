import type { CodeEntry } from '../codes.ts';

export const pluginCodes = {
  CAPABILITY_DENIED: {
    says: ({ capability }) => `The plugin was not granted "${capability}".`,
    next: 'Ask for the capability in plugin.json with a reason, and have the operator grant it.',
    retry: 'useless',
  },
  PLUGIN_CAPABILITY_UNAVAILABLE: {
    says: ({ plugin, capability, problem }) =>
      `The plugin "${plugin}" needs "${capability}", which it cannot have here: ${problem}.`,
    next: 'Set up what is missing, or take the capability out of the plugin’s grants.',
    retry: 'useless',
  },
  PLUGIN_CDP_FAILED: {
    says: ({ problem }) => `The browser’s debugging protocol failed: ${problem}`,
    next: 'Look at the browser before sending the command again.',
    retry: 'unsafe',
  },
  PLUGIN_SETTINGS_INVALID: {
    says: ({ path, problem }) => `The configuration is not valid at ${path}: ${problem}.`,
    next: 'Correct the named setting. The plugin’s page lists its settings; what served before goes on serving.',
    retry: 'useless',
  },
  PLUGIN_MANIFEST_INVALID: {
    says: ({ path, problem }) => `plugin.json is not valid at ${path}: ${problem}`,
    next: 'Correct the named entry of plugin.json.',
    retry: 'useless',
  },
  PLUGIN_BUNDLE_REJECTED: {
    says: ({ file, line, problem }) => `The plugin cannot run in the sandbox: ${problem} (${file}:${line}).`,
    next: 'Change the named line. `jev-host plugin check` shows how.',
    retry: 'useless',
  },
  PLUGIN_ACTIVATION_FAILED: {
    says: ({ plugin, problem }) => `The plugin "${plugin}" did not start: ${problem}`,
    next: 'Correct the plugin; the version that served before goes on serving.',
    retry: 'safe',
  },
  PLUGIN_NOT_AVAILABLE: {
    says: ({ plugin }) => `No plugin "${plugin}" is running.`,
    next: 'Enable the plugin in the configuration. `jev-host plugin list` shows why one is not running.',
    retry: 'safe',
  },
  PLUGIN_PROTOCOL: {
    says: ({ plugin }) => `The plugin "${plugin}" sent something outside its contract and was stopped.`,
    next: 'Report this to the plugin’s author. Read the task before acting again.',
    retry: 'unsafe',
  },
  PLUGIN_LOST: {
    says: ({ plugin }) => `The plugin "${plugin}" ended while it was working.`,
    next: 'Read the task and its receipts before acting again.',
    retry: 'unsafe',
  },
  PLUGIN_UNRESPONSIVE: {
    says: ({ plugin, call }) => `The plugin "${plugin}" stopped answering in "${call}" and was ended.`,
    next: 'Read the task and its receipts before acting again.',
    retry: 'unsafe',
  },
  PLUGIN_DEADLINE: {
    says: ({ plugin, ms }) => `The plugin "${plugin}" passed its deadline of ${ms} ms and was ended.`,
    next: 'Read the task and its receipts before acting again.',
    retry: 'unsafe',
  },
  PLUGIN_RESULT_INVALID: {
    says: ({ plugin, path }) => `The plugin "${plugin}" returned a result that is not valid at ${path}.`,
    next: 'Report this to the plugin’s author. Read the task before acting again.',
    retry: 'unsafe',
  },
  PLUGIN_FAILED: {
    says: ({ plugin, problem }) => `The plugin "${plugin}" failed: ${problem}`,
    next: 'Read the task and its receipts before acting again.',
    retry: 'unsafe',
  },
  PLUGIN_MEMORY: {
    says: ({ plugin, limit }) => `The plugin "${plugin}" took more than its ${limit} megabytes and was ended.`,
    next: 'Read the task and its receipts before acting again. The operator can raise limits.memoryMb.',
    retry: 'unsafe',
  },
  PLUGIN_HELD: {
    says: ({ plugin, change }) => `The plugin "${plugin}" waits for approval: ${change}`,
    next: 'Read the difference with `jev-host plugin list`, then `jev-host plugin approve`.',
    retry: 'useless',
  },
  PLUGIN_NOT_HELD: {
    says: ({ plugin }) => `No version of the plugin "${plugin}" waits for approval.`,
    next: 'Read `jev-host plugin list`.',
    retry: 'useless',
  },
  PLUGIN_DISABLED: {
    says: ({ plugin, crashes, problem }) =>
      `The plugin "${plugin}" ended ${crashes} times and was disabled. Last: ${problem}`,
    next: 'Have the operator look at it, then enable it again with `jev-host plugin enable`.',
    retry: 'useless',
  },
  PLUGIN_CONTRACT_VERSION: {
    says: ({ plugin, contract, supported }) =>
      `The plugin "${plugin}" was built for contract ${contract}; this host speaks ${supported}.`,
    next: 'Build the plugin with a matching version of the SDK.',
    retry: 'useless',
  },
  PLUGIN_CALL_INVALID: {
    says: ({ path, problem }) => `A call of the plugin is not valid at ${path}: ${problem}`,
    next: 'Correct the arguments.',
    retry: 'useless',
  },
  PLUGIN_TOO_MANY_CALLS: {
    says: ({ limit }) => `The plugin has ${limit} calls in flight.`,
    next: 'Wait for earlier calls before making the next.',
    retry: 'safe',
  },
  PLUGIN_BUDGET_SPENT: {
    says: ({ capability, limit }) => `The run has used its ${limit} calls of "${capability}".`,
    next: 'End the run, or ask the operator for a larger budget.',
    retry: 'useless',
  },
  PLUGIN_LOG_FLOOD: {
    says: ({ limit }) => `More than ${limit} log lines a second; the others are dropped.`,
    next: 'Log less, or log sums instead of single events.',
    retry: 'useless',
  },
  RUN_CANCELLED: {
    says: 'The run was cancelled.',
    next: 'Clean up and return.',
    retry: 'useless',
  },
  RUN_ENDED: {
    says: 'The run has ended; its capabilities ended with it.',
    next: 'Make capability calls only while the run goes on.',
    retry: 'useless',
  },
  PLUGIN_FETCH_FAILED: {
    says: ({ host }) => `The request to ${host} failed.`,
    next: 'Read whether it had an effect before sending it again.',
    retry: 'unsafe',
  },
  PLUGIN_FETCH_TOO_LARGE: {
    says: ({ host, limit }) => `The answer of ${host} has more than ${limit} bytes.`,
    next: 'Ask for less at once.',
    retry: 'useless',
  },
  PLUGIN_FETCH_CREDENTIAL: {
    says: 'The credential for http.fetch cannot be read.',
    next: 'Have the operator look at grants["http.fetch"].credentialFile.',
    retry: 'useless',
  },
  STORAGE_VALUE_TOO_LARGE: {
    says: ({ key, bytes, limit }) => `The value of "${key}" has ${bytes} bytes; the limit is ${limit}.`,
    next: 'Store less under one key.',
    retry: 'useless',
  },
  STORAGE_TOO_MANY_KEYS: {
    says: ({ limit }) => `The plugin's storage holds ${limit} keys and takes no more.`,
    next: 'Delete keys that are no longer needed, or keep several values under one key.',
    retry: 'useless',
  },
  STORAGE_FULL: {
    says: ({ limit }) => `The plugin's storage holds ${limit} bytes and is full.`,
    next: 'Delete keys that are no longer needed.',
    retry: 'useless',
  },
} as const satisfies Record<string, CodeEntry>;
