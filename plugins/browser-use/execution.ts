/** Carries out what was decided, and looks at what came of it. */
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import type { Json } from '../../sdk/contract/jev.ts';
import type { Target } from './candidates.ts';
import { type FieldCache, textFor } from './field-writer.ts';
import { fingerprint, type Observation } from './observation.ts';
import type { Progress } from './progress.ts';
import type { Acted, Session } from './session.ts';
import { Stop } from './stop.ts';

/** Milliseconds of one look while waiting. */
const WAIT_MS = 200;
/** Milliseconds for a field that already shows its text to settle. */
const FIELD_SETTLE_MS = 300;
/** Times that a BLOCKED on a page that has changed since is decided again, in a row. */
const BLOCKED_RETRIES = 2;

/** What one run of a goal carries from decision to decision. */
export interface Run {
  session: Session;
  progress: Progress;
  fields: FieldCache;
  /** Whether the owner's words cover consent banners. */
  mayConsent: boolean;
  recovery?: Json;
  blockedRetries: number;
  /** Thinking has chosen its one action. */
  thought: boolean;
  /** Page states on which a chosen text was already present. */
  presentAt?: string;
}

export function waitingForInput(commandOutcome: { done: boolean; reason?: string }): Stop {
  return new Stop('COMMAND_WAITING_INPUT', { commandOutcome });
}

/** Nothing offered helps, unless the page has moved on meanwhile. */
export async function blocked(run: Run, page: Observation): Promise<Observation | Stop> {
  const { session } = run;
  const now = await session.read();
  if (fingerprint(now) === fingerprint(page) || run.blockedRetries >= BLOCKED_RETRIES) {
    return new Stop('NO_SUPPORTED_ACTION');
  }
  run.blockedRetries += 1;
  run.recovery = { previous_decision: 'BLOCKED', page_changed_since: true };
  session.trace.add('recovery', { code: 'BLOCKED_ON_CHANGED_PAGE' });
  return now;
}

/** Looks again after a moment; after earlier waits it looks a little longer before another decision is paid for. */
export async function wait({ session, progress }: Run, page: Observation): Promise<Observation | Stop> {
  const before = fingerprint(page);
  const looks = progress.waits() + 1;
  let now = page;
  for (let look = 0; look < looks && fingerprint(now) === before; look++) {
    await session.pause(WAIT_MS);
    now = await session.read();
  }
  session.counts.steps += 1;
  const changed = fingerprint(now) !== before;
  session.trace.add('effect', { operation: 'WAIT', page_changed: changed });
  const end = progress.waited(changed);
  return end ? new Stop(end) : now;
}

export async function scroll(run: Run, page: Observation, direction: 'up' | 'down'): Promise<Observation | Stop> {
  const { session } = run;
  const operation = direction === 'up' ? 'SCROLL_UP' : 'SCROLL_DOWN';
  const signature = JSON.stringify([page.url, operation]);
  const state = fingerprint(page);
  if (run.progress.wouldRepeat(signature, state)) return new Stop('NO_PROGRESS');
  const { generation } = page;
  const acted = await session.act(operation, undefined, (id) => session.browser.scroll(id, { direction, generation }));
  return conclude(run, acted, { state, signature, url: page.url, record: { operation } });
}

export async function actOn(run: Run, page: Observation, target: Target): Promise<Observation | Stop> {
  const { session, progress } = run;
  const { element, option, operation } = target;
  const state = fingerprint(page);
  let now = page;
  let live = element;
  let text: string | undefined;
  if (operation === 'TYPE_TEXT') {
    const written = await textFor(session, page, element, run.fields, progress);
    if (written instanceof Stop) return written;
    if ('dropped' in written) {
      run.recovery = { previous_decision: 'TYPE_TEXT', discarded: written.dropped };
      session.discard({ code: 'STALE_OBSERVATION', cause: written.dropped });
      return written.page;
    }
    ({ text, page: now, element: live } = written);
    if (written.present) return present(run, now, state);
  }
  const signature = JSON.stringify([
    page.url,
    operation,
    element.label,
    element.role ?? '',
    text ?? '',
    option?.label ?? '',
    element.context ?? '',
  ]);
  if (progress.wouldRepeat(signature, state)) return new Stop('NO_PROGRESS');
  const { generation } = now;
  const { ref } = live;
  const { browser } = session;
  const acted = await session.act(operation, labelOf(target), (id) => {
    if (operation === 'TYPE_TEXT') return browser.type(id, { ref, generation, text: text ?? '' });
    if (operation === 'SELECT') return browser.select(id, { ref, generation, optionRef: option?.ref ?? '' });
    return browser.click(id, { ref, generation });
  });
  if (acted.outcome === 'confirmed' && text !== undefined && acted.operation === 'TYPE_TEXT') {
    remember(run.fields, element.label, text);
  }
  return conclude(run, acted, {
    state,
    signature,
    url: page.url,
    record: {
      operation,
      target: element.label,
      role: element.role ?? element.tag,
      ...(element.context === undefined ? {} : { context: element.context.slice(0, 120) }),
      ...(text === undefined ? {} : { text }),
      ...(option && { option: option.label }),
    },
    ...(operation === 'TYPE_TEXT' ? { field: element } : {}),
  });
}

/** The field shows the text already: nothing is sent. A second time on the same page, the run gets nowhere. */
async function present(run: Run, page: Observation, state: string): Promise<Observation | Stop> {
  const { session } = run;
  session.trace.add('recovery', { code: 'FIELD_VALUE_ALREADY_PRESENT' });
  if (run.presentAt === state) return new Stop('NO_PROGRESS');
  run.presentAt = state;
  run.recovery = { previous_decision: 'TYPE_TEXT', nothing_sent: 'FIELD_VALUE_ALREADY_PRESENT' };
  await session.pause(FIELD_SETTLE_MS);
  void page;
  return session.read();
}

interface Attempt {
  state: string;
  signature: string;
  url: string;
  record: { operation: string; target?: string; role?: string; context?: string; text?: string; option?: string };
  field?: Target['element'];
}

async function conclude(run: Run, acted: Acted, attempt: Attempt): Promise<Observation | Stop> {
  const { session, progress } = run;
  if (acted.outcome === 'not_executed') {
    session.discard(acted);
    run.recovery = {
      previous_decision: attempt.record.operation,
      discarded: acted.cause ?? acted.code,
      ...(attempt.record.target === undefined ? {} : { target: attempt.record.target }),
    };
    return session.read();
  }
  const after = fingerprint(acted.page);
  const changed = after !== attempt.state;
  session.trace.add('effect', { operation: acted.operation, page_changed: changed });
  const { text, ...record } = attempt.record;
  // Only the focus came: the text is not in the field, and no later decision may think so.
  const typed = text !== undefined && acted.operation !== 'FOCUS' ? { text } : {};
  const end = progress.acted({
    record: { ...record, ...typed, operation: acted.operation, page_changed: changed },
    signature: attempt.signature,
    before: attempt.state,
    after,
    url: attempt.url,
    ...(attempt.field && acted.operation === 'TYPE_TEXT' ? { field: attempt.field } : {}),
  });
  if (end) return new Stop(end);
  if (session.input.yieldAfterAction) return waitingForInput({ done: true });
  return acted.page;
}

/** A value that was typed is known from now on. */
function remember(fields: BrowserField[], label: string, text: string): void {
  if (label === '' || label.length > 250 || fields.some((field) => field.label === label) || fields.length >= 60)
    return;
  fields.push({ label, text });
}

export function labelOf({ element, option }: Target): string {
  return (option ? `${element.label}: ${option.label}` : element.label).slice(0, 250);
}
