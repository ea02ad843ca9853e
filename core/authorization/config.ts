/** `agents`: who works here. An agent's entry can only narrow what the gateway's sections allow. */
import * as v from 'valibot';

const Switch = (what: string) =>
  v.optional(
    v.strictObject({
      enabled: v.optional(v.pipe(v.boolean(), v.description(`\`false\` takes ${what} from the agent.`))),
    }),
  );

export const AgentsConfig = v.pipe(
  v.array(
    v.strictObject({
      id: v.pipe(
        v.string(),
        v.minLength(1),
        v.maxLength(256),
        v.description('The agent’s id, as it stands in addresses.'),
      ),
      name: v.optional(v.pipe(v.string(), v.maxLength(256), v.description('A name for people.'))),
      allow_tools: v.optional(v.pipe(v.boolean(), v.description('`false` takes every tool from the agent.'))),
      jev: Switch('Jev'),
      computerUse: Switch('Computer Use'),
    }),
  ),
  v.maxLength(1000),
);
export type AgentsConfig = v.InferOutput<typeof AgentsConfig>;
export type AgentConfig = AgentsConfig[number];
