/** Sections that belong to no single room of the host, and how the sections of `gateway.jev` come together. */
import * as v from 'valibot';
import { jevConfig } from '../../core/jev/config.ts';
import { RemovedExperience, ThinkingConfig } from '../../core/jev/thinking-config.ts';
import { BrowserBindings } from '../connectors/config.ts';
import { BrowserDeviceConfig } from '../devices/browser/config.ts';

const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const Model = v.pipe(v.string(), v.minLength(1), v.maxLength(1024));

export const GatewayJevConfig = jevConfig({
  browser: v.optional(v.pipe(BrowserBindings, v.description('Browser targets; without it, browser tasks are off.'))),
  thinking: v.optional(v.pipe(ThinkingConfig, v.description('The text model that helps controllers.'))),
  experience: RemovedExperience,
});
export type GatewayJevConfig = v.InferOutput<typeof GatewayJevConfig>;

/** `gateway.computerUse`: Computer Use decided by the agent's own model when Jev is off. */
export const ComputerUseConfig = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), v.description('Opt in.')), false),
  model: v.optional(v.pipe(Model, v.description('Model for each step decision.')), 'claude-haiku-4-5-20251001'),
  timeoutMs: v.optional(v.pipe(int(1000, 120_000), v.description('Milliseconds for one decision.')), 20_000),
  minConfidence: v.optional(
    v.pipe(v.number(), v.minValue(0.55), v.maxValue(1), v.description('Below this, a decision counts as unsure.')),
    0.7,
  ),
  mode: v.optional(
    v.pipe(v.picklist(['ax', 'vision', 'hybrid']), v.description('How an agent’s goal is decided.')),
    'ax',
  ),
  visionModel: v.optional(v.pipe(Model, v.description('Model for decisions on screenshots.')), 'claude-sonnet-5'),
});
export type ComputerUseConfig = v.InferOutput<typeof ComputerUseConfig>;

export const LogConfig = v.strictObject({
  level: v.optional(
    v.pipe(v.picklist(['debug', 'info', 'warn', 'error', 'silent']), v.description('How much the log says.')),
    'info',
  ),
});
export type LogConfig = v.InferOutput<typeof LogConfig>;

/** `devices`: device servers that run beside the host. */
export const DevicesConfig = v.strictObject({
  browser: v.optional(v.pipe(BrowserDeviceConfig, v.description('A Chromium of the host’s own.'))),
});
