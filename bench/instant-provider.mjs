/**
 * A provider that answers at once: a process of its own that sends one prepared answer to every request, as fast as a
 * socket can, so that what is measured is the client.
 */
import { createServer } from 'node:net';

const answer = process.env.ANSWER ?? '{}';
const response = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\n\r\n${answer}`,
);

const server = createServer((socket) => {
  socket.setNoDelay(true);
  let waiting = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    for (;;) {
      const end = waiting.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(waiting.toString('latin1', 0, end))?.[1] ?? 0);
      if (waiting.length < end + 4 + length) return;
      waiting = waiting.subarray(end + 4 + length);
      socket.write(response);
    }
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('disconnect', () => process.exit(0));
