/** `browser.cdp` is also the variable `browser` with a method `cdp`, where the provider's name can be a variable. */
const IDENTIFIER = /^[a-zA-Z_$][\w$]*$/;

/** Names that a program already has, or that the language keeps for itself. */
const TAKEN = new Set(
  (
    'jev program tools input console process fetch require globalThis undefined arguments eval break case catch class ' +
    'const continue debugger default delete do else enum export extends false finally for function if import in ' +
    'instanceof new null return super switch this throw true try typeof var void while with yield let static await ' +
    'async implements interface package private protected public'
  ).split(' '),
);

export const isTakenName = (name: string): boolean => TAKEN.has(name);

export function isProviderVariable(provider: string): boolean {
  return IDENTIFIER.test(provider) && !isTakenName(provider);
}

export function providerNames(references: readonly string[]): string[] {
  const names = references.map((ref) => ref.slice(0, ref.indexOf('.')));
  return [...new Set(names)].filter(isProviderVariable);
}
