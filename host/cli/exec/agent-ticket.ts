/** A ticket for one agent's session, from the host that runs on the data directory; none when no host runs. */
import { isHostError } from '../../../sdk/contract/errors.ts';
import { connectHost, type HostClient } from '../host-client.ts';

export interface AgentTicket {
  mcpUrl: string;
  ticket: string;
}

export async function agentTicket(where: {
  dataDir: string;
  agentId: string;
  sessionId: string;
}): Promise<AgentTicket | undefined> {
  let client: HostClient;
  try {
    client = await connectHost({ 'data-dir': where.dataDir });
  } catch (error) {
    if (isHostError(error, 'HOST_NOT_RUNNING')) return undefined;
    throw error;
  }
  try {
    const path = `/agents/${encodeURIComponent(where.agentId)}/sessions/${encodeURIComponent(where.sessionId)}/ticket`;
    const { ticket } = (await client.post(path, {})) as { ticket: string };
    const { url } = (await client.get('/admin/address')) as { url: string };
    return { ticket, mcpUrl: `${url}/mcp` };
  } catch (error) {
    if (isHostError(error, 'HOST_NOT_RUNNING')) return undefined;
    throw error;
  } finally {
    await client.close();
  }
}
