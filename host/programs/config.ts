/** `gateway.programs`: what programs may reach beyond Jev and the tools of plugins. */
import * as v from 'valibot';
import { isTakenName } from '../../sdk/programs/provider-names.ts';

/** Milliseconds that one browser command may take. */
export const CALL_TIMEOUT_RANGE = [100, 60_000, 10_000] as const;

const Method = v.pipe(v.string(), v.regex(/^[A-Z][A-Za-z]*\.[a-z][A-Za-z]*$/, 'an exact Domain.method name'));

const WebSocketUrl = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.check((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return !!url && /^wss?:$/.test(url.protocol) && !url.username && !url.password;
  }, 'a ws/wss address without credentials'),
);

/** One debugging endpoint, as the references `<id>.connect` and `<id>.cdp`. */
export const BrowserHarnessConfig = v.strictObject({
  id: v.pipe(
    v.string(),
    v.regex(/^[a-z][a-z0-9_-]{0,63}$/, 'a name of small letters, digits, "-" and "_"'),
    v.check((id) => !isTakenName(id), 'a name that neither programs nor the language have already'),
  ),
  /** The browser's own debugger address. Use a browser that is there for this and nothing else. */
  wsUrl: WebSocketUrl,
  /** Nothing else can be called, by anybody. */
  allowedMethods: v.pipe(v.array(Method), v.minLength(1), v.maxLength(128)),
  callTimeoutMs: v.optional(v.pipe(v.number(), v.finite(), v.transform(clampTimeout)), CALL_TIMEOUT_RANGE[2]),
  /** Agents whose programs may use it. Absent: every agent. */
  agents: v.optional(v.array(v.string())),
});
export type BrowserHarnessConfig = v.InferOutput<typeof BrowserHarnessConfig>;

export const ProgramsConfig = v.strictObject({
  browsers: v.optional(
    v.pipe(
      v.array(BrowserHarnessConfig),
      v.maxLength(16),
      v.check((all) => new Set(all.map(({ id }) => id)).size === all.length, 'each id once'),
    ),
    [],
  ),
});
export type ProgramsConfig = v.InferOutput<typeof ProgramsConfig>;

function clampTimeout(ms: number): number {
  const [lowest, highest] = CALL_TIMEOUT_RANGE;
  return Math.min(highest, Math.max(lowest, Math.floor(ms)));
}
