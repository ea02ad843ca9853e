/** Rules that span entries or sections. */
import { type ConfigProblem, pathText } from './problems.ts';
import type { HostConfig } from './schema.ts';

export function crossChecks(config: HostConfig): ConfigProblem[] {
  return [
    ...repeated(config.agents, ['agents']),
    ...repeated(config.gateway.api.keys, ['gateway', 'api', 'keys']),
    ...repeated(config.gateway.connectors, ['gateway', 'connectors']),
    ...unreachable(config),
  ];
}

function repeated(entries: readonly { id: string }[], path: string[]): ConfigProblem[] {
  const seen = new Map<string, number>();
  const problems: ConfigProblem[] = [];
  for (const [index, { id }] of entries.entries()) {
    const first = seen.get(id);
    if (first === undefined) seen.set(id, index);
    else
      problems.push({
        path: pathText([...path, index, 'id']),
        says: `the id "${id}" is already used by ${pathText([...path, first])}`,
      });
  }
  return problems;
}

/** A key for an agent that does not exist opens nothing; most often the name is misspelt. */
function unreachable(config: HostConfig): ConfigProblem[] {
  const agents = new Set(config.agents.map((agent) => agent.id));
  return config.gateway.api.keys.flatMap((key, at) =>
    key.agents === '*'
      ? []
      : key.agents.flatMap((agent, index) =>
          agents.has(agent)
            ? []
            : [
                {
                  path: pathText(['gateway', 'api', 'keys', at, 'agents', index]),
                  says: `there is no agent "${agent}" under agents`,
                },
              ],
        ),
  );
}
