/**
 * What was done on the way, and the rules that stop a run which gets nowhere (wire-contracts 3.2). One per run.
 */
import { fieldIdentity, type ObservedElement } from './observation.ts';

/** Actions that are told to Jev and that count for the exhausted-field rule. */
export const RECENT_ACTIONS = 10;
/** Unchanged actions in a row that end a run. */
export const UNCHANGED_LIMIT = 3;
/** Arrivals at one page state, by actions that are not waits, that end a run. */
export const STATE_VISITS_LIMIT = 3;
/** Waits in a row that end a run. */
export const WAIT_LIMIT = 10;
/** Actions back to which a repeated text counts. */
const EXHAUSTED_WINDOW = 8;

export interface ActionRecord {
  operation: string;
  target?: string;
  role?: string;
  context?: string;
  text?: string;
  option?: string;
  page_changed: boolean;
}

export interface DoneAction {
  record: ActionRecord;
  /** Tells a repetition: address, tool, label, role, text and option. */
  signature: string;
  field?: ObservedElement;
  before: string;
  after: string;
  url: string;
}

export interface Progress {
  /** Actions on the present address, oldest first. */
  recent(): ActionRecord[];
  /** Actions on addresses before it. */
  earlier(): ActionRecord[];
  /** The address changed: what was recent is earlier. */
  at(url: string): void;
  /** The action left this very page state unchanged before. */
  wouldRepeat(signature: string, state: string): boolean;
  /** Whether the run is getting nowhere after this action. */
  acted(action: DoneAction): 'NO_PROGRESS' | undefined;
  /** Whether there were too many waits. */
  waited(pageChanged: boolean): 'WAIT_BUDGET' | undefined;
  /** Waits in a row up to now. */
  waits(): number;
  /** The same text went into this field twice of late and it is not `fresh`, a value that was supplied since. */
  exhausted(element: ObservedElement, fresh: string | undefined): boolean;
}

export function createProgress(): Progress {
  let here: ActionRecord[] = [];
  let before: ActionRecord[] = [];
  let url: string | undefined;
  let unchanged = 0;
  let waits = 0;
  const visits = new Map<string, number>();
  /** Signatures of the actions that left a state unchanged, by state. */
  const useless = new Map<string, Set<string>>();
  const typed: { field: string; text: string }[] = [];

  const remember = (record: ActionRecord) => {
    here = [...here, record].slice(-RECENT_ACTIONS);
  };

  return {
    recent: () => here,
    earlier: () => before,

    at(next) {
      if (url !== undefined && next !== url) {
        before = [...before, ...here.filter((action) => action.operation !== 'WAIT')].slice(-RECENT_ACTIONS);
        here = [];
      }
      url = next;
    },

    wouldRepeat: (signature, state) => useless.get(state)?.has(signature) ?? false,

    acted({ record, signature, field, before: from, after: to }) {
      waits = 0;
      remember(record);
      typed.push({ field: field && record.text !== undefined ? fieldIdentity(field) : '', text: record.text ?? '' });
      if (typed.length > EXHAUSTED_WINDOW) typed.shift();
      if (from === to) {
        unchanged += 1;
        useless.set(from, (useless.get(from) ?? new Set()).add(signature));
      } else {
        unchanged = 0;
      }
      const arrivals = (visits.get(to) ?? 0) + 1;
      visits.set(to, arrivals);
      return unchanged >= UNCHANGED_LIMIT || arrivals >= STATE_VISITS_LIMIT ? 'NO_PROGRESS' : undefined;
    },

    waited(pageChanged) {
      waits += 1;
      remember({ operation: 'WAIT', page_changed: pageChanged });
      return waits >= WAIT_LIMIT ? 'WAIT_BUDGET' : undefined;
    },

    waits: () => waits,

    exhausted(element, fresh) {
      const field = fieldIdentity(element);
      const texts = typed.filter((entry) => entry.field === field).map((entry) => entry.text);
      return texts.some((text, index) => text !== fresh && texts.indexOf(text) !== index);
    },
  };
}
