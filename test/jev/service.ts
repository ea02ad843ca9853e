/** An evaluation service on real HTTP for tests: everything that it depends on can be set. */
import { Agent } from 'undici';
import * as v from 'valibot';
import { PrivateNames } from '../../core/credentials/private-names.ts';
import { createCredentialResolver } from '../../core/credentials/resolver.ts';
import type { AgentJevAccess } from '../../core/jev/access.ts';
import { type JevConfig, JevSection } from '../../core/jev/config.ts';
import { createJevService, type JevServiceDeps } from '../../core/jev/evaluation-service.ts';
import type { JevCaller } from '../../core/jev/service.ts';
import type { UsageRecord } from '../../core/jev/usage.ts';

export const caller: JevCaller = { principalId: 'api:test', agentId: 'assistant', consumer: 'http' };

export function jevSection(section: Record<string, unknown>): JevConfig {
  return v.parse(JevSection, { enabled: true, model: 'jev-1.13.0', apiKeyEnv: 'TEST_JEV_TOKEN', ...section });
}

export interface TestService {
  service: ReturnType<typeof createJevService>;
  /** Live: change them and the next check sees it. */
  live: { config: JevConfig | undefined; agents: Record<string, AgentJevAccess> };
  env: NodeJS.ProcessEnv;
  usage: UsageRecord[];
  log: Record<string, unknown>[];
  close(): Promise<void>;
}

export function testService(section: Record<string, unknown>, more: Partial<JevServiceDeps> = {}): TestService {
  const dispatcher = new Agent({ connections: 64 });
  const env: NodeJS.ProcessEnv = { TEST_JEV_TOKEN: 'test-credential-value' };
  const live: TestService['live'] = { config: jevSection(section), agents: { assistant: {} } };
  const usage: UsageRecord[] = [];
  const log: Record<string, unknown>[] = [];
  let made = 0;
  const service = createJevService({
    config: () => live.config,
    agent: (id) => live.agents[id],
    sources: { credentials: createCredentialResolver({ env, privateNames: new PrivateNames() }), env },
    dispatcher,
    clock: { now: () => Date.now(), elapsed: () => performance.now() },
    ids: () => `id-${made++}`,
    usage: {
      add: (record) => usage.push(record),
      list: async () => ({ records: usage, total: usage.length }),
      flush: async () => {},
      size: 0,
      dropped: 0,
    },
    log: (event) => log.push(event),
    ...more,
  });
  return { service, live, env, usage, log, close: () => dispatcher.destroy() };
}

/** The code and details of a refusal. */
export async function failure(
  work: Promise<unknown>,
): Promise<{ code: string; details: Record<string, unknown>; text: string }> {
  try {
    await work;
  } catch (error) {
    const { code, details } = error as { code: string; details: Record<string, unknown> };
    return { code, details, text: `${JSON.stringify(error)} ${String(error)} ${(error as Error).stack}` };
  }
  throw new Error('It did not fail.');
}
