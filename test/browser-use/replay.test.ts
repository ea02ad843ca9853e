import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BrowserRunResult } from '../../sdk/contract/browser-run.ts';
import type { ToolReply } from '../../sdk/contract/capabilities.ts';
import type { JevResult } from '../../sdk/contract/jev.ts';
import { runPlugin } from '../../sdk/testing/index.ts';
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

/** One task of every family. */
const tasks = [...new Map(browserTasks.map((task) => [task.family, task])).values()];

describe('a recorded run', () => {
  it.each(tasks.map((task) => [task.family, task] as const))(
    'gives the same decisions offline: %s',
    async (_family, task) => {
      const requests: string[] = [];
      const answers: JevResult[] = [];
      const replies: { name: string; reply: ToolReply }[] = [];
      const right = rightEvaluator(task);
      const live = await runTask(task, {
        site,
        device: {
          ...device,
          async call(name, args, signal) {
            const reply = await device.call(name, args, signal);
            replies.push({ name, reply });
            return reply;
          },
        },
        async evaluate(request, signal) {
          const answer = await right(request, signal);
          requests.push(JSON.stringify(request));
          answers.push(answer);
          return answer;
        },
      });

      const again: string[] = [];
      const offline = (await runPlugin({
        plugin: 'plugins/browser-use',
        tier: 'inline',
        input: {
          contractVersion: 1,
          goal: task.goal,
          startUrl: site.url(task),
          scope: device.scope,
          ...(task.fields ? { fields: task.fields } : {}),
        },
        ports: {
          async evaluate(request) {
            again.push(JSON.stringify(request));
            return answers[again.length - 1] as JevResult;
          },
          // Replies by tool, in their order: a lease is renewed beside a decision, so the order over all tools may differ.
          async callTool(name) {
            const at = replies.findIndex((entry) => entry.name === name);
            const [entry] = replies.splice(at, 1);
            if (at < 0 || !entry) throw new Error(`${name} was not called in the recorded run`);
            return entry.reply;
          },
          progress: () => {},
        },
      })) as BrowserRunResult;

      expect(again).toEqual(requests);
      const { trace: _live, ...before } = live.result;
      const { trace: _offline, ...after } = offline;
      expect(withoutIds(after)).toEqual(withoutIds(before));
      expect(replies).toEqual([]);
    },
  );
});

const withoutIds = (value: unknown) =>
  JSON.parse(JSON.stringify(value).replace(/"operationId":"[0-9a-f-]{36}"/g, '"operationId":"-"'));
