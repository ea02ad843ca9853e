/**
 * Which fields hold secrets. Their values never leave the page, and neither does the same text shown elsewhere.
 *
 * Threat: a field that was a password stays one when the page shows it as text; a page may name its fields anything, so
 * the purpose is read from type, autofill purpose, name and label alike.
 */
import { accessibleName } from './names.ts';
import { tagOf } from './tree.ts';

const wasPassword = new WeakSet<Element>();

const PURPOSE = /(?:^|\s)(?:cc-|one-time-code|current-password|new-password)/;
const NAMED =
  /pass(?:word|wd|code|phrase)|\bpwd\b|\bcvv2?\b|\bcvc2?\b|\bcsc\b|security[\s_-]?code|card[\s_-]?(?:number|no\b|num)|cardnumber|ccnum|\botp\b|one[\s_-]?time|verification[\s_-]?code|2fa|\bpin\b|\bssn\b|social[\s_-]?security|\biban\b|account[\s_-]?number|รหัสผ่าน|รหัส\s?otp|หมายเลขบัตร/i;

export function isSensitive(element: Element): boolean {
  const tag = tagOf(element);
  if (tag !== 'INPUT' && tag !== 'TEXTAREA') return wasPassword.has(element);
  const input = element as HTMLInputElement;
  if (input.type === 'password') {
    wasPassword.add(element);
    return true;
  }
  if (wasPassword.has(element)) return true;
  if (/^(?:checkbox|radio|button|submit|reset|range|color|file|image)$/.test(input.type)) return false;
  if (PURPOSE.test(input.autocomplete ?? '')) return true;
  if (getComputedStyle(element).getPropertyValue('-webkit-text-security').trim().replace('none', '')) return true;
  return (
    NAMED.test(`${input.name} ${input.id.replace(/([a-z])([A-Z])/g, '$1 $2')} ${input.placeholder}`) ||
    NAMED.test(accessibleName(element))
  );
}

/** Characters below which a secret is too short to be looked for in text. */
const SHORTEST = 4;

/** Takes known secrets out of any text that is about to leave the page. */
export class Secrets {
  #values: string[] = [];

  add(value: string): void {
    if (value.length >= SHORTEST && !this.#values.includes(value)) this.#values.push(value);
  }

  hide(text: string): string {
    let shown = text;
    for (const value of this.#values) if (shown.includes(value)) shown = shown.replaceAll(value, '•••');
    return shown;
  }
}
