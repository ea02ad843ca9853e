import { describe, expect, it } from 'vitest';
import { defineController } from './define.ts';

const manifest = { id: 'example', kind: 'controller', capabilities: { 'jev.evaluate': {}, log: {} } } as const;

describe('defineController', () => {
  it('gives the facets that plugin.json asks for, typed by the questions that are asked', () => {
    const plugin = defineController(manifest, {
      async run(_input, ctx) {
        ctx.log.info(ctx.run.id);
        const result = await ctx.jev.evaluate({
          state: 'x',
          questions: { next: { type: 'choice', instructions: 'Which?', criteria: { A: null } } },
        });
        return result.answers.next.choice;
      },
    });
    expect(plugin).toMatchObject({ kind: 'controller', id: 'example' });
    expect(Object.isFrozen(plugin)).toBe(true);
  });

  it('makes the use of a facet that plugin.json does not ask for a compile error', () => {
    // The type check of this file fails when one of the expected errors is missing.
    const plugin = defineController(manifest, {
      async run(_input, ctx) {
        // @ts-expect-error plugin.json does not ask for "storage"
        await ctx.storage.get('key');
        // @ts-expect-error plugin.json does not ask for "tools.call"
        await ctx.tools.call('page_observe', {});
      },
    });
    expect(plugin.run).toBeTypeOf('function');
  });
});
