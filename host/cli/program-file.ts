/**
 * A program as its author keeps it: a JSON file with the artifact, whose code may lie beside it in a TypeScript file
 * (`codeFile`), where an editor can read it.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArguments } from '../../plugins/programs/artifact.ts';
import type { ProgramArtifact } from '../../sdk/contract/program.ts';
import { UsageError } from './command.ts';

export interface ProgramFile {
  program: ProgramArtifact;
  /** The file that findings name. */
  codeFile: string;
  /** The input that the file suggests, for trying it out. */
  input?: unknown;
}

/** @throws UsageError when a file cannot be read; PROGRAM_INVALID when it holds no artifact */
export function readProgramFile(file: string): ProgramFile {
  const stored = parsed(file, read(file));
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored))
    throw new UsageError(`${file} does not hold a JSON object.`);
  const { codeFile, input, ...artifact } = stored as Record<string, unknown>;
  if (codeFile !== undefined && typeof codeFile !== 'string') throw new UsageError(`codeFile in ${file} is no path.`);
  const source = codeFile === undefined ? file : join(dirname(file), codeFile);
  const code = codeFile === undefined ? artifact.code : functionBody(read(source));
  const { program } = parseArguments('run', { program: { ...artifact, code } });
  return { program, codeFile: relative(process.cwd(), source) || source, ...(input === undefined ? {} : { input }) };
}

/** A code file may export nothing: it is the body as it stands. */
function functionBody(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

export function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${file} is not JSON.`);
  }
}
