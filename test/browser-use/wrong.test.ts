import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import { isCode } from '../../sdk/contract/codes.ts';
import { rightEvaluator, seeded, wrongEvaluator } from '../fixtures/browser-tasks/oracle.ts';
import { type Device, runTask, same, startDevice, type TaskRun } from '../fixtures/browser-tasks/rig.ts';
import { startTaskSite, type TaskSite } from '../fixtures/browser-tasks/site.ts';
import type { BrowserTask } from '../fixtures/browser-tasks/task.ts';
import { browserTasks } from '../fixtures/browser-tasks/tasks.ts';

const WRONG = 0.2;
/** `JEV_HOST_LONG=1` runs every task; otherwise every third, so that each family is met. */
const EVERY = process.env.JEV_HOST_LONG === '1' ? 1 : 3;
/** `JEV_HOST_SEED` shifts every task's seed, for other wrong answers than the usual ones. */
const SHIFT = Number(process.env.JEV_HOST_SEED ?? 0);
const tasks = browserTasks.map((task, i) => [task.id, i + 1, task] as const).filter(([, seed]) => seed % EVERY === 0);
const LIMITS = { maxSteps: 14, maxEvaluations: 16, verifier: true } as const;

let site: TaskSite;
let device: Device;
beforeAll(async () => {
  site = await startTaskSite(browserTasks);
  device = await startDevice(site.origin);
});
afterAll(async () => {
  await device.close();
  await site.close();
});

describe('with an evaluator that is wrong one time in five', () => {
  it.each(tasks)('%s (seed %i)', async (_id, seed, task) => {
    const evaluate = wrongEvaluator(rightEvaluator(task), WRONG, seeded(seed + SHIFT));
    const run = await runTask(task, { site, device, evaluate, input: LIMITS });
    expectNothingTwice(run);
    expectTrueReason(run, task);
  });
});

/** Each dispatch had an id of its own, and the site received no more than was dispatched. */
function expectNothingTwice({ result, received, sent }: TaskRun): void {
  expect(new Set(sent.map(({ operationId }) => operationId)).size).toBe(sent.length);
  const executed = events(result, 'action').filter(({ outcome }) => outcome !== 'not_executed').length;
  expect(received.length).toBeLessThanOrEqual(executed);
}

const events = (result: BrowserRunResult, phase: string) =>
  (result.trace?.events ?? []).filter((event) => event.phase === phase);

/** The reason says what the run's own record shows. */
function expectTrueReason({ result, received }: TaskRun, task: BrowserTask): void {
  const { reason } = result;
  expect(isCode(reason), reason).toBe(true);
  const decision = events(result, 'decision').at(-1);
  const codes = events(result, 'recovery').map(({ code }) => code);
  const shows: Record<string, () => boolean> = {
    VERIFIED: () => same(received, task.expected),
    VERIFICATION_FAILED: () => decision?.operation === 'DONE' && !same(received, task.expected),
    OBSERVATION_TRUNCATED: () => decision?.operation === 'DONE',
    NO_SUPPORTED_ACTION: () => decision?.operation === 'BLOCKED',
    LOW_TARGET_CONFIDENCE: () => decision?.target === undefined,
    ACTION_BUDGET: () => result.steps >= LIMITS.maxSteps,
    EVALUATION_BUDGET: () => result.evaluations >= LIMITS.maxEvaluations,
    WAIT_BUDGET: () => decision?.operation === 'WAIT',
    NO_PROGRESS: () =>
      codes.includes('FIELD_VALUE_ALREADY_PRESENT') ||
      events(result, 'effect').some(({ page_changed }) => page_changed === false) ||
      events(result, 'effect').length >= 3,
    FIELD_TEXT_REQUIRED: () => result.fieldRequest !== undefined && decision?.operation === 'TYPE_TEXT',
    TARGET_OBSCURED: () => codes.includes('STALE_OBSERVATION'),
    STALE_RETRY_BUDGET: () => codes.includes('STALE_OBSERVATION'),
    OUTCOME_UNKNOWN: () => result.lastAction?.outcome === 'unknown',
    AUTH_REQUIRED: () => JSON.stringify(result.observation).includes('"sensitive":true'),
    CAPTCHA_REQUIRED: () => task.id === 'wall-captcha',
    CONSENT_BANNER: () => task.id === 'wall-consent' || task.id === 'consent-declined',
  };
  expect(shows[reason], `an unexpected reason: ${reason}`).toBeDefined();
  expect(shows[reason]?.(), reason).toBe(true);
}
