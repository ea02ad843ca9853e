/** Carries out the control that was chosen for a direct command. */
import type { Target } from './candidates.ts';
import { done, type Order, refuse } from './direct-order.ts';
import type { Settled } from './direct-outcome.ts';
import { labelOf } from './execution.ts';
import { textFor } from './field-writer.ts';
import type { Observation, ObservedElement } from './observation.ts';
import { createProgress } from './progress.ts';
import { Stop } from './stop.ts';

/** Nothing was done: decide afresh after a moment, or end with this reason. */
export interface Again {
  again: string;
}

export async function act(order: Order, page: Observation, target: Target): Promise<Settled | Again> {
  const { session } = order;
  const { operation, element, option } = target;
  const label = labelOf(target);
  if (operation === 'TYPE_TEXT') return type(order, page, element);
  order.attempted = { kind: operation === 'SELECT' ? 'select' : 'click', label };
  const { generation } = page;
  const { ref } = element;
  const acted = await session.act(operation, label, (id) =>
    operation === 'SELECT'
      ? session.browser.select(id, { ref, generation, optionRef: option?.ref ?? '' })
      : session.browser.click(id, { ref, generation }),
  );
  return acted.outcome === 'confirmed' ? done(order) : again(order, acted, operation);
}

/** The words of a typing or searching command are the text; for any other command the text has to be found. */
async function type(order: Order, page: Observation, element: ObservedElement): Promise<Settled | Again> {
  const { session, reading } = order;
  const submit = reading?.kind === 'search' && page.navigation !== undefined;
  order.attempted = { kind: submit ? 'search' : 'type', label: element.label };
  let field = element;
  let { generation } = page;
  let text: string;
  if (reading?.kind === 'type' || reading?.kind === 'search') text = reading.text;
  else {
    const written = await textFor(session, page, element, session.input.fields, createProgress());
    if (written instanceof Stop) throw written;
    if ('dropped' in written) return again(order, { code: 'STALE_OBSERVATION', cause: written.dropped }, 'TYPE_TEXT');
    ({ text, element: field } = written);
    ({ generation } = written.page);
  }
  const { ref } = field;
  const acted = await session.act(submit ? 'SEARCH' : 'TYPE_TEXT', element.label, (id) =>
    session.browser.type(id, { ref, generation, text, submit }),
  );
  if (acted.outcome !== 'confirmed') return again(order, acted, 'TYPE_TEXT');
  // A field that only took the focus holds no text yet; what was done is a click.
  if (acted.operation === 'FOCUS') order.attempted = { kind: 'click', label: element.label };
  return done(order);
}

/** The device refused it before it did anything: the decision is worthless, and the page is looked at afresh. */
function again(order: Order, refusal: { code: string; cause?: string }, operation: string): Again {
  refuse(order.session, refusal);
  order.recovery = { previous_decision: operation, discarded: refusal.cause ?? refusal.code };
  return { again: 'STALE_RETRY_BUDGET' };
}
