/** The relay's list of approved grants, and the targets in it (wire-contracts 2.7). */
import { createHash } from 'node:crypto';
import type { Dispatcher } from 'undici';
import * as v from 'valibot';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { GrantsReply } from '../../sdk/devices/remote-browser-contract.ts';
import { readCapped } from './http-post.ts';
import type { TargetBinding } from './ports.ts';

export const DISCOVERY_TIMEOUT_MS = 10_000;
export const MAX_GRANTS_BYTES = 262_144;
/** Rows of a computer relay that are looked at, the newest last. */
const MAX_COMPUTER_ROWS = 100;

const Uuid = v.pipe(v.string(), v.uuid());
const ComputerGrants = v.object({
  grants: v.array(
    v.object({
      id: Uuid,
      deviceId: Uuid,
      label: v.pipe(v.string(), v.maxLength(250)),
      online: v.boolean(),
      ready: v.optional(v.boolean()),
      expiresAt: v.optional(v.number()),
      stoppedAt: v.optional(v.number()),
    }),
  ),
});

export interface Owner {
  agentId: string;
  principalId: string;
  conversationId: string;
}

export async function fetchGrants(
  dispatcher: Dispatcher,
  url: URL,
  path: string,
  authorization: string,
  signal: AbortSignal,
): Promise<unknown> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(DISCOVERY_TIMEOUT_MS)]);
  try {
    const response = await dispatcher.request({
      ...{ origin: url.origin, path, method: 'GET', signal: limited },
      headers: { authorization, accept: 'application/json' },
    });
    if (response.statusCode !== 200) {
      response.body.on('error', () => {}).destroy();
      refuse('BROWSER_DISCOVERY_UNAVAILABLE', { status: response.statusCode });
    }
    const text = await readCapped(response.body, Number(response.headers['content-length'] ?? 0), MAX_GRANTS_BYTES);
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof HostError && error.code === 'BROWSER_DISCOVERY_UNAVAILABLE') throw error;
    if (error instanceof SyntaxError || error instanceof HostError) refuse('BROWSER_DISCOVERY_INVALID', {});
    throw new HostError('BROWSER_DISCOVERY_UNAVAILABLE', {}, { cause: error });
  }
}

export type ParsedGrants =
  | { adapter: 'browser'; grants: GrantsReply['grants'] }
  | { adapter: 'computer'; grants: v.InferOutput<typeof ComputerGrants>['grants'] };

/** @throws BROWSER_DISCOVERY_INVALID, COMPUTER_DISCOVERY_INVALID. */
export function parseGrants(adapter: 'browser' | 'computer', body: unknown): ParsedGrants {
  if (adapter === 'computer') {
    const computers = v.safeParse(ComputerGrants, body);
    if (!computers.success) refuse('COMPUTER_DISCOVERY_INVALID', {});
    return { adapter, grants: computers.output.grants.slice(-MAX_COMPUTER_ROWS) };
  }
  const browsers = v.safeParse(GrantsReply, body);
  if (!browsers.success) refuse('BROWSER_DISCOVERY_INVALID', {});
  return { adapter, grants: browsers.output.grants };
}

/** The targets that may be used now. Offline, expired, unapproved and read-only grants are none. */
export function targetsIn(parsed: ParsedGrants, connectorId: string, owner: Owner, now: number): TargetBinding[] {
  if (parsed.adapter === 'computer') {
    return parsed.grants
      .filter((grant) => grant.online && isCurrent(grant.expiresAt, now))
      .map((grant) => {
        const scope = { device_id: grant.deviceId, grant_id: grant.id };
        const id = `computer-${targetHash(owner, connectorId, scope)}`;
        return { id, adapter: 'computer', name: `Computer Use · ${cut(grant.label)}`, ...owner, connectorId, scope };
      });
  }
  return parsed.grants
    .filter((grant) => grant.online && grant.ready && grant.policy.control && isCurrent(grant.expiresAt, now))
    .flatMap((grant) =>
      grant.policy.tabs.map((tab) => {
        const scope = { device_id: grant.deviceId, grant_id: grant.id, tab_id: tab.id };
        const name = `Remote Browser · ${cut(grant.label) || 'Browser'} · ${cut(tab.title) || 'Tab'}`;
        return {
          id: `auto-${targetHash(owner, connectorId, scope)}`,
          adapter: 'browser',
          name,
          ...owner,
          connectorId,
          scope,
        };
      }),
    );
}

/** Names a permission for every owner alike. */
export const scopeKey = ({ device_id, grant_id, tab_id }: Record<string, string>): string =>
  JSON.stringify([device_id, grant_id, tab_id ?? null]);

/** What is permitted now. A device that is offline for a moment has taken nothing back. */
export function permittedScopes(parsed: ParsedGrants, now: number): ReadonlySet<string> {
  if (parsed.adapter === 'computer') {
    const current = parsed.grants.filter((grant) => !grant.stoppedAt && isCurrent(grant.expiresAt, now));
    return new Set(current.map(({ deviceId, id }) => scopeKey({ device_id: deviceId, grant_id: id })));
  }
  const current = parsed.grants.filter(
    (grant) => grant.ready && grant.policy.control && isCurrent(grant.expiresAt, now),
  );
  return new Set(
    current.flatMap(({ deviceId, id, policy }) =>
      policy.tabs.map((tab) => scopeKey({ device_id: deviceId, grant_id: id, tab_id: tab.id })),
    ),
  );
}

/** The one grant that only waits for its owner's approval, when there is exactly one. */
export function awaitingApproval(parsed: ParsedGrants): { id: string; deviceId: string } | undefined {
  if (parsed.adapter !== 'browser') return undefined;
  const waiting = parsed.grants.filter((grant) => grant.online && !grant.ready);
  return waiting.length === 1 ? waiting[0] : undefined;
}

export function targetHash(
  { agentId, principalId, conversationId }: Owner,
  connectorId: string,
  scope: object,
): string {
  const tuple = JSON.stringify([agentId, principalId, conversationId, connectorId, scope]);
  return createHash('sha256').update(tuple).digest('hex');
}

const isCurrent = (expiresAt: number | undefined, now: number): boolean =>
  !expiresAt || (Number.isFinite(expiresAt) && expiresAt > now);

/** Titles come from pages: one line, well-formed, at most 80 characters. */
function cut(text: string): string {
  const line = text
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return [...line].slice(0, 80).join('');
}
