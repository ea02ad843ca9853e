/** Refusals, in the shapes in which providers word them. */
import { type Fault, type ResponseFault, respond, text } from './fault.ts';

export const refusalFaults = {
  // Refusals.
  'status-400': respond(
    '400 with an object',
    refusal(400, { detail: { error_type: 'api_usage_error', message: 'Invalid request.' } }),
  ),
  'status-400-text': respond(
    '400 with a text',
    refusal(400, { detail: 'Too many choices. Must have at most 255 choices.' }),
  ),
  'status-401': respond(
    '401',
    refusal(401, { detail: { error_type: 'authentication_error', message: 'Invalid API key.' } }),
  ),
  'status-402': respond('402', refusal(402, { detail: 'Payment required.' })),
  'status-403': respond('403', refusal(403, { detail: { error_type: 'authentication_error', message: 'Forbidden.' } })),
  'status-404': respond('404', refusal(404, { detail: 'Not Found' })),
  'status-409': respond('409', refusal(409, { error: { code: 'REQUEST_CONFLICT' } })),
  'status-413': respond('413', refusal(413, { detail: 'Request body too large.' })),
  'status-422': respond(
    '422 with a list of places',
    refusal(422, { detail: [{ type: 'missing', loc: ['body', 'state'], msg: 'Field required' }] }),
  ),
  'status-429': respond(
    '429 with retry-after in seconds',
    refusal(429, { detail: 'Rate limited.' }, { 'retry-after': '7' }),
  ),
  'status-429-date': respond(
    '429 with retry-after as a date',
    refusal(429, { detail: 'Rate limited.' }, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }),
  ),
  'status-429-hostile': respond(
    '429 with a retry-after that is no time',
    refusal(429, {}, { 'retry-after': '<script>alert(1)</script>' }),
  ),
  'status-500': respond('500 with a page', text(500, 'text/html', '<h1>Internal Server Error</h1>')),
  'status-503': respond('503', refusal(503, { detail: 'Unavailable.' })),
  'status-504': respond('504', refusal(504, { detail: 'Timeout.' })),
  'status-529': respond('529 overloaded', refusal(529, { detail: 'Overloaded.' }, { 'retry-after': '2' })),
  'upstream-quota': respond(
    'an upstream without quota, and when it comes back',
    refusal(429, { error: { code: 'QUOTA_EXHAUSTED', resets_at: '2026-12-01T00:00:00Z' } }),
  ),
  'upstream-unknown-model': respond(
    'an upstream that does not know the model',
    refusal(400, { error: { code: 'UNKNOWN_MODEL' } }),
  ),
  'upstream-unknown-outcome': respond(
    'an upstream that does not know what happened',
    refusal(502, { error: { code: 'UPSTREAM_OUTCOME_UNKNOWN' } }),
  ),
  'error-echoes-secret': respond('an error that repeats the credential', ({ request, response }) => {
    const body = JSON.stringify({ error: { message: request.headers.authorization, code: 'X' } });
    response.writeHead(500, { 'content-type': 'application/json', 'x-echo': String(request.headers.authorization) });
    response.end(body);
  }),
  'error-oversize': respond(
    'an error body beyond 16 KiB',
    refusal(429, { error: { code: 'QUOTA_EXHAUSTED', pad: 'x'.repeat(20_000) } }),
  ),
} as const satisfies Record<string, Fault>;

function refusal(status: number, body: unknown, headers: Record<string, string> = {}): ResponseFault['respond'] {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}
