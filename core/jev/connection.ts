/** Where one evaluation goes and with which credential, from the configuration that it captured when it began. */
import { HostError, isHostError } from '../../sdk/contract/errors.ts';
import type { CredentialReference } from '../credentials/reference.ts';
import type { CredentialResolver } from '../credentials/resolver.ts';
import { type JevConfig, TYPESAFE_KEY_NAME } from './config.ts';
import { type EndSignal, standardSignal } from './deadline.ts';
import { type Endpoint, evaluationEndpoint, TYPESAFE_BASE } from './endpoint.ts';
import { resolveIdentity } from './identity-group.ts';

export interface Connection {
  endpoint: Endpoint;
  credential: string;
}

export interface ConnectionSources {
  credentials: CredentialResolver;
  env: NodeJS.ProcessEnv;
  /** File of the stored login, when one exists now. */
  storedLogin?(): Promise<string | undefined>;
  /** The `env` part of Claude's settings. */
  claudeSettings?(): Promise<Readonly<Record<string, unknown>> | undefined>;
}

/**
 * @throws JEV_AUTHENTICATION_FAILED when the credential is missing or cannot be read; JEV_INVALID_CONFIG when the upstream
 *   identity is incomplete.
 */
export async function connect(config: JevConfig, sources: ConnectionSources, signal: EndSignal): Promise<Connection> {
  if (config.provider === 'upstream' && config.baseUrl === undefined) {
    const settings = await sources.claudeSettings?.();
    const identity = guarded(() => resolveIdentity(settings, sources.env));
    sources.credentials.learn?.(identity.credential);
    return { endpoint: evaluationEndpoint('upstream', identity.baseUrl), credential: identity.credential };
  }
  const endpoint = endpointOf(config);
  const reference = explicitReference(config) ?? (await impliedReference(config, sources));
  try {
    // Only a command can be stopped; the others are read.
    const options = 'command' in reference ? { signal: standardSignal(signal) } : {};
    return { endpoint, credential: await sources.credentials.resolve(reference, options) };
  } catch (error) {
    throw asAuthenticationFailure(error);
  }
}

const endpoints = new WeakMap<JevConfig, Endpoint>();

/** A section of the configuration is never changed, only replaced, so its address is taken apart once. */
function endpointOf(config: JevConfig): Endpoint {
  let endpoint = endpoints.get(config);
  if (!endpoint) {
    endpoint = evaluationEndpoint(config.provider, config.baseUrl ?? TYPESAFE_BASE);
    endpoints.set(config, endpoint);
  }
  return endpoint;
}

/** The order of DECISIONS 4, once a key file or variable is named it is the only source. */
function explicitReference(config: JevConfig): CredentialReference | undefined {
  if (config.apiKeyFile !== undefined) return { file: config.apiKeyFile };
  if (config.apiKeyEnv !== undefined) return { env: config.apiKeyEnv };
  // The login and TYPESAFE_API_KEY are TypeSafe's; an upstream never gets them.
  if (config.provider === 'upstream') return command(config);
  return undefined;
}

async function impliedReference(config: JevConfig, sources: ConnectionSources): Promise<CredentialReference> {
  const login = await sources.storedLogin?.();
  if (login !== undefined) return { file: login };
  if (sources.env[TYPESAFE_KEY_NAME]) return { env: TYPESAFE_KEY_NAME };
  return command(config) ?? { env: TYPESAFE_KEY_NAME };
}

function command(config: JevConfig): CredentialReference | undefined {
  return config.credentialCommand === undefined ? undefined : { command: config.credentialCommand };
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isHostError(error, 'JEV_INVALID_CONFIG') ? error : asAuthenticationFailure(error);
  }
}

function asAuthenticationFailure(error: unknown): unknown {
  if (!isHostError(error)) return error;
  const { source, problem } = error.details;
  return new HostError('JEV_AUTHENTICATION_FAILED', { source, problem }, { cause: error });
}
