import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { PROGRAM_ENGINE_PAGES, withMemoryCeiling } from './engine-binary.ts';

interface Wasm {
  Module: (new (bytes: Uint8Array) => object) & { imports(module: object): { module: string; name: string }[] };
  Instance: new (
    module: object,
    imports: object,
  ) => { exports: { memory: { grow(pages: number): number; buffer: ArrayBuffer } } };
}
const { Module, Instance } = (globalThis as never as { WebAssembly: Wasm }).WebAssembly;
const delivered = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));

function instanceOf(binary: Uint8Array) {
  const module = new Module(binary);
  const imports: Record<string, Record<string, () => number>> = {};
  for (const { module: from, name } of Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = () => 0;
  }
  return new Instance(module, imports);
}

describe('the engine’s binary', () => {
  it('grows without end as it is delivered, and not beyond its ceiling once that is written in', () => {
    const free = instanceOf(delivered).exports.memory;
    expect(() => free.grow(PROGRAM_ENGINE_PAGES)).not.toThrow();
    const held = instanceOf(withMemoryCeiling(delivered, PROGRAM_ENGINE_PAGES)).exports.memory;
    expect(() => held.grow(PROGRAM_ENGINE_PAGES - held.buffer.byteLength / 65_536)).not.toThrow();
    expect(() => held.grow(1)).toThrow(RangeError);
    expect(held.buffer.byteLength).toBe(64 * 1024 * 1024);
  });

  it('that is not what we know is refused, not guessed at', () => {
    expect(() => withMemoryCeiling(delivered, 1)).toThrow(/more memory than its ceiling/);
    expect(() => withMemoryCeiling(withMemoryCeiling(delivered, 1024), 1024)).toThrow(/unknown memory section/);
    expect(() => withMemoryCeiling(delivered.subarray(0, 8), 1024)).toThrow(/no memory section/);
    expect(() =>
      withMemoryCeiling(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff]), 1024),
    ).toThrow(/damaged/);
  });
});
