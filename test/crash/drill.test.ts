import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { drill } from '../../host/drill/drill.ts';

const entry = join(import.meta.dirname, '../../dist/host/drill/throwaway-host.js');

describe('a drill', () => {
  it('finds every task where its records say, with nothing done twice, whenever the host was killed', {
    timeout: 240_000,
  }, async () => {
    const rows = await drill({ entry });
    expect(rows.filter((row) => row.broken.length > 0)).toEqual([]);
    // One task of two presses: accepted, then lease, three looks, two presses and the release, each at three moments.
    expect(rows).toHaveLength(22);
    const doubt = rows.filter((row) => row.point.includes('page_click, sent'));
    expect(doubt.map((row) => row.found)).toEqual(['needs_reconciliation (unknown)', 'needs_reconciliation (unknown)']);
  });
});
