/**
 * Notices that a device's owner took a permission back while a run works under it, and fences the run.
 *
 * A relay tells nobody; it has to be asked. So while at least one run works on a connector, its list of grants is read five
 * times a second, one read at a time, once for all runs on it. A permission counts as taken back only after it was seen there:
 * a list that cannot be read, or never held it, proves nothing, and the device itself refuses what is not allowed.
 */
import type { Fences } from '../../core/authorization/fences.ts';
import { scopeKey } from './grants.ts';
import type { TargetBinding } from './ports.ts';

/** Milliseconds between the beginnings of two reads of the same list; a fence has to fall within 250. */
export const GRANT_CHECK_MS = 200;

export interface GrantWatch {
  /** @returns to be called when the run is over. */
  follow(binding: TargetBinding): () => void;
  /** The owner took a grant back through this host: nobody has to ask. */
  withdrawn(connectorId: string, grantId: string): void;
  close(): void;
}

export interface GrantWatchDeps {
  fences: Fences;
  /** Scopes that the relay permits now (scopeKey); rejects when it cannot be said. */
  granted(binding: TargetBinding, signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Calls again and again until the returned function is called. */
  every(ms: number, call: () => void): () => void;
}

interface Followed {
  binding: TargetBinding;
  seen: boolean;
}

interface Watched {
  runs: Set<Followed>;
  /** A read is on its way. */
  reading: boolean;
  stop(): void;
  over: AbortController;
}

export function createGrantWatch({ fences, granted, every }: GrantWatchDeps): GrantWatch {
  const watched = new Map<string, Watched>();

  async function read(connector: Watched): Promise<void> {
    const [first] = connector.runs;
    if (connector.reading || !first) return;
    connector.reading = true;
    // Who began after the question was asked may not be judged by its answer.
    const asked = [...connector.runs];
    try {
      const now = await granted(first.binding, connector.over.signal);
      for (const run of asked) {
        if (now.has(scopeKey(run.binding.scope))) run.seen = true;
        else if (run.seen && connector.runs.has(run)) fences.withdraw(`binding:${run.binding.id}`);
      }
    } catch {
      // Not being able to ask proves nothing.
    } finally {
      connector.reading = false;
    }
  }

  function begin(connectorId: string): Watched {
    const connector: Watched = { runs: new Set(), reading: false, stop: () => {}, over: new AbortController() };
    connector.stop = every(GRANT_CHECK_MS, () => void read(connector));
    watched.set(connectorId, connector);
    return connector;
  }

  function end(connectorId: string, connector: Watched): void {
    connector.stop();
    connector.over.abort();
    if (watched.get(connectorId) === connector) watched.delete(connectorId);
  }

  return {
    follow(binding) {
      const connector = watched.get(binding.connectorId) ?? begin(binding.connectorId);
      const run: Followed = { binding, seen: false };
      connector.runs.add(run);
      void read(connector);
      return () => {
        connector.runs.delete(run);
        if (connector.runs.size === 0) end(binding.connectorId, connector);
      };
    },
    withdrawn(connectorId, grantId) {
      for (const { binding } of watched.get(connectorId)?.runs ?? []) {
        if (binding.scope.grant_id === grantId) fences.withdraw(`binding:${binding.id}`);
      }
    },
    close() {
      for (const [id, connector] of watched) end(id, connector);
    },
  };
}
