import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { Observation } from '../devices/remote-browser-contract.ts';
import { scriptedBrowser } from './scripted-browser.ts';
import type { ScriptedFault } from './scripted-faults.ts';

const signal = new AbortController().signal;

function shop(faults: ScriptedFault[] = []) {
  const browser = scriptedBrowser({
    pages: {
      shop: {
        url: 'http://shop.example/',
        elements: [
          { ref: 'name', label: 'Name', tag: 'input' },
          { ref: 'size', label: 'Size', options: [{ ref: 's', label: 'Small' }] },
          { ref: 'buy', label: 'Buy', goto: 'thanks' },
        ],
      },
      thanks: { url: 'http://shop.example/thanks', text: 'Thank you' },
    },
    faults,
  });
  let operation = 0;
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    operation += 1;
    const operationId = `00000000-0000-4000-8000-${String(operation).padStart(12, '0')}`;
    const answer = await browser.callTool(name, { ...browser.scope, operation_id: operationId, ...args }, signal);
    return JSON.parse(answer.content[0]!.text);
  };
  const lease = async () => ({ lease_token: (await call('browser_task_acquire')).result.lease_token });
  return { browser, call, lease };
}

describe('the scripted browser', () => {
  it('shows a page in the contract’s shape and moves on when a button is clicked', async () => {
    const { browser, call, lease } = shop();
    const held = await lease();
    const page = v.parse(Observation, await call('page_observe', held));
    const after = await call('page_click', { ...held, ref: 'buy', generation: page.generation });
    expect(v.parse(Observation, after.result.observation).text).toBe('Thank you');
    expect(browser.done).toEqual(['page_click buy']);
  });

  it('does nothing without a lease, with an old generation, or for another tab', async () => {
    const { browser, call, lease } = shop();
    expect(await call('page_click', { ref: 'buy', generation: 'g1' })).toMatchObject({ error: 'LEASE_LOST' });
    const held = await lease();
    expect(await call('page_click', { ...held, ref: 'buy', generation: 'g0' })).toMatchObject({
      error: 'STALE_OBSERVATION',
      action_executed: false,
    });
    expect(await call('page_click', { ...held, tab_id: 'other', ref: 'buy', generation: 'g1' })).toMatchObject({
      error: 'CONSENT_REQUIRED',
    });
    expect(browser.done).toEqual([]);
  });

  it('keeps typed and chosen values', async () => {
    const { call, lease } = shop();
    const held = await lease();
    await call('page_type', { ...held, ref: 'name', generation: 'g1', text: 'Ada' });
    const after = await call('page_select', { ...held, ref: 'size', generation: 'g2', option_ref: 's' });
    expect(after.result.observation.elements).toMatchObject([
      { ref: 'name', value: 'Ada' },
      { ref: 'size', selected: 'Small', options: [{ selected: true }] },
      { ref: 'buy' },
    ]);
  });

  it('never does the same operation twice', async () => {
    const { browser, call, lease } = shop();
    const held = await lease();
    const again = { ...held, operation_id: '11111111-0000-4000-8000-000000000000', ref: 'buy', generation: 'g1' };
    await call('page_click', again);
    expect(await call('page_click', again)).toEqual({ replayed: true });
    expect(browser.done).toHaveLength(1);
  });

  it('loses a reply after the action was done, and knows it when asked', async () => {
    const { browser, call, lease } = shop([{ tool: 'page_click', does: 'lost' }]);
    const held = await lease();
    const id = '11111111-0000-4000-8000-000000000000';
    await expect(call('page_click', { ...held, operation_id: id, ref: 'buy', generation: 'g1' })).rejects.toThrow(
      'lost',
    );
    expect(browser.done).toEqual(['page_click buy']);
    expect(await call('operation_status', { operation_id: id })).toMatchObject({ state: 'completed' });
  });

  it('strikes with a fault once, after as many calls as asked', async () => {
    const { call, lease } = shop([{ tool: 'page_observe', after: 1, does: 'stale', cause: 'NAVIGATION_PENDING' }]);
    const held = await lease();
    expect(await call('page_observe', held)).toHaveProperty('generation');
    expect(await call('page_observe', held)).toMatchObject({ error: 'STALE_OBSERVATION', cause: 'NAVIGATION_PENDING' });
    expect(await call('page_observe', held)).toHaveProperty('generation');
  });
});
