import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { PrivateNames } from '../credentials/private-names.ts';
import { createCredentialResolver } from '../credentials/resolver.ts';
import { jevAllowed } from './access.ts';
import { type JevConfig, JevSection, jevPrivateNames, questionsAllowed } from './config.ts';
import { type ConnectionSources, connect } from './connection.ts';
import { evaluationEndpoint } from './endpoint.ts';
import { resolveIdentity } from './identity-group.ts';

const base = { enabled: true, model: 'jev-1.13.0' };
const problems = (section: Record<string, unknown>): string => {
  const parsed = v.safeParse(JevSection, section);
  return parsed.success
    ? 'valid'
    : parsed.issues.map((issue) => `${v.getDotPath(issue) ?? ''} ${issue.message}`).join('; ');
};
const config = (section: Record<string, unknown>): JevConfig => v.parse(JevSection, { ...base, ...section });

describe('the section gateway.jev', () => {
  it('has the documented defaults', () => {
    expect(v.parse(JevSection, {})).toEqual({
      enabled: false,
      provider: 'typesafe',
      timeoutMs: 5000,
      maxConcurrentRequests: 4,
      maxQueueSize: 16,
      maxInputBytes: 131_072,
      images: { enabled: false, model: 'jev-1.14.0', maxImageBytes: 16 * 1024 * 1024 },
      features: { computerTasks: {}, computerSteps: {}, browserTasks: {}, browserSteps: {} },
    });
  });

  it('allows programs 128 questions and everyone else 64, unless the operator says a number, which holds for all', () => {
    expect(questionsAllowed(config({}), false)).toBe(64);
    expect(questionsAllowed(config({}), true)).toBe(128);
    for (const program of [true, false]) expect(questionsAllowed(config({ maxQuestions: 5 }), program)).toBe(5);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['an unknown key', { ...base, retries: 3 }, /retries/],
    ['an unknown feature', { ...base, features: { voice: { enabled: true } } }, /features\.voice/],
    ['an unknown key of a feature', { ...base, features: { browserTasks: { on: true } } }, /browserTasks\.on/],
    ['an unknown key of images', { ...base, images: { side: 3 } }, /images\.side/],
    ['another provider', { ...base, provider: 'openai' }, /provider/],
    ['no model', { enabled: true }, /model is missing/],
    ['an empty model', { ...base, model: '' }, /model/],
    ['both credentials', { ...base, apiKeyFile: '/k', apiKeyEnv: 'K' }, /exclude each other/],
    ['a reserved name', { ...base, apiKeyEnv: 'OPENAI_API_KEY' }, /apiKeyEnv/],
    ['a timeout of 0', { ...base, timeoutMs: 0 }, /timeoutMs/],
    ['a timeout above two minutes', { ...base, timeoutMs: 120_001 }, /timeoutMs/],
    ['half a slot', { ...base, maxConcurrentRequests: 1.5 }, /maxConcurrentRequests/],
    ['65 slots', { ...base, maxConcurrentRequests: 65 }, /maxConcurrentRequests/],
    ['a queue of 257', { ...base, maxQueueSize: 257 }, /maxQueueSize/],
    ['more than a mebibyte', { ...base, maxInputBytes: 1_048_577 }, /maxInputBytes/],
    ['257 questions', { ...base, maxQuestions: 257 }, /maxQuestions/],
    ['a number as text', { ...base, timeoutMs: '5000' }, /timeoutMs/],
    [
      'an upstream address without a credential',
      { ...base, provider: 'upstream', baseUrl: 'https://x.example' },
      /own credential/,
    ],
    [
      'an upstream credential without an address',
      { ...base, provider: 'upstream', apiKeyEnv: 'K' },
      /needs its baseUrl/,
    ],
    ['another server with TypeSafe’s own key', { ...base, baseUrl: 'https://proxy.example' }, /own credential/],
    ['http to another machine', { ...base, apiKeyEnv: 'K', baseUrl: 'http://10.0.0.2' }, /https/],
    [
      'http to a name that only begins like this machine',
      { ...base, apiKeyEnv: 'K', baseUrl: 'http://localhost.example' },
      /https/,
    ],
    ['a user in the address', { ...base, apiKeyEnv: 'K', baseUrl: 'https://u:p@x.example' }, /user or password/],
    ['a query in the address', { ...base, apiKeyEnv: 'K', baseUrl: 'https://x.example/?k=v' }, /query/],
    ['an empty query', { ...base, apiKeyEnv: 'K', baseUrl: 'https://x.example/?' }, /query/],
    ['a fragment in the address', { ...base, apiKeyEnv: 'K', baseUrl: 'https://x.example/#a' }, /fragment/],
    ['a file', { ...base, apiKeyEnv: 'K', baseUrl: 'file:///etc/passwd' }, /not an https address/],
    ['a backslash', { ...base, apiKeyEnv: 'K', baseUrl: 'https://x.example\\@evil.example' }, /backslash/],
    ['an empty command', { ...base, credentialCommand: [] }, /credentialCommand/],
  ])('refuses %s', (_, section, says) => {
    expect(problems(section)).toMatch(says);
  });

  it.each([
    ['an upstream with nothing but its model', { ...base, provider: 'upstream', model: 'vendor/jev' }],
    ['an empty list of agents', { ...base, allowedAgentIds: [] }],
    ['this machine', { ...base, baseUrl: 'http://[::1]:8080' }],
    ['TypeSafe’s own address', { ...base, baseUrl: 'https://api.typesafe.ai/v1' }],
    ['a deployment path', { ...base, provider: 'upstream', apiKeyFile: '/k', baseUrl: 'https://x.example/a/b' }],
    ['nothing but off', { enabled: false }],
  ])('accepts %s', (_, section) => {
    expect(problems(section)).toBe('valid');
  });
});

