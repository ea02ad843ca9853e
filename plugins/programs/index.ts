/** Typed programs: run, spawn, status, wait, join, stop (see README.md). */
import * as v from 'valibot';
import { type ContextOf, defineHelper, programError, RunnerEnd, RunnerReport } from '../../sdk/index.ts';
import { parseArguments } from './artifact.ts';
import { settingsFrom } from './limits.ts';
import { type ManagerHost, ProgramManager } from './manager.ts';
import manifest from './plugin.json' with { type: 'json' };
import { readRunning, writeRunning } from './running-note.ts';

type Context = ContextOf<typeof manifest>;

/** Made at activation: one per generation of the plugin, which is what runs belong to. */
let manager = new ProgramManager(settingsFrom({}));
let enabled = true;

/** What one call may do, until it returns. */
async function hostFor(ctx: Context): Promise<ManagerHost> {
  if (!enabled) throw programError('PROGRAM_CLOSED', 'Jev programs are switched off');
  const { owner } = await ctx.programs.about();
  return {
    owner,
    signal: ctx.signal,
    now: ctx.clock.now,
    uuid: ctx.random.uuid,
    describe: ctx.programs.describe,
    check: ctx.programs.check,
    start: ctx.programs.start,
    stop: ctx.programs.stop,
    remember: (running) => writeRunning(ctx.storage, running),
    recall: () => readRunning(ctx.storage),
  };
}

const Reported = v.strictObject({ id: v.string(), report: RunnerReport });
const Ended = v.strictObject({
  id: v.string(),
  end: v.strictObject({ ...RunnerEnd.entries, report: v.optional(RunnerReport) }),
});

export default defineHelper(manifest, {
  activate({ settings }) {
    const read = settingsFrom(settings);
    enabled = read.enabled;
    manager = new ProgramManager(read);
  },
  deactivate() {
    manager.close(0);
  },
  tools: {
    jev_run: async (args, ctx) => manager.run(parseArguments('run', args), await hostFor(ctx)),
    jev_spawn: async (args, ctx) => manager.spawn(parseArguments('spawn', args), await hostFor(ctx)),
    async jev_status(args, ctx) {
      const { id, after } = parseArguments('status', args);
      const host = await hostFor(ctx);
      if (id !== undefined) return manager.status({ id, ...(after === undefined ? {} : { after }) }, host);
      const { credentials, model } = await ctx.programs.about();
      return { credentials, model, ...(await manager.list(host)) };
    },
    jev_wait: async (args, ctx) => manager.wait(parseArguments('wait', args), await hostFor(ctx)),
    jev_join: async (args, ctx) => manager.wait(parseArguments('join', args), await hostFor(ctx)),
    jev_stop: async (args, ctx) => manager.stop(parseArguments('stop', args), await hostFor(ctx)),

    // The host's own news; plugin.json does not list them, so no agent can call them.
    run_report(args) {
      const { id, report } = v.parse(Reported, args);
      return manager.report(id, report);
    },
    async run_ended(args, ctx) {
      const { id, end } = v.parse(Ended, args);
      const remember: ManagerHost['remember'] = (running) => writeRunning(ctx.storage, running);
      await manager.ended(id, end, { now: ctx.clock.now, remember });
      return null;
    },
  },
});
