/**
 * Whether a host is there. Each host holds one response open; when the last is gone, a time begins after which the device
 * ends itself and its browser.
 */
import type { ServerResponse } from 'node:http';

/** Milliseconds between two signs of life, so that a dead network is noticed. */
const SIGN_MS = 15_000;

export class Presence {
  readonly #held = new Set<ServerResponse>();
  readonly #aloneMs: number | undefined;
  readonly #onAlone: () => void;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #signs: NodeJS.Timeout;

  constructor(aloneMs: number | undefined, onAlone: () => void) {
    this.#aloneMs = aloneMs;
    this.#onAlone = onAlone;
    this.#signs = setInterval(() => {
      for (const response of this.#held) response.write('\n');
    }, SIGN_MS);
    this.#signs.unref();
    this.#count();
  }

  hold(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
    response.write('\n');
    this.#held.add(response);
    this.#count();
    response.once('close', () => {
      this.#held.delete(response);
      this.#count();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#signs);
    for (const response of this.#held) response.end();
  }

  #count(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    if (this.#held.size === 0 && this.#aloneMs !== undefined) this.#timer = setTimeout(this.#onAlone, this.#aloneMs);
  }
}
