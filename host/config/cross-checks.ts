/** Rules that span entries or sections. */
import { type ConfigProblem, pathText } from './problems.ts';
import type { HostConfig } from './schema.ts';

export function crossChecks(config: HostConfig): ConfigProblem[] {
  return [
    ...repeated(config.agents, ['agents']),
    ...repeated(config.gateway.api.keys, ['gateway', 'api', 'keys']),
    ...repeated(config.gateway.connectors, ['gateway', 'connectors']),
    ...unreachable(config),
    ...browsersOfPrograms(config),
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
  return config.gateway.api.keys.flatMap(({ agents }, at) =>
    agents === '*' ? [] : unknownAgents(config, agents, ['gateway', 'api', 'keys', at, 'agents']),
  );
}

function unknownAgents(config: HostConfig, named: readonly string[], path: (string | number)[]): ConfigProblem[] {
  const agents = new Set(config.agents.map((agent) => agent.id));
  return named.flatMap((agent, index) =>
    agents.has(agent) ? [] : [{ path: pathText([...path, index]), says: `there is no agent "${agent}" under agents` }],
  );
}

/** Programs call `<id>.connect` of a browser as they call `<id>.<tool>` of a plugin: one of the two would hide the other. */
function browsersOfPrograms(config: HostConfig): ConfigProblem[] {
  const plugins = new Set([...BUNDLED, ...Object.keys(config.plugins)]);
  return (config.gateway.programs?.browsers ?? []).flatMap(({ id, agents }, at) => {
    const path = ['gateway', 'programs', 'browsers', at];
    const taken = plugins.has(id) ? [{ path: pathText([...path, 'id']), says: `"${id}" is a plugin already` }] : [];
    return [...taken, ...unknownAgents(config, agents ?? [], [...path, 'agents'])];
  });
}

/** Plugins that ship with the host are there without an entry. */
const BUNDLED = ['browser-use', 'program-runner', 'programs', 'thinking'];
