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
 * Text of somebody else's inside a line for a terminal.
 *
 * Threat: labels, titles and reasons come from pages and plugins. An escape sequence would move the cursor or rewrite what
 * the person reads, a line break would begin a line of its own, a mark that turns the reading direction or one that cannot be
 * seen makes a name look like another. All of them are shown as dots.
 */
export function plain(text: string): string {
  return text.toWellFormed().replace(UNSEEN, '·');
}

/** Control and format characters, separators of lines, private and unassigned ones, and letters that have no shape. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]|\u034f|\u17b4|\u17b5/gu;
