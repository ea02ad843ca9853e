/**
 * Regression scenarios of whole automation: the actual host and its browser controller on synthetic pages, with a parent
 * that answers, replans and verifies. See docs/browser-use.md, "Fixtures".
 *
 * Decisions are scripted unless JEV_FIXTURE_INFERENCE names a module that exports `evaluate(request, signal)` and
 * `parent(input)`; the report says which. JEV_FIXTURE_RECORDINGS names a folder for recordings of the runs. Nothing is bought, booked or sent anywhere: the pages exist in memory only.
 */
import { copyFileSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  BINDING,
  fixtureConfig,
  fixtureFolder,
  freshEvidence,
  startCallbackEvaluator,
  startFixtureHost,
  untilSettled,
} from './fixtures/host.mjs';
import { conditions, scenarios, scriptedEvaluator, scriptedParent } from './fixtures/scenarios.mjs';
import { startSyntheticDevice } from './fixtures/synthetic-device.mjs';

/** Turns that a parent takes at most. */
const TURNS = 8;

/**
 * @param {{ scenario?: string, condition?: string, inference?: { evaluate: Function, parent: Function }, recordings?: string, log?: (line: string) => void }} [options]
 * `recordings` is a folder: each run is recorded into it, for `jev-host replay`.
 * @returns {Promise<{ decisions: 'scripted' | 'live', results: object[], passed: boolean }>}
 */
export async function runAutomationFixtures({ scenario, condition, inference, recordings, log = () => {} } = {}) {
  const results = [];
  for (const one of scenarios.filter(({ name }) => scenario === undefined || name === scenario)) {
    for (const way of conditions.filter(({ name }) => condition === undefined || name === condition)) {
      const result = await runScenario(one, way, inference, recordings);
      log(`${result.passed ? 'ok  ' : 'FAIL'} ${one.name}, ${way.name}: ${result.trail.join(' → ')}`);
      results.push(result);
    }
  }
  return { decisions: inference ? 'live' : 'scripted', results, passed: results.every(({ passed }) => passed) };
}

async function runScenario(scenario, condition, inference, recordings) {
  const { folder, remove } = fixtureFolder();
  const device = await startSyntheticDevice(folder, { pages: scenario.pages, faults: faultsOf(scenario, condition) });
  const evaluator = await startCallbackEvaluator(inference?.evaluate ?? scriptedEvaluator(scenario, condition));
  const parent = inference?.parent ?? scriptedParent(scenario);
  let host;
  try {
    const { endpoint, apiKeyFile, scope } = device;
    host = await startFixtureHost(
      fixtureConfig({
        folder,
        evaluatorUrl: evaluator.url,
        endpoint,
        apiKeyFile,
        scope,
        fields: scenario.fields,
        budget: condition.budget,
        record: recordings !== undefined,
      }),
    );
    const { agent } = host;
    await agent.call('capabilities_list', { scope: 'browser' });
    const { task: spawned } = await agent.call('task_spawn', {
      title: scenario.name,
      instructions: scenario.goal,
      target_profile: 'gateway-managed',
      gateway_target: { adapter: 'browser', session_id: BINDING },
    });
    const trail = [];
    let userQuestions = 0;
    let task = spawned;
    for (let turn = 0; turn < TURNS; turn++) {
      task = await untilSettled(agent, task);
      trail.push(task.outcome === 'verified' ? 'verified' : (task.browserReport?.reason ?? task.outcome ?? task.state));
      if (task.outcome === 'verified') break;
      const evidence = task.pendingQuestion ? undefined : await freshEvidence(agent, task.taskId);
      const next = await parent({ task, evidence, goal: scenario.goal, facts: scenario.facts });
      if (next.action === 'ask user') userQuestions += 1;
      if (next.action === 'report' || next.action === 'ask user') break;
      ({ task } = await act(agent, task, evidence, next));
      if (task.outcome === 'verified') {
        trail.push('verified');
        break;
      }
    }
    const ended =
      task.outcome === 'verified' ? 'verified' : task.outcome === 'unknown' ? 'unknown' : (task.outcome ?? task.state);
    const tasks = (await agent.call('task_status', {})).tasks.length;
    const ids = device.browser.calls
      .filter(({ name }) => /^(page_(click|type|select|scroll|keypress)|tab_)/.test(name))
      .map(({ args }) => args.operation_id);
    const repeated = ids.length - new Set(ids).size;
    const submits = device.browser.done.filter((entry) => entry === scenario.submit).length;
    return {
      scenario: scenario.name,
      condition: condition.name,
      trail,
      ended,
      tasks,
      userQuestions,
      repeated,
      submits,
      passed: ended === condition.ends && tasks === 1 && userQuestions === 0 && repeated === 0 && submits <= 1,
    };
  } finally {
    await host?.stop();
    await evaluator.close();
    await device.close();
    if (recordings !== undefined) keepRecordings(folder, join(recordings, `${scenario.name}, ${condition.name}`));
    remove();
  }
}

/** The runs of one task, in the order in which they began. */
function keepRecordings(folder, to) {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const from = join(folder, 'data/recordings');
  const files = readdirSync(from, { recursive: true })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ path: join(from, name), began: statSync(join(from, name)).birthtimeMs }))
    .sort((a, b) => a.began - b.began);
  for (const [at, { path }] of files.entries()) copyFileSync(path, join(to, `run ${at + 1}.jsonl`));
}

/** The fault strikes the action that would submit. */
function faultsOf(scenario, { fault }) {
  if (fault === undefined) return [];
  const clicksBefore =
    Object.values(scenario.rules)
      .flat()
      .filter(({ click }) => click !== undefined).length - 1;
  return [
    {
      tool: 'page_click',
      after: fault === 'unknown' ? clicksBefore : 0,
      does: fault,
      ...(fault === 'stale' ? { cause: 'FORM_STATE_CHANGED' } : {}),
    },
  ];
}

function act(agent, task, evidence, next) {
  const known = { task_id: task.taskId };
  if (next.action === 'answer') {
    const { questionId } = task.pendingQuestion;
    return agent.call('task_answer', {
      ...known,
      question_id: questionId,
      answer: 'Known from the request.',
      field_text: next.text,
    });
  }
  if (next.action === 'verify') {
    return agent.call('task_update', {
      ...known,
      expected_revision: task.revision,
      mode: 'verify_browser',
      expected_request_id: evidence.requestId,
      evidence_id: evidence.evidenceId,
      instruction: next.evidence,
    });
  }
  return agent.call('task_update', {
    ...known,
    expected_revision: task.revision,
    mode: 'when_ready',
    instruction: next.guidance,
  });
}

/** For the command line. @returns {Promise<number>} the exit code. */
export async function main(args) {
  if (args.length > 0) console.log('The built-in controller is used; a path to another one is not needed.');
  const module = process.env.JEV_FIXTURE_INFERENCE;
  const inference = module ? await import(pathToFileURL(module).href) : undefined;
  const recordings = process.env.JEV_FIXTURE_RECORDINGS;
  const report = await runAutomationFixtures({ inference, recordings, log: console.log });
  console.log(
    `\nDecisions: ${report.decisions}. ${report.results.filter(({ passed }) => passed).length} of ${report.results.length} as they should be.`,
  );
  console.log('These synthetic pages say nothing about real sites, and scripted decisions nothing about a model.');
  return report.passed ? 0 : 1;
}
