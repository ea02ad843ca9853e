/**
 * Shares reads without ever handing out a stale one: whoever asks while a read is under way waits for the next, which
 * begins after everybody who waits for it has asked. Under load many callers share one read, and each still sees what was
 * there when it asked, or later.
 */
export function createFreshReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  const next = new Map<string, Promise<T>>();

  const begin = (key: string): Promise<T> => {
    const work = read(key).finally(() => running.delete(key));
    running.set(key, work);
    return work;
  };

  return (key) => {
    const waiting = next.get(key);
    if (waiting) return waiting;
    const current = running.get(key);
    if (!current) return begin(key);
    const after = current
      .catch(() => undefined)
      .then(() => {
        next.delete(key);
        return begin(key);
      });
    next.set(key, after);
    return after;
  };
}
