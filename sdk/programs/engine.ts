/**
 * What the worker's bootstrap gives a plugin that runs programs: one WebAssembly module, and no other part of WebAssembly.
 *
 * Threat: with `WebAssembly` itself a plugin could compile anything and take gigabytes outside every meter. Here it can
 * only make instances of the one engine that the host compiled, each with a memory ceiling that the host wrote into the
 * binary, and only so many at a time.
 */
export interface ProgramEngine {
  /** @throws when the worker already has as many instances as it may have. */
  open(imports: Record<string, Record<string, unknown>>): EngineInstance;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /**
   * Milliseconds of processor time, of this thread where the machine can tell and of the whole process otherwise: never
   * less than what the thread has used.
   */
  cpu(): number;
  /** Calls back once after the time; nothing that the callback throws leaves the worker. */
  after(ms: number, callback: () => void): number;
  cancel(timer: number): void;
  /** Calls back in the next turn of the event loop, without the millisecond that `after(0)` takes. */
  soon(callback: () => void): void;
}

export interface EngineInstance {
  readonly exports: Record<string, unknown>;
  /** Frees the place. The memory goes when nothing refers to the exports any more. */
  close(): void;
}
