/**
 * The console: the page that a person sees. The page itself holds nothing and needs no key; what it shows it asks for
 * with the key that the person gives it.
 *
 * Threat: text of pages, tasks and plugins is shown in a page that holds a key. The page sets text only as text; beyond
 * that, the policy lets no script run but the one whose hash is named, and lets nothing be loaded or sent elsewhere.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';

export const CONSOLE_ROUTE = '/';

export function consoleRoute(app: FastifyInstance): void {
  const page = readFileSync(join(import.meta.dirname, '..', 'console', 'page.html'), 'utf8');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(page, 'script')}`,
    `style-src ${hashOf(page, 'style')}`,
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
  app.get(CONSOLE_ROUTE, async (_request, reply) => {
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache', 'x-frame-options': 'DENY' });
    reply.type('text/html; charset=utf-8');
    return page;
  });
}

function hashOf(page: string, element: 'script' | 'style'): string {
  const text = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(page)?.[1] ?? '';
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
