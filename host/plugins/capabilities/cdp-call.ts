/**
 * `cdp.call`: commands of the debugging protocol, to a browser that the operator set up for it (`gateway.programs.browsers`).
 *
 * Threat: the protocol is the whole browser. A method must be on the manifest's or the grant's list and on the browser's own;
 * a capability without a list reaches nothing. What leaves cannot be taken back and has no receipt: a command is not a
 * task's mutation, so this is for browsers that no task works on. A broken connection is not opened again within a run.
 */
import * as v from 'valibot';
import { refuse } from '../../../sdk/contract/errors.ts';
import type { Capability } from './capability.ts';
import { answered, atMost, checked, parsed } from './json.ts';

/** Commands that one run may have under way. */
const MAX_AT_ONCE = 8;
/** Characters of one command's parameters. */
const MAX_PARAMS_CHARS = 256 * 1024;

const Where = v.strictObject({
  /** The page's session, from `Target.attachToTarget`. Needed for every method that speaks to a page. */
  sessionId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
  /** Id of the browser; the only one that the agent may use when absent. */
  browser: v.optional(v.pipe(v.string(), v.maxLength(64))),
});

export const cdpCall: Capability<'cdp.call'> = {
  id: 'cdp.call',
  create({ ports: { cdp }, narrowing, cancelled, ended }) {
    if (!cdp) return undefined;
    const inTurn = atMost(MAX_AT_ONCE);
    return {
      async call([method, params, where]) {
        if (cancelled.aborted) refuse('RUN_CANCELLED');
        if (!narrowing.methods?.includes(method)) refuse('CAPABILITY_DENIED', { capability: `cdp.call ${method}` });
        if (params.length > MAX_PARAMS_CHARS)
          refuse('PLUGIN_CALL_INVALID', { path: method, problem: `over ${MAX_PARAMS_CHARS} characters` });
        const command = { method, params: parsed(params), ...checked(Where, where) };
        return answered(`cdp.call ${method}`, await inTurn(() => cdp(command, ended)));
      },
    };
  },
};
