/**
 * The page that a verifier is shown.
 *
 * Threat: the controller writes the verifier's question, and a controller may be anybody's. Were its page taken, it could
 * leave out the message of failure, or add a control that says "Order confirmed". So the page is made here, from what the
 * device last showed to this run; of the controller's question only the address is compared, and the goal must be the task's.
 */
import * as v from 'valibot';
import type { ThinkingRequest } from '../../sdk/contract/thinking.ts';
import { Observation } from '../../sdk/devices/remote-browser-contract.ts';

type VerifyRequest = Extract<ThinkingRequest, { kind: 'verify' }>;

/** @param observed the device's last reading of the page, as JSON text. @returns undefined for a question that counts for nothing. */
export function genuineQuestion(
  request: VerifyRequest,
  goal: string,
  observed: string | undefined,
): VerifyRequest | undefined {
  const page = parsed(observed);
  if (!page || request.goal !== goal || request.page.url !== page.url) return undefined;
  const { url, title, text, viewport_text, elements } = page;
  return {
    ...request,
    page: {
      url,
      title,
      text: viewport_text ?? text,
      elements: elements
        .filter((element) => element.in_viewport !== false && !element.sensitive)
        .map(({ label, role, tag, value, checked, selected, expanded }) =>
          present({ label, role: role ?? tag, value, checked, selected, expanded }),
        ),
    },
  };
}

function parsed(text: string | undefined): Observation | undefined {
  try {
    const page = v.safeParse(Observation, JSON.parse(text ?? ''));
    return page.success ? page.output : undefined;
  } catch {
    return undefined;
  }
}

const present = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
