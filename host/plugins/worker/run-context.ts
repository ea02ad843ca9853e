/**
 * A run's context, made so that what a run does not use costs it nothing: hardening forty functions takes longer than the
 * call that they are for. Each facet is an own property of the context, made and hardened when it is first read.
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

// One getter per facet for all contexts: a context of its own brings no functions of its own.
const descriptors = Object.fromEntries(
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
);

/** @param make called at most once, when the first facet is read. */
export function runContext(base: { signal: unknown; run: object }, make: () => FullContext): object {
  const context = Object.defineProperties({ ...base }, descriptors);
  facetsOf.set(context, { make });
  return harden(context);
}
