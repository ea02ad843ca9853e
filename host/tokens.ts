/** Names of what the composition root makes. */
import type { InjectionToken } from 'tsyringe';
import type { Dispatcher } from 'undici';
import type { Authorization } from '../core/authorization/authorization.ts';
import type { PrivateNames } from '../core/credentials/private-names.ts';
import type { Redactor } from '../core/credentials/redaction.ts';
import type { CredentialResolver } from '../core/credentials/resolver.ts';
import type { DecisionLog } from '../core/jev/decisions.ts';
import type { JevEvaluationService } from '../core/jev/evaluation-service.ts';
import type { ThinkingProvider } from '../core/jev/thinking-provider.ts';
import type { UsageLog } from '../core/jev/usage.ts';
import type { LmdbStore } from '../core/store/lmdb-store.ts';
import type { Api } from './api/api.ts';
import type { Sessions } from './api/sessions.ts';
import type { ConfigSource } from './config/config-file.ts';
import type { ManagedConnectors } from './connectors/connectors.ts';
import type { HostLog } from './log.ts';
import type { RunningPluginHost } from './plugins/plugin-host.ts';
import type { ThinkingPort } from './plugins/thinking-port.ts';
import type { BrowserReferences } from './programs/browser-references.ts';
import type { ProgramService } from './programs/program-service.ts';
import type { TaskNotices, TaskReceipts, TaskService } from './tasks/service.ts';
import type { EmbeddedDevices } from './wiring/device.ts';

const token = <T>(name: string): InjectionToken<T> => Symbol(name);

export interface Surroundings {
  dataDir: string;
  env: NodeJS.ProcessEnv;
  /** Overrides `gateway.api.port`. */
  port?: number | undefined;
  version: string;
  /** Plugins from a path are approved as they are. */
  dev?: boolean;
}

/** What changes while the host starts and stops. */
export const STATE = token<{ ready: boolean; stopping: boolean }>('state');
export const SURROUNDINGS = token<Surroundings>('surroundings');
export const CONFIG = token<ConfigSource>('config');
export const LOG = token<HostLog>('log');
export const REDACTOR = token<Redactor>('redactor');
export const PRIVATE_NAMES = token<PrivateNames>('private names');
export const STORE = token<LmdbStore>('store');
export const CREDENTIALS = token<CredentialResolver>('credentials');
export const DISPATCHER = token<Dispatcher>('dispatcher');
export const AUTHORIZATION = token<Authorization>('authorization');
export const USAGE = token<UsageLog>('usage');
export const DECISIONS = token<DecisionLog>('decisions');
export const JEV = token<JevEvaluationService>('jev');
export const THINKING_MODEL = token<ThinkingProvider>('thinking model');
export const TEXT_MODEL = token<ThinkingProvider>('text model');
export const PLUGINS = token<RunningPluginHost>('plugins');
export const THINKING = token<ThinkingPort>('thinking');
export const CONNECTORS = token<ManagedConnectors>('connectors');
export const BROWSERS = token<BrowserReferences>('browsers');
export const PROGRAMS = token<ProgramService>('programs');
export const TASKS = token<TaskService & TaskReceipts & TaskNotices>('tasks');
export const DEVICES = token<EmbeddedDevices>('devices');
export const SESSIONS = token<Sessions>('sessions');
export const API = token<Api>('api');
