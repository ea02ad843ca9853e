/** Authorization as the surfaces see it. */
import type { DependencyContainer } from 'tsyringe';
import type { Access } from '../api/ports.ts';
import { AUTHORIZATION, CONFIG } from '../tokens.ts';

export function accessOf(from: DependencyContainer): Access {
  const authorization = from.resolve(AUTHORIZATION);
  const config = from.resolve(CONFIG);
  return {
    authenticate: authorization.authenticate,
    principal: authorization.principal,
    agents: () => config.current.agents.map(({ id }) => id),
    agentName(id) {
      const name = authorization.agent(id)?.name;
      return name === undefined ? {} : { name };
    },
  };
}
