import type { CodeEntry } from '../codes.ts';

export const pluginCodes = {
  CAPABILITY_DENIED: {
    says: ({ capability }) => `The plugin was not granted "${capability}".`,
    next: 'Ask for the capability in plugin.json with a reason, and have the operator grant it.',
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
} as const satisfies Record<string, CodeEntry>;
