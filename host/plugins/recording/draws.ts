/**
 * Time and chance of a recorded run. What chance gives follows from a seed, so the seed is all that a recording keeps of it;
 * readings of the clock are noted, and given again when the run is repeated.
 */
import { createHash } from 'node:crypto';
import { MAX_READINGS } from '../protocol.ts';

export interface Tape {
  /** 64 hexadecimal digits. */
  seed: string;
  /** The readings to give again. Absent: the real clock, noted. */
  clock?: readonly number[] | undefined;
}

export interface Draws {
  now(): number;
  uuid(): string;
  number(): number;
  /** The readings since this was last asked. */
  taken(): number[];
}

export function drawsOf({ seed, clock }: Tape, realNow: () => number): Draws {
  let drawn = 0;
  let read = 0;
  let last = clock?.[0] ?? 0;
  let notes: number[] = [];
  // Readings beyond the bound are not noted and given as the last.
  const next = (): Buffer => createHash('sha256').update(`${seed}:${++drawn}`).digest();
  return {
    now() {
      read += 1;
      if (clock) last = clock[read - 1] ?? last;
      else if (read <= MAX_READINGS) {
        last = realNow();
        notes.push(last);
      }
      return last;
    },
    uuid() {
      const bytes = next();
      bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
      bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
      const hex = bytes.toString('hex', 0, 16);
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    },
    number: () => next().readUIntBE(0, 6) / 2 ** 48,
    taken() {
      const taken = notes;
      notes = [];
      return taken;
    },
  };
}
