/**
 * A run's context, made so that what a run does not use costs it nothing: hardening forty functions takes longer than the
 * call that they are for. The facets are getters of one prototype that all contexts share; each is made and hardened when it
 * is first read. Defining sixteen getters for every run took a fifth of a call.
 */
import type { FullContext } from '../../../sdk/plugin/facets.ts';

interface Facets {
  make(): FullContext;
  made?: FullContext;
}

const facetNames = Object.keys({
  jev: 0,
  tools: 0,
  thinking: 0,
  model: 0,
  task: 0,
  image: 0,
  storage: 0,
  clock: 0,
  random: 0,
  log: 0,
  cdp: 0,
  tasks: 0,
  speech: 0,
  program: 0,
  programs: 0,
  http: 0,
} satisfies Record<keyof FullContext, 0>) as (keyof FullContext)[];

const facetsOf = new WeakMap<object, Facets>();

let shared: object | undefined;

/** Made when the first run needs it: only after lockdown can it be hardened. */
function prototype(): object {
  shared ??= harden(
    Object.create(
      Object.prototype,
      Object.fromEntries(
        facetNames.map((name) => [
          name,
          {
            enumerable: true,
            get(this: object): unknown {
              const facets = facetsOf.get(this);
              if (!facets) throw new TypeError('A facet is read from the context that it came with.');
              facets.made ??= facets.make();
              return harden(facets.made[name]);
            },
          },
        ]),
      ),
    ) as object,
  );
  return shared;
}

/** @param make called at most once, when the first facet is read. */
export function runContext(base: { signal: unknown; run: object }, make: () => FullContext): object {
  const context = Object.assign(Object.create(prototype()) as object, base);
  facetsOf.set(context, { make });
  return harden(context);
}
