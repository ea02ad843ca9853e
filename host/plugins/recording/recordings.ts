/**
 * The recordings of a host: one file a run, in a folder a task, under `recordings` in the data directory, for the owner alone.
 *
 * A recording goes with its task. Beside that, the oldest go when there are too many. A recording that cannot be written
 * keeps no run from going on.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Recording, readRecording } from '../../../sdk/contract/recording.ts';
import { type RunAbout, RunRecorder } from './recorder.ts';

/** Recordings that are kept, and bytes of all together. */
export const MAX_RECORDINGS = 200;
export const MAX_RECORDINGS_BYTES = 1024 * 1024 * 1024;
/** Milliseconds between two looks for recordings whose task is gone. */
const SWEEP_EVERY_MS = 3_600_000;
const ENDING = '.jsonl';
/** Folder of the runs that belong to no task. */
const NO_TASK = '-';

export interface Recordings {
  /** @returns undefined when the file cannot be made; the reason is told. */
  begin(about: RunAbout): RunRecorder | undefined;
  /** Ends the sweeping. */
  close(): void;
}

export interface RecordingsDeps {
  /** The host's data directory. */
  dataDir: string;
  taskExists(taskId: string): boolean;
  failed(problem: string): void;
  maxCount?: number;
  maxBytes?: number;
}

export function createRecordings(deps: RecordingsDeps): Recordings {
  const { maxCount = MAX_RECORDINGS, maxBytes = MAX_RECORDINGS_BYTES } = deps;
  const root = recordingsDirectory(deps.dataDir);
  const failed = (error: unknown): void => deps.failed((error as NodeJS.ErrnoException).code ?? String(error));

  /** @param room for how many more there shall be room. */
  const makeRoom = (room: number): void => {
    for (const folder of folders(root)) {
      if (folder !== NO_TASK && !deps.taskExists(decodeURIComponent(folder)))
        rmSync(join(root, folder), { recursive: true, force: true });
    }
    const kept = folders(root)
      .flatMap((folder) => files(join(root, folder)))
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
    let bytes = 0;
    for (const [at, { path, size }] of kept.entries()) {
      bytes += size;
      if (at + room >= maxCount || bytes > maxBytes) rmSync(path, { force: true });
    }
    for (const folder of folders(root)) if (readdirSync(join(root, folder)).length === 0) rmdirSync(join(root, folder));
  };

  // Also while nothing is recorded any more.
  const sweep = (): void => {
    try {
      makeRoom(0);
    } catch (error) {
      failed(error);
    }
  };
  sweep();
  const sweeping = setInterval(sweep, SWEEP_EVERY_MS).unref();

  return {
    begin(about) {
      try {
        makeRoom(1);
        const folder = join(root, about.taskId === undefined ? NO_TASK : encodeURIComponent(about.taskId));
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        const file = openSync(join(folder, fileName(about.runId)), 'wx', 0o600);
        return new RunRecorder(about, writerTo(file, failed));
      } catch (error) {
        failed(error);
        return undefined;
      }
    },
    close: () => clearInterval(sweeping),
  };
}

/** Lines go to the file as they come, so that a killed host leaves everything up to then. The last line closes it. */
function writerTo(file: number, failed: (error: unknown) => void): (line: string) => void {
  let open = true;
  const close = (): void => {
    open = false;
    closeSync(file);
  };
  return (line) => {
    if (!open) return;
    try {
      writeSync(file, line);
      if (line.startsWith('{"ended"')) close();
    } catch (error) {
      close();
      failed(error);
    }
  };
}

/** @param run a run's id (`task-` and the attempt's id), or the attempt's id alone. */
export function findRecording(dataDir: string, run: string): string | undefined {
  const root = recordingsDirectory(dataDir);
  for (const folder of folders(root)) {
    for (const id of [run, `task-${run}`]) {
      const path = join(root, folder, fileName(id));
      if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
    }
  }
  return undefined;
}

/** @throws TypeError when the file is no recording. */
export const openRecording = (path: string): Recording => readRecording(readFileSync(path, 'utf8'));

const recordingsDirectory = (dataDir: string): string => join(dataDir, 'recordings');
/** Ids become names without a way out of their folder. */
const fileName = (runId: string): string => encodeURIComponent(runId).replaceAll('.', '%2E').slice(0, 200) + ENDING;

function folders(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function files(folder: string): { path: string; size: number; mtimeMs: number }[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .flatMap((name) => {
      const path = join(folder, name);
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? [{ path, size: stat.size, mtimeMs: stat.mtimeMs }] : [];
    });
}
