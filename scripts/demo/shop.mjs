/**
 * The demo's shop: a small stateful web site of its own, with a basket and orders. It counts what it really received,
 * so that the demo can compare that with what the host says was done.
 *
 * Every visitor gets a basket by cookie. Nothing is stored beyond the process.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const products = [
  { id: 'merino-hat', name: 'Merino hat', price: 24, sizes: ['One size'], text: 'A thin hat for cold mornings.' },
  {
    id: 'trail-jacket',
    name: 'Trail jacket',
    price: 129,
    sizes: ['Small', 'Medium', 'Large'],
    text: 'A light rain jacket for long walks.',
  },
  {
    id: 'rain-jacket',
    name: 'City rain jacket',
    price: 99,
    sizes: ['Small', 'Medium', 'Large'],
    text: 'A long rain jacket for the city.',
  },
  {
    id: 'wool-socks',
    name: 'Wool socks',
    price: 12,
    sizes: ['36-39', '40-43', '44-47'],
    text: 'Two pairs of warm socks.',
  },
];

const deliveryFields = [
  { name: 'name', label: 'Full name', autocomplete: 'name' },
  { name: 'street', label: 'Street and number', autocomplete: 'street-address' },
  { name: 'city', label: 'City', autocomplete: 'address-level2' },
  { name: 'postcode', label: 'Postcode', autocomplete: 'postal-code' },
];

/** Bytes that one form may send. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * @param {{ port?: number, onRequest?: (seen: { method: string, path: string }) => void | Promise<void> }} [options]
 *   `onRequest` is told of every request before it takes effect; tests use it to stop at a chosen moment.
 * @returns {Promise<{ url: string, seen: { searches: string[], basketAdds: object[], orders: object[], requests: number }, close(): Promise<void> }>}
 */
export async function startShop({ port = 0, onRequest } = {}) {
  const seen = { searches: [], basketAdds: [], orders: [], requests: 0 };
  const baskets = new Map();
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end(`The shop failed: ${error.message}`);
    });
  });

  async function answer(request, response) {
    const url = new URL(request.url ?? '/', 'http://shop');
    seen.requests++;
    await onRequest?.({ method: request.method ?? 'GET', path: url.pathname });
    const visitor = visitorOf(request, response);
    const basket = baskets.get(visitor) ?? [];
    const send = (title, body, status = 200) => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
      response.end(page(title, body, basket.length));
    };
    const redirect = (to) => {
      response.writeHead(303, { location: to });
      response.end();
    };

    if (request.method === 'GET' && url.pathname === '/') return send('Welcome', home());
    if (request.method === 'GET' && url.pathname === '/search') {
      const query = (url.searchParams.get('q') ?? '').trim();
      seen.searches.push(query);
      return send(`Results for ${query}`, results(query));
    }
    const productId = /^\/products\/([a-z-]+)$/.exec(url.pathname)?.[1];
    const product = products.find((entry) => entry.id === productId);
    if (request.method === 'GET' && product) return send(product.name, productPage(product));
    if (request.method === 'GET' && url.pathname === '/basket') return send('Your basket', basketPage(basket));
    if (request.method === 'GET' && url.pathname === '/checkout') {
      return basket.length ? send('Delivery', checkout({}, [])) : redirect('/basket');
    }
    if (request.method === 'POST' && url.pathname === '/basket') {
      const form = await readForm(request);
      const chosen = products.find((entry) => entry.id === form.product);
      if (!chosen?.sizes.includes(form.size ?? '')) {
        return chosen
          ? send(chosen.name, productPage(chosen, 'Choose a size first.'), 422)
          : send('Not found', '<p>No such product.</p>', 404);
      }
      const line = { product: chosen.name, size: form.size, price: chosen.price };
      baskets.set(visitor, [...basket, line]);
      seen.basketAdds.push(line);
      return redirect('/basket');
    }
    if (request.method === 'POST' && url.pathname === '/orders') {
      const form = await readForm(request);
      const missing = deliveryFields.filter((field) => !form[field.name]?.trim());
      if (!basket.length) return redirect('/basket');
      if (missing.length)
        return send(
          'Delivery',
          checkout(
            form,
            missing.map((field) => field.label),
          ),
          422,
        );
      const order = {
        number: 1001 + seen.orders.length,
        lines: basket,
        delivery: Object.fromEntries(deliveryFields.map((field) => [field.label, form[field.name]])),
      };
      seen.orders.push(order);
      baskets.delete(visitor);
      return redirect(`/orders/${order.number}`);
    }
    const number = Number(/^\/orders\/(\d+)$/.exec(url.pathname)?.[1]);
    const order = seen.orders.find((entry) => entry.number === number);
    if (request.method === 'GET' && order) return send(`Order ${order.number}`, confirmation(order));
    return send('Not found', '<p>There is no such page.</p>', 404);
  }

  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function visitorOf(request, response) {
  const known = /(?:^|;\s*)visitor=([0-9a-f-]{36})/.exec(request.headers.cookie ?? '')?.[1];
  if (known) return known;
  const visitor = randomUUID();
  response.setHeader('set-cookie', `visitor=${visitor}; Path=/; HttpOnly; SameSite=Lax`);
  return visitor;
}

