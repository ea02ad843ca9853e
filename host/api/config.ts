/** `gateway.api`: where the host listens, who may call, and how much one key may ask. */
import * as v from 'valibot';

const int = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

const HostName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9.:[\]-]{1,255}$/, 'a host name or address without a port'));
const Origin = v.pipe(
  v.string(),
  v.maxLength(512),
  v.check((text) => URL.canParse(text) && new URL(text).origin === text, 'an origin such as https://console.example'),
);
const AbsolutePath = v.pipe(v.string(), v.maxLength(4096), v.regex(/^\//, 'an absolute path'));

/** Keys are stored as their SHA-256 only; `jev-host key create` makes a key and prints it once. */
export const ApiKey = v.strictObject({
  id: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, dots, dashes and underscores'),
    v.description('Names the key; the principal is `api:<id>`.'),
  ),
  sha256: v.pipe(
    v.string(),
    v.regex(/^[0-9a-f]{64}$/, 'the hex SHA-256 of the key, in lower case'),
    v.description('Hex SHA-256 of the key. The key itself is never stored.'),
  ),
  agents: v.pipe(
    v.union([v.literal('*'), v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.maxLength(256))]),
    v.description('The agents that the key may use, or `"*"` for all.'),
  ),
  access: v.pipe(
    v.picklist(['read', 'write', 'admin']),
    v.description('`read` looks, `write` also starts and steers tasks, `admin` also binds targets.'),
  ),
  expiresAt: v.optional(
    v.pipe(
      v.string(),
      v.isoTimestamp('a time such as 2027-01-31T00:00:00Z'),
      v.description('After this moment the key is refused.'),
    ),
  ),
});
export type ApiKey = v.InferOutput<typeof ApiKey>;

export const ApiLimits = v.strictObject({
  requestsPerMinute: v.optional(
    v.pipe(int(1, 1_000_000), v.description('Requests that one key may send in a minute.')),
    1200,
  ),
  concurrentRequests: v.optional(
    v.pipe(int(1, 10_000), v.description('Requests that one key may have open at once, waits included.')),
    64,
  ),
  streams: v.optional(v.pipe(int(1, 10_000), v.description('Event streams that one key may have open at once.')), 16),
});
export type ApiLimits = v.InferOutput<typeof ApiLimits>;

export const ApiConfig = v.strictObject({
  host: v.optional(v.pipe(HostName, v.description('Address to listen on.')), '127.0.0.1'),
  port: v.optional(v.pipe(int(0, 65_535), v.description('Port to listen on; 0 takes a free one.')), 10_850),
  keys: v.optional(v.pipe(v.array(ApiKey), v.maxLength(1000), v.description('Who may call.')), []),
  socket: v.optional(
    v.pipe(AbsolutePath, v.description('A Unix socket that serves the same routes, for agents in containers.')),
  ),
  limits: v.optional(v.pipe(ApiLimits, v.description('What one key may ask.')), {}),
  allowedHosts: v.optional(
    v.pipe(
      v.array(HostName),
      v.maxLength(64),
      v.description('Further host names that requests may name, such as that of a reverse proxy.'),
    ),
    [],
  ),
  allowedOrigins: v.optional(
    v.pipe(v.array(Origin), v.maxLength(64), v.description('Origins of web pages that may call.')),
    [],
  ),
  tls: v.optional(
    v.pipe(
      v.strictObject({
        certFile: v.pipe(AbsolutePath, v.description('PEM file with the certificate chain.')),
        keyFile: v.pipe(AbsolutePath, v.description('PEM file with the private key.')),
      }),
      v.description('Serve HTTPS directly. Usually a reverse proxy does this.'),
    ),
  ),
  publicUrl: v.optional(
    v.pipe(
      v.string(),
      v.url(),
      v.maxLength(2048),
      v.description('The address that clients use, when a proxy stands in front.'),
    ),
  ),
});
export type ApiConfig = v.InferOutput<typeof ApiConfig>;
