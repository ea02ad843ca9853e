import { describe, expect, it } from 'vitest';
import { sessionPath } from './session-path.ts';

const host = (...ids: string[]) => ({ get: async () => ({ agents: ids.map((id) => ({ id })) }) });

describe('the conversation of a command', () => {
  it('is the default one of the only agent', async () => {
    expect(await sessionPath(host('a'), {})).toBe('/agents/a/sessions/default');
  });

  it('is the one that is named, whatever characters it has', async () => {
    const none = { get: () => Promise.reject(new Error('not asked')) };
    expect(await sessionPath(none, { agent: 'a/b', session: 'é ?' })).toBe('/agents/a%2Fb/sessions/%C3%A9%20%3F');
  });

  it('has to be named where there are several agents, or none', async () => {
    await expect(sessionPath(host('a', 'b'), {})).rejects.toThrow('Name the agent with --agent: a, b.');
    await expect(sessionPath(host(), {})).rejects.toThrow('Name the agent with --agent: there is none.');
  });
});
