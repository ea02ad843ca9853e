/**
 * What every controller for the `browser` adapter must hold, whatever it is for. Run it from a plugin's own tests:
 *
 * ```ts
 * for (const check of conformance({ plugin: import.meta.dirname, pages, goal: 'Buy it', answers: { target: 'buy' } }))
 *   test(check.name, check.run);
 * ```
 *
 * Each check runs the plugin in the real sandbox against a scripted browser that misbehaves in one way. It throws with a
 * sentence when the plugin does not hold.
 */
import * as v from 'valibot';
import { BrowserRunResult } from '../contract/browser-run.ts';
import { isHostError } from '../contract/errors.ts';
import { browserMutations } from '../devices/remote-browser-contract.ts';
import { type AnswerFor, type Evaluate, failingEvaluator, resultFor, stubEvaluator } from './evaluators.ts';
import { type RunPluginOptions, runPlugin } from './run-plugin.ts';
import { type ScriptedBrowser, type ScriptedPage, scriptedBrowser } from './scripted-browser.ts';
import type { ScriptedFault } from './scripted-faults.ts';

export interface ConformanceOptions {
  /** The plugin's folder. */
  plugin: string;
  /** Pages on which the goal can be reached with the answers below. */
  pages: Record<string, ScriptedPage>;
  goal: string;
  answers: Record<string, AnswerFor>;
  /** Further members of the adapter's input. */
  input?: Record<string, unknown>;
  tier?: 'inline' | 'worker';
}

export interface ConformanceCheck {
  name: string;
  run(): Promise<void>;
}

/** Milliseconds in which a cancelled controller must have returned. */
const CANCEL_MS = 5000;