describe('the address of evaluations', () => {
  it.each([
    ['typesafe', 'https://api.typesafe.ai', 'https://api.typesafe.ai/v1/systemone'],
    ['typesafe', 'https://api.typesafe.ai/', 'https://api.typesafe.ai/v1/systemone'],
    ['typesafe', 'https://api.typesafe.ai/v1//', 'https://api.typesafe.ai/v1/systemone'],
    ['typesafe', 'http://127.0.0.1:9/v1/systemone', 'http://127.0.0.1:9/v1/systemone'],
    ['upstream', 'https://x.example', 'https://x.example/v1/jev/evaluate'],
    ['upstream', 'https://x.example/v1', 'https://x.example/v1/jev/evaluate'],
    ['upstream', 'https://x.example/deploy/7/', 'https://x.example/deploy/7/v1/jev/evaluate'],
    ['upstream', 'https://x.example/deploy/v1/jev/evaluate/', 'https://x.example/deploy/v1/jev/evaluate'],
    ['upstream', 'https://x.example/api/v12', 'https://x.example/api/v12/v1/jev/evaluate'],
  ] as const)('of %s at %s is %s', (provider, from, to) => {
    const { origin, path } = evaluationEndpoint(provider, from);
    expect(origin + path).toBe(to);
  });
});

