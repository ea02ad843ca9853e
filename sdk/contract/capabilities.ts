/**
 * What the two sides of a plugin's port may say to each other. The whole contract is data: a call that is not listed here
 * does not exist, and both sides parse arguments and results with these schemas.
 *
 * A call's name on the wire is its path on the context (`jev.evaluate`, `storage.get`), always as one path segment, so
 * that the guarded endpoint can compare it with a fixed list.
 */
import * as v from 'valibot';
import type { JevQuestion, JevRequest, JevResult, TypedJevResult } from './jev.ts';
import type { CapabilityId } from './manifest.ts';
import type { CheckedProgram, DescribedReferences, ProgramsAbout } from './program.ts';
import type { RunnerInput, RunnerReport } from './program-runner.ts';
import type { ThinkingReply, ThinkingRequest } from './thinking.ts';

/** Characters of JSON text that one call may carry in either direction. */
export const MAX_MESSAGE_CHARS = 4 * 1024 * 1024;

export interface ToolReply {
  content: { type: 'text'; text: string }[];
  isError?: boolean;
}

const ToolReplySchema = v.object({
  content: v.pipe(v.array(v.object({ type: v.literal('text'), text: v.string() })), v.maxLength(16)),
  isError: v.optional(v.boolean()),
});

/** One owner question. The run waits; the owner's answer or a cancellation ends it. */
export interface OwnerQuestion {
  text: string;
  /** Label of the page field that the answer fills, when it is one. */
  fieldLabel?: string;
}

export interface ProviderMessage {
  role: 'system' | 'user' | 'assistant';
  content:
    | string
    | ({ type: 'text'; text: string } | { type: 'image'; mimeType: 'image/png' | 'image/jpeg'; data: string })[];
}

/** A JSON text: bodies travel as strings, not as object graphs (platform notes, part 1c). */
const JsonText = v.pipe(v.string(), v.maxLength(MAX_MESSAGE_CHARS));
const ToolName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,128}$/));
/** An exact reference of a program: provider and action. */
const Reference = v.pipe(v.string(), v.maxLength(256), v.regex(/^[a-z][a-z0-9_-]*\.[a-zA-Z0-9_.$-]+$/));
const Key = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._-]{0,127}$/));

export interface CallSpec {
  readonly args: v.GenericSchema<unknown[]>;
  readonly result: v.GenericSchema;
}

/** Calls by capability. Capabilities without calls (`clock`, `random`) are endowed inside the worker. */
export const capabilityCalls = {
  'jev.evaluate': {
    // JevRequest as JSON text in, JevResult as JSON text out: the service validates the request itself.
    'jev.evaluate': { args: v.strictTuple([JsonText]), result: JsonText },
  },
  'tools.call': {
    // Tool name, arguments as JSON text; the reply as JSON text of a ToolReply.
    'tools.call': { args: v.strictTuple([ToolName, JsonText]), result: JsonText },
  },
  'thinking.assist': {
    // ThinkingRequest as JSON text in, ThinkingReply as JSON text out.
    'thinking.assist': { args: v.strictTuple([JsonText]), result: JsonText },
  },
  'thinking.provider': {
    'thinking.provider': { args: v.strictTuple([JsonText]), result: JsonText },
  },
  'model.messages': {
    'model.messages': { args: v.strictTuple([JsonText]), result: JsonText },
  },
  task: {
    'task.progress': { args: v.strictTuple([JsonText]), result: v.null() },
    'task.ask': { args: v.strictTuple([JsonText]), result: v.string() },
    'task.confirm': { args: v.strictTuple([JsonText]), result: v.boolean() },
  },
  image: {
    // Operation as JSON text, image bytes; the answer is JSON text that names the size, and bytes.
    'image.transform': {
      args: v.strictTuple([JsonText, v.instance(Uint8Array)]),
      result: v.strictObject({ info: JsonText, data: v.instance(Uint8Array) }),
    },
  },
  storage: {
    'storage.get': { args: v.strictTuple([Key]), result: v.nullable(v.string()) },
    'storage.put': { args: v.strictTuple([Key, v.string()]), result: v.null() },
    'storage.delete': { args: v.strictTuple([Key]), result: v.null() },
  },
  clock: {},
  random: {},
  log: {
    'log.write': {
      args: v.strictTuple([v.picklist(['debug', 'info', 'warn', 'error']), v.pipe(v.string(), v.maxLength(4096))]),
      result: v.null(),
    },
  },
  // Method, parameters and where to as JSON text.
  'cdp.call': { 'cdp.call': { args: v.strictTuple([ToolName, JsonText, JsonText]), result: JsonText } },
  'tasks.control': { 'tasks.control': { args: v.strictTuple([JsonText]), result: JsonText } },
  speech: {
    'speech.transcribe': { args: v.strictTuple([JsonText, v.instance(Uint8Array)]), result: JsonText },
    'speech.speak': { args: v.strictTuple([JsonText]), result: v.instance(Uint8Array) },
  },
  /** What runs one program may do for it. Bodies are JSON text. */
  program: {
    'program.call': { args: v.strictTuple([Reference, JsonText]), result: JsonText },
    'program.report': { args: v.strictTuple([JsonText]), result: v.null() },
    'program.observe': { args: v.strictTuple([]), result: JsonText },
    'program.advise': { args: v.strictTuple([JsonText]), result: JsonText },
  },
  /** What a caller may do about its programs. */
  programs: {
    'programs.about': { args: v.strictTuple([]), result: JsonText },
    'programs.describe': { args: v.strictTuple([JsonText]), result: JsonText },
    'programs.check': { args: v.strictTuple([JsonText]), result: JsonText },
    'programs.start': { args: v.strictTuple([JsonText]), result: v.null() },
    'programs.stop': { args: v.strictTuple([v.pipe(v.string(), v.maxLength(128))]), result: v.null() },
  },
  'http.fetch': { 'http.fetch': { args: v.strictTuple([JsonText]), result: JsonText } },
} as const satisfies Record<CapabilityId, Record<string, CallSpec>>;

