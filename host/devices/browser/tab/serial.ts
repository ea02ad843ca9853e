/** One after another. A caller that gave up while it waited is passed over: its work never starts. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  waiting = 0;

  run<T>(work: () => Promise<T>): Promise<T> {
    this.waiting++;
    const mine = this.#last.then(() => {
      this.waiting--;
      return work();
    });
    this.#last = mine.catch(() => {});
    return mine;
  }
}
