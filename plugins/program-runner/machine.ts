/**
 * One QuickJS instance for one program.
 *
 * Threat: the program is hostile. It has a wasm instance of its own with a memory ceiling in the binary, a stack limit and
 * 100 ms of uninterrupted time per entry. What leaves it are strings, read inside the same time limit. After any fault
 * (out of memory, a trap, a stack overflow of the engine itself) the instance is never entered again: its state may be
 * torn. It is dropped, not disposed; the collector takes its memory.
 */
import { type JSValueHandle, QuickJS } from 'quickjs-wasi';
import type { EngineInstance, ProgramEngine } from '../../sdk/index.ts';
import { PRELUDE } from './prelude.ts';

/** Bytes that the program's own heap may take; the engine's ceiling of 64 MiB also holds its code and stack. */
export const MAX_HEAP_BYTES = 60 * 1024 * 1024;
/** With 256 KiB, deeply nested source overflows the outer engine's stack first; 128 KiB ends in a clean error. */
export const MAX_STACK_BYTES = 128 * 1024;
/** Milliseconds of processor time without a pause. Awaiting anything gives a fresh slice. */
export const CPU_SLICE_MS = 100;
/** On a machine that is short of processors a slice may take this many times as long by the clock. */
const PATIENCE = 10;
/** Milliseconds after which a slice that is over by the clock, but not by the processor, is looked at again. */
const LOOK_AGAIN_MS = 5;

export type Fault =
  | { kind: 'cpu' }
  /** The program's own: out of memory, a syntax error. */
  | { kind: 'program'; message: string }
  /** The engine's: nothing can be said about the program. */
  | { kind: 'engine'; message: string };

export interface MachineOptions {
  engine: ProgramEngine;
  /** Milliseconds since the epoch, for `Date`. */
  now(): number;
  /** 0 to 1, for `Math.random`. */
  random(): number;
  /** JSON text. */
  input: string;
  /** Exact references and the providers that become variables. */
  names: { refs: readonly string[]; proxies: readonly string[] };
  /** A message of the program. Gives its number; negative refuses it. Must not throw and must not enter the machine. */
  onSend(kind: string, text: string): number;
  /** The machine is dead and will say nothing more. Called at most once, never from within `onSend`. */
  onFault(fault: Fault): void;
  heapBytes?: number;
  sliceMs?: number;
}

export class Machine {
  readonly #options: MachineOptions;
  #instance: EngineInstance | undefined;
  #vm: QuickJS | undefined;
  #start: JSValueHandle | undefined;
  #receive: JSValueHandle | undefined;
  #lookAt = 0;
  #sliceEnds = 0;
  #cpuEnds = 0;
  #cut = false;
  #dead = false;

  private constructor(options: MachineOptions) {
    this.#options = options;
  }

  static async open(options: MachineOptions): Promise<Machine> {
    const machine = new Machine(options);
    await machine.#open();
    return machine;
  }