async function readForm(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_FORM_BYTES) throw new Error('the form is too large');
    chunks.push(chunk);
  }
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const html = (text) => String(text).replace(/[&<>"']/g, (character) => escapes[character]);

function page(title, body, basketCount) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${html(title)} - Fell &amp; Ford Outfitters</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: #1d2733; }
  header { display: flex; gap: 1.5rem; align-items: center; padding: .8rem 2rem; background: #21433a; color: #fff; }
  header a { color: #fff; } main { max-width: 44rem; margin: 1.5rem auto; padding: 0 1rem; }
  label { display: block; margin: .6rem 0 .2rem; } input, select { font: inherit; padding: .4rem .5rem; min-width: 18rem; }
  button { font: inherit; padding: .5rem 1.2rem; margin-top: 1rem; background: #21433a; color: #fff; border: 0; border-radius: 4px; }
  li { margin: .6rem 0; } .problem { color: #a4262c; }
</style></head><body>
<header><strong>Fell &amp; Ford Outfitters</strong><nav><a href="/">Home</a> <a href="/basket">Basket (${basketCount})</a></nav></header>
<main><h1>${html(title)}</h1>${body}</main></body></html>`;
}

const searchForm = `<form action="/search" method="get" role="search">
<label for="q">Search products</label><input id="q" name="q" type="search" required>
<button type="submit">Search</button></form>`;

function home() {
  return `<p>Clothes for walking in any weather.</p>${searchForm}`;
}

function results(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = products.filter((product) =>
    words.every((word) => `${product.name} ${product.text}`.toLowerCase().includes(word)),
  );
  const list = found.map(
    (product) =>
      `<li><a href="/products/${product.id}">${html(product.name)}</a>, ${product.price} EUR<br>${html(product.text)}</li>`,
  );
  return `${found.length ? `<ul>${list.join('')}</ul>` : '<p>Nothing found.</p>'}${searchForm}`;
}

function productPage(product, problem) {
  const options = product.sizes.map((size) => `<option>${html(size)}</option>`);
  return `<p>${html(product.text)}</p><p>${product.price} EUR</p>${problem ? `<p class="problem" role="alert">${html(problem)}</p>` : ''}
<form action="/basket" method="post"><input type="hidden" name="product" value="${product.id}">
<label for="size">Size</label><select id="size" name="size"><option value="">Choose a size</option>${options.join('')}</select>
<div><button type="submit">Add to basket</button></div></form>`;
}

function basketPage(basket) {
  if (!basket.length) return `<p>Your basket is empty.</p>${searchForm}`;
  const lines = basket.map((line) => `<li>${html(line.product)}, size ${html(line.size)}, ${line.price} EUR</li>`);
  return `<ul>${lines.join('')}</ul><p><a href="/checkout">Go to checkout</a></p>`;
}

function checkout(form, missing) {
  const inputs = deliveryFields.map(
    (field) => `<label for="${field.name}">${field.label}</label>
<input id="${field.name}" name="${field.name}" autocomplete="${field.autocomplete}" value="${html(form[field.name] ?? '')}">`,
  );
  return `${missing.length ? `<p class="problem" role="alert">Still needed: ${html(missing.join(', '))}.</p>` : ''}
<form action="/orders" method="post">${inputs.join('')}<div><button type="submit">Place order</button></div></form>`;
}

function confirmation(order) {
  const lines = order.lines.map((line) => `<li>${html(line.product)}, size ${html(line.size)}</li>`);
  const delivery = Object.entries(order.delivery).map(([label, value]) => `<li>${html(label)}: ${html(value)}</li>`);
  return `<p>Thank you. Your order ${order.number} has been placed.</p><ul>${lines.join('')}</ul><h2>Delivery to</h2><ul>${delivery.join('')}</ul>`;
}
