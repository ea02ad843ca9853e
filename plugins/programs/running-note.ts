/**
 * The durable note of what runs. Programs do not survive a restart; this is how the next process can say which ones it
 * lost, instead of not knowing them.
 */
import * as v from 'valibot';
import { observableEvents } from '../../sdk/index.ts';
import type { RunStart } from './run-record.ts';

const KEY = 'running';

interface Storage {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
}

const Note = v.array(
  v.object({
    id: v.string(),
    owner: v.string(),
    name: v.string(),
    background: v.boolean(),
    startedAt: v.number(),
    observe: v.optional(v.object({ events: v.array(v.picklist(observableEvents)) })),
  }),
);

export async function readRunning(storage: Storage): Promise<RunStart[]> {
  const text = await storage.get(KEY);
  if (text === null) return [];
  try {
    const parsed = v.safeParse(Note, JSON.parse(text));
    return parsed.success ? (parsed.output as RunStart[]) : [];
  } catch {
    return [];
  }
}

export async function writeRunning(storage: Storage, running: readonly RunStart[]): Promise<void> {
  const notes = running.map(({ id, owner, name, background, startedAt, observe }) => ({
    id,
    owner,
    name,
    background,
    startedAt,
    ...(observe ? { observe: { events: observe.events } } : {}),
  }));
  await storage.put(KEY, JSON.stringify(notes));
}
