/** The program engine without a sandbox around it, for tests of the runner itself. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpuClock } from '../../host/plugins/worker/cpu-clock.ts';
import { PROGRAM_ENGINE_PAGES, withMemoryCeiling } from '../../host/programs/engine-binary.ts';
import type { ProgramEngine } from '../../sdk/index.ts';

const file = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm');
const Wasm = (globalThis as never as { WebAssembly: WasmApi }).WebAssembly;
const module = new Wasm.Module(withMemoryCeiling(readFileSync(file), PROGRAM_ENGINE_PAGES));

const cpu = cpuClock();

interface WasmApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
}

export interface CountedEngine extends ProgramEngine {
  /** Instances that were opened and not closed. */
  readonly live: number;
}

export function plainEngine(): CountedEngine {
  let live = 0;
  return {
    get live() {
      return live;
    },
    open(imports) {
      live++;
      let open = true;
      return {
        exports: new Wasm.Instance(module, imports).exports,
        close() {
          if (open) live--;
          open = false;
        },
      };
    },
    now: () => performance.now(),
    cpu,
    after: (ms, callback) => Number(setTimeout(callback, ms)[Symbol.toPrimitive]()),
    cancel: (timer) => clearTimeout(timer),
    soon: (callback) => void setImmediate(callback),
  };
}
