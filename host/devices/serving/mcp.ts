/**
 * MCP over Streamable HTTP for a fixed list of tools, for both kinds of client in the field: the stateless revision of
 * 2026-07-28 and the 2025 ones that begin with `initialize`.
 *
 * Tools are all that a device offers: no streams, no sessions, no requests to the client. Every answer is one JSON body,
 * and a call costs little more than parsing it, which is why this is not the SDK’s handler.
 */
import { type Incoming, json, NOT_JSON, type Outgoing } from './http.ts';

export const MODERN = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'];

const META = 'io.modelcontextprotocol';
/** Characters of a request's id. */
const MAX_ID = 256;
/** Milliseconds for which a client may keep the list of tools. */
const LIST_TTL_MS = 3_600_000;

export interface McpTool {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
}

export interface McpServerOptions {
  name: string;
  version: string;
  instructions?: string;
  tools: readonly McpTool[];
  call(name: string, args: unknown, signal: AbortSignal): Promise<{ body: Record<string, unknown>; isError: boolean }>;
}

interface Request {
  id: string | number | undefined;
  method: string;
  params: Record<string, unknown>;
}

/** JSON-RPC errors that the protocol gives a number of their own. */
const PARSE = -32700;
const INVALID_REQUEST = -32600;
const NO_METHOD = -32601;
const INVALID_PARAMS = -32602;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_VERSION = -32022;

export function mcpServer(options: McpServerOptions): (incoming: Incoming) => Promise<Outgoing> {
  const capabilities = { tools: { listChanged: false } };
  const serverInfo = { name: options.name, version: options.version };
  const toolList = [...options.tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  const known = new Set(toolList.map((tool) => tool.name));

  async function handle(request: Request, modern: boolean, signal: AbortSignal): Promise<Outgoing> {
    const { id, method, params } = request;
    const result = (value: Record<string, unknown>) =>
      json(200, {
        jsonrpc: '2.0',
        id,
        result: modern ? { resultType: 'complete', ...value, _meta: { [`${META}/serverInfo`]: serverInfo } } : value,
      });
    switch (method) {
      case 'initialize': {
        if (modern) break;
        const asked = params.protocolVersion;
        const protocolVersion = typeof asked === 'string' && LEGACY.includes(asked) ? asked : LEGACY[0];
        return result({ protocolVersion, capabilities, serverInfo, ...instructions(options) });
      }
      case 'ping':
        if (modern) break;
        return result({});
      case 'server/discover':
        if (!modern) break;
        return result({
          supportedVersions: [MODERN, ...LEGACY],
          capabilities,
          ...instructions(options),
          ttlMs: LIST_TTL_MS,
          cacheScope: 'private',
        });
      case 'tools/list':
        return result({ tools: toolList, ...(modern ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {}) });
      case 'tools/call': {
        const { name, arguments: args } = params;
        if (typeof name !== 'string' || !known.has(name)) return failure(id, INVALID_PARAMS, 'Unknown tool', 200);
        const { body, isError } = await options.call(name, args, signal);
        return result({ content: [{ type: 'text', text: JSON.stringify(body) }], ...(isError ? { isError } : {}) });
      }
    }
    return failure(id, NO_METHOD, 'Method not found', modern ? 404 : 200);
  }

  return async ({ method, headers, body, signal }) => {
    if (method !== 'POST') return { ...json(405, { error: 'METHOD_NOT_ALLOWED' }), headers: { allow: 'POST' } };
    if (body === NOT_JSON || body === undefined) return failure(undefined, PARSE, 'Parse error', 400);
    if (Array.isArray(body)) return failure(undefined, INVALID_REQUEST, 'Batches are not supported', 400);
    const request = readRequest(body);
    if (!request) return failure(undefined, INVALID_REQUEST, 'Invalid request', 400);
    const meta = isObject(request.params._meta) ? request.params._meta : {};
    const stated = meta[`${META}/protocolVersion`];
    const modern =
      stated !== undefined || headers['mcp-protocol-version'] === MODERN || request.method === 'server/discover';
    // A notification asks for nothing and gets nothing.
    if (request.id === undefined) return { status: 202 };
    if (modern) {
      const problem = modernProblem(request, stated, headers);
      if (problem) return problem;
    } else {
      const version = headers['mcp-protocol-version'];
      if (version !== undefined && !LEGACY.includes(String(version)) && request.method !== 'initialize') {
        return failure(request.id, UNSUPPORTED_VERSION, 'Unsupported protocol version', 400, {
          supported: [MODERN, ...LEGACY],
          requested: version,
        });
      }
    }
    return handle(request, modern, signal);
  };
}

const instructions = ({ instructions: text }: McpServerOptions) => (text === undefined ? {} : { instructions: text });

/** What the stateless revision asks of every request's headers. */
function modernProblem(request: Request, stated: unknown, headers: Incoming['headers']): Outgoing | undefined {
  const { id, method, params } = request;
  const header = headers['mcp-protocol-version'];
  if (typeof stated !== 'string') return failure(id, INVALID_PARAMS, 'The protocol version is missing in _meta', 400);
  if (stated !== MODERN) {
    return failure(id, UNSUPPORTED_VERSION, 'Unsupported protocol version', 400, {
      supported: [MODERN, ...LEGACY],
      requested: stated,
    });
  }
  if (header !== stated) return failure(id, HEADER_MISMATCH, 'MCP-Protocol-Version does not match _meta', 400);
  if (decoded(headers['mcp-method']) !== method)
    return failure(id, HEADER_MISMATCH, 'Mcp-Method does not match the method', 400);
  if (method === 'tools/call' && decoded(headers['mcp-name']) !== params.name) {
    return failure(id, HEADER_MISMATCH, 'Mcp-Name does not match the tool', 400);
  }
  return undefined;
}

/** Headers that cannot hold a name as it is carry it as `=?base64?…?=`. */
function decoded(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const encoded = /^=\?base64\?([A-Za-z0-9+/=]*)\?=$/.exec(header)?.[1];
  return encoded === undefined ? header : Buffer.from(encoded, 'base64').toString('utf8');
}

function readRequest(body: unknown): Request | undefined {
  if (!isObject(body) || body.jsonrpc !== '2.0' || typeof body.method !== 'string') return undefined;
  const { id, method } = body;
  const validId =
    id === undefined ||
    (typeof id === 'string' && id.length <= MAX_ID) ||
    (typeof id === 'number' && Number.isInteger(id));
  if (!validId) return undefined;
  if (body.params !== undefined && !isObject(body.params)) return undefined;
  return { id: id as string | number | undefined, method, params: body.params ?? {} };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function failure(
  id: string | number | undefined,
  code: number,
  message: string,
  status: number,
  data?: Record<string, unknown>,
): Outgoing {
  return json(status, { jsonrpc: '2.0', id: id ?? null, error: { code, message, ...(data ? { data } : {}) } });
}
