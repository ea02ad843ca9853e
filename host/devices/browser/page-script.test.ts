import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageScript } from './page-script.ts';

describe('the script that runs in pages', () => {
  it('passes the type check of its own, with the browser’s types and none of Node’s', () => {
    const tsc = join(import.meta.dirname, '../../../node_modules/typescript-native/bin/tsc');
    const checked = spawnSync(process.execPath, [tsc, '-p', join(import.meta.dirname, 'page')], { encoding: 'utf8' });
    expect(checked.stdout).toBe('');
    expect(checked.status).toBe(0);
  });

  it('is one text that leaves nothing in the page’s own world', async () => {
    const script = await pageScript();
    expect(script.length).toBeGreaterThan(1000);
    expect(script).not.toMatch(/\bwindow\.__device\s*=/);
  });
});
