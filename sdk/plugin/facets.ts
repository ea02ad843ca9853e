/**
 * Turns the flat calls of the wire into the facets of a run's context. The same code serves a plugin in its sandbox and a
 * plugin that a test runs inline.
 */
import type { Facets, ToolReply } from '../contract/capabilities.ts';
import type { CapabilityId } from '../contract/manifest.ts';

export interface FacetPowers {
  /** One call of the contract; resolves with the wire's result. */
  call(name: string, ...args: unknown[]): Promise<unknown>;
  /** Each throws CAPABILITY_DENIED when `clock` or `random` is not granted. */
  now(): number;
  sleep(ms: number): Promise<void>;
  uuid(): string;
  number(): number;
}

type AllFacets = { [K in CapabilityId]: Facets[K] };
type Merge<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;
export type FullContext = Merge<AllFacets[CapabilityId]>;

/** Every facet exists, so that a use of one that is not granted is refused with its name instead of failing on `undefined`. */
export function createFacets({ call, now, sleep, uuid, number }: FacetPowers): FullContext {
  const json = async (name: string, ...args: unknown[]): Promise<never> =>
    JSON.parse((await call(name, ...args)) as string) as never;
  const write = (level: 'debug' | 'info' | 'warn' | 'error') => (text: string) => {
    // Nobody waits for a log line; a refused one is lost.
    call('log.write', level, String(text).slice(0, MAX_LOG_CHARS)).catch(ignore);
  };
  return {
    jev: { evaluate: (request: unknown) => json('jev.evaluate', JSON.stringify(request)) },
    tools: { call: (name, args): Promise<ToolReply> => json('tools.call', name, JSON.stringify(args)) },
    thinking: {
      provider: (request: unknown) => json('thinking.provider', JSON.stringify(request)),
      assist: (request: unknown) => json('thinking.assist', JSON.stringify(request)),
    },
    model: { messages: (request) => json('model.messages', JSON.stringify(request)) },
    task: {
      progress: async (event) => void (await call('task.progress', JSON.stringify(event))),
      ask: async (question) => (await call('task.ask', JSON.stringify(question))) as string,
      confirm: async (question) => (await call('task.confirm', JSON.stringify(question))) as boolean,
    },
    image: {
      async transform(operation, data) {
        const answer = (await call('image.transform', JSON.stringify(operation), data)) as {
          info: string;
          data: Uint8Array;
        };
        return { info: JSON.parse(answer.info), data: answer.data };
      },
    },
    storage: {
      get: async (key) => (await call('storage.get', key)) as string | null,
      put: async (key, value) => void (await call('storage.put', key, value)),
      delete: async (key) => void (await call('storage.delete', key)),
    },
    clock: { now, sleep },
    random: { uuid, number },
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    cdp: {
      call: (method, params = {}, where = {}) =>
        json('cdp.call', method, JSON.stringify(params), JSON.stringify(where)),
    },
    tasks: { control: (command) => json('tasks.control', JSON.stringify(command)) },
    speech: {
      transcribe: (options, audio) => json('speech.transcribe', JSON.stringify(options), audio),
      speak: async (options) => (await call('speech.speak', JSON.stringify(options))) as Uint8Array,
    },
    program: {
      call: (ref, args) => json('program.call', ref, JSON.stringify(args)),
      report: async (report) => void (await call('program.report', JSON.stringify(report))),
      observe: () => json('program.observe'),
      advise: (advice) => json('program.advise', JSON.stringify(advice)),
    },
    programs: {
      about: () => json('programs.about'),
      describe: (references) => json('programs.describe', JSON.stringify(references)),
      check: (source) => json('programs.check', JSON.stringify(source)),
      start: async (run) => void (await call('programs.start', JSON.stringify(run))),
      stop: async (id) => void (await call('programs.stop', id)),
    },
    http: { fetch: (request) => json('http.fetch', JSON.stringify(request)) },
  };
}

const MAX_LOG_CHARS = 4096;
const ignore = (): void => {};
