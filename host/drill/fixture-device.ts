/**
 * A tab in memory, served as a real device serves one: Streamable HTTP, leases, generations, operation ids. It counts
 * what really happened, and tells at which moment of which call it is, so that a drill can kill the host there.
 *
 * The page is a list of buttons that each may be pressed once; a second press of one is an effect that must never be.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Before anything happened, after it happened and before the answer, after the answer. */
export type Moment = 'arrived' | 'done' | 'answered';

export interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** What goes wrong with a call. */
export type Fault =
  | 'delay'
  | 'lost before'
  | 'lost after'
  | 'replayed'
  | 'wrong id'
  | 'refused'
  | 'garbage'
  | undefined;

export interface FixtureOptions {
  buttons: readonly string[];
  leaseMs?: number;
  /** A new lease ends the old one, as if its holder had been gone for a minute. */
  leasesEndAtOnce?: boolean;
  /** Awaited at each moment; a drill kills here. */
  at?(moment: Moment, call: Call): Promise<void> | void;
  fault?(call: Call): Fault;
}

export interface FixtureDevice {
  readonly url: string;
  /** How often each operation id took effect, and how often each button was pressed. */
  readonly effects: Map<string, number>;
  readonly presses: Map<string, number>;
  readonly calls: Call[];
  /** Puts all buttons back, for the next round. */
  reset(buttons?: readonly string[]): void;
  /** Ends the lease, as a minute without its holder would. */
  dropLease(): void;
  /** Serves one call without HTTP. */
  serve(call: Call): Promise<Reply>;
  close(): Promise<void>;
}

export type Reply = { body: Record<string, unknown>; isError: boolean } | 'dropped';

export const FIXTURE_SCOPE = { device_id: 'fixture', grant_id: 'grant', tab_id: 'tab' };
const DELAY_MS = 3;

/** The device without its server. */
export function createFixtureTab(options: FixtureOptions) {
  const effects = new Map<string, number>();
  const presses = new Map<string, number>();
  const calls: Call[] = [];
  const operations = new Map<string, string>();
  let buttons = [...options.buttons];
  let lease: { token: string; until: number } | undefined;
  let tokens = 0;
  let generation = 1;
  const refused = (error: string) => ({ body: { error, action_executed: false }, isError: true });
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);

  function observation(): Record<string, unknown> {
    const left = buttons.filter((button) => !presses.has(button));
    return {
      ...{ protocol_version: 1, generation: `g${generation}`, url: 'https://fixture.example/', title: 'Fixture' },
      text: left.length === 0 ? 'All buttons are pressed.' : `Left: ${left.join(', ')}`,
      elements: left.map((label) => ({ ref: label, label, tag: 'button', operations: ['CLICK'] })),
      ...{ scroll: { up: false, down: false }, truncated: { text: false, elements: false } },
    };
  }

  function act({ name, args }: Call): { body: Record<string, unknown>; isError: boolean } {
    const id = String(args.operation_id ?? '');
    if (name === 'operation_status') {
      return { body: { operation_id: id, state: operations.get(id) ?? 'not_found' }, isError: false };
    }
    if (name === 'browser_task_acquire') {
      if (lease && lease.until > Date.now() && !options.leasesEndAtOnce) return refused('LEASE_HELD');
      lease = {
        token: `00000000-0000-4000-8000-${String(++tokens).padStart(12, '0')}`,
        until: Date.now() + (options.leaseMs ?? 60_000),
      };
      return { body: { protocol_version: 1, lease_token: lease.token }, isError: false };
    }
    if (!lease || args.lease_token !== lease.token || lease.until <= Date.now()) return refused('LEASE_LOST');
    lease.until = Date.now() + (options.leaseMs ?? 60_000);
    if (name === 'browser_task_release') lease = undefined;
    if (name === 'browser_task_release' || name === 'browser_task_renew')
      return { body: { state: 'completed', result: {} }, isError: false };
    if (name === 'page_observe') return { body: observation(), isError: false };
    if (name !== 'page_click') return refused('INVALID_REQUEST');
    if (operations.has(id)) return { body: { replayed: true }, isError: false };
    if (args.generation !== `g${generation}` || presses.has(String(args.ref))) {
      operations.set(id, 'not_executed');
      return refused('STALE_OBSERVATION');
    }
    operations.set(id, 'completed');
    count(effects, id);
    count(presses, String(args.ref));
    generation += 1;
    return { body: { state: 'completed', result: { observation: observation() } }, isError: false };
  }

  async function serve(call: Call): Promise<Reply> {
    calls.push(call);
    await options.at?.('arrived', call);
    const fault = options.fault?.(call);
    if (fault === 'lost before') return 'dropped';
    if (fault === 'refused') return refused('STALE_OBSERVATION');
    if (fault === 'delay') await new Promise((resolve) => setTimeout(resolve, DELAY_MS));
    const reply = act(call);
    if (fault === 'replayed') act(call);
    await options.at?.('done', call);
    if (fault === 'lost after') return 'dropped';
    if (fault === 'garbage') return { body: { unexpected: true }, isError: false };
    if (fault === 'wrong id') return { body: { ...reply.body, operation_id: 'another' }, isError: reply.isError };
    return reply;
  }

  return {
    ...{ effects, presses, calls, serve },
    dropLease() {
      lease = undefined;
    },
    reset(next: readonly string[] = buttons) {
      buttons = [...next];
      presses.clear();
      effects.clear();
      calls.length = 0;
      lease = undefined;
      generation += 1;
    },
  };
}

export async function startFixtureDevice(options: FixtureOptions): Promise<FixtureDevice> {
  const tab = createFixtureTab(options);
  const server: Server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.method === 'GET') {
      const policy = { control: true, tabs: [{ id: FIXTURE_SCOPE.tab_id, title: 'Fixture' }] };
      const { device_id: deviceId, grant_id: id } = FIXTURE_SCOPE;
      return json({ grants: [{ id, deviceId, label: 'Fixture', online: true, ready: true, policy }] });
    }
    const message = JSON.parse(text) as {
      id?: number;
      method?: string;
      params?: { name: string; arguments: Record<string, unknown> };
    };
    if (message.method !== 'tools/call' || !message.params) return json({ jsonrpc: '2.0', id: message.id, result: {} });
    const call = { name: message.params.name, args: message.params.arguments };
    const reply = await tab.serve(call);
    if (reply === 'dropped') return response.socket?.destroy();
    const content = [{ type: 'text', text: JSON.stringify(reply.body) }];
    json({ jsonrpc: '2.0', id: message.id, result: { content, isError: reply.isError, resultType: 'complete' } });
    await options.at?.('answered', call);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...tab,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
