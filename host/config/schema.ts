/**
 * The whole configuration file, composed of the sections that the rooms define. Strict everywhere: a key that nobody
 * knows is an error that names it.
 */
import * as v from 'valibot';
import { AgentsConfig } from '../../core/authorization/config.ts';
import { ApiConfig } from '../api/config.ts';
import { ConnectorsConfig } from '../connectors/config.ts';
import { PluginsConfig } from '../plugins/config.ts';
import { ProgramsConfig } from '../programs/config.ts';
import { RetentionConfig } from '../tasks/config.ts';
import { ComputerUseConfig, DevicesConfig, GatewayJevConfig, LogConfig } from './sections.ts';

export const HostConfig = v.strictObject({
  dataDir: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(4096),
      v.description('Where receipts, tasks and device profiles are kept. `--data-dir` overrides it.'),
    ),
  ),
  gateway: v.pipe(
    v.strictObject({
      api: v.optional(ApiConfig, {}),
      jev: v.optional(GatewayJevConfig),
      computerUse: v.optional(ComputerUseConfig),
      connectors: v.optional(ConnectorsConfig, []),
      programs: v.optional(ProgramsConfig),
    }),
    v.description('The services of the host.'),
  ),
  agents: AgentsConfig,
  plugins: PluginsConfig,
  devices: v.optional(DevicesConfig, {}),
  retention: v.optional(RetentionConfig, {}),
  log: v.optional(LogConfig, {}),
});
export type HostConfig = v.InferOutput<typeof HostConfig>;
