import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rightEvaluator } from '../fixtures/browser-tasks/oracle.ts';
import { type Device, runTask, startDevice } from '../fixtures/browser-tasks/rig.ts';
import { startTaskSite, type TaskSite } from '../fixtures/browser-tasks/site.ts';
import { browserTasks } from '../fixtures/browser-tasks/tasks.ts';

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

describe('with an evaluator that chooses right', () => {
  it.each(browserTasks.map((task) => [task.family, task.id, task] as const))('%s: %s', async (_family, _id, task) => {
    const { result, received, sent } = await runTask(task, {
      site,
      device,
      evaluate: rightEvaluator(task),
      input: { verifier: task.endsWith === undefined },
    });
    expect({ reason: result.reason, received }).toEqual({
      reason: task.endsWith ?? 'VERIFIED',
      received: task.expected,
    });
    expect(new Set(sent.map(({ operationId }) => operationId)).size).toBe(sent.length);
  });
});
