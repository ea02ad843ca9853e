/** What changed between two configurations: paths only, never values. */
import { pathText } from './problems.ts';

export interface ConfigChange {
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** True when the running host cannot follow and goes on with the old value until it is restarted. */
  needsRestart: boolean;
}

/** What is bound once: addresses, sockets, directories, processes. */
const AT_START = [
  'dataDir',
  'gateway.api.host',
  'gateway.api.port',
  'gateway.api.socket',
  'gateway.api.tls',
  'gateway.programs',
  'devices',
];

export function diffConfig(before: unknown, after: unknown): ConfigChange[] {
  const changes: ConfigChange[] = [];
  compare(before, after, [], changes);
  return changes;
}

function compare(before: unknown, after: unknown, path: (string | number)[], changes: ConfigChange[]): void {
  if (Object.is(before, after)) return;
  const add = (kind: ConfigChange['kind'], at = path) => {
    const text = pathText(at);
    changes.push({ path: text, kind, needsRestart: AT_START.some((start) => isAt(text, start)) });
  };
  const [old, now] = [entriesOf(before), entriesOf(after)];
  if (before === undefined) add('added');
  else if (after === undefined) add('removed');
  else if (!old || !now) add('changed');
  else
    for (const key of new Set([...old.keys(), ...now.keys()]))
      compare(old.get(key), now.get(key), [...path, key], changes);
}

function isAt(path: string, start: string): boolean {
  return path === start || path.startsWith(`${start}.`) || path.startsWith(`${start}[`);
}

/** Entries of lists are told apart by their `id`, so that removing the first is one change and not one per entry. */
function entriesOf(value: unknown): Map<string | number, unknown> | undefined {
  if (Array.isArray(value)) {
    const ids = value.map((entry: unknown) => (entry as { id?: unknown } | null)?.id);
    const named = ids.every((id) => typeof id === 'string') && new Set(ids).size === ids.length;
    return new Map(value.map((entry, index) => [named ? String(ids[index]) : index, entry]));
  }
  return value !== null && typeof value === 'object' ? new Map(Object.entries(value)) : undefined;
}
