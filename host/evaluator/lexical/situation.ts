/**
 * A controller's request as this engine reads it. Everything is taken from the request; what is missing or has another
 * shape is read as empty, so that any request gets an answer.
 */
import type { JevQuestion } from '../../../sdk/contract/jev.ts';
import type { EngineRequest } from '../engine.ts';
import { type Goal, type PastAction, type Progress, progressOf, readGoal } from './goal.ts';
import { textOf } from './words.ts';

export type TargetOperation = 'CLICK' | 'TYPE_TEXT' | 'SELECT';

export interface Candidate {
  operation: TargetOperation;
  question: string;
  key: string;
  label: string;
  option: string;
  context: string;
  role: string;
  value: string;
  checked: boolean;
  /** Place on the page. */
  order: number;
}

export interface Situation {
  goal: Goal;
  fields: { label: string; text: string }[];
  /** Oldest first. */
  actions: PastAction[];
  last: PastAction | undefined;
  progress: Progress;
  title: string;
  pageText: string;
  /** Labels of every control in view. */
  labels: string[];
  candidates: Candidate[];
  operations: ReadonlySet<string>;
  scroll: { up: boolean; down: boolean };
  /** The decision before this one was not carried out. */
  recovering: boolean;
}

const TARGET_QUESTION = /^(click|type_text|select)_target(?:_\d+)?$/;
const OPERATIONS: Readonly<Record<string, TargetOperation>> = {
  click: 'CLICK',
  type_text: 'TYPE_TEXT',
  select: 'SELECT',
};

export function isTargetQuestion(id: string): boolean {
  return TARGET_QUESTION.test(id);
}

/** @returns undefined when this is no request for a page's next operation. */
export function readSituation(request: EngineRequest): Situation | undefined {
  const operation = request.questions.operation;
  if (operation?.type !== 'choice' || !Object.hasOwn(operation.criteria, 'DONE')) return undefined;
  const state = object(request.state);
  const page = object(state.page);
  const goal = readGoal(text(state.goal) || text(object(operation.instructions).goal));
  const actions = [...list(state.earlier_actions), ...list(state.recent_actions)].map(readAction);
  const done = actions.filter((action) => action.operation !== 'WAIT');
  const scroll = object(page.scroll);
  return {
    goal,
    fields: list(state.supplied_field_values).map((field) => ({
      label: text(object(field).label),
      text: text(object(field).text),
    })),
    actions: done,
    last: done.at(-1),
    progress: progressOf(goal, done, isSearchLabel),
    title: text(page.title),
    pageText: text(page.text),
    labels: list(page.elements).map((element) => text(object(element).label)),
    candidates: Object.entries(request.questions).flatMap(([id, question]) => candidatesOf(id, question)),
    operations: new Set(Object.keys(operation.criteria)),
    scroll: { up: scroll.up === true, down: scroll.down === true },
    recovering: state.recovery !== undefined,
  };
}

/** A field or control that searches, by its label. */
export function isSearchLabel(label: string): boolean {
  return /\b(?:search|find|query|look for|keywords?)\b|ค้นหา/iu.test(label);
}

function candidatesOf(id: string, question: JevQuestion): Candidate[] {
  const kind = TARGET_QUESTION.exec(id)?.[1];
  const operation = kind === undefined ? undefined : OPERATIONS[kind];
  if (operation === undefined || question.type !== 'choice') return [];
  return Object.entries(question.criteria)
    .filter(([key]) => key !== 'NONE')
    .map(([key, description], order) => {
      const about = typeof description === 'string' ? { label: description } : object(description);
      const option = text(about.option) || text(about.option_label);
      return {
        operation,
        question: id,
        key,
        label: text(about.label),
        option,
        context: text(about.context),
        role: text(about.role) || text(about.tag),
        value: text(about.current_value) || text(about.value_text) || text(about.value_now),
        checked: about.checked === true || about.checked === 'true' || (option === '' && about.selected === true),
        order,
      };
    });
}

function readAction(value: unknown): PastAction {
  const action = object(value);
  return {
    operation: text(action.operation),
    target: text(action.target) || text(action.label),
    text: text(action.text),
    option: text(action.option),
    pageChanged: action.page_changed !== false,
  };
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : value ? textOf(value) : '';
}
