/** The package as another project imports it: by name, through its exports, compiled. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

function inNode(source: string): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    cwd: new URL('../../', import.meta.url),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

describe('the compiled package', () => {
  it('gives plugin authors the SDK', () => {
    const names = ['defineController', 'defineHelper', 'HostError', 'Manifest', 'RunnerInput', 'checkedNowhere'];
    const kinds = inNode(
      `const sdk = await import('jev-host/sdk'); console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => typeof sdk[name])));`,
    );
    expect(JSON.parse(kinds)).toEqual(['function', 'function', 'function', 'object', 'object', 'undefined']);
  });

  it('gives operators the host, with the program tools among what it serves', () => {
    const found = inNode(
      `const { createHost } = await import('jev-host');
       const { readFileSync } = await import('node:fs');
       const manifest = JSON.parse(readFileSync('dist/plugins/programs/plugin.json', 'utf8'));
       console.log(JSON.stringify([typeof createHost, manifest.tools.map(({ name }) => name)]));`,
    );
    expect(JSON.parse(found)).toEqual([
      'function',
      ['jev_run', 'jev_spawn', 'jev_status', 'jev_wait', 'jev_join', 'jev_stop'],
    ]);
  });
});
