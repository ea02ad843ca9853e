/** `plugins.<id>` of the config file: which plugins run, from where, with what powers and under which limits. */
import * as v from 'valibot';
import { capabilityIds, PluginId } from '../../sdk/contract/manifest.ts';

/** Feature switches that live under `gateway.jev.features`; naming one here is an error that says so. */
const gatewayFeatures = ['browserTasks', 'browserSteps', 'computerTasks', 'computerSteps'];

const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const names = (max: number) => v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(253))), v.maxLength(max));

/** `true` grants what the manifest asks for; an object grants no more than it lists. */
export const Grant = v.union([
  v.boolean(),
  v.strictObject({
    /** Tool names that may be called. */
    tools: v.optional(names(64)),
    /** Hosts that may be reached. `*.example.com` stands for every name below it. */
    hosts: v.optional(names(64)),
    /** Protocol methods that may be called. */
    methods: v.optional(names(128)),
    /** Calls of this capability that one run may make. */
    budget: v.optional(int(1, 1_000_000)),
    /** `http.fetch`: a file that holds the bearer credential which the host adds for the listed hosts. */
    credentialFile: v.optional(v.pipe(v.string(), v.minLength(1))),
  }),
]);
export type Grant = v.InferOutput<typeof Grant>;

const Features = v.pipe(
  v.record(v.pipe(v.string(), v.regex(/^[a-zA-Z][\w.-]{0,63}$/)), v.boolean()),
  v.check(
    (features) => !Object.keys(features).some((name) => gatewayFeatures.includes(name)),
    `${gatewayFeatures.join(', ')} are set under gateway.jev.features`,
  ),
);

export const PluginConfig = v.strictObject({
  enabled: v.optional(v.boolean(), true),
  /** Folder of a plugin that does not ship with the host. */
  path: v.optional(v.pipe(v.string(), v.minLength(1))),
  /** By capability; absent means denied. A plugin that ships with the host is granted its manifest unless this is given. */
  grants: v.optional(
    v.strictObject(
      Object.fromEntries(capabilityIds.map((id) => [id, v.optional(Grant)])) as {
        [K in (typeof capabilityIds)[number]]: v.OptionalSchema<typeof Grant, undefined>;
      },
    ),
  ),
  limits: v.optional(
    v.strictObject({
      memoryMb: v.optional(int(16, 1024)),
      concurrentRuns: v.optional(int(1, 256)),
      runDeadlineMs: v.optional(int(100, 86_400_000)),
    }),
    {},
  ),
  features: v.optional(Features, {}),
  /** The host does not start without this plugin. */
  required: v.optional(v.boolean(), false),
  /** `process` gives the plugin a process of its own. Default: `thread` for what ships with the host, else `process`. */
  tier: v.optional(v.picklist(['thread', 'process'])),
  settings: v.optional(v.record(v.string(), v.unknown()), {}),
  /** Keep whole requests, answers and observations of its runs for `replay`. Private; off unless turned on. */
  record: v.optional(v.boolean(), false),
});
export type PluginConfig = v.InferOutput<typeof PluginConfig>;

export const PluginsConfig = v.optional(v.record(PluginId, PluginConfig), {});
export type PluginsConfig = v.InferOutput<typeof PluginsConfig>;
