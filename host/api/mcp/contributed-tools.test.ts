import { expect, it } from 'vitest';
import type { ContributedTool } from '../../../sdk/contract/manifest.ts';
import { contributedTools } from './contributed-tools.ts';

const schema = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
};
const definition = (): ContributedTool => ({
  name: 'echo',
  title: 'Echo',
  description: 'Says it again.',
  inputSchema: schema,
  outputSchema: schema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
});

it('makes a tool once, though every request lists the plugins anew, and again for another generation', () => {
  const listed = [{ ...definition(), pluginId: 'echo' }];
  const tools = contributedTools({ list: () => listed.map((tool) => ({ ...tool })), call: async () => ({}) });
  expect(tools()[0]).toBe(tools()[0]);
  const before = tools()[0];
  listed[0] = { ...definition(), inputSchema: { ...schema }, pluginId: 'echo' };
  expect(tools()[0]).not.toBe(before);
});
