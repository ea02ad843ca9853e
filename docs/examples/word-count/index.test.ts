import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runPlugin } from 'jev-host/sdk/testing';

const count = (input: unknown, tier: 'inline' | 'worker') =>
  runPlugin({ plugin: import.meta.dirname, handler: 'count_words', input, tier });

for (const tier of ['inline', 'worker'] as const) {
  test(`counts words with and without spaces between them (${tier})`, async () => {
    assert.deepEqual(await count({ text: 'one two, three' }, tier), { words: 3, characters: 14 });
    assert.deepEqual(await count({ text: 'สวัสดีครับ', language: 'th' }, tier), { words: 2, characters: 10 });
  });

  test(`refuses what its schema does not allow (${tier})`, async () => {
    await assert.rejects(count({ words: 'one' }, tier), { code: 'PLUGIN_FAILED' });
  });
}
