import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { isHostError } from '../../sdk/contract/errors.ts';
import { openConfig, readConfig } from './config-file.ts';
import { diffConfig } from './diff.ts';
import { closest } from './known-keys.ts';
import { checkConfig, parseConfig } from './parse.ts';
import { InvalidConfig, pathText } from './problems.ts';
import { configJsonSchema, configReference } from './reference.ts';

const good = () => ({
  gateway: {
    api: { port: 0, keys: [{ id: 'demo', sha256: 'a'.repeat(64), agents: ['assistant'], access: 'write' }] },
  },
  agents: [{ id: 'assistant' }],
});

function problems(value: unknown): { path: string; says: string }[] {
  try {
    checkConfig(value);
    return [];
  } catch (error) {
    if (error instanceof InvalidConfig) return [...error.problems];
    throw error;
  }
}

const directories: string[] = [];
function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'config-'));
  directories.push(directory);
  return directory;
}
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

describe('the configuration file', () => {
  it('takes an agent by its id alone and fills in what was left out', () => {
    const config = checkConfig(good());
    expect(config.gateway.api.host).toBe('127.0.0.1');
    expect(config.gateway.connectors).toEqual([]);
  });

  it('names an unknown key by its path and says which key was probably meant', () => {
    const wrong = good();
    Object.assign(wrong.gateway.api, { prot: 1 });
    Object.assign(wrong.gateway.api.keys[0]!, { SHA_256: 'x' });
    Object.assign(wrong, { zebra: true });
    expect(problems(wrong)).toEqual([
      { path: 'gateway.api.keys[0].SHA_256', says: 'there is no such key; did you mean "sha256"?' },
      { path: 'gateway.api.prot', says: 'there is no such key; did you mean "port"?' },
      { path: 'zebra', says: expect.stringMatching(/^there is no such key\. Known: dataDir, gateway, agents/) },
    ]);
  });

  it('lists every problem at once, each with its path', () => {
    const wrong = {
      gateway: { api: { port: 99_999, keys: [{ id: 'a b', sha256: 'short', agents: [], access: 'root' }] } },
      agents: 'assistant',
    };
    expect(problems(wrong).map(({ path }) => path)).toEqual([
      'gateway.api.port',
      'gateway.api.keys[0].id',
      'gateway.api.keys[0].sha256',
      'gateway.api.keys[0].access',
      'agents',
    ]);
  });

  it('says what is missing', () => {
    expect(problems({ gateway: {} })).toEqual([{ path: 'agents', says: 'is missing' }]);
  });

  it('refuses an id that is used twice and a key for an agent that does not exist', () => {
    const wrong = good();
    wrong.agents.push({ id: 'assistant' });
    wrong.gateway.api.keys[0]!.agents.push('asistant');
    expect(problems(wrong)).toEqual([
      { path: 'agents[1].id', says: 'the id "assistant" is already used by agents[0]' },
      { path: 'gateway.api.keys[0].agents[1]', says: 'there is no agent "asistant" under agents' },
    ]);
  });

  it('names browsers of programs that are a plugin already, or for agents that do not exist', () => {
    const browser = (id: string, agents: string[]) => ({
      id,
      wsUrl: 'ws://127.0.0.1:9222/devtools/browser/x',
      allowedMethods: ['Page.enable'],
      agents,
    });
    const browsers = [
      browser('thinking', ['assistant']),
      browser('own', ['asistant']),
      browser('browser', ['assistant']),
    ];
    const config = {
      ...good(),
      gateway: { ...good().gateway, programs: { browsers } },
      plugins: { own: { path: '/p' } },
    };
    expect(problems(config)).toEqual([
      { path: 'gateway.programs.browsers[0].id', says: '"thinking" is a plugin already' },
      { path: 'gateway.programs.browsers[1].id', says: '"own" is a plugin already' },
      { path: 'gateway.programs.browsers[1].agents[0]', says: 'there is no agent "asistant" under agents' },
    ]);
  });

  it('knows every plugin that ships with the host', () => {
    const shipped = readdirSync(join(import.meta.dirname, '../../plugins'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(shipped.length).toBeGreaterThan(3);
    for (const id of shipped) {
      const browsers = [{ id, wsUrl: 'ws://127.0.0.1:1/', allowedMethods: ['Page.enable'] }];
      expect(problems({ ...good(), gateway: { ...good().gateway, programs: { browsers } } }), id).toHaveLength(1);
    }
  });

  it('follows no change of what is connected once', () => {
    const before = { gateway: { programs: { browsers: [] } } };
    const after = { gateway: { programs: { browsers: [{ id: 'b' }] } } };
    expect(diffConfig(before, after)).toMatchObject([{ needsRestart: true }]);
  });

  it('says where a file stops being JSON, without quoting it', () => {
    const error = (() => {
      try {
        parseConfig('{\n  "agents": [],\n  secret-value\n}');
      } catch (caught) {
        return caught;
      }
    })();
    expect(isHostError(error, 'INVALID_CONFIG')).toBe(true);
    expect((error as Error).message).toContain('is not JSON');
    expect((error as Error).message).not.toContain('secret-value');
  });

  it('refuses every value that is not an object without failing itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(problems(value).length).toBeGreaterThan(0);
      }),
      { numRuns: 300 },
    );
  });

  it('says that a file does not exist', async () => {
    await expect(readConfig(join(temporary(), 'none.json'))).rejects.toThrow('the file does not exist');
  });
});

