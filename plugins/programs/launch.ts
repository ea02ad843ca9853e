/** Everything that must hold before a program starts. Each refusal comes before anything has run. */
import {
  MAX_VALUE_BYTES,
  type ProgramDiagnostic,
  type ProgramTool,
  programError,
  type RunnerInput,
  refuseProgram,
} from '../../sdk/index.ts';
import { checkReferences, type LaunchArguments } from './artifact.ts';
import { declarationsFor } from './declarations.ts';
import { limitsFor, type ProgramSettings } from './limits.ts';
import { conformingText } from './schema-match.ts';
import { checkSchema, type Schema } from './schema-subset.ts';

/** What the host says about the references that a program requires, for this caller, now. */
export interface Described {
  tools: ProgramTool[];
  /** Known, but not this caller's to use. */
  denied: string[];
  missing: string[];
  /** Changes whenever the caller's capabilities do; a launch is pinned to it. */
  generation: string;
}

export interface Checked {
  diagnostics: ProgramDiagnostic[];
  javascript?: string;
  positions?: string;
}

export interface LaunchHost {
  describe(references: string[]): Promise<Described>;
  check(source: { declarations: string; code: string }): Promise<Checked>;
}

export interface Launch {
  generation: string;
  runner: RunnerInput;
  outputSchema: Schema;
}

/** Characters of all findings in one message. */
const MAX_FINDINGS_CHARS = 2000;

/** @throws PROGRAM_INVALID, PROGRAM_CAPABILITY_DENIED, PROGRAM_TYPECHECK_FAILED */
export async function prepareLaunch(
  { program, input, observe }: LaunchArguments,
  settings: ProgramSettings,
  host: LaunchHost,
): Promise<Launch> {
  checkReferences(program.requires);
  const inputSchema = checkSchema(program.inputSchema);
  const outputSchema = checkSchema(program.outputSchema);
  const inputText = conformingText(input === undefined ? null : input, inputSchema, 'Program input', MAX_VALUE_BYTES);

  const described = await host.describe(program.requires);
  const [denied] = described.denied;
  if (denied !== undefined)
    refuseProgram('PROGRAM_CAPABILITY_DENIED', `Jev program cannot widen its caller's capabilities: ${denied}`);
  if (described.missing.length > 0)
    refuseProgram('PROGRAM_CAPABILITY_DENIED', `Missing Jev program capabilities: ${described.missing.join(', ')}`);

  const checked = await host.check({
    declarations: declarationsFor({
      inputSchema,
      requires: program.requires,
      tools: described.tools,
      observes: observe !== undefined,
    }),
    code: program.code,
  });
  if (checked.diagnostics.length > 0 || checked.javascript === undefined)
    throw programError('PROGRAM_TYPECHECK_FAILED', `Jev program typecheck failed: ${findings(checked.diagnostics)}`);

  return {
    generation: described.generation,
    outputSchema,
    runner: {
      name: program.name,
      javascript: checked.javascript,
      ...(checked.positions === undefined ? {} : { positions: checked.positions }),
      input: inputText,
      requires: program.requires,
      limits: limitsFor(program.limits, settings),
      maxRequestBytes: settings.maxRequestBytes,
      requestTimeoutMs: settings.requestTimeoutMs,
      ...(observe ? { observe: withDefaults(observe) } : {}),
    },
  };
}

/** `line:column message`, in the program's own lines. */
export function findings(diagnostics: readonly ProgramDiagnostic[]): string {
  return diagnostics
    .map(({ line, column, code, message }) => `${line}:${column} ${message}${code ? ` (TS${code})` : ''}`)
    .join('; ')
    .slice(0, MAX_FINDINGS_CHARS);
}

function withDefaults(observe: NonNullable<LaunchArguments['observe']>): NonNullable<RunnerInput['observe']> {
  if (observe.triggerTurn && !observe.delivery)
    refuseProgram('PROGRAM_INVALID', 'Invalid jev.spawn arguments: observe.triggerTurn needs delivery');
  return {
    events: observe.events,
    include: observe.include ?? [],
    maxChars: observe.maxChars ?? 4096,
    queueSize: observe.queueSize ?? 8,
    maxEventAgeMs: observe.maxEventAgeMs ?? 30_000,
    triggerTurn: observe.triggerTurn ?? false,
    maxAdvice: observe.maxAdvice ?? 4,
    ...(observe.delivery ? { delivery: observe.delivery } : {}),
  };
}
