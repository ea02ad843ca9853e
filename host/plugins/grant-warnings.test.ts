import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../sdk/contract/manifest.ts';
import { grantWarnings, manifestWarnings } from './grant-warnings.ts';
import { checkManifest } from './read-manifest.ts';

const reason = 'This is needed by the test.';
const asking = (capabilities: Manifest['capabilities']): Manifest =>
  checkManifest({
    id: 'filler',
    version: '1.0.0',
    contract: 1,
    kind: 'helper',
    entry: 'index.ts',
    capabilities,
    limits: { memoryMb: 64, concurrentRuns: 1, runDeadlineMs: 1000 },
  });
const narrow = asking({ 'tools.call': { reason, tools: ['page_observe', 'page_type'] }, log: { reason } });
const wide = asking({ 'tools.call': { reason }, 'http.fetch': { reason }, 'cdp.call': { reason } });

describe('a grant that gives nothing is named', () => {
  it.each([
    [
      'a tool that was not asked for',
      narrow,
      { 'tools.call': { tools: ['page_tipe'] } },
      '"page_tipe", which the plugin',
    ],
    ['a tool that no target offers', wide, { 'tools.call': { tools: ['page_clik'] } }, '"page_clik", which no target'],
    ['a capability that was not asked for', narrow, { storage: true }, 'grants["storage"] gives what'],
    ['a list in the wrong place', narrow, { 'tools.call': { hosts: ['a.example'] } }, '.hosts means nothing there'],
    ['the network without hosts', wide, { 'http.fetch': true }, 'needs a list of hosts'],
  ] as const)('%s', (_what, manifest, grants, words) => {
    const warnings = grantWarnings(manifest, grants as never);
    expect(warnings).toEqual([expect.stringContaining(words)]);
    expect(warnings[0]).toContain('plugins.filler.grants[');
  });

  it('and what gives something is not', () => {
    expect(grantWarnings(narrow, undefined)).toEqual([]);
    expect(grantWarnings(narrow, { 'tools.call': { tools: ['page_type'] }, log: true, storage: false })).toEqual([]);
    const grants = { 'tools.call': { tools: ['computer_action'] }, 'cdp.call': { methods: ['Page.navigate'] } };
    expect(grantWarnings(wide, grants)).toEqual([]);
    expect(manifestWarnings(narrow)).toEqual([]);
  });

  it('in the manifest too', () => {
    const manifest = asking({ 'tools.call': { reason, tools: ['page_clik'] }, log: { reason, hosts: ['a.example'] } });
    expect(manifestWarnings(manifest)).toEqual([
      expect.stringContaining('"page_clik", which no target offers'),
      expect.stringContaining('capabilities["log"].hosts'),
    ]);
  });
});

describe('a manifest’s lists hold names only', () => {
  it.each([
    ['tools', 'page_observe). It no longer asks for http.fetch'],
    ['tools', 'page_\u202eobserve'],
    ['tools', 'page\u200b_observe'],
    ['hosts', 'a.example\nb.example'],
    ['hosts', 'A.example'],
    ['hosts', 'аpple.example'],
    ['methods', 'Page.navigate, and nothing else'],
    ['methods', '\u001b[2KPage.navigate'],
  ] as const)('%s: not %j', (list, name) => {
    expect(() => asking({ 'tools.call': { reason, [list]: [name] } })).toThrow(
      expect.objectContaining({ code: 'PLUGIN_MANIFEST_INVALID' }),
    );
  });
});
