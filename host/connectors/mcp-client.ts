/**
 * Tool calls over MCP Streamable HTTP, in the generation that the server speaks: stateless revision 2026-07-28, or the
 * session-based ones before it. The generation is found once per connection; a tool call is then exactly one POST, and is
 * never sent a second time for any reason.
 */
import type { Dispatcher } from 'undici';
import * as v from 'valibot';
import type { ToolReply } from '../../sdk/contract/capabilities.ts';
import { ToolReplySchema } from '../../sdk/contract/capabilities.ts';
import { isHostError, refuse } from '../../sdk/contract/errors.ts';
import { type Answer, post } from './http-post.ts';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';
/** Milliseconds for finding out how the server speaks. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Milliseconds for one tool call. */
export const TOOL_TIMEOUT_MS = 35_000;

const CLIENT_INFO = { name: 'jev-host', version: '1' };

export interface McpClient {
  /** @throws the codes of `post`; BROWSER_TOOL_FAILURE when the server refused the call itself. */
  call(
    name: string,
    args: Record<string, unknown>,
    options: { signal?: AbortSignal; timeoutMs?: number },
  ): Promise<ToolReply>;
  close(): Promise<void>;
}

export interface McpClientOptions {
  dispatcher: Dispatcher;
  url: URL;
  /** Read late, for every request. */
  authorization(): Promise<string>;
}

type Session = { version: string; sessionId?: string };

export function createMcpClient({ dispatcher, url, authorization }: McpClientOptions): McpClient {
  let session: Promise<Session> | undefined;
  let nextId = 1;

  const send = async (body: Record<string, unknown>, headers: Record<string, string>, signal: AbortSignal) =>
    post({ dispatcher, url, authorization: await authorization(), headers, body, signal });

  async function connect(): Promise<Session> {
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    const modern = await send(
      { jsonrpc: '2.0', id: nextId++, method: 'server/discover', params: { _meta: modernMeta() } },
      modernHeaders('server/discover'),
      signal,
    );
    refuseUnauthorized(modern);
    if (modern.status === 200 && modern.message && 'result' in modern.message) return { version: MODERN };
    return connectLegacy(signal);
  }

  async function connectLegacy(signal: AbortSignal): Promise<Session> {
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT_INFO };
    const answer = await send({ jsonrpc: '2.0', id: nextId++, method: 'initialize', params }, {}, signal);
    refuseUnauthorized(answer);
    const result = answer.message?.result as { protocolVersion?: unknown } | undefined;
    if (answer.status !== 200 || !result) refuse('BROWSER_CONNECTOR_UNAVAILABLE', { status: answer.status });
    const sessionId = answer.headers['mcp-session-id'];
    const version = typeof result.protocolVersion === 'string' ? result.protocolVersion : LEGACY;
    const made = { version, ...(typeof sessionId === 'string' ? { sessionId } : {}) };
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, legacyHeaders(made), signal);
    return made;
  }

  function connected(): Promise<Session> {
    session ??= connect().catch((error: unknown) => {
      session = undefined;
      throw error;
    });
    return session;
  }

  return {
    async call(name, args, { signal, timeoutMs = TOOL_TIMEOUT_MS }) {
      const { version, sessionId } = await connected().catch((error: unknown) => {
        // Nothing of the call was sent yet, whatever went wrong with the handshake.
        if (isHostError(error, 'BROWSER_CONNECTOR_UNAVAILABLE')) throw error;
        return refuse('BROWSER_CONNECTOR_UNAVAILABLE', {});
      });
      const timeout = AbortSignal.timeout(timeoutMs);
      const modern = version === MODERN;
      const answer = await send(
        {
          jsonrpc: '2.0',
          id: nextId++,
          method: 'tools/call',
          params: { name, arguments: args, ...(modern ? { _meta: modernMeta() } : {}) },
        },
        modern ? modernHeaders('tools/call', name) : legacyHeaders({ version, ...(sessionId ? { sessionId } : {}) }),
        signal ? AbortSignal.any([signal, timeout]) : timeout,
      );
      // The server lost the session: it did nothing, and the next call opens a new one. This one is not repeated.
      if (answer.status === 404 && sessionId) session = undefined;
      return readToolReply(answer);
    },
    async close() {
      const open = await session?.catch(() => undefined);
      session = undefined;
      if (!open?.sessionId) return;
      await dispatcher
        .request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'DELETE',
          headers: { ...legacyHeaders(open), authorization: await authorization() },
          signal: AbortSignal.timeout(2000),
        })
        .then((response) => response.body.dump())
        .catch(() => {});
    },
  };
}

function readToolReply(answer: Answer): ToolReply {
  if (answer.status === 401 || answer.status === 403)
    refuse('BROWSER_CONNECTOR_UNAVAILABLE', { status: answer.status });
  if (!answer.message) refuse('INVALID_BROWSER_RESPONSE', { status: answer.status });
  if ('error' in answer.message) refuse('BROWSER_TOOL_FAILURE', { status: answer.status });
  const reply = v.safeParse(ToolReplySchema, answer.message.result);
  if (!reply.success) refuse('INVALID_BROWSER_RESPONSE', {});
  const { content, isError } = reply.output;
  return { content, ...(isError === undefined ? {} : { isError }) };
}

function refuseUnauthorized(answer: Answer): void {
  if (answer.status === 401 || answer.status === 403)
    refuse('BROWSER_CONNECTOR_UNAVAILABLE', { status: answer.status });
}

function modernMeta(): Record<string, unknown> {
  return {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
  };
}

function modernHeaders(method: string, name?: string): Record<string, string> {
  return { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...(name ? { 'mcp-name': name } : {}) };
}

function legacyHeaders({ version, sessionId }: Session): Record<string, string> {
  return { 'mcp-protocol-version': version, ...(sessionId ? { 'mcp-session-id': sessionId } : {}) };
}
