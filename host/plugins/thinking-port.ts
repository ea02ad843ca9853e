/**
 * Serves `thinking.assist` of a controller's run: an operator's own helper first, then the Thinking plugin.
 *
 * Threat: the asking controller and the answering helpers are plugins. Neither learns the model's address or key; how
 * often a run may ask is counted here, not by the plugin; and a helper's failure stays a failure.
 */
import * as v from 'valibot';
import type { ThinkingProvider } from '../../core/jev/thinking-provider.ts';
import { isCode } from '../../sdk/contract/codes.ts';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { ThinkingReply, type ThinkingRequest } from '../../sdk/contract/thinking.ts';
import type { PluginHost, RunAuthority, RunPorts } from './ports.ts';

/** The bundled helper, and the handler that it and an operator's helpers serve. */
const THINKING_PLUGIN = 'thinking';
const HANDLER = 'assist';

export interface ThinkingHooks {
  /** Ids of helper plugins. */
  text?: string | undefined;
  verify?: string | undefined;
}

export interface ThinkingPortDeps {
  plugins: Pick<PluginHost, 'callContributed' | 'list'>;
  /** `gateway.jev.thinking`. */
  provider: ThinkingProvider;
  /** `gateway.jev.browser.textHelper`. */
  textProvider?: ThinkingProvider;
  /** `gateway.jev.browser.hooks`, live. */
  hooks(): ThinkingHooks;
  /** Calls of the model that one run may cause, live. */
  maxCallsPerRun(): number;
  ids(): string;
}

export interface ThinkingPort {
  /** What a run may be told to count on now. */
  offers(): { textHelper: boolean; verifier: boolean; action: boolean };
  /** The port of one run, with that run's own budget. */
  forRun(authority: RunAuthority): NonNullable<RunPorts['assist']>;
}

export function createThinkingPort(deps: ThinkingPortDeps): ThinkingPort {
  const serves = (id: string | undefined) =>
    id !== undefined && deps.plugins.list().some((plugin) => plugin.id === id && plugin.state === 'serving');
  const textModel = () => (deps.textProvider?.configured ? deps.textProvider : deps.provider);
  const hookFor = ({ kind }: ThinkingRequest) => {
    const { text, verify } = deps.hooks();
    return kind === 'verify' ? verify : kind === 'field_text' || kind === 'address' ? text : undefined;
  };

  return {
    offers() {
      const { text, verify } = deps.hooks();
      const thinking = serves(THINKING_PLUGIN);
      return {
        textHelper: serves(text) || (thinking && textModel().configured),
        verifier: serves(verify) || (thinking && deps.provider.configured),
        action: thinking && deps.provider.configured,
      };
    },

    forRun(authority) {
      let calls = 0;
      const call = async (pluginId: string, request: ThinkingRequest, signal: AbortSignal) => {
        const provider = request.kind === 'field_text' || request.kind === 'address' ? textModel() : deps.provider;
        const think: NonNullable<RunPorts['think']> = (asked, thinkSignal) => {
          calls += 1;
          if (calls > deps.maxCallsPerRun()) refuse('THINKING_BUDGET', { limit: deps.maxCallsPerRun() });
          return provider.complete(asked, AbortSignal.any([signal, thinkSignal]));
        };
        const ports: RunPorts = provider.configured ? { think } : {};
        const reply = await deps.plugins.callContributed(pluginId, HANDLER, request, {
          runId: deps.ids(),
          ports,
          authority,
          signal,
        });
        const parsed = v.safeParse(ThinkingReply, reply);
        if (!parsed.success) refuse('INVALID_CONTRACT');
        return settled(parsed.output);
      };

      return async (request, signal) => {
        const hook = hookFor(request);
        if (hook !== undefined && serves(hook)) {
          const reply = await call(hook, request, signal);
          // A helper for one workflow passes on what is not its own.
          if (reply.pass !== true) return reply;
        }
        const provider = request.kind === 'verify' || request.kind === 'action' ? deps.provider : textModel();
        if (!provider.configured || !serves(THINKING_PLUGIN)) refuse('THINKING_NOT_CONFIGURED');
        return call(THINKING_PLUGIN, request, signal);
      };
    },
  };
}

const Failure = v.object({
  code: v.string(),
  details: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])), {}),
});

/** A reply that names a failure is thrown as that failure. */
function settled(reply: ThinkingReply): ThinkingReply {
  if (!Object.hasOwn(reply, 'failure')) return reply;
  const failure = v.safeParse(Failure, reply.failure);
  if (!failure.success || !isCode(failure.output.code)) refuse('ADAPTER_FAILURE');
  throw new HostError(failure.output.code, failure.output.details);
}
