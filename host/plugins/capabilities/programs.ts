/**
 * `programs`: what a caller may do about its own programs: have one checked, start it, stop it.
 *
 * Threat: the plugin that asks serves many callers. The port is one caller's: it describes, starts and stops with that
 * caller's powers only, and it ends with the call, while what it started goes on.
 */
import type { Capability } from './capability.ts';
import { anyJson, parsed } from './json.ts';

export const programs: Capability<'programs'> = {
  id: 'programs',
  create({ ports: { programs: port } }) {
    if (!port) return undefined;
    return {
      about: async () => JSON.stringify(await port.about()),
      describe: async ([text]) => JSON.stringify(await port.describe(anyJson(text))),
      check: async ([text]) => JSON.stringify(await port.check(parsed(text))),
      async start([text]) {
        await port.start(parsed(text));
        return null;
      },
      async stop([id]) {
        await port.stop(id);
        return null;
      },
    };
  },
};
