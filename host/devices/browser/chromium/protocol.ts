/**
 * A client of Chromium's own protocol (CDP) over a pipe or a socket: commands with answers, events by name, one flat
 * stream of sessions.
 *
 * Nothing is retried. When the way to Chromium is lost, every waiting command ends with `ChromiumGone`, and so does every
 * later one: what had been sent may have been carried out.
 */

export interface Wire {
  send(message: string): void;
  /** Hands over each whole message and, once, the end. */
  listen(onMessage: (message: string) => void, onEnd: (reason: string) => void): void;
  close(): void;
}

export type Params = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: the protocol's answers are described where they are read.
export type Answer = any;
export type EventListener = (params: Answer) => void;

/** Chromium answered a command with an error. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly method: string;
  constructor(method: string, message: string) {
    super(`${method}: ${message}`);
    this.method = method;
  }
}

/** The way to Chromium ended while the command was waiting, or before it. */
export class ChromiumGone extends Error {
  override readonly name = 'ChromiumGone';
}

/** The target that the session belonged to went away. */
export class SessionGone extends Error {
  override readonly name = 'SessionGone';
}

interface Waiting {
  method: string;
  session: string | undefined;
  resolve(value: Answer): void;
  reject(error: Error): void;
}

/** Events of which a busy page makes thousands and which nothing here reads: dropped before they are parsed. */
const UNREAD = ['Network.dataReceived', 'Network.requestWillBeSentExtraInfo', 'Network.responseReceivedExtraInfo'];

export class Protocol {
  readonly #wire: Wire;
  readonly #waiting = new Map<number, Waiting>();
  readonly #sessions = new Map<string, Map<string, Set<EventListener>>>();
  readonly #onGone = new Set<(reason: string) => void>();
  #lastId = 0;
  #gone: string | undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.listen(
      (message) => this.#receive(message),
      (reason) => this.#end(reason),
    );
  }

  get gone(): boolean {
    return this.#gone !== undefined;
  }

  /** Called once, when the way to Chromium ends. */
  onGone(listener: (reason: string) => void): void {
    this.#onGone.add(listener);
  }

  /** @param session a session id from `Target.attachToTarget`; without it, the browser itself is addressed. */
  send(method: string, params: Params = {}, session?: string): Promise<Answer> {
    if (this.#gone !== undefined) return Promise.reject(new ChromiumGone(this.#gone));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { method, session, resolve, reject });
      this.#wire.send(
        JSON.stringify(session === undefined ? { id, method, params } : { id, method, params, sessionId: session }),
      );
    });
  }

  /** @returns what stops listening. */
  on(event: string, listener: EventListener, session = ''): () => void {
    const events = entry(this.#sessions, session, () => new Map<string, Set<EventListener>>());
    const listeners = entry(events, event, () => new Set<EventListener>());
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  close(): void {
    this.#wire.close();
    this.#end('closed');
  }

  #receive(message: string): void {
    if (message.startsWith('{"method":"Network.') && UNREAD.some((name) => message.startsWith(name, 11))) return;
    const parsed = JSON.parse(message);
    if (typeof parsed.id === 'number') {
      const waiting = this.#waiting.get(parsed.id);
      this.#waiting.delete(parsed.id);
      if (!waiting) return;
      if (parsed.error) waiting.reject(new ProtocolError(waiting.method, parsed.error.message));
      else waiting.resolve(parsed.result);
      return;
    }
    const session: string = parsed.sessionId ?? '';
    const listeners = this.#sessions.get(session)?.get(parsed.method);
    if (listeners) for (const listener of [...listeners]) listener(parsed.params);
    if (parsed.method === 'Target.detachedFromTarget') this.#forget(parsed.params.sessionId);
  }

  #forget(session: string): void {
    this.#sessions.delete(session);
    for (const [id, waiting] of this.#waiting) {
      if (waiting.session !== session) continue;
      this.#waiting.delete(id);
      waiting.reject(new SessionGone(`${waiting.method}: the target went away.`));
    }
  }

  #end(reason: string): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    for (const waiting of this.#waiting.values()) waiting.reject(new ChromiumGone(reason));
    this.#waiting.clear();
    for (const listener of this.#onGone) listener(reason);
  }
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
