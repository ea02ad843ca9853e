/** `gateway.connectors` and the bindings under `gateway.jev.browser`: tool servers, and targets that were set by hand. */
import * as v from 'valibot';
import { CredentialFile, EnvironmentName } from '../../core/credentials/reference.ts';
import { ThinkingConfig } from '../../core/jev/thinking-config.ts';
import { BrowserField } from '../../sdk/contract/browser-run.ts';
import { PluginId } from '../../sdk/contract/manifest.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Threat: a credential sent in the clear, or to an address that smuggles another identity. */
export function isConnectorUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.username || url.password || url.hash) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}

export const ConnectorUrl = v.pipe(
  v.string(),
  v.maxLength(8192),
  v.check(isConnectorUrl, 'an https address, or http on this machine, without credentials or fragment'),
);

const Printable = v.pipe(v.string(), v.regex(/^[^\p{Cc}\p{Cs}]{1,256}$/u, '1 to 256 printable characters'));
const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const unit = v.pipe(v.number(), v.minValue(0), v.maxValue(1));

export const ConnectorAuthorization = v.union([
  v.strictObject({ file: v.pipe(CredentialFile, v.description('File that holds the bare secret.')) }),
  v.strictObject({ env: v.pipe(EnvironmentName, v.description('Variable of the host that holds the secret.')) }),
]);

export const ConnectorConfig = v.strictObject({
  id: v.pipe(Printable, v.description('Names the connector.')),
  url: v.pipe(ConnectorUrl, v.description('The tool server’s MCP address (Streamable HTTP).')),
  authorization: v.pipe(ConnectorAuthorization, v.description('The credential sent as a bearer.')),
  resourcesPath: v.optional(
    v.pipe(
      v.picklist(['/v1/grants', '/v1/computer-grants']),
      v.description('Where the server lists its grants; `/v1/computer-grants` makes it a computer connector.'),
    ),
    '/v1/grants',
  ),
  agents: v.pipe(
    v.union([v.literal('*'), v.pipe(v.array(Printable), v.maxLength(256))]),
    v.description('The agents that may use it, or `"*"` for all.'),
  ),
  sharing: v.optional(
    v.pipe(
      v.picklist(['agent', 'none']),
      v.description('`agent`: every user of an enabled agent finds the approved tabs. `none`: only manual bindings.'),
    ),
    'agent',
  ),
});
export type ConnectorConfig = v.InferOutput<typeof ConnectorConfig>;
export const ConnectorsConfig = v.pipe(v.array(ConnectorConfig), v.maxLength(100));

/** Limits of the runs on one binding (wire-contracts 2.8); each bounds what a task may use. */
export const BindingBudget = v.strictObject({
  maxSteps: v.optional(int(1, 100)),
  maxEvaluations: v.optional(int(1, 150)),
  timeoutMs: v.optional(int(1000, 600_000)),
  maxTextCalls: v.optional(int(0, 60)),
  maxStaleRetries: v.optional(int(0, 10)),
  operationConfidence: v.optional(unit),
  targetConfidence: v.optional(unit),
});
export type BindingBudget = v.InferOutput<typeof BindingBudget>;

const ScopeId = v.pipe(v.string(), v.minLength(1), v.maxLength(120));
export const BindingScope = v.strictObject({ device_id: ScopeId, grant_id: ScopeId, tab_id: ScopeId });

const BrowserBinding = v.pipe(
  v.strictObject({
    id: Printable,
    name: Printable,
    agentId: Printable,
    principalId: Printable,
    conversationId: Printable,
    endpoint: v.optional(ConnectorUrl),
    apiKeyFile: v.optional(v.pipe(CredentialFile, v.regex(/^\//, 'an absolute path'))),
    apiKeyEnv: v.optional(EnvironmentName),
    connectorId: v.optional(Printable),
    scope: BindingScope,
    fields: v.optional(v.pipe(v.array(BrowserField), v.maxLength(60)), []),
    budget: v.optional(BindingBudget, {}),
  }),
  v.check(
    ({ endpoint, apiKeyFile, apiKeyEnv, connectorId }) =>
      connectorId !== undefined
        ? endpoint === undefined && apiKeyFile === undefined && apiKeyEnv === undefined
        : endpoint !== undefined && (apiKeyFile === undefined) !== (apiKeyEnv === undefined),
    'either connectorId alone, or endpoint with one of apiKeyFile and apiKeyEnv',
  ),
);
export type BrowserBinding = v.InferOutput<typeof BrowserBinding>;

export const BrowserBindings = v.strictObject({
  bindings: v.optional(
    v.pipe(
      v.array(BrowserBinding),
      v.maxLength(100),
      v.check((all) => new Set(all.map((one) => one.id)).size === all.length, 'every id once'),
    ),
    [],
  ),
  textHelper: v.optional(
    v.pipe(
      ThinkingConfig,
      v.description('A model for field text and addresses in browser tasks, in place of gateway.jev.thinking.'),
    ),
  ),
  hooks: v.optional(
    v.pipe(
      v.strictObject({
        text: v.optional(v.pipe(PluginId, v.description('Helper plugin that is asked for field text first.'))),
        verify: v.optional(v.pipe(PluginId, v.description('Helper plugin that verifies completion first.'))),
      }),
      v.description('The operator’s own helpers for known workflows. They serve `assist` as the Thinking plugin does.'),
    ),
  ),
});
export type BrowserBindings = v.InferOutput<typeof BrowserBindings>;
