/**
 * How commands reach a running host: by `--url` and `--key-file`, else by the socket in the data directory, which only the
 * local owner can open. No command opens the store beside a running host.
 */
import { existsSync, readFileSync } from 'node:fs';
import { type Client, Pool } from 'undici';
import { HostError } from '../../sdk/contract/errors.ts';
import { readConfig } from '../config/config-file.ts';
import { dataDirectory, ownerSocket } from '../data-directory.ts';
import { UsageError } from './command.ts';

/** Options that every command of a running host takes. */
export const hostOptions = {
  url: 'text',
  'key-file': 'text',
  config: 'text',
  'data-dir': 'text',
  agent: 'text',
  session: 'text',
} as const;

export const hostOptionsHelp = [
  'Which host:',
  '  --url URL --key-file FILE   a host anywhere, with the key in the file',
  '  --config FILE               the host of this configuration, on this machine',
  '  --data-dir DIR              the host of this data directory, on this machine',
  '  --agent ID, --session ID    whose tasks (defaults: the only agent, session "default")',
].join('\n');

interface Where {
  url?: string | undefined;
  'key-file'?: string | undefined;
  config?: string | undefined;
  'data-dir'?: string | undefined;
}

/** Bytes that one answer may take. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface HostClient {
  /** True for the local owner's socket: every agent's tasks can be read. */
  readonly owner: boolean;
  /** @throws HostError with the host's own code. */
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  /** Events of a conversation, until the signal aborts. */
  events(path: string, signal: AbortSignal): AsyncIterable<{ id: number; type: string; data: Record<string, unknown> }>;
  close(): Promise<void>;
}

/** @throws UsageError when nothing says which host; HOST_NOT_RUNNING when it does not answer. */
export async function connectHost(where: Where): Promise<HostClient> {
  if (where.url !== undefined) {
    const keyFile = where['key-file'];
    if (keyFile === undefined) throw new UsageError('--url needs --key-file.');
    return clientOver(new Pool(originOf(where.url), { connections: 4 }), readKey(keyFile));
  }
  const directory = await dataDirectoryOf(where);
  const socketPath = ownerSocket(directory);
  if (!existsSync(socketPath)) throw new HostError('HOST_NOT_RUNNING', { directory });
  return clientOver(new Pool('http://localhost', { connections: 4, socketPath }), undefined, directory);
}

/** The data directory that the options name. */
export async function dataDirectoryOf(where: Where): Promise<string> {
  if (where['data-dir'] === undefined && where.config === undefined) {
    throw new UsageError('Say which host: --config FILE, --data-dir DIR, or --url URL with --key-file FILE.');
  }
  const configured = where.config === undefined ? undefined : (await readConfig(where.config)).dataDir;
  return dataDirectory({ argument: where['data-dir'], configured, configFile: where.config, env: process.env });
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new UsageError(`--url must be an http or https address, such as http://127.0.0.1:10850.`);
  }
  return url.origin;
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--key-file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
}

function clientOver(pool: Client | Pool, key: string | undefined, directory = ''): HostClient {
  const headers = (more: Record<string, string> = {}): Record<string, string> => ({
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...more,
  });

  async function ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    const response = await pool
      .request({
        method,
        path: `/api/v1${path}`,
        headers: headers(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      .catch((error: unknown) => {
        throw new HostError('HOST_NOT_RUNNING', { directory }, { cause: error });
      });
    const text = await bounded(response.body);
    const answer = parsed(text);
    if (response.statusCode >= 400) throw refusalOf(response.statusCode, answer);
    return answer;
  }

  return {
    owner: key === undefined,
    get: (path) => ask('GET', path),
    post: (path, body) => ask('POST', path, body),
    async *events(path, signal) {
      const response = await pool.request({
        method: 'GET',
        path: `/api/v1${path}`,
        headers: headers({ accept: 'text/event-stream' }),
        signal,
        bodyTimeout: 0,
      });
      if (response.statusCode !== 200) throw refusalOf(response.statusCode, parsed(await bounded(response.body)));
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of response.body) {
        rest += decoder.decode(chunk as Buffer, { stream: true });
        const blocks = rest.split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const data = block
            .split('\n')
            .filter((line) => line.startsWith('data:'))
            .map((line) => line.slice(5).trimStart())
            .join('\n');
          if (data) yield JSON.parse(data);
        }
      }
    },
    close: () => pool.destroy(),
  };
}

async function bounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new HostError('HOST_ANSWER_INVALID', {});
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    throw new HostError('HOST_ANSWER_INVALID', {});
  }
}

/** The host's code in its own words where this command knows it, else what the host said. */
function refusalOf(status: number, answer: unknown): Error {
  const body = (answer ?? {}) as { error?: string | { code?: string; message?: string }; message?: string };
  const code = typeof body.error === 'string' ? body.error : body.error?.code;
  const message = body.message ?? (typeof body.error === 'object' ? body.error.message : undefined);
  return new HostError('HOST_REFUSED', { status, code: code ?? 'no code', ...(message ? { message } : {}) });
}
