/** A command in a few words, for the published table and for logs. Never for a plugin's decision. */
import type { Command } from './command.ts';

export function describeCommand(command: Command | undefined): string {
  if (!command) return 'decision';
  switch (command.kind) {
    case 'scroll':
      return `scroll ${command.direction}`;
    case 'key':
      return `key ${command.key}${command.count > 1 ? ` ×${command.count}` : ''}`;
    case 'history':
      return command.direction;
    case 'search':
      return `search: ${command.text}`;
    case 'type':
      return `type: ${command.text}`;
    case 'open':
      return `open ${command.url}`;
    case 'new_tab':
      return command.site ? `new tab: ${command.site}` : 'new tab';
    case 'erase':
      return `erase ${command.count}`;
    default:
      return command.kind.replace('_', ' ');
  }
}
