/**
 * The names of environment variables that hold credentials.
 *
 * Threat: a reload removes `apiKeyEnv: "OLD_KEY"` from the configuration while OLD_KEY is still in this process's
 * environment. If the name became public again, the next child would inherit a credential that may still be valid. So the
 * set only grows while the process lives.
 */
export class PrivateNames {
  readonly #names = new Set<string>();

  constructor(names: Iterable<string> = []) {
    this.add(names);
  }

  add(names: Iterable<string>): void {
    for (const name of names) this.#names.add(name);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  list(): string[] {
    return [...this.#names].sort();
  }
}

/** How deep a configuration is searched; the schema allows far less. */
const MAX_DEPTH = 16;

/**
 * Names of variables that a configuration refers to as credentials, wherever they stand: `apiKeyEnv: "NAME"` and
 * `authorization: { env: "NAME" }`. A section that is added later is covered without a change here.
 */
export function privateNamesIn(config: unknown): string[] {
  const found = new Set<string>();
  const walk = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
    for (const [key, entry] of Object.entries(value)) {
      if (typeof entry === 'string' && /^(?:apiKeyEnv|.*(?:Key|Token|Secret)Env)$/.test(key)) found.add(entry);
      if (key === 'authorization' && typeof entry === 'object' && entry !== null && 'env' in entry) {
        if (typeof entry.env === 'string') found.add(entry.env);
      }
      walk(entry, depth + 1);
    }
  };
  walk(config, 0);
  return [...found];
}
