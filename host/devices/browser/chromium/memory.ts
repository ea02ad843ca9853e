/** Memory of a process group, each page counted once. */
import { readdirSync, readFileSync } from 'node:fs';

/** @returns bytes; 0 where the system does not tell. */
export function memoryOfGroup(group: number): number {
  let bytes = 0;
  for (const name of processes()) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) !== group) continue;
      bytes += Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024;
    } catch {
      // The process ended, or belongs to somebody else.
    }
  }
  return bytes;
}

function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
