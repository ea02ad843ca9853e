/** `plugin.json`, strict: an unknown key is an error that names it (DECISIONS 16). */
import * as v from 'valibot';

/** The contract version that this SDK speaks. A plugin built against another major version is refused with a sentence. */
export const CONTRACT_VERSION = 1;

/**
 * Ids of the capabilities that exist. An id is the path of the facet on the run's context: `jev.evaluate` is
 * `ctx.jev.evaluate`.
 */
export const capabilityIds = [
  'jev.evaluate',
  'tools.call',
  'thinking.assist',
  'thinking.provider',
  'model.messages',
  'task',
  'image',
  'storage',
  'clock',
  'random',
  'log',
  'cdp.call',
  'tasks.control',
  'speech',
  'program',
  'programs',
  'http.fetch',
] as const;
export type CapabilityId = (typeof capabilityIds)[number];

export const PluginId = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,63}$/, 'lower-case letters, digits and dashes'));

/** Names only, so that nothing else can be said where an operator reads them. */
function names(max: number, pattern: RegExp, what: string) {
  return v.pipe(v.array(v.pipe(v.string(), v.regex(pattern, what))), v.maxLength(max));
}

const CapabilityRequest = v.strictObject({
  /** Why the plugin needs it, in words an operator can judge. */
  reason: v.pipe(v.string(), v.minLength(8), v.maxLength(300)),
  /** Narrowing that the plugin promises by itself. The grant is never wider. */
  tools: v.optional(names(64, /^[A-Za-z0-9_.-]{1,128}$/, 'a tool’s name')),
  hosts: v.optional(names(64, /^(?:\*\.)?[a-z0-9.:[\]-]{1,251}$/, 'a host’s name in lower case')),
  methods: v.optional(names(128, /^[A-Za-z0-9_.-]{1,128}$/, 'a method’s name')),
});
export type CapabilityRequest = v.InferOutput<typeof CapabilityRequest>;

const JsonSchemaObject = v.record(v.string(), v.unknown());

const ContributedTool = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/)),
  title: v.pipe(v.string(), v.maxLength(120)),
  description: v.pipe(v.string(), v.maxLength(2000)),
  inputSchema: JsonSchemaObject,
  outputSchema: JsonSchemaObject,
  annotations: v.strictObject({
    readOnlyHint: v.boolean(),
    destructiveHint: v.boolean(),
    idempotentHint: v.boolean(),
    openWorldHint: v.boolean(),
  }),
});
export type ContributedTool = v.InferOutput<typeof ContributedTool>;

export const Manifest = v.strictObject({
  id: PluginId,
  version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/, 'a version such as 1.2.3')),
  contract: v.literal(CONTRACT_VERSION),
  kind: v.picklist(['controller', 'helper', 'frontend']),
  /** The entry file, relative to plugin.json. */
  entry: v.pipe(
    v.string(),
    v.regex(/^(?!\/)(?!.*\.\.)[\w./-]+\.(?:ts|js|mjs|cjs)$/, 'a relative path inside the plugin'),
  ),
  /** Controllers: the kind of target they drive, such as `browser`. */
  adapter: v.optional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/))),
  tools: v.optional(v.pipe(v.array(ContributedTool), v.maxLength(32))),
  capabilities: v.strictObject(
    Object.fromEntries(capabilityIds.map((id) => [id, v.optional(CapabilityRequest)])) as {
      [K in CapabilityId]: v.OptionalSchema<typeof CapabilityRequest, undefined>;
    },
  ),
  /** Feature switches with their defaults. */
  features: v.optional(v.record(v.pipe(v.string(), v.regex(/^[a-zA-Z][\w.-]{0,63}$/)), v.boolean()), {}),
  /** JSON Schema of the operator's settings for this plugin. */
  settings: v.optional(JsonSchemaObject),
  limits: v.strictObject({
    /** Megabytes that one worker may take. */
    memoryMb: v.pipe(v.number(), v.integer(), v.minValue(16), v.maxValue(1024)),
    concurrentRuns: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(256)),
    /** Milliseconds that one run may take, at most. */
    runDeadlineMs: v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(86_400_000)),
  }),
});
export type Manifest = v.InferOutput<typeof Manifest>;
