/** What this host has for plugins beside a task's own powers: the operator's model, and the browsers set up for programs. */
import type { DependencyContainer } from 'tsyringe';
import { HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { HostServices } from '../plugins/host-services.ts';
import type { CdpCommand, RunAuthority, RunPorts } from '../plugins/ports.ts';
import { BROWSERS, CONFIG, THINKING_MODEL } from '../tokens.ts';

/** Model calls that one run may cause when the operator set no number. */
export const THINKING_CALLS_PER_RUN = 100;

export function pluginServices(from: DependencyContainer): HostServices {
  const gateway = () => from.resolve(CONFIG).current.gateway;
  const browsers = () => gateway().programs?.browsers ?? [];
  return {
    missing(capability, kind) {
      switch (capability) {
        case 'model.messages':
          return from.resolve(THINKING_MODEL).configured ? undefined : 'gateway.jev.thinking names no model';
        case 'cdp.call':
          return browsers().length > 0 ? undefined : 'gateway.programs.browsers names no browser';
        case 'tasks.control':
          return kind === 'controller' ? 'a controller works on one task and steers none' : undefined;
        default:
          return undefined;
      }
    },
    ports: ({ authority }) => ({ model: modelPort(from), cdp: cdpPort(from, authority) }),
  };

  function modelPort(container: DependencyContainer): NonNullable<RunPorts['model']> {
    let calls = 0;
    return (request, signal) => {
      calls += 1;
      const limit = gateway().jev?.thinking?.maxCallsPerRun ?? THINKING_CALLS_PER_RUN;
      if (calls > limit) refuse('THINKING_BUDGET', { limit });
      return container.resolve(THINKING_MODEL).complete(request, signal);
    };
  }
}

function cdpPort(from: DependencyContainer, authority: RunAuthority): NonNullable<RunPorts['cdp']> {
  const connected = new Set<string>();
  return async ({ browser, ...command }: CdpCommand, signal) => {
    const references = from.resolve(BROWSERS);
    const ids = from.resolve(CONFIG).current.gateway.programs?.browsers.map(({ id }) => id) ?? [];
    const mine = ids.filter((id) => references.find(`${id}.cdp`, authority)?.allowed);
    const id = browser ?? (mine.length === 1 ? mine[0] : undefined);
    if (id === undefined || !mine.includes(id))
      refuse('CAPABILITY_DENIED', {
        capability: `cdp.call on ${browser ?? (mine.length ? 'a browser of several without its name' : 'any browser')}`,
      });
    try {
      // Once: a connection that broke since then is not opened again behind the plugin's back.
      if (!connected.has(id)) await references.find(`${id}.connect`, authority)?.call({}, signal);
      connected.add(id);
      return await references.find(`${id}.cdp`, authority)?.call(command, signal);
    } catch (error) {
      const problem = isHostError(error) ? error.message : 'the browser cannot be reached';
      throw new HostError('PLUGIN_CDP_FAILED', { problem }, { cause: error });
    }
  };
}
