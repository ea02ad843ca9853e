/**
 * What happened in the browser around the page, in plain words: a download, a new window, a request for a file. Each is
 * told once, with the next observation.
 */
import { cut } from '../text.ts';

const MAX_NOTICES = 20;
const MAX_TEXT = 400;

export interface Notice {
  kind: string;
  text: string;
}

export class Notices {
  #waiting: Notice[] = [];

  add(kind: string, text: string): void {
    const notice = { kind, text: cut(text, MAX_TEXT) };
    if (this.#waiting.some((other) => other.kind === kind && other.text === notice.text)) return;
    if (this.#waiting.length >= MAX_NOTICES) this.#waiting.shift();
    this.#waiting.push(notice);
  }

  take(): Notice[] {
    return this.#waiting.splice(0);
  }
}
