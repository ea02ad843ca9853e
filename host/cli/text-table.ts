/** A table in plain text, for people. */
export function textTable(
  heads: readonly string[],
  rows: readonly (readonly (string | number | undefined)[])[],
): string {
  const cells = rows.map((row) => heads.map((_head, column) => plain(String(row[column] ?? ''))));
  const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

/**
 * Text for a terminal.
 *
 * Threat: labels and titles come from pages; an escape sequence in one would move the cursor or rewrite what the person
 * reads. Control characters and the marks that turn the reading direction are shown as dots.
 */
export function plain(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '·');
}
