/**
 * A limit on real time that can be taken back. Waiting that is part of the run goes by the run's clock; this only guards
 * against parts that never answer, and leaves no timer behind when they do.
 */
export interface TimeLimit {
  /** Resolves when the time has passed; never after `clear`. */
  readonly passed: Promise<void>;
  /** At most this much longer. */
  shorten(ms: number): void;
  clear(): void;
}

export function timeLimit(ms: number): TimeLimit {
  let pass: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  let timer = setTimeout(pass, ms);
  return {
    passed,
    shorten(left) {
      clearTimeout(timer);
      timer = setTimeout(pass, left);
    },
    clear: () => clearTimeout(timer),
  };
}
