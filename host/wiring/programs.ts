/** Programs, bound to the plugins that run them, Jev, and what their callers may do. */
import { randomUUID } from 'node:crypto';
import type { DependencyContainer } from 'tsyringe';
import { hasStoredLogin } from '../../core/credentials/stored-login.ts';
import { TYPESAFE_KEY_NAME } from '../../core/jev/config.ts';
import type { JevRequest } from '../../sdk/contract/jev.ts';
import type { ProgramsAbout } from '../../sdk/contract/program.ts';
import { programError } from '../../sdk/programs/program-error.ts';
import type { RunAuthority } from '../plugins/ports.ts';
import { browserReferences } from '../programs/browser-references.ts';
import { createTypeCheck } from '../programs/check/type-check.ts';
import { contributedReferences } from '../programs/contributed-references.ts';
import { createProgramService, LAUNCHER } from '../programs/program-service.ts';
import { AUTHORIZATION, BROWSERS, CONFIG, JEV, PLUGINS, PROGRAMS, SURROUNDINGS, type Surroundings } from '../tokens.ts';
import { programConversations } from './conversations.ts';
import { once } from './registry.ts';

export function registerPrograms(container: DependencyContainer): void {
  once(container, BROWSERS, (from) =>
    browserReferences(from.resolve(CONFIG).current.gateway.programs?.browsers ?? [], (caller) =>
      mayUseTools(from, caller, 'write'),
    ),
  );
  once(container, PROGRAMS, (from) => {
    const authorization = from.resolve(AUTHORIZATION);
    const plugins = from.resolve(PLUGINS);
    const jev = from.resolve(JEV);
    const config = () => from.resolve(CONFIG).current;
    const may = (caller: RunAuthority, access: 'read' | 'write') => mayUseTools(from, caller, access);
    const browsers = from.resolve(BROWSERS);
    const service = createProgramService({
      plugins,
      mayEvaluate: (caller) => may(caller, 'read') && jev.allowed(caller.agentId),
      evaluate(asked, caller, runId, signal) {
        const { model: wanted, ...request } = asked as JevRequest & { model?: string };
        const model = config().gateway.jev?.model;
        if (wanted !== undefined && wanted !== model)
          throw programError('PROGRAM_CALL_FAILED', `Jev model "${wanted}" is not available on the configured route`);
        const { principalId, agentId } = caller;
        return jev.evaluate(
          { ...request, requestId: `${runId}:${randomUUID()}` },
          { principalId, agentId, consumer: 'program', pluginId: LAUNCHER },
          { signal, authorized: () => may(caller, 'read') },
        );
      },
      about: () => about(config().gateway.jev, from.resolve(SURROUNDINGS)),
      sources: [
        browsers,
        contributedReferences({
          plugins,
          launcher: LAUNCHER,
          allowed: (caller, readOnly) => may(caller, readOnly ? 'read' : 'write'),
        }),
      ],
      conversations: programConversations(from),
      typeCheck: createTypeCheck(),
      permit: (caller) => authorization.fences.permit(authorization.groundsOf(caller)),
      uuid: randomUUID,
    });
    return {
      ...service,
      get live() {
        return service.live;
      },
      stop() {
        service.stop();
        browsers.close();
      },
    };
  });
}

export function mayUseTools(from: DependencyContainer, caller: RunAuthority, access: 'read' | 'write'): boolean {
  const authorization = from.resolve(AUTHORIZATION);
  return authorization.agent(caller.agentId)?.allow_tools !== false && authorization.may(caller, access);
}

interface JevSection {
  model?: string | undefined;
  apiKeyFile?: unknown;
  apiKeyEnv?: unknown;
  credentialCommand?: unknown;
}

/** Which credential would be used. Nothing is read, run or asked to find out. */
async function about(
  jev: JevSection | undefined,
  { env, dataDir }: Surroundings,
): Promise<Omit<ProgramsAbout, 'owner'>> {
  const source = sourceOf(jev, env, await hasStoredLogin(dataDir));
  return {
    model: jev?.model ?? 'jev-latest',
    credentials: { configured: source !== 'missing' && source !== 'command-unsupported', source, verified: false },
  };
}

/** In the order in which the evaluation service looks. */
function sourceOf(
  jev: JevSection | undefined,
  env: NodeJS.ProcessEnv,
  storedLogin: boolean,
): ProgramsAbout['credentials']['source'] {
  if (jev?.apiKeyFile !== undefined) return 'file';
  if (jev?.apiKeyEnv !== undefined) return 'environment';
  if (storedLogin) return 'stored';
  if (env[TYPESAFE_KEY_NAME]) return 'environment';
  if (jev?.credentialCommand === undefined) return 'missing';
  return process.platform === 'win32' ? 'command-unsupported' : 'command';
}
