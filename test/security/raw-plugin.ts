/** A plugin from a text of code, without bundling: what a hostile author's finished bundle may hold. */
import { evade } from '../../host/plugins/bundle/evasion.ts';
import type { ExecutionService } from '../../host/plugins/execution.ts';
import { Generation } from '../../host/plugins/generation.ts';
import { effectiveGrants } from '../../host/plugins/grants.ts';
import type { RunPorts } from '../../host/plugins/ports.ts';
import { checkManifest } from '../../host/plugins/read-manifest.ts';
import { performRun } from '../../host/plugins/run.ts';

export interface RawPluginOptions {
  tier: ExecutionService;
  capabilities?: readonly string[];
  memoryMb?: number;
  /** Skip the pass that makes code acceptable: the sandbox itself must refuse. */
  untouched?: boolean;
  unresponsiveMs?: number;
  activationMs?: number;
  log?(text: string): void;
  kind?: 'controller' | 'helper';
  /** Thrown where no run waits for it. */
  stray?(text: string): void;
}

export async function rawPlugin(code: string, options: RawPluginOptions) {
  const reason = 'This is needed by the test.';
  const manifest = checkManifest({
    id: 'escape',
    version: '1.0.0',
    contract: 1,
    kind: options.kind ?? 'controller',
    entry: 'index.js',
    adapter: 'test',
    capabilities: Object.fromEntries((options.capabilities ?? ['log', 'jev.evaluate']).map((id) => [id, { reason }])),
    limits: { memoryMb: options.memoryMb ?? 256, concurrentRuns: 1, runDeadlineMs: 60_000 },
  });
  const crashes: string[] = [];
  const generation = new Generation({
    number: 1,
    manifest,
    bundle: { code: options.untouched ? code : evade(code).code, map: '', sha256: '' },
    grants: effectiveGrants(manifest, undefined, true),
    features: {},
    settings: {},
    limits: manifest.limits,
    tier: options.tier,
    activationMs: options.activationMs ?? 10_000,
    unresponsiveMs: options.unresponsiveMs ?? 5000,
    now: Date.now,
    stray: (_kind, text) => options.stray?.(text),
    crashed: (problem) => crashes.push(problem.code),
  });
  await generation.start();
  let runs = 0;
  return {
    generation,
    crashes,
    run: (input: unknown, ports: RunPorts = {}, deadlineMs = 20_000, signal = new AbortController().signal) =>
      performRun(
        generation,
        'run',
        {
          runId: `run-${++runs}`,
          input,
          ports,
          authority: { principalId: 'p', agentId: 'a', conversationId: 'c' },
          signal,
          deadlineMs,
        },
        { log: ({ text }) => options.log?.(text), now: Date.now },
        { cancelMs: 300, deadlineMs: 300 },
      ),
    close: () => generation.close(0),
  };
}