  async #open(): Promise<void> {
    const { engine, now, random, heapBytes = MAX_HEAP_BYTES } = this.#options;
    const token = engineToken((imports) => {
      this.#instance = engine.open(imports);
      return this.#instance.exports;
    });
    this.#vm = await QuickJS.create({
      // The stand-in below recognises the token; the library's types want the real thing.
      wasm: token as never,
      memoryLimit: heapBytes,
      maxStackSize: MAX_STACK_BYTES,
      timezoneOffset: 0,
      interruptHandler: () => this.#overdue(),
      wasi: (memory: { buffer: ArrayBuffer }) => ({
        clock_time_get: (_id: number, _precision: bigint, at: number) => {
          new DataView(memory.buffer).setBigUint64(at, BigInt(Math.floor(now())) * 1_000_000n, true);
          return 0;
        },
        random_get: (at: number, length: number) => {
          const bytes = new Uint8Array(memory.buffer, at, length);
          for (let index = 0; index < length; index++) bytes[index] = Math.floor(random() * 256);
          return 0;
        },
        // The engine's own messages go nowhere.
        fd_write: () => 8,
      }),
    });
    this.#enter((vm) => this.#loadPrelude(vm));
  }

  #loadPrelude(vm: QuickJS): void {
    const { input, names, onSend } = this.#options;
    const send = vm.newFunction('send', (kind, text) => {
      const number = kind && text ? onSend(kind.toString(), text.toString()) : -1;
      return vm.newNumber(number);
    });
    const load = vm.evalCode(PRELUDE, 'prelude');
    const inputText = vm.newString(input);
    const namesText = vm.newString(JSON.stringify(names));
    const ends = vm.callFunction(load, vm.undefined, send, inputText, namesText);
    this.#start = ends.getProp('start');
    this.#receive = ends.getProp('receive');
    for (const handle of [ends, namesText, inputText, load, send]) handle.dispose();
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Begins the program: an expression, in JavaScript, that yields an async function. */
  run(javascript: string): void {
    this.#enter((vm) => {
      const main = vm.evalCode(javascript, 'program');
      vm.callFunction(this.#start as JSValueHandle, vm.undefined, main).dispose();
      main.dispose();
    });
  }

  /** Delivers the answer to a message, and lets the program go on until it waits again. */
  receive(number: number, ok: boolean, text: string): void {
    this.#enter((vm) => {
      const handles = [vm.newNumber(number), vm.newString(text)] as const;
      const flag = ok ? vm.true : vm.false;
      vm.callFunction(this.#receive as JSValueHandle, vm.undefined, handles[0], flag, handles[1]).dispose();
      for (const handle of handles) handle.dispose();
    });
  }

  /** Ends the machine, whatever it was doing. Nothing is called back afterwards. */
  close(): void {
    this.#dead = true;
    this.#vm?.dispose();
    this.#vm = undefined;
    this.#instance?.close();
    this.#instance = undefined;
  }

  /** The only door: a fresh slice, the work, the jobs that follow from it, and the verdict on whatever came out. */
  #enter(work: (vm: QuickJS) => void): void {
    const vm = this.#vm;
    if (this.#dead || !vm) return;
    const { engine, onFault, sliceMs = CPU_SLICE_MS } = this.#options;
    const now = engine.now();
    this.#lookAt = now + sliceMs;
    this.#sliceEnds = now + sliceMs * PATIENCE;
    this.#cpuEnds = engine.cpu() + sliceMs;
    this.#cut = false;
    try {
      work(vm);
      vm.executePendingJobs();
      // A cut inside a nested callback may have been swallowed by the engine on its way out.
      if (this.#cut) throw new Error('interrupted');
    } catch (error) {
      if (this.#dead) return;
      const fault = this.#judge(error);
      this.close();
      onFault(fault);
    }
  }

  /** Asked by the engine every few thousand steps. */
  #overdue(): boolean {
    const { engine } = this.#options;
    const now = engine.now();
    if (now <= this.#lookAt) return false;
    if (now < this.#sliceEnds && engine.cpu() < this.#cpuEnds) {
      this.#lookAt = now + LOOK_AGAIN_MS;
      return false;
    }
    this.#cut = true;
    return true;
  }

  #judge(error: unknown): Fault {
    if (this.#cut) return { kind: 'cpu' };
    // Only QuickJS exceptions have a handle; everything else comes from the WebAssembly layer.
    if (error instanceof Error && 'handle' in error) {
      const { name, message } = error;
      return { kind: 'program', message: name && name !== 'Error' ? `${name}: ${message}` : message };
    }
    return { kind: 'engine', message: error instanceof Error ? error.message : String(error) };
  }
}

type Instantiate = (imports: Record<string, Record<string, unknown>>) => Record<string, unknown>;

const makers = new WeakMap<object, Instantiate>();

/**
 * quickjs-wasi asks the global `WebAssembly` for an instance. Inside the sandbox there is none; this stand-in knows one
 * thing: how to turn a token of ours into the instance that the host allows.
 */
function engineToken(instantiate: Instantiate): object {
  const scope = globalThis as { WebAssembly?: unknown };
  if (!scope.WebAssembly || !Object.hasOwn(scope.WebAssembly, STAND_IN)) scope.WebAssembly = standIn;
  const token = {};
  makers.set(token, instantiate);
  return token;
}

const STAND_IN = Symbol('engine');
const standIn = {
  [STAND_IN]: true,
  Module: Object.defineProperty(() => undefined, Symbol.hasInstance, {
    value: (value: unknown) => typeof value === 'object' && value !== null && makers.has(value),
  }),
  async instantiate(token: object, imports: Record<string, Record<string, unknown>>) {
    const make = makers.get(token);
    if (!make) throw new Error('Only the program engine can be instantiated');
    return { exports: make(imports) };
  },
};
