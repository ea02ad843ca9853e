/** One part of a step: a direct command with limits of its own, tried again while nothing of it has run. */
import { carryOut } from './direct-command.ts';
import type { Settled } from './direct-outcome.ts';
import type { Observation } from './observation.ts';
import type { Session } from './session.ts';
import { Stop, type StopExtras } from './stop.ts';

/** Actions and decisions that one part may take. */
const MAX_ACTIONS = 3;
const MAX_DECISIONS = 6;
/** Further attempts, and milliseconds before each. */
const FURTHER_ATTEMPTS = 2;
const ATTEMPT_WAIT_MS = 800;
/** UTF-16 units of context: the newest is kept. */
const MAX_CONTEXT = 8000;

/** Stops at which a page that is still being built may yet offer what the part needs. */
const MAY_YET_APPEAR = new Set([
  'NO_SUPPORTED_ACTION',
  'LOW_TARGET_CONFIDENCE',
  'LOW_OPERATION_CONFIDENCE',
  'PAGE_CONTENT_UNAVAILABLE',
]);

export interface PartEnd {
  end: Settled | Stop;
  /** The page at which it was sent; undefined on a blank tab. */
  before: Observation | undefined;
  extras: StopExtras;
}

export async function runPart(
  session: Session,
  part: string,
  { first, completed }: { first: boolean; completed: readonly string[] },
): Promise<PartEnd> {
  const limited = withLimits(session, contextFor(session.input.interactionContext, completed));
  for (let attempt = 0; ; attempt++) {
    const before = session.page ?? (await pageUnlessBlank(session));
    const sent = session.lastAction;
    const { end, extras } = await carryOut(limited, part, 'part');
    const reason = end instanceof Stop ? end.reason : (end.reason ?? '');
    const again = !first && session.lastAction === sent && MAY_YET_APPEAR.has(reason);
    if (!again || attempt >= FURTHER_ATTEMPTS) return { end, before, extras };
    session.trace.add('recovery', { code: reason, during: 'step' });
    await session.pause(ATTEMPT_WAIT_MS);
    await session.read();
  }
}

async function pageUnlessBlank(session: Session): Promise<Observation | undefined> {
  try {
    return await session.read();
  } catch (error) {
    if (error instanceof Stop && error.reason === 'START_URL_REQUIRED') return undefined;
    throw error;
  }
}

/** What came before, then the steps that are done: the next part may refer to them. */
export function contextFor(previous: string | undefined, completed: readonly string[]): string | undefined {
  const steps = completed.map((step, index) => `Step ${index + 1} done: ${step}`);
  const text = [...(previous === undefined ? [] : [previous]), ...steps].join('\n');
  return text === '' ? undefined : text.slice(-MAX_CONTEXT).replace(/^[\udc00-\udfff]/, '');
}

/** The run's session within the limits of one part; the limits of the whole run hold besides. */
function withLimits(session: Session, interactionContext: string | undefined): Session {
  let actions = 0;
  let decisions = 0;
  const { interactionContext: _previous, ...input } = session.input;
  const limited: Pick<Session, 'input' | 'act' | 'evaluate'> = {
    input: interactionContext === undefined ? input : { ...input, interactionContext },
    act(...args) {
      if (actions >= MAX_ACTIONS || session.counts.steps >= session.input.maxSteps) throw new Stop('ACTION_BUDGET');
      actions += 1;
      return session.act(...args);
    },
    evaluate(request) {
      if (decisions >= MAX_DECISIONS) throw new Stop('EVALUATION_BUDGET');
      decisions += 1;
      return session.evaluate(request);
    },
  };
  return Object.create(session, Object.getOwnPropertyDescriptors(limited)) as Session;
}
