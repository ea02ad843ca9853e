/** The owner's page: which tabs there are, who may use them, and how to stop it. It works with the owner's key only. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outgoing } from '../serving/http.ts';

export function ownerPage(): Outgoing {
  return {
    status: 200,
    type: 'text/html; charset=utf-8',
    body: readFileSync(join(import.meta.dirname, 'owner-page.html'), 'utf8'),
    headers: {
      'content-security-policy':
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
      'referrer-policy': 'no-referrer',
    },
  };
}
