/** What a program asks of its host: capabilities, evaluations, events of its conversation, advice. */
import { type RunnerInput, utf8Bytes } from '../../sdk/index.ts';
import type { Budget } from './budget.ts';
import { checkJevAnswer, MAX_RESULT_CHARS } from './jev-answer.ts';
import { jevFailure } from './jev-failure.ts';
import { checkJevRequest } from './jev-request.ts';
import type { Observation } from './observation.ts';
import type { RunnerHost } from './run-program.ts';

export class HostCalls {
  readonly #input: RunnerInput;
  readonly #host: RunnerHost;
  readonly #budget: Budget;
  readonly #observation: Observation | undefined;
  /** Ends the run: a budget that is used up is not the program's to catch. */
  readonly #exhausted: (error: string) => void;
  #awaitingEvent = false;

  constructor(
    input: RunnerInput,
    host: RunnerHost,
    budget: Budget,
    observation: Observation | undefined,
    exhausted: (error: string) => void,
  ) {
    this.#input = input;
    this.#host = host;
    this.#budget = budget;
    this.#observation = observation;
    this.#exhausted = exhausted;
  }

  /** @returns the answer as JSON text; rejects with the sentence that the program gets. */
  async make(kind: string, text: string): Promise<string> {
    switch (kind) {
      case 'call': {
        const { ref, args } = JSON.parse(text) as { ref: string; args: unknown };
        if (!this.#input.requires.includes(ref)) throw new Error(`Capability not granted to Jev program: ${ref}`);
        if (ref === 'jev.evaluate') return this.#evaluate(args);
        return resultText(await this.#host.call(ref, args));
      }
      case 'nextEvent': {
        if (!this.#observation) throw new Error('Capability not granted to Jev program: program.nextEvent');
        if (this.#awaitingEvent) throw new Error('Only one program.nextEvent() may be pending');
        this.#awaitingEvent = true;
        try {
          return JSON.stringify(await this.#observation.next());
        } finally {
          this.#awaitingEvent = false;
        }
      }
      case 'advise':
        if (!this.#observation) return JSON.stringify({ delivered: false, reason: 'disabled' });
        return JSON.stringify(await this.#observation.advise(JSON.parse(text)));
      default:
        throw new Error('Invalid Jev program tool call');
    }
  }

  async #evaluate(args: unknown): Promise<string> {
    if (this.#budget.evaluating)
      throw new Error('One Jev evaluation may be in flight per program; batch independent questions in one request');
    const request = checkJevRequest(args, this.#input.maxRequestBytes);
    if (!this.#budget.takeEvaluation()) {
      this.#exhausted('Jev inference budget exhausted');
      throw new Error('Jev inference budget exhausted');
    }
    try {
      const response = await this.#host.evaluate(request).catch((error) => {
        throw jevFailure(error);
      });
      const evaluation = checkJevAnswer(request, response);
      if (!this.#budget.addTokens(evaluation.usage)) {
        this.#exhausted('Jev reported-token budget exhausted');
        throw new Error('Jev reported-token budget exhausted');
      }
      return resultText(evaluation);
    } finally {
      this.#budget.evaluationEnded();
    }
  }
}

/** The JSON text of an answer to the program. */
function resultText(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  if (utf8Bytes(text, MAX_RESULT_CHARS) > MAX_RESULT_CHARS)
    throw new Error(`Tool result exceeds ${MAX_RESULT_CHARS} bytes`);
  return text;
}
