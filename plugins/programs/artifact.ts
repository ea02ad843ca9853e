/** What a launch may say. Unknown keys are refused by name, so that a misspelt limit is never silently the default. */
import * as v from 'valibot';
import { type ObserveRequest, observableEvents, type ProgramArtifact, type ProgramLimits } from '../../sdk/index.ts';
import { refuseProgram } from '../../sdk/programs/program-error.ts';

/** Characters of a program's source. */
export const MAX_CODE_CHARS = 65_536;

const text = (least: number, most: number) => v.pipe(v.string(), v.minLength(least), v.maxLength(most));
const atLeastOne = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const between = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));
const schemaObject = v.record(v.string(), v.unknown());
const unique = <T>(entries: T[]) => new Set(entries).size === entries.length;

const Limits = v.strictObject({
  timeoutMs: v.optional(atLeastOne),
  maxEvaluations: v.optional(atLeastOne),
  maxToolCalls: v.optional(atLeastOne),
  maxTokens: v.optional(atLeastOne),
} satisfies Record<keyof ProgramLimits, unknown>);

const Program = v.strictObject({
  name: text(1, 128),
  code: text(1, MAX_CODE_CHARS),
  inputSchema: schemaObject,
  outputSchema: schemaObject,
  requires: v.pipe(v.array(text(3, 256)), v.maxLength(64), v.check(unique, 'each reference once')),
  limits: v.optional(Limits),
});

const Observe = v.strictObject({
  events: v.pipe(
    v.array(v.picklist(observableEvents)),
    v.minLength(1),
    v.maxLength(5),
    v.check(unique, 'each event once'),
  ),
  include: v.optional(
    v.pipe(v.array(v.picklist(['inputText', 'assistantText', 'toolResults'])), v.check(unique, 'each part once')),
  ),
  maxChars: v.optional(between(256, 8192)),
  queueSize: v.optional(between(1, 32)),
  maxEventAgeMs: v.optional(between(100, 300_000)),
  delivery: v.optional(v.picklist(['steer', 'followUp'])),
  triggerTurn: v.optional(v.boolean()),
  maxAdvice: v.optional(between(1, 16)),
} satisfies Record<keyof ObserveRequest, unknown>);

const RunId = text(1, 128);

/** Arguments of each action. Schemas, references and the type check come after, with messages of their own. */
const argumentsOf = {
  run: v.strictObject({ program: Program, input: v.optional(v.unknown()) }),
  spawn: v.strictObject({ program: Program, input: v.optional(v.unknown()), observe: v.optional(Observe) }),
  status: v.strictObject({ id: v.optional(RunId), after: v.optional(between(0, Number.MAX_SAFE_INTEGER)) }),
  wait: v.strictObject({ id: RunId }),
  join: v.strictObject({ id: RunId }),
  stop: v.strictObject({ id: RunId }),
} as const;

export type ProgramAction = keyof typeof argumentsOf;
export interface LaunchArguments {
  program: ProgramArtifact;
  input?: unknown;
  observe?: ObserveRequest;
}
export type ArgumentsOf<A extends ProgramAction> = A extends 'run' | 'spawn'
  ? LaunchArguments
  : A extends 'status'
    ? { id?: string; after?: number }
    : { id: string };

/** @throws PROGRAM_INVALID, `Invalid jev.<name> arguments: <what and where>` */
export function parseArguments<A extends ProgramAction>(action: A, given: unknown): ArgumentsOf<A> {
  if (action === 'run' && typeof given === 'object' && given !== null && Object.hasOwn(given, 'observe'))
    refuseProgram(
      'PROGRAM_INVALID',
      'Observation requires jev.spawn; foreground runs cannot wait for their own turn to end',
    );
  const parsed = v.safeParse(argumentsOf[action] as v.GenericSchema, given ?? {});
  if (parsed.success) return parsed.output as ArgumentsOf<A>;
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue);
  refuseProgram('PROGRAM_INVALID', `Invalid jev.${action} arguments: ${path ? `${path}: ` : ''}${issue.message}`);
}

const REFERENCE = /^[a-z][a-z0-9_-]*\.[a-zA-Z0-9_.$-]+$/;
/** The one Jev action that a program may call; all others start or steer programs. */
const JEV_REFERENCES: readonly string[] = ['jev.evaluate', 'jev.advise'];

/** @throws PROGRAM_INVALID for a reference that is not exact or would let a program launch programs */
export function checkReferences(requires: readonly string[]): void {
  for (const ref of requires)
    if (!REFERENCE.test(ref) || (ref.startsWith('jev.') && !JEV_REFERENCES.includes(ref)))
      refuseProgram(
        'PROGRAM_INVALID',
        'Programs require exact action refs; recursive Jev lifecycle calls are not allowed',
      );
}
