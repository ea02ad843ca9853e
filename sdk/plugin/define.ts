/**
 * What a plugin's entry file default-exports.
 *
 * The context's type follows from the manifest: a facet that plugin.json does not ask for does not exist, so using it is
 * a compile error. Import the manifest with `with { type: 'json' }`, which keeps its keys.
 *
 * ```ts
 * import { defineController } from 'jev-host/sdk';
 * import manifest from './plugin.json' with { type: 'json' };
 *
 * export default defineController(manifest, {
 *   async run(input, ctx) {
 *     const answer = await ctx.jev.evaluate({ state: String(input), questions: { … } });
 *     return { status: 'succeeded' };
 *   },
 * });
 * ```
 */
import type { RunBase, RunContext } from '../contract/capabilities.ts';
import type { CapabilityId } from '../contract/manifest.ts';

/** As much of a manifest as the types need. `plugin.json` itself is checked by `jev-host plugin check` and at load. */
export interface ManifestLike {
  readonly id: string;
  readonly kind: string;
  readonly capabilities: { readonly [K in CapabilityId]?: unknown };
}

/** The context that runs of this manifest's plugin receive. */
export type ContextOf<M extends ManifestLike> = RunContext<Extract<keyof M['capabilities'], CapabilityId>>;

/** What `activate` is told. A plugin at this point works for nobody, so it holds no power. */
export type ActivationInfo = Pick<RunBase['run'], 'pluginId' | 'features' | 'settings'>;

interface Life {
  /** Called once before the first run in a fresh sandbox. Throwing refuses the start. Must settle within 3 seconds. */
  activate?(info: ActivationInfo): void | Promise<void>;
  /** Called when the sandbox is about to go. At most half a second. */
  deactivate?(): void | Promise<void>;
}

export interface ControllerHooks<C> extends Life {
  /**
   * One run for one task. A fresh sandbox each time: nothing is remembered from one run to the next.
   *
   * @param input the adapter's input, unchecked; parse it with the adapter's schema (`BrowserRunInput`, …).
   * @returns the adapter's result, as JSON. At most 4 million characters.
   */
  run(input: unknown, ctx: C): unknown;
}

export interface ServiceHooks<C> extends Life {
  /**
   * Handlers by name. Names that plugin.json lists under `tools` are offered to agents over MCP; the others only to the
   * host. Many calls are served by one sandbox at the same time: keep nothing of a caller between them.
   */
  tools: Record<string, (args: unknown, ctx: C) => unknown>;
}

/** A plugin as the host drives it. Its shape is checked again inside the sandbox. */
export interface DefinedPlugin<C = never> {
  readonly kind: 'controller' | 'helper' | 'frontend';
  readonly id: string;
  readonly activate?: (info: ActivationInfo) => void | Promise<void>;
  readonly deactivate?: () => void | Promise<void>;
  readonly run?: (input: unknown, ctx: C) => unknown;
  readonly tools?: Readonly<Record<string, (args: unknown, ctx: C) => unknown>>;
}

/** A controller drives one kind of target (`adapter` in plugin.json) for one task at a time. */
export function defineController<const M extends ManifestLike>(
  manifest: M,
  hooks: ControllerHooks<ContextOf<M>>,
): DefinedPlugin<ContextOf<M>> {
  return Object.freeze({ kind: 'controller', id: manifest.id, ...hooks });
}

/** A helper serves calls: contributed tools, or work that other parts of the host hand to it. */
export function defineHelper<const M extends ManifestLike>(
  manifest: M,
  hooks: ServiceHooks<ContextOf<M>>,
): DefinedPlugin<ContextOf<M>> {
  return Object.freeze({ kind: 'helper', id: manifest.id, ...hooks });
}

/** A frontend turns what a user says into commands. */
export function defineFrontend<const M extends ManifestLike>(
  manifest: M,
  hooks: ServiceHooks<ContextOf<M>>,
): DefinedPlugin<ContextOf<M>> {
  return Object.freeze({ kind: 'frontend', id: manifest.id, ...hooks });
}
