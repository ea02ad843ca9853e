/** The pages that the browser device and its peers are measured on, and the server that counts what reached it. */
import { createServer } from 'node:http';

/** A table of people with five controls in each row, as an admin page has. */
function people(count) {
  const rows = [];
  for (let i = 0; i * 5 < count; i++) {
    rows.push(
      `<tr><td><input type="checkbox" aria-label="Select person ${i}"></td><td><a href="#p${i}">Person ${i}</a></td><td>Team ${i % 7}</td><td><select aria-label="Role of person ${i}"><option>Reader</option><option>Editor</option></select></td><td><button type="button" onclick="change(${i})">Edit ${i}</button> <button type="button" onclick="change(${i})">Delete ${i}</button></td></tr>`,
    );
  }
  return page(
    'People',
    `<h1>People</h1><p id="said">Nothing yet</p><table><thead><tr><th></th><th>Name</th><th>Team</th><th>Role</th><th>Actions</th></tr></thead><tbody>${rows.join('')}</tbody></table>
<script>let n = 0; function change(i) { document.getElementById('said').textContent = 'Changed ' + ++n; }</script>`,
  );
}

/** Buttons and, one in ten, plain elements: all listen by themselves, and the plain ones show it in no other way. */
function listening(count) {
  return page(
    'Listening',
    `<div id="all"></div><script>for (let i = 0; i < ${count}; i++) { const it = document.createElement(i % 10 ? 'button' : 'div'); it.textContent = 'Thing ' + i; it.addEventListener('click', () => { it.textContent = 'Pressed ' + i; }); all.append(it); }</script>`,
  );
}

/** Buttons whose effect comes late: two timers and two requests. */
export const lateChanges = ['Timer 150', 'Timer 400', 'Request 150', 'Request 800'];

const late = page(
  'Late',
  `<h1>Late</h1><p id="said">Nothing yet</p>
<button type="button" onclick="setTimeout(say, 150, 'timer 150')">Timer 150</button>
<button type="button" onclick="setTimeout(say, 400, 'timer 400')">Timer 400</button>
<button type="button" onclick="fetch('/slow?ms=150').then(() => say('request 150'))">Request 150</button>
<button type="button" onclick="fetch('/slow?ms=800').then(() => say('request 800'))">Request 800</button>
<script>function say(what) { document.getElementById('said').textContent = 'Changed by ' + what; }</script>`,
);

const covered = page(
  'Covered',
  `<button type="button" onclick="fetch('/bought')">Buy now</button>
<div role="dialog" aria-label="Cookie notice" style="position:fixed;inset:0;background:#0008"><p style="background:#fff">We use cookies.</p></div>`,
);

function page(title, body) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;
}

export async function servePages() {
  const seen = { bought: 0 };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://bench');
    if (url.pathname === '/slow') return setTimeout(() => response.end('{}'), Number(url.searchParams.get('ms')));
    if (url.pathname === '/bought') seen.bought++;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.setHeader('cache-control', 'no-store');
    if (url.pathname === '/late') response.end(late);
    else if (url.pathname === '/covered') response.end(covered);
    else if (url.pathname === '/listening') response.end(listening(Number(url.searchParams.get('n'))));
    else if (url.pathname === '/people') response.end(people(Number(url.searchParams.get('n'))));
    else response.end(page('Empty', ''));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