describe('the nearest key', () => {
  it.each([
    ['prot', 'port'],
    ['apikeyfile', 'apiKeyFile'],
    ['allow-tools', 'allow_tools'],
    ['acces', 'access'],
    ['xyz', undefined],
    ['', undefined],
  ])('for %j is %j', (wrong, meant) => {
    expect(closest(wrong, ['port', 'apiKeyFile', 'allow_tools', 'access'])).toBe(meant);
  });
});

describe('the difference of two configurations', () => {
  it('names what changed by path and whether the host must be restarted for it', () => {
    const before = { gateway: { api: { port: 1, keys: [{ id: 'a', x: 1 }, { id: 'b' }] } }, dataDir: '/a' };
    const after = { gateway: { api: { port: 1, keys: [{ id: 'b' }, { id: 'c' }] } }, dataDir: '/b' };
    expect(diffConfig(before, after)).toEqual([
      { path: 'gateway.api.keys.a', kind: 'removed', needsRestart: false },
      { path: 'gateway.api.keys.c', kind: 'added', needsRestart: false },
      { path: 'dataDir', kind: 'changed', needsRestart: true },
    ]);
  });

  it('is empty exactly when nothing changed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(diffConfig(a, structuredClone(a))).toEqual([]);
        if (JSON.stringify(a) !== JSON.stringify(b) && a !== null && typeof a !== 'object')
          expect(diffConfig(a, b).length).toBeGreaterThan(0);
      }),
    );
  });

  it('writes paths that can be read back by a person', () => {
    expect(pathText(['a', 0, 'b-c', 'd e', 'f'])).toBe('a[0].b-c["d e"].f');
  });
});

describe('live reload', () => {
  it('takes a changed file, keeps the last good one when the next is broken, and takes the repaired one', async () => {
    const path = join(temporary(), 'config.json');
    const write = (value: unknown) => {
      // As editors do it: a new file takes the place of the old one.
      writeFileSync(`${path}.new`, typeof value === 'string' ? value : JSON.stringify(value));
      renameSync(`${path}.new`, path);
    };
    write(good());
    const source = await openConfig(path);
    try {
      const next = () =>
        new Promise<string[]>((resolve) => source.onChange((_config, changes) => resolve(changes.map((c) => c.path))));
      const invalid = new Promise<string>((resolve) => source.onInvalid((problem) => resolve(problem.message)));

      const first = next();
      write({ ...good(), agents: [{ id: 'assistant' }, { id: 'second' }] });
      expect(await first).toEqual(['agents.second']);
      expect(source.current.agents).toHaveLength(2);

      write('{ "agents": [');
      expect(await invalid).toContain('is not JSON');
      expect(source.current.agents).toHaveLength(2);

      const repaired = next();
      write(good());
      expect(await repaired).toEqual(['agents.second']);
      expect(source.current.agents).toHaveLength(1);
    } finally {
      source.close();
    }
  });
});

describe('the reference', () => {
  it('lists every key of the schema with its kind, default and meaning', () => {
    const reference = configReference();
    expect(reference).toContain('| `gateway.api.port` | integer 0..65535 | `10850` |');
    expect(reference).toContain('| `gateway.api.keys[].sha256` | string | required |');
    expect(configJsonSchema().additionalProperties).toBe(false);
  });

  it('says what every key means', () => {
    const silent = configReference()
      .split('\n')
      .filter((row) => /\|\s*\|$/.test(row));
    expect(silent).toEqual([]);
  });
});
