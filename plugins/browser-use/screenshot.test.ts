import { describe, expect, it } from 'vitest';
import type { JevRequest } from '../../sdk/contract/jev.ts';
import { type ScriptedBrowserOptions, scriptedBrowser, scriptedEvaluator } from '../../sdk/testing/index.ts';
import { SCREENSHOT_REF } from './questions.ts';
import { runInline } from './testing/inline.ts';

const shot = {
  mimeType: 'image/jpeg',
  data: 'cGljdHVyZQ==',
  width: 1200,
  height: 800,
  scale: 1,
  viewport: { width: 1200, height: 800 },
  masked: 0,
  capturedAt: 0,
};
const plain: ScriptedBrowserOptions['pages'] = {
  one: { url: 'http://site.example/', text: 'Text', elements: [{ ref: 'a', label: 'A' }] },
};
const secret: ScriptedBrowserOptions['pages'] = {
  one: {
    url: 'http://site.example/',
    text: 'Text',
    elements: [
      { ref: 'a', label: 'A' },
      { ref: 'p', label: 'Card number', tag: 'input', sensitive: true },
    ],
  },
};

async function decide(options: {
  pages?: ScriptedBrowserOptions['pages'];
  picture?: Record<string, unknown>;
  /** Reads of the page after the picture are changed so. */
  after?: Record<string, unknown>;
  images?: boolean;
}) {
  const browser = scriptedBrowser({ pages: options.pages ?? plain });
  const evaluate = scriptedEvaluator([{ operation: 'BLOCKED' }]);
  let taken = false;
  const { result } = await runInline(
    { goal: 'Look', scope: browser.scope, images: options.images ?? true },
    {
      evaluate,
      async callTool(name, args, signal) {
        const reply = await browser.callTool(name, args, signal);
        const body = JSON.parse(reply.content[0]?.text ?? '{}');
        if (name === 'page_screenshot') {
          taken = true;
          return text({ ...shot, generation: body.generation, ...options.picture });
        }
        return name === 'page_observe' && taken ? text({ ...body, ...options.after }) : reply;
      },
    },
  );
  const request = evaluate.requests[0] as JevRequest;
  const codes = result.trace?.events
    .filter(({ phase }) => phase === 'recovery')
    .map(({ code, cause }) => [code, cause]);
  return { request, codes, taken };
}
const text = (body: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(body) }] });

describe('the picture of a decision', () => {
  it('goes with it, and the state refers to it', async () => {
    const { request } = await decide({});
    expect(request.assets).toEqual({ [SCREENSHOT_REF]: { type: 'image', format: 'jpeg', data_base64: shot.data } });
    expect(request.state).toMatchObject({ screenshot: SCREENSHOT_REF });
  });

  it('is not taken unless images are enabled', async () => {
    expect(await decide({ images: false })).toMatchObject({ taken: false, codes: [] });
  });

  it.each<[string, Parameters<typeof decide>[0], string, string | undefined]>([
    ['a sensitive field is in view', { pages: secret }, 'SCREENSHOT_SKIPPED_SENSITIVE', undefined],
    [
      'a sensitive field came into view while it was taken',
      { after: { elements: [{ ref: 'p', label: 'Code', tag: 'input', sensitive: true, operations: [] }] } },
      'SCREENSHOT_SKIPPED_SENSITIVE',
      undefined,
    ],
    [
      'controls in view may be missing from the list',
      { after: { truncated: { text: false, elements: true } } },
      'SCREENSHOT_SKIPPED_SENSITIVE',
      undefined,
    ],
    ['the device had to paint something out', { picture: { masked: 1 } }, 'SCREENSHOT_SKIPPED_SENSITIVE', 'MASKED'],
    ['it is too small', { picture: { width: 100 } }, 'SCREENSHOT_UNAVAILABLE', 'SIZE'],
    ['it is too large', { picture: { height: 2000 } }, 'SCREENSHOT_UNAVAILABLE', 'SIZE'],
    ['the page changed meanwhile', { after: { text: 'Other' } }, 'SCREENSHOT_UNAVAILABLE', 'PAGE_CHANGED'],
    ['it could not be taken', { picture: { data: 5 } }, 'SCREENSHOT_UNAVAILABLE', 'INVALID_CONTRACT'],
  ])('is withheld when %s, and the decision goes on in text', async (_name, options, code, cause) => {
    const { request, codes } = await decide(options);
    expect(request.assets).toBeUndefined();
    expect(request.state).not.toHaveProperty('screenshot', SCREENSHOT_REF);
    expect(codes?.[0]).toEqual([code, cause]);
  });
});
