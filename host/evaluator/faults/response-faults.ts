/** Answers that never come, come broken, or come in the wrong shape. */
import { gzipSync } from 'node:zlib';
import { answer, type Fault, type ResponseFault, respond, text } from './fault.ts';

/** Bytes above what a client reads. */
const TOO_LARGE = 2 * 1024 * 1024 + 1024;

export const responseFaults = {
  // The way there and back.
  hang: respond('takes the request and never answers', () => {}),
  'hang-after-headers': respond('sends headers and nothing more', ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
  }),
  reset: respond('drops the connection instead of answering', ({ request }) => {
    request.socket.resetAndDestroy();
  }),
  'reset-mid-body': respond('drops the connection in the middle of the answer', ({ response, answer: body }) => {
    const text = JSON.stringify(body);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    response.write(text.slice(0, text.length / 2), () => response.socket?.resetAndDestroy());
  }),
  close: respond('closes the connection without an answer', ({ request }) => {
    request.socket.destroy();
  }),
  trickle: respond('sends one byte now and then, without end', ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(timer));
  }),
  'not-http': respond('answers with something that is not HTTP', ({ request }) => {
    request.socket.end('220 mail.example.com ESMTP\r\n\r\n');
  }),
  'redirect-302': respond('points to another address', redirect(302)),
  'redirect-307': respond('points to another address and keeps the method', redirect(307)),
  // The shape of the response.
  'event-stream': respond('streams events instead of one answer', ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write('data: {"delta":"…"}\n\n'), 20);
    response.once('close', () => clearInterval(timer));
  }),
  html: respond('answers with a page', text(200, 'text/html', '<!doctype html><title>Sign in</title>')),
  'no-content-type': respond('sends JSON without saying so', ({ response, answer: body }) => {
    response.writeHead(200);
    response.end(JSON.stringify(body));
  }),
  'wrong-content-type': respond('calls JSON plain text', ({ response, answer: body }) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.end(JSON.stringify(body));
  }),
  gzip: respond('compresses although nobody asked', ({ response, answer: body }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(body)));
  }),
  empty: respond('sends an empty body', text(200, 'application/json', '')),
  'no-content': respond('answers 204', ({ response }) => {
    response.writeHead(204);
    response.end();
  }),
  truncated: respond('ends in the middle of the JSON', ({ response, answer: body }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body).slice(0, -3));
  }),
  oversize: respond('sends more than 2 MiB and says so', ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': TOO_LARGE });
    response.end(Buffer.alloc(TOO_LARGE, ' '));
  }),
  'oversize-chunked': respond('sends more than 2 MiB without saying how much', ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(Buffer.alloc(TOO_LARGE, ' '));
  }),
  'chat-completion': answer('answers as a chat model', () => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: '{"choice":"yes"}' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
  })),
  array: answer('sends a list', (body) => [body]),
  null: answer('sends null', () => null),
  'error-in-200': answer('hides an error in a success', () => ({ error: { message: 'overloaded' } })),
} as const satisfies Record<string, Fault>;

function redirect(status: number): ResponseFault['respond'] {
  return ({ response, request }) => {
    response.writeHead(status, { location: `http://${request.headers.host}/v1/redirected` });
    response.end();
  };
}
