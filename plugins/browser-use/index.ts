/**
 * Browser Use: carries out a goal in one approved browser tab, one small typed decision at a time.
 *
 * It holds no authority of its own. What it may do is what the run's context offers; what it claims is advice that the
 * host checks against its receipts.
 */
import * as v from 'valibot';
import { BrowserRunInput } from '../../sdk/contract/browser-run.ts';
import { HostError } from '../../sdk/contract/errors.ts';
import { remoteBrowser } from '../../sdk/devices/remote-browser.ts';
import { defineController } from '../../sdk/plugin/define.ts';
import { runCommand } from './direct-command.ts';
import { runGoal } from './goal.ts';
import { checked, resultOf } from './outcome.ts';
import manifest from './plugin.json' with { type: 'json' };
import { createSession, type Session } from './session.ts';
import { runSteps, STEP_RUN_MS } from './step-runner.ts';
import { codeOf, Stop } from './stop.ts';

export default defineController(manifest, {
  async run(given, ctx) {
    const parsed = v.safeParse(BrowserRunInput, given);
    if (!parsed.success) {
      throw new HostError('INVALID_INPUT', {
        path: v.getDotPath(parsed.issues[0]) ?? '',
        problem: parsed.issues[0].message,
      });
    }
    const input = withinLimits(parsed.output);
    const browser = remoteBrowser(ctx.tools, input.scope, { uuid: () => ctx.random.uuid() });
    const session = createSession(input, ctx, browser);
    let end: Stop;
    try {
      await session.acquire();
      end = await carryOn(session);
    } catch (error) {
      end = error instanceof Stop ? error : new Stop(codeOf(error) ?? 'ADAPTER_FAILURE');
      if (!(error instanceof Stop)) ctx.log.error(`The run failed: ${String(error).slice(0, 200)}`);
    } finally {
      await session.release();
    }
    return checked(resultOf(session, end));
  },
});

/** The owner's steps, the owner's one command, or an agent's goal. */
function carryOn(session: Session): Promise<Stop> {
  const { steps, command, agentCommand, confirmation } = session.input;
  if (steps) return runSteps(session, steps);
  return command || agentCommand || confirmation ? runCommand(session) : runGoal(session);
}

function withinLimits(input: BrowserRunInput): BrowserRunInput {
  return input.steps ? { ...input, timeoutMs: Math.min(input.timeoutMs, STEP_RUN_MS) } : input;
}
