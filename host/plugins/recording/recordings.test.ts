import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { stubEvaluator } from '../../../sdk/testing/index.ts';
import { jevHost } from '../../../test/cli.ts';
import { PluginsConfig } from '../config.ts';
import { createPluginHost } from '../plugin-host.ts';
import { createRecordings, findRecording, openRecording, type RecordingsDeps } from './recordings.ts';

const fixtures = join(import.meta.dirname, '../../../test/fixtures/plugins');
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

function dataDirectory(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recordings-'));
  cleanUp.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function recordings(dataDir: string, more: Partial<RecordingsDeps> = {}) {
  const problems: string[] = [];
  const made = createRecordings({
    dataDir,
    taskExists: () => true,
    failed: (problem) => problems.push(problem),
    ...more,
  });
  cleanUp.push(() => made.close());
  return { ...made, problems };
}

const about = (runId: string, taskId?: string) => ({
  plugin: { id: 'p', version: '1' },
  handler: 'run',
  runId,
  at: 0,
  features: {},
  settings: {},
  ...(taskId === undefined ? {} : { taskId }),
});

describe('plugins.<id>.record', () => {
  async function runWith(record: boolean, tier: 'thread' | 'process' = 'thread') {
    const dataDir = dataDirectory();
    const kept = recordings(dataDir);
    const host = createPluginHost({
      bundledDirectory: fixtures,
      config: v.parse(PluginsConfig, { taped: { record, tier } }),
      recordings: kept,
      log: () => {},
      now: Date.now,
    });
    cleanUp.push(() => host.stop());
    await host.start();
    const result = await host.run('taped', {
      runId: 'task-0b0e1f5e-8f33-4b39-a02f-3b5a3f3c5a11',
      input: { rounds: 2 },
      ports: {
        evaluate: stubEvaluator({ way: 'RIGHT' }),
        callTool: async () => ({ content: [{ type: 'text', text: '{}' }] }),
        progress: () => {},
      },
      authority: { principalId: 'p', agentId: 'a', conversationId: 'c', taskId: 'the-task' },
      signal: new AbortController().signal,
    });
    return { dataDir, result };
  }

  it.each(['thread', 'process'] as const)(
    'writes each run to a file for the owner alone, and `replay` finds it by its attempt: %s',
    async (tier) => {
      const { dataDir, result } = await runWith(true, tier);
      const path = findRecording(dataDir, '0b0e1f5e-8f33-4b39-a02f-3b5a3f3c5a11');
      expect(path).toContain('the-task');
      if (!path) throw new Error('no recording');
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(openRecording(path)).toMatchObject({ taskId: 'the-task', ended: { result } });

      const where = ['--data-dir', dataDir, '--plugin', join(fixtures, 'taped')];
      const same = await jevHost(['replay', 'task-0b0e1f5e-8f33-4b39-a02f-3b5a3f3c5a11', ...where]);
      expect(same).toMatchObject({
        code: 0,
        stdout: '10 calls, 2 decisions among them, are the same, and so is the end.\n',
      });

      // As if the plugin had been another one when it ran.
      writeFileSync(path, readFileSync(path, 'utf8').replace('Which way?', 'Where to\u202e?'));
      const differs = await jevHost(['replay', path, ...where]);
      expect(differs.code).toBe(1);
      expect(differs.stdout.split('\n').slice(0, 3)).toEqual([
        'Step 4, decision 1 (jev.evaluate) differs at questions.way.instructions.',
        '  then: "Where to·?"',
        '  now:  "Which way?"',
      ]);
    },
  );

  it('leaves nothing open of a run that never began', async () => {
    const dataDir = dataDirectory();
    const host = createPluginHost({
      bundledDirectory: fixtures,
      config: v.parse(PluginsConfig, { taped: { record: true } }),
      recordings: recordings(dataDir),
      log: () => {},
      now: Date.now,
    });
    cleanUp.push(() => host.stop());
    await host.start();
    const run = host.run('taped', {
      runId: 'never',
      input: { rounds: 1 },
      ports: {},
      authority: { principalId: 'p', agentId: 'a', conversationId: 'c' },
      signal: AbortSignal.abort(new Error('cancelled before')),
    });
    await expect(run).rejects.toThrow();
    expect(findRecording(dataDir, 'never')).toBeUndefined();
  });

  it('is off unless it is turned on', async () => {
    const { dataDir } = await runWith(false);
    expect(existsSync(join(dataDir, 'recordings'))).toBe(false);
  });
});

describe('recordings', () => {
  it('go with their task, the moment it is looked at again', () => {
    const dataDir = dataDirectory();
    const first = recordings(dataDir);
    for (const [run, task] of [
      ['run-1', 'kept'],
      ['run-2', '../gone'],
      ['run-3', undefined],
    ] as const)
      first.begin(about(run, task))?.ended({ result: null });
    recordings(dataDir, { taskExists: (taskId) => taskId === 'kept' });
    expect(readdirSync(join(dataDir, 'recordings')).sort()).toEqual(['-', 'kept']);
    expect(findRecording(dataDir, 'run-2')).toBeUndefined();
  });

  it.each([
    ['too many', { maxCount: 2 }],
    ['too large together', { maxBytes: 500 }],
  ])('make room, oldest first, when they are %s', (_what, limit) => {
    const dataDir = dataDirectory();
    const kept = recordings(dataDir, limit);
    for (const run of ['a', 'b', 'c']) {
      kept.begin(about(run, 'task'))?.ended({ result: 'x'.repeat(100) });
      const path = findRecording(dataDir, run);
      if (path) utimesSync(path, run.charCodeAt(0), run.charCodeAt(0));
    }
    kept.begin(about('d', 'task'))?.ended({ result: null });
    expect(findRecording(dataDir, 'a')).toBeUndefined();
    expect(findRecording(dataDir, 'd')).toBeDefined();
  });

  it('keep no run from going on when the disk refuses', () => {
    const dataDir = dataDirectory();
    mkdirSync(join(dataDir, 'recordings'));
    writeFileSync(join(dataDir, 'recordings', 'task'), 'in the way');
    const kept = recordings(dataDir);
    expect(kept.begin(about('run', 'task'))).toBeUndefined();
    expect(kept.problems).toHaveLength(1);
  });
});

describe('jev-host replay', () => {
  it('says what is wrong with what it was given', async () => {
    const dataDir = dataDirectory();
    const text = join(dataDir, 'text');
    writeFileSync(text, 'hello\n');
    const foreign = join(dataDir, 'foreign');
    recordings(dataDir).begin(about('run'))?.ended({ result: null });
    writeFileSync(foreign, readFileSync(findRecording(dataDir, 'run') ?? '', 'utf8').replace('"p"', '"../p"'));
    expect(await jevHost(['replay'])).toMatchObject({ code: 2 });
    expect((await jevHost(['replay', 'nothing-like-it'])).stderr).toContain('There is no recording of nothing-like-it');
    expect((await jevHost(['replay', text])).stderr).toContain('Line 1 is no part of a recording: it is not JSON');
    expect((await jevHost(['replay', foreign])).stderr).toContain('"../p", which is not known here');
  });
});
