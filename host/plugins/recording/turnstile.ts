/**
 * Lets answers go to a plugin one at a time, each when the one before has arrived. Over a pipe two answers can arrive in one
 * piece, and which of them the plugin's code meets first would then be nobody's order.
 */
export class Turnstile {
  readonly #arrived: () => Promise<unknown>;
  #turn: Promise<void> = Promise.resolve();

  /** @param arrived asks the worker, and resolves when it has got so far. */
  constructor(arrived: () => Promise<unknown>) {
    this.#arrived = arrived;
  }

  /** Resolves when the caller's answer may go. It must be on its way in the same turn of the event loop. */
  pass(): Promise<void> {
    const turn = this.#turn;
    this.#turn = turn.then(
      () =>
        new Promise((resolve) =>
          setImmediate(() =>
            this.#arrived().then(
              () => resolve(),
              () => resolve(),
            ),
          ),
        ),
    );
    return turn;
  }
}
