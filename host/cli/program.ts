/** `jev-host program`: check a program, run it on a running host, follow a run. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RunEnvelope } from '../../sdk/contract/program.ts';
import { createTypeCheck } from '../programs/check/type-check.ts';
import { type Command, type CommandIo, print, say, UsageError } from './command.ts';
import { connectHost, hostOptions, hostOptionsHelp } from './host-client.ts';
import { parseOptions } from './options.ts';
import { checkProgram } from './program-check.ts';
import { read, readProgramFile } from './program-file.ts';
import { sessionPath } from './session-path.ts';
import { plain } from './text-table.ts';

/** Milliseconds between two looks at a running program. */
const LOOK_EVERY_MS = 250;

const kinds = { ...hostOptions, json: 'flag', input: 'text' } as const;
type ProgramOptions = ReturnType<typeof parseOptions<typeof kinds>>['options'];

export const command: Command = {
  name: 'program',
  summary: 'Checks typed programs, runs them on a running host, and follows runs.',
  usage: [
    'Usage: jev-host program check FILE [--json]',
    '       jev-host program run FILE [--input JSON | --input @FILE] [--json]',
    '       jev-host program watch RUN [--json]',
    '',
    'FILE is a JSON file with the program: name, inputSchema, outputSchema, requires, limits, and the code either',
    'as "code" or in a file beside it, named by "codeFile". An "input" in it is used when --input is not given.',
    '',
    'check  Says what is wrong, with line and column, without a host. Exits with 0 when nothing is.',
    'run    Starts it, prints its events as they come, and its result on stdout. Exits with 0 only if it completed.',
    '       Stopping the command stops the program.',
    'watch  The same for a run that goes on already; stopping the command leaves the run alone.',
    '',
    hostOptionsHelp,
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, kinds);
    const [action, subject, ...more] = positionals;
    const work = action === undefined ? undefined : actions[action];
    if (!work)
      throw new UsageError(action ? `There is no "program ${action}".` : 'Name what to do: check, run or watch.');
    if (!subject) throw new UsageError(action === 'watch' ? 'Name the run.' : 'Name the file.');
    if (more.length > 0) throw new UsageError(`"${more[0]}" was not expected.`);
    return work(subject, options, io);
  },
};

const actions: Record<string, (subject: string, options: ProgramOptions, io: CommandIo) => Promise<number>> = {
  async check(file, options, io) {
    const stored = readProgramFile(file);
    const typeCheck = createTypeCheck();
    const diagnostics = await checkProgram(stored, typeCheck).finally(() => typeCheck.stop());
    if (options.json) print(io, JSON.stringify({ file: stored.codeFile, diagnostics }));
    else
      for (const { line, column, code, message } of diagnostics)
        print(io, `${stored.codeFile}:${line}:${column} ${plain(message)}${code ? ` (TS${code})` : ''}`);
    if (diagnostics.length === 0) say(io, `${stored.program.name}: nothing is wrong.`);
    return diagnostics.length === 0 ? 0 : 1;
  },

  async run(file, options, io) {
    const stored = readProgramFile(file);
    const input = options.input === undefined ? stored.input : inputOf(options.input);
    return onHost(options, async (tool) => {
      const launch = { program: stored.program, ...(input === undefined ? {} : { input }) };
      const { id } = await tool('jev_spawn', launch);
      say(io, `Run ${id}`);
      const end = await follow(tool, id, io);
      return end ? show(end, options, io) : show(await tool('jev_stop', { id }), options, io);
    });
  },

  async watch(id, options, io) {
    return onHost(options, async (tool) => {
      const end = await follow(tool, id, io);
      return end ? show(end, options, io) : 1;
    });
  },
};

type CallTool = (name: string, args: Record<string, unknown>) => Promise<RunEnvelope>;

async function onHost(options: ProgramOptions, work: (tool: CallTool) => Promise<number>): Promise<number> {
  const host = await connectHost(options);
  try {
    const path = `${await sessionPath(host, options)}/tools`;
    return await work((name, args) => host.post(`${path}/${name}`, args) as Promise<RunEnvelope>);
  } finally {
    await host.close();
  }
}

/** Prints events as they come. @returns the ended run, or nothing when the person stopped waiting */
async function follow(tool: CallTool, id: string, io: CommandIo): Promise<RunEnvelope | undefined> {
  let after = 0;
  while (!io.signal.aborted) {
    const run = await tool('jev_status', { id, after });
    for (const event of run.events) {
      if (event.sequence > after + 1) say(io, `… ${event.sequence - after - 1} events were dropped`);
      say(io, `${event.sequence}  ${plain(JSON.stringify(event.value))}`);
      after = event.sequence;
    }
    if (run.state !== 'running') return run;
    await pause(LOOK_EVERY_MS, undefined, { signal: io.signal }).catch(() => undefined);
  }
  return undefined;
}

function show(run: RunEnvelope, options: ProgramOptions, io: CommandIo): number {
  if (options.json) print(io, JSON.stringify(run));
  else {
    for (const line of run.logs) say(io, `log  ${plain(line)}`);
    const { input_tokens, output_tokens } = run.usage;
    const evaluations = `${run.evaluations} ${run.evaluations === 1 ? 'evaluation' : 'evaluations'}`;
    say(io, `${run.state}, ${evaluations}, ${input_tokens + output_tokens} tokens`);
    if (run.error !== undefined) say(io, plain(run.error));
    if (run.state === 'completed') print(io, JSON.stringify(run.result));
  }
  return run.state === 'completed' ? 0 : 1;
}

function inputOf(text: string): unknown {
  const json = text.startsWith('@') ? read(text.slice(1)) : text;
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError('--input is not JSON. A text needs quotes of its own: --input \'"text"\'.');
  }
}
