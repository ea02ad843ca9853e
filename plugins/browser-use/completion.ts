/** DONE is a claim. What it becomes depends on a fresh page and on whether the host has an independent verifier. */
import type { Json } from '../../sdk/contract/jev.ts';
import { cut } from './describe.ts';
import { isIncomplete, pageText, visibleElements } from './observation.ts';
import type { Progress } from './progress.ts';
import type { Session } from './session.ts';
import { Stop } from './stop.ts';
import { askThinking } from './thinking-question.ts';

/** @returns never normally: a claim of completion always ends the run. */
export async function settleCompletion(session: Session, progress: Progress): Promise<Stop> {
  const page = await session.read();
  if (isIncomplete(page)) return new Stop('OBSERVATION_TRUNCATED');
  if (!session.input.verifier) return new Stop('COMPLETION_CANDIDATE');
  session.tell({ phase: 'verifying' });
  const { verified } = await askThinking(session, {
    kind: 'verify',
    goal: session.input.goal,
    page: {
      url: page.url,
      title: page.title,
      text: cut(pageText(page), 24_000),
      elements: visibleElements(page).map(({ label, role, tag, value, checked, selected, expanded }) =>
        present({ label, role: role ?? tag, value, checked, selected, expanded }),
      ),
    },
    recent_actions: [...progress.earlier(), ...progress.recent()].slice(-10).map((action) => ({ ...action })),
  });
  await session.renew();
  if (typeof verified !== 'boolean') return new Stop('INVALID_CONTRACT');
  return new Stop(verified ? 'VERIFIED' : 'VERIFICATION_FAILED');
}

function present(members: Record<string, Json | undefined>): Record<string, Json> {
  return Object.fromEntries(Object.entries(members).filter((entry) => entry[1] !== undefined)) as Record<string, Json>;
}
