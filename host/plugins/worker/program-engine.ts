/**
 * The program engine of this worker, given to plugins that were granted `program` (sdk/programs/engine.ts).
 *
 * The module is compiled when the first such plugin starts, before anybody waits for it. Instances are counted: a plugin
 * that keeps opening them is refused, because each reserves address space and holds memory until it is collected.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProgramEngine } from '../../../sdk/programs/engine.ts';
import { cpuClock } from './cpu-clock.ts';

/** Instances that may be open at the same time: the program's own, and one that warms the engine. */
const MAX_OPEN = 2;

interface Wasm {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
}
const { Module, Instance } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;
const later = setImmediate;
const now = performance.now.bind(performance);

let compiled: object | undefined;
let cpu: (() => number) | undefined;

export function programEngine(stray: (error: unknown) => void): Pick<ProgramEngine, 'open' | 'now' | 'cpu' | 'soon'> {
  compiled ??= new Module(readFileSync(join(__dirname, 'program-engine.wasm')));
  const module = compiled;
  cpu ??= cpuClock();
  let open = 0;
  return {
    open(imports) {
      if (open >= MAX_OPEN) throw new RangeError(`A worker may have ${MAX_OPEN} program engines.`);
      open += 1;
      let counted = true;
      const { exports } = new Instance(module, imports);
      return {
        exports,
        close() {
          if (counted) open -= 1;
          counted = false;
        },
      };
    },
    now,
    cpu,
    soon(callback) {
      if (typeof callback !== 'function') throw new TypeError('soon needs a function.');
      later(() => {
        try {
          callback();
        } catch (error) {
          stray(error);
        }
      });
    },
  };
}
