/** The address of a site that a command names. The controller holds it against its address rules before it is opened. */
import type * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';
import type { AddressRequest, ThinkingReply } from '../../sdk/contract/thinking.ts';
import { type Ask, only, question } from './ask.ts';

const rules = [
  'You turn the site that a command names into its public web address.',
  'Give the site’s own main address, https where it exists. If the command names no site, or you do not know its address, it is null.',
  'Never an IP address, never a local name, never credentials, never a search engine in place of the site.',
  'Answer with exactly one JSON object: {"text": "https://…"} or {"text": null}.',
];

export async function findAddress(request: v.InferOutput<typeof AddressRequest>, ask: Ask): Promise<ThinkingReply> {
  const { command, origin } = request;
  const messages = question(rules, { command, current_site: origin });
  for (let attempt = 0; attempt < 2; attempt++) {
    const text = only('text', await ask(messages));
    if (text === null) return { text: null };
    if (typeof text === 'string' && text.trim() !== '' && text.length <= 2000 && !/\s/u.test(text.trim())) {
      return { text: text.trim() };
    }
  }
  throw new HostError('BROWSER_TEXT_INVALID_RESPONSE');
}
