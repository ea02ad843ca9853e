/**
 * The TypeScript declarations that one program is checked against: its input, and exactly what it was granted.
 *
 * Types help the author; they are no wall. Every call is checked again when it is made. So they lean towards letting a
 * correct program pass: an optional property of the input is typed as if it were there, and keys that the schema does not
 * name are `any`, unless it forbids them.
 *
 * Threat: names and texts of tools come from tool servers. Everything that goes into the source is written as a JSON
 * string literal or checked to be an identifier, so that no description can add a declaration.
 */
import { isProviderVariable, type ProgramTool } from '../../sdk/index.ts';
import { typeOf } from './schema-types.ts';

const BASE = `
type Content = string | object;
interface NoulQuestion { type: 'noul'; instructions: Content; criteria?: { true?: Content; false?: Content } | null }
interface ChoiceQuestion { type: 'choice'; instructions: Content; criteria: { readonly [option: string]: Content | null } }
interface ScoreQuestion { type: 'score'; instructions: Content; criteria: readonly Content[] }
type Question = NoulQuestion | ChoiceQuestion | ScoreQuestion;
interface NoulAnswer { readonly type: 'noul'; /** Probability of yes. */ readonly noul: number }
interface ChoiceAnswer<Option extends string> {
  readonly type: 'choice';
  readonly choice: Option;
  readonly probabilities: { readonly [O in Option]: number };
  readonly confidence: number;
}
interface ScoreAnswer {
  readonly type: 'score';
  readonly score: number;
  readonly probabilities: { readonly [level: string]: number };
  readonly legend: { readonly [level: string]: string };
  readonly confidence: number;
}
type Answer<Q> = Q extends { type: 'noul' } ? NoulAnswer
  : Q extends { type: 'choice'; criteria: infer C } ? ChoiceAnswer<keyof C & string>
  : Q extends { type: 'score' } ? ScoreAnswer : never;
interface Evaluation<Questions> {
  readonly model: string;
  readonly answers: { readonly [Id in keyof Questions]: Answer<Questions[Id]> };
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}
declare const console: {
  log(...values: unknown[]): void; info(...values: unknown[]): void; warn(...values: unknown[]): void;
  error(...values: unknown[]): void; debug(...values: unknown[]): void;
};
declare function setTimeout(callback: (...values: any[]) => void, ms?: number, ...values: any[]): number;
declare function clearTimeout(id: number | undefined): void;
declare function structuredClone<T>(value: T): T;
/** Absent: a program has no process, no network and no modules. */
declare const process: undefined;
declare const fetch: undefined;
declare const require: undefined;
`;

const EVALUATE = `
declare const jev: {
  evaluate<const Questions extends { readonly [id: string]: Question }>(
    request: { state: Content; questions: Questions; model?: string },
  ): Promise<Evaluation<Questions>>;
};
`;

const OBSERVATION = `
interface ObservedEvent {
  readonly id: string; readonly sequence: number;
  readonly event: 'input' | 'turn_end' | 'tool_error' | 'agent_end' | 'agent_settled';
  readonly source: 'main'; readonly sessionId: string; readonly revision: number; readonly at: number;
  readonly payload: { readonly [key: string]: any }; readonly truncated: boolean;
}
`;

export interface DeclarationRequest {
  inputSchema: unknown;
  requires: readonly string[];
  /** Descriptions of the required references, `jev.*` excepted. */
  tools: readonly ProgramTool[];
  observes: boolean;
}

export function declarationsFor({ inputSchema, requires, tools, observes }: DeclarationRequest): string {
  const granted = tools.filter((tool) => requires.includes(tool.ref));
  return [
    BASE,
    `declare const input: ${typeOf(inputSchema)};`,
    programFacade(observes),
    requires.includes('jev.evaluate') ? EVALUATE : '',
    observes ? OBSERVATION : '',
    toolTable(granted),
    ...providers(granted),
  ].join('\n');
}

function programFacade(observes: boolean): string {
  const observing = observes
    ? `
  nextEvent(): Promise<ObservedEvent>;
  advise(advice: { eventId: string; message: string }): Promise<{ readonly delivered: boolean; readonly reason?: string }>;`
    : '';
  return `
declare const program: {
  sleep(ms: number): Promise<void>;
  emit(value: unknown): Promise<void>;${observing}
};`;
}

function toolTable(tools: readonly ProgramTool[]): string {
  const rows = tools.map(
    ({ ref, inputSchema, outputSchema }) =>
      `  ${JSON.stringify(ref)}: { args: ${argumentsType(inputSchema)}; result: ${resultType(outputSchema)} };`,
  );
  return `
interface GrantedTools {
${rows.join('\n')}
}
type ToolCall<Ref extends string> = Ref extends keyof GrantedTools
  ? {} extends GrantedTools[Ref]['args'] ? { ref: Ref; args?: GrantedTools[Ref]['args'] } : { ref: Ref; args: GrantedTools[Ref]['args'] }
  : { ref: Ref; args?: unknown };
declare const tools: {
  call<const Ref extends string>(request: ToolCall<Ref>): Promise<Ref extends keyof GrantedTools ? GrantedTools[Ref]['result'] : unknown>;
};`;
}

/** Arguments are typed exactly: what the schema does not require may be left out. */
function argumentsType(schema: unknown): string {
  return schema === undefined ? '{ [key: string]: any }' : typeOf(schema, { optional: true });
}

function resultType(schema: unknown): string {
  return schema === undefined ? 'unknown' : typeOf(schema);
}

/** `browser.cdp(args)` for every granted reference whose provider can be written as a variable. */
function providers(tools: readonly ProgramTool[]): string[] {
  const actions = new Map<string, string[]>();
  for (const { ref } of tools) {
    const dot = ref.indexOf('.');
    const provider = ref.slice(0, dot);
    if (!isProviderVariable(provider)) continue;
    const args = `GrantedTools[${JSON.stringify(ref)}]['args']`;
    const optional = `{} extends ${args} ? [args?: ${args}] : [args: ${args}]`;
    const line = `  ${JSON.stringify(ref.slice(dot + 1))}(...args: ${optional}): Promise<GrantedTools[${JSON.stringify(ref)}]['result']>;`;
    actions.set(provider, [...(actions.get(provider) ?? []), line]);
  }
  return [...actions].map(([provider, lines]) => `declare const ${provider}: {\n${lines.join('\n')}\n};`);
}
