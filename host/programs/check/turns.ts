/**
 * One piece of work at a time, the waiting callers one after the other, so that whoever asks for much waits behind whoever
 * asks for little.
 */
export class Turns {
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #busy = false;

  /** @param caller whose turn it is; work of one caller stays in its order. */
  take<T>(caller: string, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const own = this.#waiting.get(caller) ?? [];
      own.push(() => work().then(resolve, reject));
      this.#waiting.set(caller, own);
      if (!this.#busy) void this.#go();
    });
  }

  async #go(): Promise<void> {
    this.#busy = true;
    for (let next = this.#next(); next; next = this.#next()) await next();
    this.#busy = false;
  }

  #next(): (() => Promise<void>) | undefined {
    const [first] = this.#waiting;
    if (!first) return undefined;
    const [caller, own] = first;
    const next = own.shift();
    // To the end of the line, or out of it.
    this.#waiting.delete(caller);
    if (own.length > 0) this.#waiting.set(caller, own);
    return next;
  }
}
