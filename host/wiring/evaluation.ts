/** Jev, its records, and the text model behind Thinking. */
import { randomUUID } from 'node:crypto';
import type { DependencyContainer } from 'tsyringe';
import { createDecisionLog } from '../../core/jev/decisions.ts';
import { createJevService } from '../../core/jev/evaluation-service.ts';
import { localSources } from '../../core/jev/local-sources.ts';
import { createThinkingProvider } from '../../core/jev/thinking-provider.ts';
import { createUsageLog } from '../../core/jev/usage.ts';
import {
  AUTHORIZATION,
  CONFIG,
  CREDENTIALS,
  DECISIONS,
  DISPATCHER,
  JEV,
  LOG,
  STORE,
  SURROUNDINGS,
  TEXT_MODEL,
  THINKING_MODEL,
  USAGE,
} from '../tokens.ts';
import { once } from './registry.ts';

export function registerEvaluation(container: DependencyContainer): void {
  const unrecorded = (from: DependencyContainer, text: string) => (error: unknown) =>
    from.resolve(LOG).error({ error: String(error) }, text);

  once(container, USAGE, (from) =>
    createUsageLog({
      store: from.resolve(STORE),
      ids: randomUUID,
      onError: unrecorded(from, 'usage was not recorded'),
    }),
  );
  once(container, DECISIONS, (from) =>
    createDecisionLog({
      store: from.resolve(STORE),
      ids: randomUUID,
      onError: unrecorded(from, 'a decision was not recorded'),
    }),
  );
  once(container, JEV, (from) => {
    const { env, dataDir } = from.resolve(SURROUNDINGS);
    return createJevService({
      config: () => from.resolve(CONFIG).current.gateway.jev,
      agent: (id) => from.resolve(AUTHORIZATION).agent(id),
      sources: localSources({ credentials: from.resolve(CREDENTIALS), env, dataDir }),
      dispatcher: from.resolve(DISPATCHER),
      clock: { now: Date.now, elapsed: () => performance.now() },
      ids: randomUUID,
      usage: from.resolve(USAGE),
      decisions: from.resolve(DECISIONS),
      log: (event) => from.resolve(LOG).warn(event, 'an evaluation failed'),
    });
  });

  const model = (from: DependencyContainer, section: 'thinking' | 'textHelper') =>
    createThinkingProvider({
      config() {
        const jev = from.resolve(CONFIG).current.gateway.jev;
        return section === 'thinking' ? jev?.thinking : jev?.browser?.textHelper;
      },
      credentials: from.resolve(CREDENTIALS),
      dispatcher: from.resolve(DISPATCHER),
    });
  once(container, THINKING_MODEL, (from) => model(from, 'thinking'));
  once(container, TEXT_MODEL, (from) => model(from, 'textHelper'));
}
