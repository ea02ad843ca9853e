import { describe, expect, it } from 'vitest';
import type { ContributedTool, Manifest } from '../../sdk/contract/manifest.ts';
import { checkToolInput, checkToolOutput, checkToolSchemas } from './tool-schemas.ts';

const schema = {
  type: 'object',
  properties: { text: { type: 'string' }, deep: { type: 'object', properties: { n: { type: 'integer' } } } },
  required: ['text'],
  additionalProperties: false,
};
const tool: ContributedTool = {
  name: 'echo',
  title: 'Echo',
  description: 'Says it again.',
  inputSchema: schema,
  outputSchema: schema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

describe('arguments of a contributed tool', () => {
  it.each([
    ['a wrong type', { text: 1 }, { path: 'text' }],
    ['a wrong type deep inside', { text: 'x', deep: { n: 'x' } }, { path: 'deep.n' }],
    ['an argument that does not exist', { text: 'x', txt: 1 }, { path: 'txt' }],
    ['a missing argument', {}, { problem: expect.stringContaining('text') }],
    ['no object', 'x', { problem: expect.any(String) }],
    ['nothing', undefined, { problem: expect.any(String) }],
  ])('are refused with the place: %s', (_what, args, details) => {
    expect(() => checkToolInput(tool, args)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', details: expect.objectContaining(details) }),
    );
  });

  it('pass when they fit', () => {
    expect(() => checkToolInput(tool, { text: 'x' })).not.toThrow();
  });
});

describe('the answer of a contributed tool', () => {
  it.each([[null], [undefined], ['text'], [{}], [{ text: 1 }], [{ text: 'x', more: 1 }]])(
    'is refused: %j',
    (answer) => {
      expect(() => checkToolOutput('helper', tool, answer)).toThrow(
        expect.objectContaining({ code: 'PLUGIN_RESULT_INVALID', details: { plugin: 'helper', path: 'echo' } }),
      );
    },
  );

  it('passes when it fits', () => {
    expect(() => checkToolOutput('helper', tool, { text: 'x' })).not.toThrow();
  });
});

it('a schema that is none is found with its place before the plugin serves', () => {
  const tools = [tool, { ...tool, outputSchema: { type: 'objekt' } }];
  expect(() => checkToolSchemas({ tools } as Manifest)).toThrow(
    expect.objectContaining({
      code: 'PLUGIN_MANIFEST_INVALID',
      details: expect.objectContaining({ path: 'tools.1.outputSchema' }),
    }),
  );
});
