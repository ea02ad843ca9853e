/**
 * Looks up names, in bounded time.
 *
 * Threat: a page names what a silent name server answers for. Such a lookup holds one of the few threads that this process
 * has for its files and names, so only some run at once, equal ones are made once, and nobody waits longer than the limit.
 */
import { lookup } from 'node:dns/promises';

/** Milliseconds that one answer may take, the wait for its turn included. */
export const LOOKUP_MS = 5000;
/** Lookups at once; the process has four threads for them and for its files. */
const AT_ONCE = 2;

/** @returns all addresses of a name, none when it does not resolve, `late` when no answer came in time. */
export type Resolve = (name: string) => Promise<string[] | 'late'>;

/** @param look rejects when there is no such name. */
export function namesWithin(ms: number, look: (name: string) => Promise<string[]> = addressesOf): Resolve {
  const underWay = new Map<string, Promise<string[]>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn(name: string): Promise<string[]> {
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await look(name);
    } catch {
      return [];
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
      underWay.delete(name);
    }
  }

  return (name) => {
    let answer = underWay.get(name);
    if (!answer) {
      answer = inTurn(name);
      underWay.set(name, answer);
    }
    const known = answer;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve('late'), ms);
      void known.then((addresses) => {
        clearTimeout(timer);
        resolve(addresses);
      });
    });
  };
}

async function addressesOf(name: string): Promise<string[]> {
  return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}
