import { describe, expect, it } from 'vitest';
import type { JevRequest } from '../../sdk/contract/jev.ts';
import { type ScriptedBrowserOptions, scriptedBrowser, scriptedEvaluator } from '../../sdk/testing/index.ts';
import { runInline } from './testing/inline.ts';

const shop: ScriptedBrowserOptions = {
  pages: {
    search: {
      url: 'http://shop.example/',
      text: 'Shop',
      elements: [
        { ref: 'q', label: 'Search', tag: 'input', type: 'search' },
        { ref: 'go', label: 'Search', goto: 'product' },
      ],
    },
    product: {
      url: 'http://shop.example/product',
      text: 'Trail shoe',
      elements: [
        {
          ref: 'size',
          label: 'Size',
          options: [
            { ref: 's41', label: '41' },
            { ref: 's42', label: '42' },
          ],
        },
        { ref: 'buy', label: 'Buy', goto: 'delivery' },
      ],
    },
    delivery: {
      url: 'http://shop.example/delivery',
      text: 'Delivery',
      elements: [
        { ref: 'name', label: 'Name', tag: 'input' },
        { ref: 'city', label: 'City', tag: 'input' },
        { ref: 'order', label: 'Place order', goto: 'thanks' },
      ],
    },
    thanks: { url: 'http://shop.example/thanks', text: 'Thank you for your order' },
  },
};

const goal = 'Search for "trail shoe", choose size 42, order it';

describe('an agent’s goal', () => {
  it('is carried on from page to page until it is a candidate for completion', async () => {
    const browser = scriptedBrowser(shop);
    const evaluate = scriptedEvaluator([
      { operation: 'TYPE_TEXT', type_text_target: 'q' },
      { operation: 'CLICK', click_target: 'go' },
      { operation: 'SELECT', select_target: 'size:s42' },
      { operation: 'CLICK', click_target: 'buy' },
      { operation: 'TYPE_TEXT', type_text_target: 'name' },
      { operation: 'TYPE_TEXT', type_text_target: 'city' },
      { operation: 'CLICK', click_target: 'order' },
      { operation: 'DONE' },
    ]);
    const { result } = await runInline(
      {
        goal,
        scope: browser.scope,
        fields: [
          { label: 'Name', text: 'Ada' },
          { label: 'City', text: 'London' },
        ],
      },
      { callTool: browser.callTool, evaluate },
    );
    expect(result).toMatchObject({
      status: 'needs_verification',
      reason: 'COMPLETION_CANDIDATE',
      steps: 7,
      evaluations: 8,
      lastConfirmedAction: { operation: 'CLICK', outcome: 'confirmed' },
    });
    expect(browser.done).toEqual([
      'page_type q',
      'page_click go',
      'page_select size',
      'page_click buy',
      'page_type name',
      'page_type city',
      'page_click order',
    ]);
    expect(browser.state.values.get('q')).toBe('trail shoe');
    expect(browser.leaseHeld()).toBe(false);
  });

  it('sends the same bytes for the same page and history', async () => {
    const asked: string[][] = [[], []];
    for (const requests of asked) {
      const browser = scriptedBrowser(shop);
      const scripted = scriptedEvaluator([{ operation: 'TYPE_TEXT', type_text_target: 'q' }, { operation: 'BLOCKED' }]);
      const evaluate = (request: JevRequest, signal: AbortSignal) => {
        requests.push(JSON.stringify(request));
        return scripted(request, signal);
      };
      await runInline({ goal, scope: browser.scope }, { callTool: browser.callTool, evaluate });
    }
    expect(asked[0]).toHaveLength(2);
    expect(asked[0]).toEqual(asked[1]);
  });
});