export function conformance(options: ConformanceOptions): ConformanceCheck[] {
  const mutations: readonly string[] = browserMutations;
  const run = async (
    over: Partial<RunPluginOptions> & { faults?: ScriptedFault[]; input?: Record<string, unknown> } = {},
  ) => {
    const browser = scriptedBrowser({ pages: options.pages, ...(over.faults ? { faults: over.faults } : {}) });
    const { faults: _used, input, ports, ...rest } = over;
    const running = runPlugin({
      plugin: options.plugin,
      tier: options.tier ?? 'worker',
      input: { contractVersion: 1, goal: options.goal, scope: browser.scope, ...options.input, ...input },
      ports: { evaluate: stubEvaluatorFor(options.answers), callTool: browser.callTool, progress: () => {}, ...ports },
      ...rest,
    });
    return { browser, running };
  };
  /** Tools that the plain run changes the page with. */
  const used = async (): Promise<string[]> => {
    const { browser, running } = await run();
    await running;
    return [...new Set(browser.calls.map(({ name }) => name).filter((name) => mutations.includes(name)))];
  };
  const check = (name: string, body: () => Promise<void>): ConformanceCheck => ({ name, run: body });

  return [
    check('acts on the page, and answers in the contract’s shape', async () => {
      const { browser, running } = await run();
      const result = parsed(await running);
      must(browser.done.length > 0, 'It did nothing on a page on which the goal can be reached.');
      must(result.status !== 'succeeded' || result.reason !== '', 'A success names its reason.');
      leaseIsBack(browser);
    }),
    check('never claims success by itself', async () => {
      const { running } = await run();
      must(
        parsed(await running).status !== 'succeeded',
        'It said that it succeeded; only evidence that the host checks can say so.',
      );
    }),
    check('gives every action a new operation id, and never sends one again', async () => {
      const { browser, running } = await run();
      await running;
      const ids = browser.calls.map(({ args }) => args.operation_id).filter((id) => id !== undefined);
      must(new Set(ids).size === ids.length, 'It used an operation id twice.');
    }),
    check('stops at an action whose outcome is unknown, and does not repeat it', async () => {
      for (const tool of await used()) {
        for (const does of ['unknown', 'lost'] as const) {
          const { browser, running } = await run({ faults: [{ tool, does }] });
          const result = parsed(await running);
          const sent = browser.calls.filter(({ name }) => mutations.includes(name)).map(({ name }) => name);
          must(sent.indexOf(tool) === sent.length - 1, `It acted again after a ${tool} whose outcome is unknown.`);
          must(result.lastAction?.outcome === 'unknown', 'It does not report the outcome as unknown.');
          must(result.status !== 'succeeded', 'It claims success after an unknown outcome.');
          leaseIsBack(browser);
        }
      }
    }),
    check('survives a page that changed under it', async () => {
      for (const tool of await used()) {
        const { browser, running } = await run({ faults: [{ tool, does: 'stale' }] });
        parsed(await running);
        const again = browser.calls.filter(({ name }) => name === tool);
        const ids = new Set(again.map(({ args }) => args.operation_id));
        must(ids.size === again.length, 'It tried again under the same operation id.');
        leaseIsBack(browser);
      }
    }),
    check('returns soon after it was cancelled, and gives the tab back', async () => {
      const stop = new AbortController();
      const evaluate: Evaluate = (_request, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          stop.abort();
        });
      const { browser, running } = await run({ ports: { evaluate }, signal: stop.signal, graceMs: CANCEL_MS });
      await running.catch((error) => {
        must(isHostError(error, 'PLUGIN_FAILED'), `It did not return within ${CANCEL_MS} ms of its cancellation.`);
      });
      must(!browser.calls.some(({ name }) => mutations.includes(name)), 'It acted after it was cancelled.');
      leaseIsBack(browser);
    }),
    check('keeps its budget of evaluations', async () => {
      let evaluations = 0;
      const evaluate: Evaluate = async (request) => {
        evaluations += 1;
        return resultFor(request, offered(request, options.answers));
      };
      const { running } = await run({ ports: { evaluate }, input: { maxEvaluations: 1 } });
      parsed(await running);
      must(evaluations <= 1, `It asked ${evaluations} times with a budget of one.`);
    }),
    check('ends cleanly when nothing may be asked or done', async () => {
      const browser = scriptedBrowser({ pages: options.pages });
      await run({ grants: {} })
        .then(({ running }) => running)
        .catch((error) => {
          must(
            isHostError(error, 'PLUGIN_FAILED') && error.details.cause === 'CAPABILITY_DENIED',
            'It hid that it was refused.',
          );
        });
      must(browser.done.length === 0, 'It acted without a grant.');
    }),
    check('ends cleanly when the evaluator fails', async () => {
      for (const code of ['JEV_RATE_LIMITED', 'JEV_PROVIDER_UNAVAILABLE', 'JEV_INVALID_RESPONSE'] as const) {
        const evaluate = failingEvaluator(code);
        const { browser, running } = await run({ ports: { evaluate } });
        await running.then(parsed, (error) => must(isHostError(error, 'PLUGIN_FAILED'), `It was lost over ${code}.`));
        must(browser.done.length === 0, `It acted although the evaluator failed with ${code}.`);
        leaseIsBack(browser);
      }
    }),
    check('refuses input that is not the contract’s', async () => {
      const { browser, running } = await run({ input: { goal: '', scope: 'everything' } });
      await running.then(
        (result) => must(parsed(result).status !== 'succeeded', 'It succeeded on input that is not valid.'),
        (error) => must(isHostError(error, 'PLUGIN_FAILED'), 'It was lost over input that is not valid.'),
      );
      must(browser.done.length === 0, 'It acted on input that is not valid.');
    }),
  ];
}

function stubEvaluatorFor(answers: Record<string, AnswerFor>): Evaluate {
  return (request, signal) => stubEvaluator(offered(request, answers))(request, signal);
}

/** Answers that name an option which this page does not offer are left to the stub. */
function offered(request: Parameters<Evaluate>[0], answers: Record<string, AnswerFor>): Record<string, AnswerFor> {
  return Object.fromEntries(
    Object.entries(answers).filter(([id, answer]) => {
      const question = request.questions[id];
      return (
        question &&
        (typeof answer !== 'string' || question.type !== 'choice' || Object.hasOwn(question.criteria, answer))
      );
    }),
  );
}

function parsed(value: unknown): BrowserRunResult {
  const result = v.safeParse(BrowserRunResult, value);
  if (!result.success)
    throw new Error(
      `Its result is not the contract’s at ${v.getDotPath(result.issues[0])}: ${result.issues[0].message}`,
    );
  return result.output;
}

function leaseIsBack(browser: ScriptedBrowser): void {
  must(!browser.leaseHeld(), 'It kept the tab’s lease.');
}

function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
