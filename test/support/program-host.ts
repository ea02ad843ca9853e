/** The real plugin host with the real program plugins in their workers, and a service behind them; only Jev is a stand-in. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { createFences } from '../../core/authorization/fences.ts';
import { openLmdbStore } from '../../core/store/lmdb-store.ts';
import { PluginsConfig } from '../../host/plugins/config.ts';
import { createPluginHost, type RunningPluginHost } from '../../host/plugins/plugin-host.ts';
import type { RunAuthority } from '../../host/plugins/ports.ts';
import { createTypeCheck } from '../../host/programs/check/type-check.ts';
import type { Conversations } from '../../host/programs/conversation-ears.ts';
import { createProgramService, LAUNCHER, type ProgramServiceDeps } from '../../host/programs/program-service.ts';
import type { ReferenceSource } from '../../host/programs/references.ts';
import type { RunEnvelope } from '../../sdk/index.ts';
import { instantAnswer } from './programs.ts';

const plugins = fileURLToPath(new URL('../../plugins/', import.meta.url));

export interface ProgramHostOptions {
  settings?: Record<string, unknown>;
  evaluate?: ProgramServiceDeps['evaluate'];
  mayEvaluate?: () => boolean;
  sources?: (host: RunningPluginHost) => readonly ReferenceSource[];
  conversations?: Conversations;
  dataDir?: string;
}

export const someone: RunAuthority = { principalId: 'api:k', agentId: 'assistant', conversationId: 'conversation:1' };

export async function programHost(options: ProgramHostOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'programs-'));
  const dataDir = options.dataDir ?? join(root, 'data');
  const bundledDirectory = join(root, 'plugins');
  mkdirSync(bundledDirectory);
  mkdirSync(dataDir, { recursive: true });
  for (const name of ['programs', 'program-runner']) symlinkSync(join(plugins, name), join(bundledDirectory, name));

  const store = await openLmdbStore({ directory: dataDir });
  const fences = createFences();
  const stray: string[] = [];
  const host = createPluginHost({
    config: v.parse(PluginsConfig, { programs: { settings: options.settings ?? {} } }),
    bundledDirectory,
    store,
    now: Date.now,
    log: ({ level, text }) => {
      if (level === 'error') stray.push(text);
    },
  });
  const typeCheck = createTypeCheck();
  const service = createProgramService({
    plugins: host,
    evaluate:
      options.evaluate ??
      (async (request) =>
        ({ requestId: 'r', requestedModel: 'm', ...(instantAnswer(request as never) as object) }) as never),
    mayEvaluate: options.mayEvaluate ?? (() => true),
    about: async () => ({
      model: 'jev-1.13.0',
      credentials: { configured: true, source: 'environment', verified: false },
    }),
    sources: options.sources?.(host) ?? [],
    typeCheck,
    permit: ({ principalId }) => fences.permit([`key:${principalId}`]),
    ...(options.conversations ? { conversations: options.conversations } : {}),
    uuid: randomUUID,
  });
  const states = await host.start();
  await service.warm();

  const call = (tool: string, args: unknown, signal: AbortSignal, authority: RunAuthority) =>
    host.callContributed(LAUNCHER, `jev_${tool}`, args, {
      runId: randomUUID(),
      ports: service.portsFor(authority),
      authority,
      signal,
    }) as Promise<RunEnvelope>;

  return {
    host,
    service,
    states,
    stray,
    fences,
    dataDir,
    call: (tool: string, args: unknown = {}, signal = new AbortController().signal, authority = someone) =>
      call(tool, args, signal, authority),
    async stop(): Promise<void> {
      service.stop();
      await host.stop();
      await store.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
