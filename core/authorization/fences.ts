/**
 * Fences: a permission that was given for a piece of work ends the moment its ground is taken away.
 *
 * Threat: work that was allowed when it began goes on for minutes. Each ground (key, agent, plugin, binding, connector,
 * target) has an epoch; withdrawing it moves the epoch on, and every permit given before is void at once and for good,
 * even when the ground is given back a moment later.
 */
export type Ground =
  | `key:${string}`
  | `agent:${string}`
  | `plugin:${string}`
  | `binding:${string}`
  | `connector:${string}`;

export interface Permit {
  /** Asked before every dispatch and before a result is used. */
  readonly holds: () => boolean;
  /** Aborts in the turn of the withdrawal. */
  readonly signal: AbortSignal;
  /** No longer needed; forgets the listeners. */
  release(): void;
}

export interface Fences {
  permit(grounds: readonly Ground[]): Permit;
  withdraw(ground: Ground): void;
  epoch(ground: Ground): number;
}

export function createFences(): Fences {
  const epochs = new Map<Ground, number>();
  const holders = new Map<Ground, Set<AbortController>>();
  const epoch = (ground: Ground) => epochs.get(ground) ?? 0;

  return {
    epoch,
    permit(grounds) {
      const given = grounds.map((ground) => [ground, epoch(ground)] as const);
      const controller = new AbortController();
      for (const ground of grounds) {
        const held = holders.get(ground) ?? new Set();
        holders.set(ground, held.add(controller));
      }
      return {
        holds: () => given.every(([ground, at]) => epoch(ground) === at),
        signal: controller.signal,
        release() {
          for (const ground of grounds) {
            const held = holders.get(ground);
            held?.delete(controller);
            if (held?.size === 0) holders.delete(ground);
          }
        },
      };
    },
    withdraw(ground) {
      epochs.set(ground, epoch(ground) + 1);
      for (const controller of holders.get(ground) ?? []) controller.abort();
    },
  };
}
