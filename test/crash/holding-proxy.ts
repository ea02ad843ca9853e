/**
 * A proxy between the host and a device that can hold a chosen mutation: before the device sees it, or its answer after the
 * device has done it. Product code knows nothing of it.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

const MUTATION = /^(?:page_(?:click|type|select|scroll|keypress)|tab_(?:history|navigate))$/;

export interface HoldingProxy {
  url: string;
  /** Mutations that the host sent, in order, over the whole life of the proxy. */
  sent: { tool: string; operationId: string }[];
  /** Holds the mutation with this number (from 0): its request, or its answer. Resolves when it is held. */
  hold(number: number, what: 'request' | 'answer'): Promise<void>;
  close(): Promise<void>;
}

export async function holdingProxy(upstream: string): Promise<HoldingProxy> {
  const sent: HoldingProxy['sent'] = [];
  let holding: { number: number; what: 'request' | 'answer'; held: () => void } | undefined;

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const call = mutationIn(body);
    const mine = call && holding?.number === sent.length ? holding : undefined;
    if (call) sent.push(call);
    if (mine?.what === 'request') {
      // Never passed on, never answered: the host is killed now.
      mine.held();
      return;
    }
    const forwarded = request(
      new URL(incoming.url ?? '/', upstream),
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        if (mine) {
          answer.resume();
          answer.once('end', mine.held);
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.once('error', () => outgoing.destroy());
    outgoing.once('close', () => mine ?? forwarded.destroy());
    forwarded.end(body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    sent,
    hold: (number, what) =>
      new Promise((resolve) => {
        holding = { number, what, held: resolve };
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function mutationIn(body: Buffer): { tool: string; operationId: string } | undefined {
  try {
    const { method, params } = JSON.parse(body.toString('utf8')) as {
      method?: string;
      params?: { name?: string; arguments?: { operation_id?: string } };
    };
    if (method !== 'tools/call' || !params?.name || !MUTATION.test(params.name)) return undefined;
    return { tool: params.name, operationId: String(params.arguments?.operation_id) };
  } catch {
    return undefined;
  }
}
