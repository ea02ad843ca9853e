/** How the device refuses: a code, perhaps a cause, and whether anything may have reached the page. */

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;
  readonly cause_: string | undefined;
  /** False only when it is certain that nothing was sent. */
  readonly executed: boolean;
  /** Further facts for the reply, such as what covers a target. */
  readonly facts: Record<string, unknown>;

  constructor(code: string, options: { cause?: string; executed?: boolean; facts?: Record<string, unknown> } = {}) {
    super(options.cause === undefined ? code : `${code} (${options.cause})`);
    this.code = code;
    this.cause_ = options.cause;
    this.executed = options.executed ?? false;
    this.facts = options.facts ?? {};
  }

  toReply(): Record<string, unknown> {
    return {
      error: this.code,
      action_executed: this.executed,
      ...(this.cause_ === undefined ? {} : { cause: this.cause_ }),
      ...this.facts,
    };
  }
}

/** Nothing was sent, and the caller should look again. */
export const stale = (cause?: string, facts: Record<string, unknown> = {}): Refusal =>
  new Refusal('STALE_OBSERVATION', { ...(cause === undefined ? {} : { cause }), facts });
