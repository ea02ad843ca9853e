/**
 * What a program may still do. A slot is taken before anything is sent, and a budget that is used up ends the whole run:
 * a program that catches the refusal must not go on without noticing.
 */
import type { ProgramLimits, RunnerCounts } from '../../sdk/index.ts';

export class Budget {
  readonly #limits: ProgramLimits;
  #evaluations = 0;
  #toolCalls = 0;
  #evaluating = false;
  readonly #usage = { input_tokens: 0, output_tokens: 0 };

  constructor(limits: ProgramLimits) {
    this.#limits = limits;
  }

  get counts(): RunnerCounts {
    return { evaluations: this.#evaluations, toolCalls: this.#toolCalls, usage: { ...this.#usage } };
  }

  get evaluating(): boolean {
    return this.#evaluating;
  }

  /** @returns false when the budget is used up */
  takeCall(): boolean {
    if (this.#toolCalls >= this.#limits.maxToolCalls) return false;
    this.#toolCalls++;
    return true;
  }

  /** @returns false when the evaluations are used up, or the tokens are */
  takeEvaluation(): boolean {
    if (this.#evaluations >= this.#limits.maxEvaluations || this.#tokens >= this.#limits.maxTokens) return false;
    this.#evaluations++;
    this.#evaluating = true;
    return true;
  }

  evaluationEnded(): void {
    this.#evaluating = false;
  }

  /**
   * Counts what the provider reported, which is known only afterwards.
   * @returns false when the threshold is passed: the program must not see the answer
   */
  addTokens(usage: { input_tokens: number; output_tokens: number }): boolean {
    this.#usage.input_tokens = Math.min(Number.MAX_SAFE_INTEGER, this.#usage.input_tokens + usage.input_tokens);
    this.#usage.output_tokens = Math.min(Number.MAX_SAFE_INTEGER, this.#usage.output_tokens + usage.output_tokens);
    return this.#tokens <= this.#limits.maxTokens;
  }

  get #tokens(): number {
    return this.#usage.input_tokens + this.#usage.output_tokens;
  }
}
