/** AbortController and AbortSignal of one sandbox: small, without Node's event classes, and without anybody else's listeners. */

type Listener = (event: { readonly type: 'abort'; readonly target: SafeAbortSignal }) => void;

/** Listeners that one signal keeps. */
const MAX_LISTENERS = 10_000;

const making = Symbol('making');

class SafeAbortSignal {
  #listeners = new Map<Listener | { handleEvent: Listener }, boolean>();
  #aborted = false;
  #reason: unknown;
  #onabort: Listener | null = null;

  constructor(key: unknown) {
    if (key !== making) throw new TypeError('Illegal constructor');
  }
  static start(): { signal: SafeAbortSignal; abort: (reason?: unknown) => void } {
    const signal = new SafeAbortSignal(making);
    return { signal, abort: (reason) => signal.#abort(reason) };
  }
  get onabort(): Listener | null {
    return this.#onabort;
  }
  set onabort(listener: unknown) {
    this.#onabort = typeof listener === 'function' ? (listener as Listener) : null;
  }
  get aborted(): boolean {
    return this.#aborted;
  }
  get reason(): unknown {
    return this.#reason;
  }
  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }
  addEventListener(type: unknown, listener: Listener, options?: { once?: boolean } | boolean): void {
    if (type !== 'abort' || this.#aborted || !listener || this.#listeners.size >= MAX_LISTENERS) return;
    if (!this.#listeners.has(listener)) {
      this.#listeners.set(listener, typeof options === 'object' && options?.once === true);
    }
  }
  removeEventListener(type: unknown, listener: Listener): void {
    if (type === 'abort') this.#listeners.delete(listener);
  }
  #abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason ?? abortError();
    const event = Object.freeze({ type: 'abort' as const, target: this });
    const listeners = [...this.#listeners.keys()];
    this.#listeners.clear();
    for (const listener of [this.#onabort, ...listeners]) {
      try {
        if (typeof listener === 'function') listener.call(this, event);
        else listener?.handleEvent(event);
      } catch {
        // One listener's failure is not the next one's.
      }
    }
  }
}

function abortError(): Error {
  const error = new Error('This operation was aborted');
  Object.defineProperty(error, 'name', { value: 'AbortError' });
  return error;
}

class SafeAbortController {
  #started = SafeAbortSignal.start();
  get signal(): SafeAbortSignal {
    return this.#started.signal;
  }
  abort(reason?: unknown): void {
    this.#started.abort(reason);
  }
}

/** What plugin code sees as `AbortSignal`: it can be tested against and combined, never constructed. */
class PublicAbortSignal {
  constructor() {
    throw new TypeError('Illegal constructor');
  }
  static [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof SafeAbortSignal;
  }
  static abort(reason?: unknown): SafeAbortSignal {
    const { signal, abort } = SafeAbortSignal.start();
    abort(reason);
    return signal;
  }
  static any(signals: Iterable<SafeAbortSignal>): SafeAbortSignal {
    const { signal, abort } = SafeAbortSignal.start();
    for (const source of signals) {
      if (source.aborted) abort(source.reason);
      else source.addEventListener('abort', () => abort(source.reason), { once: true });
    }
    return signal;
  }
}

export type { SafeAbortSignal };
export const startSignal = SafeAbortSignal.start;

/** Called once, after lockdown. */
export function abortClasses(): Record<string, unknown> {
  Object.defineProperty(SafeAbortController, 'name', { value: 'AbortController' });
  Object.defineProperty(PublicAbortSignal, 'name', { value: 'AbortSignal' });
  harden(SafeAbortSignal);
  return harden({ AbortController: SafeAbortController, AbortSignal: PublicAbortSignal });
}
