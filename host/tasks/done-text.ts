/** What a command did, in words, with what comes from the page as one short line in quotes. */
import type { CommandOutcome } from '../../sdk/contract/browser-run.ts';

/** What a command did, in words. */
export function doneText({ action }: CommandOutcome): string {
  const label = action?.label ? quoted(action.label, 80) : undefined;
  switch (action?.kind) {
    case 'scroll':
      return `scrolled ${action.direction ?? 'on'}`;
    case 'key':
      return `pressed the ${action.key ?? ''} key`;
    case 'history':
      return action.direction === 'forward' ? 'went forward' : 'went back';
    case 'navigate':
      return `opened ${quoted(action.url ?? '', 120)}`;
    case 'search':
      return label ? `searched in ${label}` : 'searched';
    case 'click':
      return label ? `clicked ${label}` : 'clicked';
    case 'type':
      return label ? `entered text in ${label}` : 'entered text';
    case 'select':
      return label ? `selected an option in ${label}` : 'selected an option';
    default:
      return 'completed the action';
  }
}

/** Page text in an owner's line: one line, no control characters, cut on code points. */
export function quoted(text: string, limit: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, ' ').trim();
  return `"${[...line].slice(0, limit).join('')}"`;
}
