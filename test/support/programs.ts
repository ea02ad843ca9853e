/** Manager, checker and runner in one process, without workers: for tests of what programs may do and what they are told. */
import { randomUUID } from 'node:crypto';
import { Checker, type CheckRequest, type CheckResult } from '../../host/programs/check/checker.ts';
import { type RunnerHost, runProgram } from '../../plugins/program-runner/run-program.ts';
import { parseArguments } from '../../plugins/programs/artifact.ts';
import { type ProgramSettings, settingsFrom } from '../../plugins/programs/limits.ts';
import { type ManagerHost, ProgramManager } from '../../plugins/programs/manager.ts';
import type { RunStart } from '../../plugins/programs/run-record.ts';
import type { ProgramTool, RunEnvelope } from '../../sdk/index.ts';
import { plainEngine } from './program-engine.ts';

/** One checker for the whole test file: starting one takes half a second. */
const checker = new Checker();

export interface WorkbenchOptions {
  settings?: Partial<ProgramSettings>;
  evaluate?: (request: unknown) => Promise<unknown>;
  call?: (ref: string, args: unknown) => Promise<unknown>;
  tools?: ProgramTool[];
  denied?: string[];
  generation?: () => string;
  observe?: RunnerHost['observe'];
  advise?: RunnerHost['advise'];
  check?: (request: CheckRequest) => Promise<CheckResult>;
  left?: RunStart[];
  /** Before a note is taken; may fail. */
  noting?: () => Promise<void>;
  sliceMs?: number;
  heapBytes?: number;
}

export function workbench(options: WorkbenchOptions = {}) {
  const engine = plainEngine();
  const manager = new ProgramManager(settingsFrom(options.settings ?? {}));
  const tools: ProgramTool[] = options.tools ?? [];
  const aborts = new Map<string, AbortController>();
  const working = new Set<Promise<void>>();
  let remembered: readonly RunStart[] = [];
  const remember = async (running: readonly RunStart[]) => {
    await options.noting?.();
    remembered = running;
  };
  const evaluated: unknown[] = [];
  const called: { ref: string; args: unknown }[] = [];

  const hostFor = (owner: string, signal: AbortSignal): ManagerHost => ({
    owner,
    signal,
    now: Date.now,
    uuid: randomUUID,
    async describe(references) {
      const known = ['jev.evaluate', ...tools.map((tool) => tool.ref)];
      const denied = references.filter((ref) => options.denied?.includes(ref));
      const missing = references.filter((ref) => !denied.includes(ref) && !known.includes(ref));
      return { tools, denied, missing, generation: options.generation?.() ?? '1' };
    },
    check: async (request) => (options.check ? options.check(request) : checker.check(request)),
    async start({ id, generation, runner }) {
      if (generation !== (options.generation?.() ?? '1')) throw new Error('generation');
      const abort = new AbortController();
      aborts.set(id, abort);
      const work = runProgram(runner, {
        engine,
        now: Date.now,
        random: Math.random,
        async evaluate(request) {
          evaluated.push(request);
          return options.evaluate ? options.evaluate(request) : instantAnswer(request as never);
        },
        async call(ref, args) {
          called.push({ ref, args });
          return options.call ? options.call(ref, args) : { ref, args };
        },
        report: (report) => void manager.report(id, report),
        observe: options.observe ?? (() => new Promise(() => undefined)),
        advise: options.advise ?? (async () => ({ delivered: true })),
        signal: abort.signal,
        ...(options.sliceMs === undefined ? {} : { sliceMs: options.sliceMs }),
        ...(options.heapBytes === undefined ? {} : { heapBytes: options.heapBytes }),
      }).then((end) => manager.ended(id, end, { now: Date.now, remember }));
      working.add(work);
      work.finally(() => working.delete(work)).catch(() => undefined);
    },
    async stop(id) {
      aborts.get(id)?.abort();
    },
    remember,
    recall: async () => options.left ?? [],
  });

  const own = new AbortController().signal;
  return {
    manager,
    engine,
    evaluated,
    called,
    remembered: () => remembered,
    host: (signal: AbortSignal = own, owner = 'owner') => hostFor(owner, signal),
    run: async (args: unknown, signal: AbortSignal = own, owner = 'owner'): Promise<RunEnvelope> =>
      manager.run(parseArguments('run', args), hostFor(owner, signal)),
    spawn: async (args: unknown, signal: AbortSignal = own, owner = 'owner'): Promise<RunEnvelope> =>
      manager.spawn(parseArguments('spawn', args), hostFor(owner, signal)),
    wait: (id: string, signal: AbortSignal = own, owner = 'owner') =>
      manager.wait(parseArguments('wait', { id }), hostFor(owner, signal)),
    join: (id: string, signal: AbortSignal = own, owner = 'owner') =>
      manager.wait(parseArguments('join', { id }), hostFor(owner, signal)),
    status: (id: string, after?: number, owner = 'owner') =>
      manager.status(after === undefined ? { id } : { id, after }, hostFor(owner, own)),
    list: (owner = 'owner') => manager.list(hostFor(owner, own)),
    stop: (id: string, owner = 'owner') => manager.stop({ id }, hostFor(owner, own)),
    /** Resolves when every runner has let go of its engine. */
    async idle(): Promise<void> {
      while (working.size > 0) await Promise.all(working);
    },
  };
}

/** A program with schemas that let everything through. */
export function program(code: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'test', code, inputSchema: {}, outputSchema: {}, requires: [], ...more };
}

/** The first option, the middle of a score, even odds; four tokens in, one out. */
export function instantAnswer({
  questions,
}: {
  questions: Record<string, { type: string; criteria?: object }>;
}): unknown {
  const answers = Object.entries(questions).map(([id, { type, criteria }]) => {
    const keys = Object.keys(criteria ?? {});
    const probabilities = Object.fromEntries(keys.map((key, index) => [key, index === 0 ? 1 : 0]));
    if (type === 'choice') return [id, { type, choice: keys[0], probabilities, confidence: 1 }];
    if (type === 'score') return [id, { type, score: 0, probabilities, legend: {}, confidence: 1 }];
    return [id, { type, noul: 0.5 }];
  });
  return { model: 'jev-1.13.0', answers: Object.fromEntries(answers), usage: { input_tokens: 4, output_tokens: 1 } };
}
