/** The section `devices.browser` of the configuration. */
import * as v from 'valibot';

/**
 * An origin that navigation rules name: `https://shop.example`, `http://127.0.0.1:8080`, with `*.` before a host for all
 * of its subdomains and `*` as the port for any port. `file://` names files.
 */
export const OriginPattern = v.pipe(
  v.string(),
  v.maxLength(300),
  v.regex(
    /^(?:file:\/\/|https?:\/\/(?:\*\.)?(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::(?:\d{1,5}|\*))?)\/?$/,
    'an origin such as "https://shop.example", "https://*.shop.example" or "http://127.0.0.1:*"',
  ),
);

const Patterns = v.optional(v.pipe(v.array(OriginPattern), v.maxLength(1000)), []);

export const NavigationRules = v.strictObject({
  /** Besides public http and https addresses, which are always allowed unless `only` is set. */
  allow: Patterns,
  deny: Patterns,
  /** Nothing but `allow` may be visited. */
  only: v.optional(v.boolean(), false),
});
export type NavigationRules = v.InferOutput<typeof NavigationRules>;

const LoopbackHttp = v.pipe(
  v.string(),
  v.regex(
    /^https?:\/\/(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])(?::\d{1,5})?\/?$/,
    'a debugging address on this machine',
  ),
);

const PROXY_ADDRESS = 'a proxy address: "http://host:port", "socks5://host:port" or "direct", without credentials';

export const BrowserDeviceConfig = v.strictObject({
  enabled: v.optional(v.boolean(), true),
  headless: v.optional(v.boolean(), true),
  /** Absolute path of Chromium or Chrome; looked for on the machine otherwise. */
  executable: v.optional(v.pipe(v.string(), v.regex(/^\//, 'an absolute path'))),
  /** Absolute path of a profile to keep; otherwise each start has a fresh one that is deleted at the end. */
  profileDir: v.optional(v.pipe(v.string(), v.regex(/^\//, 'an absolute path'))),
  /** Joins a Chrome that its owner started with a debugging port, instead of starting one. */
  attach: v.optional(LoopbackHttp),
  /** `owner`: the device's owner approves each tab. `always`: tabs are granted at once. */
  approve: v.optional(v.picklist(['owner', 'always']), 'owner'),
  navigation: v.optional(NavigationRules, { allow: [], deny: [], only: false }),
  /** `http://host:port`, `socks5://host:port` or `direct`; the system's settings otherwise. Without credentials. */
  proxy: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^(?:direct|(?:https?|socks5):\/\/[A-Za-z0-9_.-]+(?::\d{1,5})?)$/, PROXY_ADDRESS),
      v.check((proxy) => Number(/:(\d+)$/.exec(proxy)?.[1] ?? 0) <= 65_535, PROXY_ADDRESS),
    ),
  ),
  /** Memory that Chromium and its pages may take together before the device starts it anew. */
  memoryMb: v.optional(v.pipe(v.number(), v.integer(), v.minValue(256), v.maxValue(1_000_000)), 4096),
});
export type BrowserDeviceConfig = v.InferOutput<typeof BrowserDeviceConfig>;