describe('the credential', () => {
  const sources = (more: Partial<ConnectionSources> = {}, env: NodeJS.ProcessEnv = {}): ConnectionSources => ({
    env: { PATH: process.env.PATH, ...env },
    credentials: createCredentialResolver({
      env: { PATH: process.env.PATH, ...env },
      privateNames: new PrivateNames(),
    }),
    ...more,
  });
  const read = async (section: Record<string, unknown>, from: ConnectionSources): Promise<string> =>
    connect(config(section), from, new AbortController().signal).then(
      ({ credential, endpoint }) => `${credential} at ${endpoint.origin}${endpoint.path}`,
      (error) => `${error.code} ${error.details.problem ?? ''}`,
    );
  const own = { env: 'K', value: 'own-key' };
  const command = ['printf', 'from-command'];

  it('comes from the named variable and from nowhere else', async () => {
    const env = { TYPESAFE_API_KEY: 'typesafe-key' };
    expect(await read({ apiKeyEnv: own.env }, sources({}, { K: own.value, ...env }))).toMatch(/^own-key at/);
    expect(await read({ apiKeyEnv: own.env, credentialCommand: command }, sources({}, env))).toBe(
      'JEV_AUTHENTICATION_FAILED it is not set',
    );
    expect(await read({ apiKeyFile: '/nowhere/key' }, sources({}, env))).toMatch(
      /^JEV_AUTHENTICATION_FAILED .*not exist/,
    );
  });

  it('comes from the login before the variable, and from the command last', async () => {
    const login = { storedLogin: async () => '/dev/null' };
    expect(await read({}, sources(login, { TYPESAFE_API_KEY: 'typesafe-key' }))).toMatch(/^JEV_AUTHENTICATION_FAILED/);
    expect(await read({ credentialCommand: command }, sources({}, { TYPESAFE_API_KEY: 'typesafe-key' }))).toMatch(
      /^typesafe-key at/,
    );
    expect(await read({ credentialCommand: command }, sources())).toMatch(/^from-command at/);
    expect(await read({}, sources())).toBe('JEV_AUTHENTICATION_FAILED it is not set');
  });

  it('of TypeSafe is never sent to an upstream', async () => {
    const upstream = { provider: 'upstream', baseUrl: 'https://x.example', credentialCommand: command };
    const everything = sources({ storedLogin: async () => '/login' }, { TYPESAFE_API_KEY: 'typesafe-key' });
    expect(await read(upstream, everything)).toBe('from-command at https://x.example/v1/jev/evaluate');
  });

  it('of the upstream identity is one group with its address', async () => {
    const env = { ANTHROPIC_BASE_URL: 'https://env.example', ANTHROPIC_API_KEY: 'env-key' };
    const from = (settings: Record<string, unknown> | undefined) =>
      read({ provider: 'upstream' }, sources({ claudeSettings: async () => settings }, env));
    expect(await from(undefined)).toBe('env-key at https://env.example/v1/jev/evaluate');
    expect(await from({ OTHER: 'x' })).toMatch(/^env-key/);
    expect(
      await from({
        ANTHROPIC_BASE_URL: 'https://set.example/v1',
        ANTHROPIC_API_KEY: 'a',
        ANTHROPIC_AUTH_TOKEN: 'token',
      }),
    ).toBe('token at https://set.example/v1/jev/evaluate');
    expect(await from({ ANTHROPIC_BASE_URL: 'https://set.example' })).toMatch(/^JEV_INVALID_CONFIG .*credential/);
    expect(await from({ CLAUDE_CODE_OAUTH_TOKEN: 'token' })).toMatch(/^JEV_INVALID_CONFIG .*ANTHROPIC_BASE_URL/);
    expect(await from({ ANTHROPIC_BASE_URL: 'http://set.example', ANTHROPIC_API_KEY: 'a' })).toMatch(
      /^JEV_INVALID_CONFIG .*https/,
    );
  });

  it('prefers the tokens in their order', () => {
    const all = {
      ANTHROPIC_BASE_URL: 'https://x.example',
      ANTHROPIC_AUTH_TOKEN: 'a',
      ANTHROPIC_API_KEY: 'b',
      CLAUDE_CODE_OAUTH_TOKEN: 'c',
    };
    expect(resolveIdentity(all, {}).credential).toBe('a');
    expect(resolveIdentity({ ...all, ANTHROPIC_AUTH_TOKEN: '' }, {}).credential).toBe('b');
    expect(resolveIdentity({ ...all, ANTHROPIC_AUTH_TOKEN: '', ANTHROPIC_API_KEY: '' }, {}).credential).toBe('c');
  });

  it('makes its variable private: the named one, or the one that is read by itself, or none', () => {
    expect(jevPrivateNames(config({ apiKeyEnv: 'K' }))).toEqual(['K']);
    expect(jevPrivateNames(config({}))).toEqual(['TYPESAFE_API_KEY']);
    expect(jevPrivateNames(config({ apiKeyFile: '/k' }))).toEqual([]);
    expect(jevPrivateNames(config({ provider: 'upstream' }))).toEqual([]);
  });
});

describe('who may use Jev', () => {
  const on = config({});
  it.each<[string, JevConfig | undefined, Parameters<typeof jevAllowed>[2], boolean]>([
    ['an agent, when nothing narrows it', on, {}, true],
    ['nobody while it is off', { ...on, enabled: false }, {}, false],
    ['nobody without a configuration', undefined, {}, false],
    ['no agent that is not known', on, undefined, false],
    ['no agent without tools', on, { allow_tools: false }, false],
    ['no agent that switched it off', on, { jev: { enabled: false } }, false],
    ['an agent that only repeats the permission', on, { allow_tools: true, jev: { enabled: true } }, true],
    ['nobody with an empty list', { ...on, allowedAgentIds: [] }, {}, false],
    ['a listed agent', { ...on, allowedAgentIds: ['a', 'b'] }, {}, true],
    ['no unlisted agent, even one that says yes', { ...on, allowedAgentIds: ['b'] }, { jev: { enabled: true } }, false],
  ])('%s', (_, section, agent, expected) => {
    expect(jevAllowed(section, 'a', agent)).toBe(expected);
  });
});
