/** The browser harness as references: `<id>.connect` and `<id>.cdp`. The allowed methods are part of what is checked. */
import * as v from 'valibot';
import type { Json } from '../../sdk/contract/jev.ts';
import { refuseProgram } from '../../sdk/programs/program-error.ts';
import type { RunAuthority } from '../plugins/ports.ts';
import { BrowserHarness, type HarnessDeps } from './browser-harness.ts';
import type { BrowserHarnessConfig } from './config.ts';
import type { ReferenceSource } from './references.ts';

const CdpCall = v.strictObject({
  method: v.string(),
  params: v.optional(v.record(v.string(), v.unknown())),
  sessionId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
});

export interface BrowserReferences extends ReferenceSource {
  close(): void;
}

export function browserReferences(
  configs: readonly BrowserHarnessConfig[],
  /** Commands are always execution, whatever they are called: a script in a page can do anything. */
  mayExecute: (caller: RunAuthority) => boolean,
  deps: HarnessDeps = {},
): BrowserReferences {
  const harnesses = new Map(configs.map((config) => [config.id, new BrowserHarness(config, deps)]));
  return {
    find(ref, caller) {
      const dot = ref.indexOf('.');
      const harness = harnesses.get(ref.slice(0, dot));
      if (!harness) return undefined;
      const { agents, allowedMethods } = harness.config;
      const allowed = mayExecute(caller) && (agents === undefined || agents.includes(caller.agentId));
      switch (ref.slice(dot + 1)) {
        case 'connect':
          return {
            ref,
            description: 'Opens the one connection to the browser, or finds it open.',
            inputSchema: { type: 'object', properties: {}, additionalProperties: false },
            allowed,
            call: (_args, signal) => harness.connect(signal),
          };
        case 'cdp':
          return {
            ref,
            description: 'Sends one command of the debugging protocol.',
            inputSchema: cdpSchema(allowedMethods),
            allowed,
            async call(args, signal) {
              const parsed = v.safeParse(CdpCall, args);
              if (!parsed.success) {
                const path = v.getDotPath(parsed.issues[0]) ?? 'arguments';
                refuseProgram('PROGRAM_CALL_FAILED', `Invalid ${ref} arguments: ${path}`);
              }
              const { method, params, sessionId } = parsed.output;
              return harness.cdp(
                { method, ...(params && { params }), ...(sessionId !== undefined && { sessionId }) },
                signal,
              );
            },
          };
        default:
          return undefined;
      }
    },
    close() {
      for (const harness of harnesses.values()) harness.close();
    },
  };
}

function cdpSchema(allowedMethods: readonly string[]): { [key: string]: Json } {
  return {
    type: 'object',
    properties: {
      method: { enum: [...allowedMethods] },
      params: { type: 'object' },
      sessionId: { type: 'string' },
    },
    required: ['method'],
    additionalProperties: false,
  };
}
