/** Whose conversation a command works in. */
import { UsageError } from './command.ts';
import type { HostClient } from './host-client.ts';

/**
 * `/agents/…/sessions/…`; the agent may be left out where the caller has exactly one.
 * @throws UsageError naming the agents, when there are more or none
 */
export async function sessionPath(
  host: Pick<HostClient, 'get'>,
  options: { agent?: string | undefined; session?: string | undefined },
): Promise<string> {
  const agent = options.agent ?? (await onlyAgent(host));
  return `/agents/${encodeURIComponent(agent)}/sessions/${encodeURIComponent(options.session ?? 'default')}`;
}

async function onlyAgent(host: Pick<HostClient, 'get'>): Promise<string> {
  const { agents } = (await host.get('/agents')) as { agents: { id: string }[] };
  const [first, ...others] = agents;
  if (!first || others.length > 0)
    throw new UsageError(`Name the agent with --agent: ${agents.map(({ id }) => id).join(', ') || 'there is none'}.`);
  return first.id;
}
