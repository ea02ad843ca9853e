/** Comlink over the guarded endpoint: one side serves named methods, the other calls them. Used by host and worker alike. */
import * as Comlink from 'comlink';
import { isHostError } from '../../sdk/contract/errors.ts';
import { answersOnly, type GuardOptions, serveOnly, type Wire } from './guarded-endpoint.ts';

/** Serves exactly these methods. Methods throw plain flat records (`failureOf`), never errors with a stack. */
export function serve(
  wire: Wire,
  methods: Readonly<Record<string, (...args: never[]) => unknown>>,
  options: GuardOptions,
): void {
  const table = Object.freeze(Object.assign(Object.create(null), methods));
  Comlink.expose(table, serveOnly(wire, new Set(Object.keys(table)), options));
}

export interface Caller {
  /** @throws what the other side threw, or what `fail` was given while the call was pending. */
  call(method: string, ...args: unknown[]): Promise<unknown>;
  /** Rejects every pending call, and every later one: the other side is gone. */
  fail(reason: Error): void;
  readonly pending: number;
}

const nobody = (): void => {};

/**
 * Calls the other side's methods.
 *
 * Closing a port does not settle Comlink's pending calls, and a collected proxy drops their answers. So the proxies are
 * held here until `fail`, and pending calls are kept in a set that it rejects. Afterwards they must be let go of: Comlink
 * holds the endpoint for as long as a proxy lives, and the endpoint leads back here, so both would stay for ever.
 */
export function connect(wire: Wire, methods: Iterable<string>, options: GuardOptions): Caller {
  const pending = new Set<(reason: Error) => void>();
  let gone: Error | undefined;
  // Comlink says goodbye when a proxy is collected; by then nobody listens.
  const post: Wire['post'] = (message, transfer) => {
    if (!gone) wire.post(message, transfer);
  };
  const endpoint = answersOnly({ post, listen: (told) => wire.listen(told), close: () => wire.close() }, options);
  type Remote = Record<string, (...args: unknown[]) => Promise<unknown>>;
  let remote: Comlink.Remote<Remote> | undefined = Comlink.wrap<Remote>(endpoint);
  const stubs = new Map([...methods].map((name) => [name, remote?.[name]]));
  return {
    call(method, ...args) {
      if (gone) return Promise.reject(gone);
      const stub = stubs.get(method);
      if (!stub) return Promise.reject(new TypeError(`${method} is not in the contract.`));
      return new Promise((resolve, reject) => {
        pending.add(reject);
        const settled = (then: (value: unknown) => void) => (value: unknown) => {
          pending.delete(reject);
          then(value);
        };
        try {
          stub(...args).then(settled(resolve), settled(reject));
        } catch (error) {
          settled(reject)(error);
        }
      });
    },
    fail(reason) {
      gone ??= reason;
      for (const reject of pending) reject(reason);
      pending.clear();
      stubs.clear();
      remote = undefined;
      endpoint.removeEventListener('message', nobody);
    },
    get pending() {
      return pending.size;
    },
  };
}

/** A failure as it crosses: flat, bounded, without a stack. */
export interface Failure {
  code: string;
  message: string;
  /** JSON of the catalogue's details. */
  details: string;
}

const MAX_FAILURE_CHARS = 2000;

export function failureOf(error: unknown): Failure {
  if (isHostError(error))
    return { code: error.code, message: error.message, details: JSON.stringify(error.details ?? {}) };
  return { code: '', message: textOf(error), details: '{}' };
}

/** A thrown value's text. Values thrown by a plugin may fight back when they are read. */
export function textOf(error: unknown): string {
  try {
    const { name, message } = error as { name?: unknown; message?: unknown };
    const text =
      typeof message === 'string' ? `${typeof name === 'string' && name ? name : 'Error'}: ${message}` : String(error);
    return text.slice(0, MAX_FAILURE_CHARS);
  } catch {
    return 'a thrown value that cannot be shown';
  }
}
