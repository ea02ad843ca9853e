/**
 * Programs, from the host's side: who launches, with whose powers each runs, and how its news comes back.
 *
 * Threat: the launching plugin serves many callers and the runner holds a hostile program. So the powers of a run are
 * bound here, to the caller that launched it, when it starts; both plugins only ever name a run. Every call of a program is
 * looked up and allowed anew, and withdrawing its caller's access ends it.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { Permit } from '../../core/authorization/fences.ts';
import { isHostError } from '../../sdk/contract/errors.ts';
import type { JevRequest, JevResult } from '../../sdk/contract/jev.ts';
import type { ProgramsAbout } from '../../sdk/contract/program.ts';
import { RunnerEnd, RunnerInput, RunnerReport } from '../../sdk/contract/program-runner.ts';
import { refuseProgram, sentenceOf } from '../../sdk/programs/program-error.ts';
import type { PluginHost, ProgramPort, ProgramsPort, RunAuthority, RunPorts } from '../plugins/ports.ts';
import type { TypeCheck } from './check/type-check.ts';
import { type Conversations, openEars } from './conversation-ears.ts';
import { findReference, fingerprint, lookUp, type Reference, type ReferenceSource } from './references.ts';
import { RunLink } from './run-link.ts';

/** The plugin that offers programs to agents, and the kind of controller that runs one. */
export const LAUNCHER = 'programs';
const ADAPTER = 'program';
/** Milliseconds past its own deadline after which a program's worker is ended from outside. */
const DEADLINE_SLACK_MS = 1000;
/**
 * Programs that run, wait for a worker or are being ended, whatever the launching plugin says. A stopped program still
 * holds its worker for a moment; the next one waits for it instead of being refused.
 */
const MAX_LIVE = 64;

export interface ProgramServiceDeps {
  plugins: Pick<PluginHost, 'run' | 'controllerFor' | 'callContributed'>;
  /** Evaluations on behalf of the caller; asked for access on each. */
  evaluate(request: JevRequest, caller: RunAuthority, runId: string, signal: AbortSignal): Promise<JevResult>;
  mayEvaluate(caller: RunAuthority): boolean;
  about(): Promise<Omit<ProgramsAbout, 'owner'>>;
  sources: readonly ReferenceSource[];
  typeCheck: TypeCheck;
  /** Ends when the caller's key or agent is withdrawn. */
  permit(caller: RunAuthority): Permit;
  conversations?: Conversations;
  uuid(): string;
}

export interface ProgramService {
  /** What a call of the launching plugin may do on behalf of this caller. */
  portsFor(caller: RunAuthority): Pick<RunPorts, 'programs'>;
  /** Programs that run now. */
  readonly live: number;
  /** Gets the type check ready. */
  warm(): Promise<void>;
  stop(): void;
}

interface LiveRun {
  owner: string;
  abort: AbortController;
}

const StartRequest = v.strictObject({
  id: v.pipe(v.string(), v.uuid()),
  generation: v.string(),
  runner: RunnerInput,
});
const References = v.pipe(v.array(v.pipe(v.string(), v.maxLength(256))), v.maxLength(64));
const Source = v.strictObject({
  declarations: v.pipe(v.string(), v.maxLength(1_000_000)),
  code: v.pipe(v.string(), v.maxLength(65_536)),
});

const CHANGED = 'Caller capability generation changed; relaunch with a fresh commitment';
const EVALUATE = 'jev.evaluate';

