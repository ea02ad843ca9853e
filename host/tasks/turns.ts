/** One thing at a time per conversation: its tasks, events and notices change in turns, so numbers have no gaps. */
export interface Turns {
  take<T>(name: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(name, work) {
      const before = last.get(name) ?? Promise.resolve();
      const mine = before.then(work, work);
      const settled = mine.then(
        () => {},
        () => {},
      );
      last.set(name, settled);
      settled.then(() => {
        if (last.get(name) === settled) last.delete(name);
      });
      return mine;
    },
  };
}
