/** How many of something may happen at once, and per second after that. */
export function rate(burst: number, perSecond: number, now: () => number): () => boolean {
  let tokens = burst;
  let last = now();
  return () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - last) / 1000) * perSecond);
    last = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
