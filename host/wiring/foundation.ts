/** What every other room stands on: log, credentials, connections, authorization. */
import type { DependencyContainer } from 'tsyringe';
import { Agent } from 'undici';
import { createAuthorization } from '../../core/authorization/authorization.ts';
import { PrivateNames, privateNamesIn } from '../../core/credentials/private-names.ts';
import { createRedactor } from '../../core/credentials/redaction.ts';
import { createCredentialResolver } from '../../core/credentials/resolver.ts';
import { jevPrivateNames } from '../../core/jev/config.ts';
import type { ConfigSource } from '../config/config-file.ts';
import { createLog } from '../log.ts';
import {
  AUTHORIZATION,
  CONFIG,
  CREDENTIALS,
  DISPATCHER,
  LOG,
  PRIVATE_NAMES,
  REDACTOR,
  SURROUNDINGS,
} from '../tokens.ts';
import { once } from './registry.ts';

/** Connections to one provider. */
const MAX_CONNECTIONS = 64;

export function registerFoundation(container: DependencyContainer, logSink: NodeJS.WritableStream): void {
  once(container, REDACTOR, () => createRedactor());
  once(container, LOG, (from) => createLog(logSink, from.resolve(REDACTOR), from.resolve(CONFIG).current.log.level));
  once(container, PRIVATE_NAMES, (from) => new PrivateNames(privateNames(from.resolve(CONFIG))));
  once(container, CREDENTIALS, (from) =>
    createCredentialResolver({
      env: from.resolve(SURROUNDINGS).env,
      privateNames: from.resolve(PRIVATE_NAMES),
      redactor: from.resolve(REDACTOR),
    }),
  );
  once(container, DISPATCHER, () => new Agent({ connections: MAX_CONNECTIONS }));
  once(container, AUTHORIZATION, (from) => {
    const { current } = from.resolve(CONFIG);
    return createAuthorization({ keys: current.gateway.api.keys, agents: current.agents });
  });
}

/** Names of variables that hold credentials now. */
export function privateNames(config: ConfigSource): string[] {
  return [...privateNamesIn(config.current), ...jevPrivateNames(config.current.gateway.jev)];
}
