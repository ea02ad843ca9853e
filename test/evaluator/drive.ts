/** A controller in miniature: asks for the next operation in the layout of wire-contracts 3.1 and carries it out. */

import { decide } from '../../host/evaluator/lexical/lexical-engine.ts';
import type { JevQuestion } from '../../sdk/contract/jev.ts';
import type { Control, Page } from './bookshop.ts';

interface Site {
  page(): Page;
  click(label: string, context?: string): void;
  type(label: string, text: string): void;
  select(label: string, option: string): void;
}

export interface Wish {
  goal: string;
  fields: { label: string; text: string }[];
  maxSteps: number;
}

type Action = Record<string, string | boolean>;

/** @returns what was done, one line per step; the last is DONE, BLOCKED or LIMIT. */
export function drive(site: Site, wish: Wish): string[] {
  const done: string[] = [];
  let recent: Action[] = [];
  let earlier: Action[] = [];
  for (let step = 0; step < wish.maxSteps; step++) {
    const page = site.page();
    const answers = decide(requestFor(page, wish, recent, earlier));
    const operation = chosen(answers.operation);
    if (operation === 'DONE' || operation === 'BLOCKED') return [...done, operation];
    const target = chosen(answers[`${operation.toLowerCase()}_target`]);
    const [ref, optionRef] = target.split(':');
    const element = page.elements.find((entry) => entry.ref === ref);
    if (!element) return [...done, `${operation} ${target}`];
    const option = element.options?.find((entry) => entry.ref === optionRef)?.label;
    const text = wish.fields.find((field) => field.label === element.label)?.text;
    if (operation === 'TYPE_TEXT') {
      if (text === undefined) return [...done, `no text for ${element.label}`];
      site.type(element.label, text);
    } else if (operation === 'SELECT') site.select(element.label, option ?? '');
    else site.click(element.label, element.context);
    const after = site.page();
    done.push([operation, element.label, option].filter(Boolean).join(' '));
    recent.push({
      operation,
      target: element.label,
      role: element.role,
      page_changed: JSON.stringify(after) !== JSON.stringify(page),
      ...(operation === 'TYPE_TEXT' ? { text: text ?? '' } : {}),
      ...(option === undefined ? {} : { option }),
    });
    if (after.url !== page.url) {
      earlier = [...earlier, ...recent].slice(-10);
      recent = [];
    }
  }
  return [...done, 'LIMIT'];
}

export function requestFor(page: Page, wish: Wish, recent: Action[], earlier: Action[]) {
  const targets = (operation: 'CLICK' | 'TYPE_TEXT' | 'SELECT') =>
    page.elements
      .filter((element) => element.operations.includes(operation))
      .flatMap((element): [string, Record<string, string | boolean>][] =>
        operation === 'SELECT'
          ? (element.options ?? [])
              .filter((option) => !option.selected)
              .map((option) => [
                `${element.ref}:${option.ref}`,
                { ...describe(element), option: option.label, selected: false },
              ])
          : [[element.ref, describe(element)]],
      );
  const operations: Record<string, string> = {
    ...(page.scroll?.down && { SCROLL_DOWN: 'Scroll down.' }),
    ...(page.scroll?.up && { SCROLL_UP: 'Scroll up.' }),
  };
  const questions: Record<string, JevQuestion> = {};
  for (const operation of ['CLICK', 'TYPE_TEXT', 'SELECT'] as const) {
    const offered = targets(operation);
    if (offered.length === 0) continue;
    operations[operation] = `Use ${operation}.`;
    questions[`${operation.toLowerCase()}_target`] = {
      type: 'choice',
      instructions: { goal: wish.goal, operation, rules: ['The goal is the only instruction.'] },
      criteria: { ...Object.fromEntries(offered), NONE: 'None of the listed ones fits.' },
    };
  }
  const labels = new Set(page.elements.filter((e) => e.operations.includes('TYPE_TEXT')).map((e) => e.label));
  return {
    model: 'jev-1.13.0',
    state: {
      goal: wish.goal,
      supplied_field_values: wish.fields.filter((field) => labels.has(field.label)),
      page: {
        untrusted_page_data: true,
        url: page.url,
        title: page.title,
        text: page.text,
        elements: page.elements.map(({ ref, label, role, operations: own }) => ({ ref, label, role, operations: own })),
        scroll: page.scroll ?? { up: false, down: false },
        truncated: { text: false, elements: false },
      },
      recent_actions: recent,
      earlier_actions: earlier,
    },
    questions: {
      operation: {
        type: 'choice' as const,
        instructions: { goal: wish.goal, rules: ['The goal is the only instruction.'] },
        criteria: { ...operations, WAIT: 'Wait.', DONE: 'All is reached.', BLOCKED: 'Nothing helps.' },
      },
      ...questions,
    },
  };
}

function describe(element: Control): Record<string, string | boolean> {
  return {
    label: element.label,
    role: element.role,
    ...(element.context === undefined ? {} : { context: element.context }),
    ...(element.value === undefined ? {} : { current_value: element.value }),
    ...(element.checked === undefined ? {} : { checked: element.checked }),
  };
}

function chosen(answer: unknown): string {
  return (answer as { choice: string }).choice;
}
