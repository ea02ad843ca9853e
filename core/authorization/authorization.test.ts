import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ApiKeyEntry, createAuthorization } from './authorization.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const key = (id: string, more: Partial<ApiKeyEntry> = {}): ApiKeyEntry => ({
  id,
  sha256: sha256(`secret-${id}`),
  agents: '*',
  access: 'write',
  ...more,
});
const agents = [{ id: 'assistant' }, { id: 'other' }];
const owner = { agentId: 'assistant', principalId: 'api:a', conversationId: 'c' };

describe('authorization', () => {
  it('knows a caller by its key and by nothing else', () => {
    const auth = createAuthorization({ keys: [key('a'), key('b', { access: 'read' })], agents });
    expect(auth.authenticate('secret-a')).toMatchObject({ principalId: 'api:a', access: 'write' });
    expect(auth.authenticate('secret-b')).toMatchObject({ principalId: 'api:b', access: 'read' });
    for (const wrong of ['', 'secret-c', sha256('secret-a'), 'secret-a '])
      expect(auth.authenticate(wrong)).toBeUndefined();
  });

  it('refuses a key after its time', () => {
    let now = Date.parse('2027-01-01T00:00:00Z');
    const auth = createAuthorization(
      { keys: [key('a', { expiresAt: '2027-01-02T00:00:00Z' })], agents },
      { now: () => now },
    );
    expect(auth.authenticate('secret-a')).toBeDefined();
    now += 86_400_000;
    expect(auth.authenticate('secret-a')).toBeUndefined();
    expect(auth.may(owner, 'read')).toBe(false);
  });

  it('gives each right only from its rank up, and only for the key’s agents', () => {
    const auth = createAuthorization({
      keys: [key('a', { agents: ['assistant'] }), key('r', { access: 'read' })],
      agents,
    });
    expect(auth.may(owner, 'write')).toBe(true);
    expect(auth.may(owner, 'admin')).toBe(false);
    expect(auth.may({ ...owner, agentId: 'other' }, 'read')).toBe(false);
    expect(auth.may({ principalId: 'api:r', agentId: 'other' }, 'read')).toBe(true);
    expect(auth.may({ principalId: 'api:r', agentId: 'other' }, 'write')).toBe(false);
    expect(auth.may({ principalId: 'api:nobody', agentId: 'assistant' }, 'read')).toBe(false);
    expect(auth.may({ principalId: 'api:a', agentId: 'unknown' }, 'read')).toBe(false);
  });

  it('opens a thing only to the agent, principal and conversation that own it, admins included', () => {
    const auth = createAuthorization({ keys: [key('a', { access: 'admin' }), key('b', { access: 'admin' })], agents });
    const names = fc.record({
      agentId: fc.constantFrom('assistant', 'other'),
      principalId: fc.constantFrom('api:a', 'api:b'),
      conversationId: fc.constantFrom('c', 'd'),
    });
    fc.assert(
      fc.property(names, names, (who, thing) => {
        const same = JSON.stringify(who) === JSON.stringify(thing);
        expect(auth.may(who, 'read', thing)).toBe(same);
      }),
    );
  });

  it.each([
    ['the key is removed', { keys: [], agents }],
    ['the key is replaced', { keys: [key('a', { sha256: sha256('new') })], agents }],
    ['the key may do less', { keys: [key('a', { access: 'read' })], agents }],
    ['the key loses the agent', { keys: [key('a', { agents: ['other'] })], agents }],
    ['the agent is removed', { keys: [key('a')], agents: [{ id: 'other' }] }],
    [
      'the agent loses its tools',
      { keys: [key('a')], agents: [{ id: 'assistant', allow_tools: false }, { id: 'other' }] },
    ],
  ])('ends running work at once when %s, also when it is given back', (_why, next) => {
    const before = { keys: [key('a')], agents };
    const auth = createAuthorization(before);
    const permit = auth.fences.permit(auth.groundsOf(owner));
    const bystander = auth.fences.permit(auth.groundsOf({ principalId: 'api:b', agentId: 'other' }));
    auth.reconfigure(next);
    expect(permit.signal.aborted).toBe(true);
    auth.reconfigure(before);
    expect(permit.holds()).toBe(false);
    expect(bystander.holds()).toBe(true);
    expect(auth.fences.permit(auth.groundsOf(owner)).holds()).toBe(true);
  });

  it('lets work go on through a change that takes nothing away', () => {
    const auth = createAuthorization({ keys: [key('a')], agents });
    const permit = auth.fences.permit(auth.groundsOf(owner));
    auth.reconfigure({ keys: [key('a'), key('b')], agents: [...agents, { id: 'third' }] });
    expect(permit.holds()).toBe(true);
  });
});
