/** Erasing characters at the end of the focused text. */

/** Characters that one command may erase. */
export const MAX_ERASED = 50;
/** Presses of one key that one call to the browser may ask for. */
export const MAX_KEY_REPEAT = 20;

const ERASE =
  /^(?:กด|press ?)?(?:ลบ|backspace|delete|del)(?<again>(?: ?ๆ)*)(?: ?x? ?(?<times>[\d๐-๙]+) ?(?:ครั้ง|ตัวอักษร|ตัว|times?|chars?|characters?)?)?$/;
const BACKSPACE = /^(?:กด|press ?)?backspace(?: ?x? ?(?<times>[\d๐-๙]+) ?(?:ครั้ง|times)?)?$/;

const toNumber = (digits: string) => Number(digits.replace(/[๐-๙]/g, (digit) => String(digit.charCodeAt(0) - 0x0e50)));

/** How many characters a command erases, at most 50, or undefined. It never means a Delete button. Expects a command key. */
export function eraseCount(key: string): number | undefined {
  const found = ERASE.exec(key)?.groups;
  if (!found) return undefined;
  const wanted = found.times ? toNumber(found.times) : 1 + (found.again ?? '').replaceAll(' ', '').length;
  return wanted >= 1 ? Math.min(wanted, MAX_ERASED) : undefined;
}

/** How often a command presses Backspace, or undefined; over 20 is not one call, so it is not read. Expects a command key. */
export function backspaceCount(key: string): number | undefined {
  const found = BACKSPACE.exec(key)?.groups;
  if (!found) return undefined;
  const wanted = found.times ? toNumber(found.times) : 1;
  return wanted >= 1 && wanted <= MAX_KEY_REPEAT ? wanted : undefined;
}
