/**
 * One Compartment with one evaluated bundle.
 *
 * Threat: everything that the bundle can name is listed here. Intrinsics are frozen by lockdown; globals are our own
 * hardened functions and classes; there is no process, require, import, fetch, Buffer, clock or randomness unless granted.
 * A controller's sandbox serves one run and is dropped, so nothing that a run leaves on its globals is there for the next.
 */
import * as v from 'valibot';
import type { Activation } from '../protocol.ts';
import { programEngine } from './program-engine.ts';
import { writeConsole } from './sandbox-console.ts';
import { type OwnTimers, ownTimers } from './timers.ts';

// Lockdown leaves these with the worker's own realm; a plugin has them only when it was granted them.
const realDate = Date;
const realMath = Math;

/** What evaluating a bundle must yield. Members are read once. */
const PluginShape = v.object({
  kind: v.picklist(['controller', 'helper', 'frontend']),
  id: v.string(),
  activate: v.optional(v.function()),
  deactivate: v.optional(v.function()),
  run: v.optional(v.function()),
  tools: v.optional(v.record(v.string(), v.function())),
});

export interface Sandbox {
  readonly handlers: ReadonlyMap<string, (input: unknown, ctx: object) => unknown>;
  readonly timers: OwnTimers;
  readonly evaluateMs: number;
  activate(): Promise<void>;
  /** Ends the timers at once; `deactivate` of the plugin is called and not waited for longer than its grace. */
  close(graceMs: number): Promise<void>;
}

export interface SandboxPowers {
  shared: Record<string, unknown>;
  log(level: 'debug' | 'info' | 'warn' | 'error', text: string): void;
  stray(kind: 'timer', error: unknown): void;
}

export function openSandbox(activation: Activation, powers: SandboxPowers): Sandbox {
  const timers = ownTimers((error) => powers.stray('timer', error));
  const granted = new Set<string>(activation.grants);
  const globals = harden({
    ...powers.shared,
    ...timers.globals,
    console: writeConsole(powers.log),
    ...(granted.has('clock') ? { Date: realDate } : {}),
    ...(granted.has('random') ? { Math: realMath } : {}),
    ...(granted.has('program') ? { programEngine: programEngine((error) => powers.stray('timer', error)) } : {}),
  });
  const started = performance.now();
  const compartment = new Compartment({ globals, __options__: true } as never);
  const module = { exports: {} as Record<string, unknown> };
  compartment.evaluate(`(function(module,exports){${activation.code}\n})`)(module, module.exports);
  const evaluateMs = performance.now() - started;

  const parsed = v.safeParse(PluginShape, module.exports.default ?? module.exports);
  if (!parsed.success) {
    const path = v.getDotPath(parsed.issues[0]) ?? 'the export';
    throw new TypeError(`The entry file does not default-export a plugin: ${path}: ${parsed.issues[0].message}`);
  }
  const plugin = parsed.output;
  if (plugin.id !== activation.pluginId)
    throw new TypeError(`The entry file defines "${plugin.id}", plugin.json "${activation.pluginId}".`);
  if (plugin.kind !== activation.kind)
    throw new TypeError(`The entry file defines a ${plugin.kind}, plugin.json a ${activation.kind}.`);
  const handlers = new Map<string, (input: unknown, ctx: object) => unknown>();
  if (plugin.kind === 'controller') {
    if (!plugin.run) throw new TypeError('A controller needs a run function.');
    handlers.set('run', plugin.run as never);
  } else {
    for (const [name, handler] of Object.entries(plugin.tools ?? {})) handlers.set(name, handler as never);
  }
  const missing = activation.tools.find((name) => !handlers.has(name));
  if (missing !== undefined) throw new TypeError(`plugin.json lists the tool "${missing}", the entry file does not.`);

  return {
    handlers,
    timers,
    evaluateMs,
    async activate() {
      await plugin.activate?.(
        harden({ pluginId: activation.pluginId, features: activation.features, settings: activation.settings }),
      );
    },
    async close(graceMs) {
      try {
        await Promise.race([plugin.deactivate?.(), timers.sleep(graceMs)]);
      } finally {
        timers.end();
      }
    },
  };
}
