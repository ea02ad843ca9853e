/** What lockdown puts on the worker's global object. */
declare function harden<T>(value: T): T;
declare function lockdown(options: Record<string, string>): void;
declare class Compartment {
  constructor(options: never);
  // biome-ignore lint/suspicious/noExplicitAny: evaluating yields whatever the source says
  evaluate(source: string): any;
}
