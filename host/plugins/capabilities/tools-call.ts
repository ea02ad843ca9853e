/**
 * `tools.call`: a tool of the task's own target.
 *
 * Threat: a plugin may name any tool and repeat any call. Names are held to the narrower of manifest and grant here; the
 * fence behind the port knows which tools, targets and operations the task covers, and writes mutations down before they
 * leave. After a cancellation calls still pass, so that a run can give back what it holds; the fence lets only that through.
 */
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { parsed } from './json.ts';

export const toolsCall: Capability<'tools.call'> = {
  id: 'tools.call',
  create({ ports, narrowing, ended }) {
    const { callTool } = ports;
    if (!callTool) return undefined;
    return {
      async call([name, args]) {
        if (narrowing.tools && !narrowing.tools.includes(name))
          refuse('CAPABILITY_DENIED', { capability: `tools.call ${name}` });
        return JSON.stringify(await callTool(name, parsed(args), ended));
      },
    };
  },
};
