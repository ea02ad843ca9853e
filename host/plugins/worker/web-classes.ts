/**
 * The web's small classes as a plugin sees them: our own, over the worker's.
 *
 * Threat: a class of Node's that enters the sandbox brings its prototype, its iterators, its error classes and symbol
 * properties with it. Each that stays writable is a place where one run leaves something for the next, and each internal
 * object is a thing nobody looked at. So nothing of Node's enters: these classes keep it in private fields, pass strings,
 * and turn its errors into plain ones.
 */

const RealUrl = URL;
const RealParams = URLSearchParams;
const RealEncoder = TextEncoder;
const RealDecoder = TextDecoder;
const realClone = structuredClone;

/** Characters of an address. */
const MAX_URL_CHARS = 64 * 1024;

const text = (value: unknown): string => {
  const string = `${value}`;
  if (string.length > MAX_URL_CHARS) throw new TypeError('Invalid URL: too long');
  return string;
};

class SafeParams {
  #params: URLSearchParams;
  #changed: (query: string) => void = () => {};
  constructor(init: unknown = '') {
    this.#params = new RealParams();
    if (typeof init === 'object' && init !== null) {
      const pairs = Symbol.iterator in init ? (init as Iterable<[unknown, unknown]>) : Object.entries(init);
      for (const [name, value] of pairs) this.#params.append(text(name), text(value));
    } else this.#params = new RealParams(text(init));
  }
  static of(params: URLSearchParams, changed: (query: string) => void): SafeParams {
    const safe = new SafeParams();
    safe.#params = new RealParams(params.toString());
    safe.#changed = changed;
    return safe;
  }
  get size(): number {
    return [...this.#params].length;
  }
  get(name: unknown): string | null {
    return this.#params.get(text(name));
  }
  getAll(name: unknown): string[] {
    return [...this.#params.getAll(text(name))];
  }
  has(name: unknown): boolean {
    return this.#params.has(text(name));
  }
  set(name: unknown, value: unknown): void {
    this.#params.set(text(name), text(value));
    this.#changed(this.#params.toString());
  }
  append(name: unknown, value: unknown): void {
    this.#params.append(text(name), text(value));
    this.#changed(this.#params.toString());
  }
  delete(name: unknown): void {
    this.#params.delete(text(name));
    this.#changed(this.#params.toString());
  }
  sort(): void {
    this.#params.sort();
    this.#changed(this.#params.toString());
  }
  forEach(each: (value: string, name: string) => void): void {
    for (const [name, value] of this.entries()) each(value, name);
  }
  entries(): IterableIterator<[string, string]> {
    return [...this.#params].map(([name, value]): [string, string] => [name, value]).values();
  }
  keys(): IterableIterator<string> {
    return [...this.#params].map(([name]) => name).values();
  }
  values(): IterableIterator<string> {
    return [...this.#params].map(([, value]) => value).values();
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
  toString(): string {
    return this.#params.toString();
  }
}

class SafeUrl {
  #url: URL;
  constructor(address: unknown, base?: unknown) {
    const parsed = parse(address, base);
    if (!parsed) throw new TypeError('Invalid URL');
    this.#url = parsed;
  }
  static canParse(address: unknown, base?: unknown): boolean {
    return parse(address, base) !== undefined;
  }
  get href(): string {
    return this.#url.href;
  }
  set href(value: unknown) {
    const parsed = parse(value, undefined);
    if (!parsed) throw new TypeError('Invalid URL');
    this.#url = parsed;
  }
  get origin(): string {
    return this.#url.origin;
  }
  get protocol(): string {
    return this.#url.protocol;
  }
  set protocol(value: unknown) {
    this.#url.protocol = text(value);
  }
  get username(): string {
    return this.#url.username;
  }
  set username(value: unknown) {
    this.#url.username = text(value);
  }
  get password(): string {
    return this.#url.password;
  }
  set password(value: unknown) {
    this.#url.password = text(value);
  }
  get host(): string {
    return this.#url.host;
  }
  set host(value: unknown) {
    this.#url.host = text(value);
  }
  get hostname(): string {
    return this.#url.hostname;
  }
  set hostname(value: unknown) {
    this.#url.hostname = text(value);
  }
  get port(): string {
    return this.#url.port;
  }
  set port(value: unknown) {
    this.#url.port = text(value);
  }
  get pathname(): string {
    return this.#url.pathname;
  }
  set pathname(value: unknown) {
    this.#url.pathname = text(value);
  }
  get search(): string {
    return this.#url.search;
  }
  set search(value: unknown) {
    this.#url.search = text(value);
  }
  get hash(): string {
    return this.#url.hash;
  }
  set hash(value: unknown) {
    this.#url.hash = text(value);
  }
  get searchParams(): SafeParams {
    return SafeParams.of(this.#url.searchParams, (query) => {
      this.#url.search = query;
    });
  }
  toString(): string {
    return this.href;
  }
  toJSON(): string {
    return this.href;
  }
}

function parse(address: unknown, base: unknown): URL | undefined {
  const [full, from] = [text(address), base === undefined ? undefined : text(base)];
  return RealUrl.canParse(full, from) ? new RealUrl(full, from) : undefined;
}

class SafeTextEncoder {
  #encoder = new RealEncoder();
  get encoding(): string {
    return 'utf-8';
  }
  encode(value: unknown = ''): Uint8Array {
    return this.#encoder.encode(`${value}`);
  }
}

class SafeTextDecoder {
  #decoder: InstanceType<typeof TextDecoder>;
  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const flags = { fatal: options.fatal === true, ignoreBOM: options.ignoreBOM === true };
    this.#decoder = plainly(() => new RealDecoder(`${label}`, flags), 'The encoding is not known.');
  }
  get encoding(): string {
    return this.#decoder.encoding;
  }
  decode(bytes?: Uint8Array, options: { stream?: boolean } = {}): string {
    const stream = options.stream === true;
    return plainly(() => this.#decoder.decode(bytes, { stream }), 'The bytes are not valid text.');
  }
}

/** Node's own error objects stay outside. */
function plainly<T>(work: () => T, otherwise: string): T {
  try {
    return work();
  } catch {
    throw new TypeError(otherwise);
  }
}

/** Data only: no transfer, so that no port, and nothing that has one, can be made or moved. */
const safeClone = (value: unknown): unknown => plainly(() => realClone(value), 'The value cannot be cloned.');

/** Called once, after lockdown. */
export function webClasses(): Record<string, unknown> {
  // Sharing one class object among runs is safe once it cannot change.
  return harden({
    URL: named(SafeUrl, 'URL'),
    URLSearchParams: named(SafeParams, 'URLSearchParams'),
    TextEncoder: named(SafeTextEncoder, 'TextEncoder'),
    TextDecoder: named(SafeTextDecoder, 'TextDecoder'),
    structuredClone: named(safeClone, 'structuredClone'),
    Intl: safeIntl(),
  });
}

export function named<F extends object>(value: F, name: string): F {
  return Object.defineProperty(value, 'name', { value: name });
}

/**
 * Words, numbers and order, but nothing that formats a date: `new Intl.DateTimeFormat().format()` reads the clock and names
 * the machine's time zone.
 */
function safeIntl(): object {
  const segments = new Intl.Segmenter('en').segment('a');
  // Reachable from instances only, so hardening the constructors does not reach them.
  harden(Object.getPrototypeOf(segments));
  harden(Object.getPrototypeOf(segments[Symbol.iterator]()));
  return {
    Segmenter: Intl.Segmenter,
    Collator: Intl.Collator,
    NumberFormat: Intl.NumberFormat,
    PluralRules: Intl.PluralRules,
  };
}