export function createProgramService(deps: ProgramServiceDeps): ProgramService {
  const live = new Map<string, LiveRun>();
  const evaluation: ReferenceSource = {
    find: (ref, caller) =>
      ref === EVALUATE
        ? { ref, allowed: deps.mayEvaluate(caller), call: async () => refuseProgram('PROGRAM_CALL_FAILED', CHANGED) }
        : undefined,
  };
  const sources = [evaluation, ...deps.sources];

  const portsFor = (caller: RunAuthority): { programs: ProgramsPort } => ({
    programs: {
      about: async () => ({ owner: ownerKey(caller), ...(await deps.about()) }),
      async describe(given) {
        const { found, denied, missing, generation } = lookUp(v.parse(References, given), caller, sources);
        return { tools: found.filter(({ ref }) => ref !== EVALUATE).map(described), denied, missing, generation };
      },
      check: async (given) => deps.typeCheck.check(v.parse(Source, given), ownerKey(caller)),
      async start(given) {
        const { id, generation, runner } = v.parse(StartRequest, given);
        const found = lookUp(runner.requires, caller, sources);
        if (found.generation !== generation || found.found.length !== runner.requires.length)
          refuseProgram('PROGRAM_CAPABILITIES_CHANGED', CHANGED);
        if (live.size >= MAX_LIVE) refuseProgram('PROGRAM_LIMIT_REACHED', 'Jev concurrent run limit reached');
        if (live.has(id)) refuseProgram('PROGRAM_INVALID', 'This run exists already');
        begin(id, runner, caller, found.found);
      },
      async stop(id) {
        const run = live.get(id);
        // Somebody else's run does not exist.
        if (run?.owner === ownerKey(caller)) run.abort.abort();
      },
    },
  });

  function begin(id: string, runner: RunnerInput, caller: RunAuthority, granted: readonly Reference[]): void {
    const runnerId = deps.plugins.controllerFor(ADAPTER);
    if (runnerId === undefined) refuseProgram('PROGRAM_CLOSED', 'The program runner is not serving');
    const abort = new AbortController();
    const permit = deps.permit(caller);
    permit.signal.addEventListener('abort', () => abort.abort(), { once: true });
    live.set(id, { owner: ownerKey(caller), abort });
    const tell = (handler: string, news: object) =>
      deps.plugins.callContributed(
        LAUNCHER,
        handler,
        { id, ...news },
        { runId: deps.uuid(), ports: {}, authority: caller, signal: new AbortController().signal },
      );
    const link = new RunLink({
      report: (report) => tell('run_report', { report }),
      ended: (end) => tell('run_ended', { end }),
      abandoned: () => abort.abort(),
    });
    const ears =
      runner.observe && deps.conversations ? openEars(runner.observe, caller, deps.conversations) : undefined;
    const ports: RunPorts = {
      evaluate: (request, signal) =>
        withinTime(runner.requestTimeoutMs, signal, (bounded) => deps.evaluate(request, caller, id, bounded)),
      program: {
        call: callOf(granted, caller),
        report(given) {
          const report = v.safeParse(RunnerReport, given);
          if (report.success) link.report(report.output);
        },
        ...(ears ? { observe: ears.next, advise: ears.advise } : {}),
      },
    };
    const deadlineMs = runner.limits.timeoutMs + DEADLINE_SLACK_MS;
    deps.plugins
      .run(runnerId, { runId: id, input: runner, ports, authority: caller, signal: abort.signal, deadlineMs })
      .then(
        (end) => v.parse(RunnerEnd, end),
        (error) => endOf(error, permit.holds()),
      )
      .catch((error) => ({ state: 'failed' as const, error: sentenceOf(error) }))
      .then(async (end) => {
        live.delete(id);
        permit.release();
        ears?.close();
        await link.end(end);
      })
      .catch(() => undefined);
  }

  /** A call is the same call that was checked at launch, allowed now. */
  function callOf(granted: readonly Reference[], caller: RunAuthority): ProgramPort['call'] {
    const pinned = new Map(granted.map((reference) => [reference.ref, fingerprint(reference)]));
    return async (ref, args, signal) => {
      const pin = pinned.get(ref);
      if (pin === undefined || ref === EVALUATE)
        refuseProgram('PROGRAM_CAPABILITY_DENIED', `Capability not granted to Jev program: ${ref}`);
      const reference = findReference(ref, caller, sources);
      if (reference && !reference.allowed)
        refuseProgram('PROGRAM_CAPABILITY_DENIED', `${ref} was denied: the caller may not use it any more`);
      if (!reference || fingerprint(reference) !== pin) refuseProgram('PROGRAM_CAPABILITIES_CHANGED', CHANGED);
      return reference.call(args, signal);
    };
  }

  return {
    portsFor,
    get live() {
      return live.size;
    },
    warm: () => deps.typeCheck.warm(),
    stop() {
      for (const run of live.values()) run.abort.abort();
      deps.typeCheck.stop();
    },
  };
}

/** Aborts the work when its time is up, or when whoever asked goes. */
async function withinTime<T>(ms: number, signal: AbortSignal, work: (bounded: AbortSignal) => Promise<T>): Promise<T> {
  const bounded = new AbortController();
  const end = () => bounded.abort();
  const timer = setTimeout(end, ms);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await work(bounded.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** The same for every call of one principal, agent and conversation; says nothing about them. */
function ownerKey({ principalId, agentId, conversationId }: RunAuthority): string {
  return createHash('sha256')
    .update(JSON.stringify([principalId, agentId, conversationId]))
    .digest('hex');
}

function described({ ref, description, inputSchema, outputSchema }: Reference) {
  return {
    ref,
    ...(description === undefined ? {} : { description }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

/** How a run ended whose runner did not say. */
function endOf(error: unknown, permitted: boolean): Omit<RunnerEnd, 'report'> {
  if (!permitted) return { state: 'cancelled', error: 'The caller may not run programs any more' };
  if (isHostError(error, 'PLUGIN_DEADLINE')) return { state: 'timed_out', error: 'Jev deadline exceeded' };
  if (isHostError(error, 'PLUGIN_UNRESPONSIVE'))
    return { state: 'timed_out', error: 'Program exceeded its uninterrupted CPU limit and was ended with its worker' };
  if (isHostError(error, 'PLUGIN_MEMORY'))
    return { state: 'failed', error: 'The program used more memory than it may' };
  return { state: 'failed', error: sentenceOf(error) };
}
