/** Sections whose rooms have not defined them yet, in their least form. Each is replaced by the room's own schema. */
import * as v from 'valibot';

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

export const JevConfig = v.looseObject({ enabled: v.optional(v.boolean(), false) });
export const ComputerUseConfig = v.looseObject({ enabled: v.optional(v.boolean(), false) });
export const ConnectorsConfig = v.array(v.looseObject({ id: Id, url: v.string() }));
export const AgentsConfig = v.array(
  v.strictObject({
    id: v.pipe(Id, v.description('The agent’s id, as it stands in addresses.')),
    name: v.optional(v.pipe(v.string(), v.maxLength(256), v.description('A name for people.'))),
    allow_tools: v.optional(v.pipe(v.boolean(), v.description('`false` takes every tool from the agent.'))),
    jev: v.optional(v.strictObject({ enabled: v.optional(v.boolean()) })),
    computerUse: v.optional(v.strictObject({ enabled: v.optional(v.boolean()) })),
  }),
);
export const PluginsConfig = v.record(v.string(), v.looseObject({ enabled: v.optional(v.boolean(), true) }));
export const DevicesConfig = v.looseObject({});
export const RetentionConfig = v.looseObject({});
export const LogConfig = v.strictObject({
  level: v.optional(
    v.pipe(v.picklist(['debug', 'info', 'warn', 'error', 'silent']), v.description('How much the log says.')),
    'info',
  ),
});
