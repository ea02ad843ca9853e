/**
 * Where in the author's code an error happened.
 *
 * Threat: the stack is text that the program may have written itself. It is read with one anchored pattern, within a bounded
 * length, and gives two numbers or nothing.
 */
import { MAX_ERROR_CHARS, sentenceOf } from '../../sdk/programs/program-error.ts';

const FRAME = /\(program:(\d{1,6}):(\d{1,6})\)/;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Line and column from 1. */
export interface Position {
  line: number;
  column: number;
}

/** The sentence, and the place of the innermost frame of the program where it is known. */
export function withPosition(text: string, stack: string, mappings: string | undefined): string {
  const frame = FRAME.exec(stack);
  const found =
    frame && mappings !== undefined
      ? authored({ line: Number(frame[1]), column: Number(frame[2]) }, mappings)
      : undefined;
  if (!found) return sentenceOf(text);
  const place = ` (line ${found.line}, column ${found.column})`;
  return sentenceOf(text).slice(0, MAX_ERROR_CHARS - place.length) + place;
}

/** @param mappings of a source map with one source, whose first line is not the author's */
export function authored(at: Position, mappings: string): Position | undefined {
  let [source, line, column] = [0, 0, 0];
  let found: Position | undefined;
  for (const [index, text] of mappings.split(';', at.line).entries()) {
    let generated = 0;
    for (const segment of text.split(',')) {
      const [step, ofSource, ofLine, ofColumn] = numbers(segment);
      generated += step ?? 0;
      source += ofSource ?? 0;
      line += ofLine ?? 0;
      column += ofColumn ?? 0;
      if (index === at.line - 1 && ofLine !== undefined && generated < at.column) found = { line, column: column + 1 };
    }
  }
  return source === 0 && found && found.line >= 1 ? found : undefined;
}

/** Base 64, five bits a digit, the lowest first; the lowest bit of all is the sign. */
function numbers(segment: string): number[] {
  const found: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of segment) {
    const digit = DIGITS.indexOf(char);
    value += (digit % 32) * 2 ** shift;
    if (digit >= 32) {
      shift += 5;
      continue;
    }
    found.push(value % 2 === 1 ? -(value - 1) / 2 : value / 2);
    value = 0;
    shift = 0;
  }
  return found;
}
