import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Recording } from '../../sdk/contract/recording.ts';
import { replayPlugin } from '../../sdk/testing/index.ts';
import { rightEvaluator, seeded, wrongEvaluator } from '../fixtures/browser-tasks/oracle.ts';
import { type Device, runTask, startDevice } from '../fixtures/browser-tasks/rig.ts';
import { startTaskSite, type TaskSite } from '../fixtures/browser-tasks/site.ts';
import type { BrowserTask } from '../fixtures/browser-tasks/task.ts';
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

/** One task of every family. */
const tasks = [...new Map(browserTasks.map((task) => [task.family, task])).values()];

async function recordingOf(task: BrowserTask, evaluate: ReturnType<typeof rightEvaluator>): Promise<Recording> {
  let recording: Recording | undefined;
  const record = (taken: Recording) => {
    recording = taken;
  };
  await runTask(task, { site, device, evaluate, tier: 'worker', record, input: { maxSteps: 14, maxEvaluations: 16 } });
  if (!recording) throw new Error('nothing was recorded');
  return recording;
}

const decisionsIn = ({ events }: Recording) =>
  events.filter((event) => 'asked' in event && event.name === 'jev.evaluate').length;

describe('a recorded run', () => {
  it.each(tasks.map((task) => [task.family, task] as const))(
    'gives the same decisions offline: %s',
    async (_family, task) => {
      const recording = await recordingOf(task, rightEvaluator(task));
      const replayed = await replayPlugin('plugins/browser-use', recording);
      expect(replayed).toMatchObject({ same: true, decisions: decisionsIn(recording) });
      expect(replayed.decisions).toBeGreaterThan(0);
    },
  );

  it('with wrong decisions in it gives the same again, its recoveries and its end included', async () => {
    const [task] = tasks;
    if (!task) throw new Error('no task');
    for (const seed of [1, 2, 3]) {
      const recording = await recordingOf(task, wrongEvaluator(rightEvaluator(task), 0.5, seeded(seed)));
      expect(await replayPlugin('plugins/browser-use', recording)).toMatchObject({ same: true });
    }
  });
});
