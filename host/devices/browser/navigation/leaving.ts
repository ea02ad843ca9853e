/** Documents of a tab that must not be shown and are on their way out. While there are any, nobody looks at the tab. */
export class Leaving {
  /** The document's loader, by frame. */
  readonly #frames = new Map<string, string>();
  readonly #waiting = new Set<() => void>();

  get any(): boolean {
    return this.#frames.size > 0;
  }

  begin(frameId: string, loaderId: string): void {
    this.#frames.set(frameId, loaderId);
  }

  /** Whether what the frame now shows is such a document. */
  shows(frameId: string, loaderId: string): boolean {
    return this.#frames.get(frameId) === loaderId;
  }

  end(frameId: string): void {
    this.#frames.delete(frameId);
    if (this.#frames.size > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** The whole page was replaced. */
  endAll(): void {
    this.#frames.clear();
    this.end('');
  }

  /** Resolves when none is left. */
  gone(): Promise<void> {
    return this.any ? new Promise((resolve) => this.#waiting.add(resolve)) : Promise.resolve();
  }
}
