/** Text as lines: white space folded, one break between blocks. */
export class Lines {
  #parts: string[] = [];
  #pending: '' | ' ' | '\n' = '';
  length = 0;

  break(kind: 'space' | 'line'): void {
    if (kind === 'line') this.#pending = '\n';
    else this.space();
  }

  space(): void {
    if (this.#pending === '') this.#pending = ' ';
  }

  add(data: string, keepsLines: boolean): void {
    const text = keepsLines ? data : data.replace(/\s+/g, ' ');
    const starts = text.startsWith(' ');
    const ends = text.endsWith(' ');
    const body = keepsLines ? text : text.slice(starts ? 1 : 0, ends && text.length > 1 ? -1 : undefined);
    if (starts && !keepsLines) this.space();
    if (this.length > 0 && this.#pending) this.#push(this.#pending);
    this.#pending = ends && !keepsLines ? ' ' : '';
    this.#push(body);
  }

  #push(text: string): void {
    this.#parts.push(text);
    this.length += text.length;
  }

  take(): string {
    return this.#parts.join('');
  }
}
