/** A process that writes pairs and says which are confirmed: killed, or run on a full disk, by the store's tests. */
import { writeSync } from 'node:fs';
import { openLmdbStore } from '../../dist/core/store/lmdb-store.js';

const [mode, directory] = process.argv.slice(2);
const store = await openLmdbStore({ directory });
const table = store.table({ name: 'pairs', version: 1 });
const pair = (n, text) => [table.put([n, 'left'], text ?? n), table.put([n, 'right'], text ?? n)];

if (mode === 'write') {
  let n = 0;
  const writeOn = async () => {
    for (;;) {
      const mine = n++;
      await store.commit(pair(mine), [table.unchanged([mine, 'left'], 0)]);
      writeSync(1, `${mine}\n`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, writeOn));
} else {
  const confirmed = [];
  let code = 'NONE';
  for (let n = 0; n < 2000; n++) {
    try {
      await store.commit(pair(n, 'x'.repeat(2000)));
      confirmed.push(n);
    } catch (error) {
      code = error.code;
      break;
    }
  }
  const lost = confirmed.filter((n) => table.get([n, 'left']) === undefined).length;
  const rows = [...table.range()].map((row) => row.key);
  const halves = rows.filter(([n, side]) => table.get([n, side === 'left' ? 'right' : 'left']) === undefined).length;
  for (const n of confirmed)
    if (n % 2 === 0) await store.commit([table.remove([n, 'left']), table.remove([n, 'right'])]).catch(() => {});
  const afterwards = await store.commit(pair(5000, 'small')).catch(() => false);
  writeSync(1, JSON.stringify({ code, lost, halves, afterwards }));
  await store.close().catch(() => {});
}