export { ToolReplySchema };

/** What each granted capability puts on the run's context. */
export interface Facets {
  'jev.evaluate': {
    jev: {
      /** Asks Jev. Rejects with a `JEV_…` code; is never retried by the host. */
      evaluate<Q extends Record<string, JevQuestion>>(
        request: Omit<JevRequest, 'questions'> & { questions: Q },
      ): Promise<TypedJevResult<Q>>;
      evaluate(request: JevRequest): Promise<JevResult>;
    };
  };
  'tools.call': {
    tools: {
      /** Calls a tool of the task's own target. A mutation is on disk before it leaves the host. */
      call(name: string, args: Record<string, unknown>): Promise<ToolReply>;
    };
  };
  'thinking.assist': {
    thinking: {
      /**
       * Field text, an address, a verification or an action, from the Thinking helper that the operator set up.
       * Rejects with the provider's failure code.
       */
      assist(request: ThinkingRequest): Promise<ThinkingReply>;
    };
  };
  'thinking.provider': {
    thinking: {
      /** Messages in, text out. Address, key, model and budget are the host's. */
      provider(request: {
        messages: ProviderMessage[];
        maxTokens?: number;
        timeoutMs?: number;
      }): Promise<{ text: string; stop: string }>;
    };
  };
  'model.messages': {
    model: {
      /** The operator's model: messages in, text out. Rejects with a `BROWSER_TEXT_…` or `THINKING_…` code. */
      messages(request: {
        messages: ProviderMessage[];
        maxTokens?: number;
        timeoutMs?: number;
      }): Promise<{ text: string; stop: string }>;
    };
  };
  task: {
    task: {
      /** Best effort; never awaited for its effect. */
      progress(event: Record<string, unknown>): Promise<void>;
      ask(question: OwnerQuestion): Promise<string>;
      confirm(question: OwnerQuestion): Promise<boolean>;
    };
  };
  image: {
    image: {
      transform(
        operation: Record<string, unknown>,
        data: Uint8Array,
      ): Promise<{ info: Record<string, unknown>; data: Uint8Array }>;
    };
  };
  storage: {
    storage: {
      get(key: string): Promise<string | null>;
      put(key: string, value: string): Promise<void>;
      delete(key: string): Promise<void>;
    };
  };
  clock: {
    clock: {
      /** Milliseconds since the epoch. */
      now(): number;
      /** Resolves after the time, or rejects when the run is cancelled. */
      sleep(ms: number): Promise<void>;
    };
  };
  random: { random: { uuid(): string; number(): number } };
  log: { log: Record<'debug' | 'info' | 'warn' | 'error', (text: string) => void> };
  'cdp.call': {
    cdp: {
      /**
       * One command of the debugging protocol, to a browser that the operator set up. Methods that speak to a page need its
       * session; `browser` names one of several. Rejects with `PLUGIN_CDP_FAILED`: whether it had an effect is not known.
       */
      call(
        method: string,
        params?: Record<string, unknown>,
        where?: { sessionId?: string; browser?: string },
      ): Promise<Record<string, unknown>>;
    };
  };
  'tasks.control': {
    tasks: {
      /**
       * The caller's tasks: `{ action: 'status', taskId? }`, `{ action: 'cancel', taskId }`, or `pause`, `resume`, `revise`
       * (with `text`), `agent`, `user` with `id` (a fresh UUID), `taskId` and `expectedRevision`. Answers `{ task }` or
       * `{ tasks }`. For tools that agents call; a task's own run has no tasks to control.
       */
      control(command: Record<string, unknown>): Promise<Record<string, unknown>>;
    };
  };
  speech: {
    speech: {
      transcribe(options: Record<string, unknown>, audio: Uint8Array): Promise<Record<string, unknown>>;
      speak(options: Record<string, unknown>): Promise<Uint8Array>;
    };
  };
  program: {
    program: {
      /** A call that the program required by this exact reference, with its caller's powers. */
      call(ref: string, args: unknown): Promise<unknown>;
      /** News for whoever launched the program. */
      report(report: RunnerReport): Promise<void>;
      /** The next event of the caller's conversation; waits until there is one. */
      observe(): Promise<unknown>;
      advise(advice: { eventId: string; message: string }): Promise<unknown>;
    };
  };
  programs: {
    programs: {
      about(): Promise<ProgramsAbout>;
      describe(references: readonly string[]): Promise<DescribedReferences>;
      check(source: { declarations: string; code: string }): Promise<CheckedProgram>;
      start(run: { id: string; generation: string; runner: RunnerInput }): Promise<void>;
      stop(id: string): Promise<void>;
    };
  };
  'http.fetch': { http: { fetch(request: Record<string, unknown>): Promise<Record<string, unknown>> } };
}

/** What every run has, whatever it was granted. */
export interface RunBase {
  /** Aborted when the run is cancelled or its deadline passes. */
  readonly signal: AbortSignal;
  readonly run: {
    readonly id: string;
    readonly pluginId: string;
    readonly features: Readonly<Record<string, boolean>>;
    readonly settings: Readonly<Record<string, unknown>>;
  };
}

type Intersect<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;

/** The context of a run that was granted the capabilities `K`, and no others. */
export type RunContext<K extends CapabilityId> = RunBase & Intersect<Facets[K]>;
