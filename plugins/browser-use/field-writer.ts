/** Finds the text for a field, and makes sure that the field is still the one it was found for. */
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import { cut } from './describe.ts';
import { alreadyHolds, fieldValue, MAX_FIELD_TEXT } from './field-text.ts';
import { elementFace, type Observation, type ObservedElement, pageText } from './observation.ts';
import type { Progress } from './progress.ts';
import type { Session } from './session.ts';
import { Stop } from './stop.ts';
import { askThinking } from './thinking-question.ts';

/** Values that are known: supplied ones first, then those that were typed. */
export type FieldCache = BrowserField[];

/** Recent actions that Thinking sees. */
const HELPER_ACTIONS = 6;
const HELPER_PAGE_TEXT = 6000;

export type Written =
  | { text: string; page: Observation; element: ObservedElement; present: boolean }
  /** The page moved on while the text was written; the text is thrown away. */
  | { dropped: 'FIELD_CONTEXT_CHANGED'; page: Observation };

export async function textFor(
  session: Session,
  page: Observation,
  element: ObservedElement,
  fields: readonly BrowserField[],
  progress: Progress,
): Promise<Written | Stop> {
  const value = fieldValue(element, fields, page, session.input.goal);
  if (value === 'ambiguous') return fieldRequired(session, element, 'ambiguous');
  if (value !== 'missing') {
    session.trace.add('field', { source: value.source });
    return { text: value.text, page, element, present: alreadyHolds(element, value.text) };
  }
  if (!session.input.textHelper) return fieldRequired(session, element, 'missing');
  const text = await writtenText(session, page, element, progress);
  if (text === null) return fieldRequired(session, element, 'missing');
  // The helper took its time. What it wrote holds only for the very field, on the very page, that it was asked about.
  const now = await session.read();
  const same = now.elements.filter((other) => elementFace(other) === elementFace(element));
  const live = same.find((other) => other.ref === element.ref) ?? (same.length === 1 ? same[0] : undefined);
  if (!live || now.url !== page.url || now.title !== page.title) {
    session.trace.add('field', { source: 'thinking', dropped: 'FIELD_CONTEXT_CHANGED' });
    return { dropped: 'FIELD_CONTEXT_CHANGED', page: now };
  }
  session.trace.add('field', { source: 'thinking' });
  return { text, page: now, element: live, present: alreadyHolds(live, text) };
}

async function writtenText(
  session: Session,
  page: Observation,
  element: ObservedElement,
  progress: Progress,
): Promise<string | null> {
  const { counts, input } = session;
  if (counts.textCalls >= input.maxTextCalls) throw new Stop('TEXT_BUDGET');
  counts.textCalls += 1;
  const { label, role, type, context, value } = element;
  const { text } = await askThinking(session, {
    kind: 'field_text',
    goal: input.goal,
    field: {
      label,
      ...(role === undefined ? {} : { role }),
      ...(typeof type === 'string' ? { type } : {}),
      ...(context === undefined ? {} : { context }),
      ...(value === undefined ? {} : { value }),
    },
    page: { url: page.url, title: page.title, text: cut(pageText(page), HELPER_PAGE_TEXT) },
    recent_actions: progress
      .recent()
      .slice(-HELPER_ACTIONS)
      .map((action) => ({ ...action })),
  });
  if (text === null) return null;
  if (typeof text !== 'string' || text.trim() === '' || text.length > MAX_FIELD_TEXT)
    throw new Stop('INVALID_CONTRACT');
  return text;
}

function fieldRequired(session: Session, element: ObservedElement, reason: 'missing' | 'ambiguous'): Stop {
  session.trace.add('field', { source: 'owner', reason });
  return new Stop('FIELD_TEXT_REQUIRED', { fieldRequest: { ref: element.ref, label: element.label, reason } });
}
