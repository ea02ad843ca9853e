import { describe, expect, it } from 'vitest';
import { createRequestLedger, MAX_IDS, MAX_IDS_PER_PRINCIPAL, RETENTION_MS } from './request-ledger.ts';

const scope = (principalId: string, agentId = 'a') => ({ principalId, agentId });
const refused = (work: () => unknown): string => {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('the ledger of request ids', () => {
  it('keeps an id until five minutes after its evaluation settled, however long that took', () => {
    let now = 0;
    const ledger = createRequestLedger(() => now);
    const entry = ledger.begin(scope('p'), 'id');
    now = 10 * RETENTION_MS;
    expect(refused(() => ledger.begin(scope('p'), 'id'))).toBe('JEV_REQUEST_CONFLICT');
    entry.settle();
    now += RETENTION_MS - 1;
    expect(refused(() => ledger.begin(scope('p'), 'id'))).toBe('JEV_REQUEST_CONFLICT');
    now += 1;
    expect(refused(() => ledger.begin(scope('p'), 'id'))).toBe('accepted');
  });

  it('cannot be fooled by ids that contain another caller’s name', () => {
    const ledger = createRequestLedger(() => 0);
    ledger.begin(scope('p', 'a'), 'x');
    expect(refused(() => ledger.begin(scope('p","a', ''), 'x'))).toBe('accepted');
    expect(refused(() => ledger.begin(scope('p', 'a","x'), ''))).toBe('accepted');
  });

  it('makes room by forgetting the oldest settled id of the same caller first', () => {
    const ledger = createRequestLedger(() => 0);
    const other = ledger.begin(scope('other'), 'kept');
    other.settle();
    for (let n = 0; n < MAX_IDS_PER_PRINCIPAL; n++) ledger.begin(scope('p'), `${n}`).settle();
    ledger.begin(scope('p'), 'new');
    expect(ledger.size).toBe(MAX_IDS_PER_PRINCIPAL + 1);
    expect(refused(() => ledger.begin(scope('p'), '0'))).toBe('accepted');
    expect(refused(() => ledger.begin(scope('other'), 'kept'))).toBe('JEV_REQUEST_CONFLICT');
  });

  it('never forgets an id that is still on its way, and says that it is full', () => {
    const ledger = createRequestLedger(() => 0);
    for (let n = 0; n < MAX_IDS_PER_PRINCIPAL; n++) ledger.begin(scope('p'), `${n}`);
    expect(refused(() => ledger.begin(scope('p'), 'more'))).toBe('JEV_QUEUE_FULL');
    expect(refused(() => ledger.begin(scope('p'), '5'))).toBe('JEV_REQUEST_CONFLICT');
  });

  it('never holds more than its bound over all callers', () => {
    const ledger = createRequestLedger(() => 0);
    for (let n = 0; n < 3 * MAX_IDS; n++) ledger.begin(scope(`p${n % 7}`), `${n}`).settle();
    expect(ledger.size).toBeLessThanOrEqual(MAX_IDS);
  });

  it('gives an id back when nothing was sent for it', () => {
    const ledger = createRequestLedger(() => 0);
    ledger.begin(scope('p'), 'id').release();
    expect(ledger.size).toBe(0);
    const again = ledger.begin(scope('p'), 'id');
    again.settle();
    again.settle();
    expect(refused(() => ledger.begin(scope('p'), 'id'))).toBe('JEV_REQUEST_CONFLICT');
  });
});
