/**
 * The engine's binary with a memory ceiling in it.
 *
 * Threat: as delivered, the engine's memory has no maximum, so a program that outwits the engine's own accounting could
 * take 4 GB. With a maximum in the binary V8 refuses to grow, whatever the engine believes. Everything else stays as it
 * is; the rewrite is checked against the shape it knows and refuses any other.
 */

/** Pages of 64 KiB that one program's engine may have: 64 MiB, code and stack of the engine included. */
export const PROGRAM_ENGINE_PAGES = 1024;

const MEMORY_SECTION = 5;
const HEADER_BYTES = 8;

/**
 * @param pages the ceiling, in pages of 64 KiB
 * @throws when the binary has no single memory without a maximum, or needs more than the ceiling from the start
 */
export function withMemoryCeiling(binary: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  for (let at = HEADER_BYTES; at < binary.length; ) {
    const id = binary[at];
    const size = readNumber(binary, at + 1);
    const body = size.next;
    const end = body + size.value;
    if (id !== MEMORY_SECTION) {
      at = end;
      continue;
    }
    const count = readNumber(binary, body);
    const initial = readNumber(binary, count.next + 1);
    if (count.value !== 1 || binary[count.next] !== 0 || initial.next !== end)
      throw new Error('The program engine has an unknown memory section');
    if (initial.value > pages) throw new Error('The program engine needs more memory than its ceiling');
    const section = [1, 1, ...number(initial.value), ...number(pages)];
    const rewritten = [MEMORY_SECTION, ...number(section.length), ...section];
    const result = new Uint8Array(at + rewritten.length + binary.length - end);
    result.set(binary.subarray(0, at));
    result.set(rewritten, at);
    result.set(binary.subarray(end), at + rewritten.length);
    return result;
  }
  throw new Error('The program engine has no memory section');
}

/** Unsigned LEB128, as WebAssembly writes numbers. */
function number(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

function readNumber(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) break;
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return { value, next: at + index + 1 };
  }
  throw new Error('The program engine is damaged');
}
