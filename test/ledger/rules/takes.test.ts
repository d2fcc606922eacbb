/** What is remembered of files that feeds have met, without a database. */
import { describe, expect, it } from 'vitest';
import { forgottenBefore, isSeenLongAgo, type KnownFile, passedOver } from '#src/ledger/rules/takes.ts';

const dayMs = 86_400_000;
const taken: KnownFile = {
  ...{ feed: 'crm', path: '/a', fingerprint: 'p1', modifiedAtMs: 20, sha256: 'sha', takenAtMs: 21, seenAtMs: 22 },
};

describe('a file', () => {
  it('that is passed over was never taken, or stays remembered as it was taken', () => {
    const seen = { path: '/a', fingerprint: 'p2', modifiedAtMs: 5 };
    expect(passedOver('crm', seen, undefined, 30)).toEqual({
      ...{ ...seen, feed: 'crm', sha256: null, takenAtMs: 30, seenAtMs: 30 },
    });
    expect(passedOver('crm', seen, taken, 30)).toEqual({ ...taken, fingerprint: 'p2', seenAtMs: 30 });
  });

  it('is noted as seen once a day', () => {
    expect(isSeenLongAgo(taken, 22 + dayMs)).toBe(false);
    expect(isSeenLongAgo(taken, 23 + dayMs)).toBe(true);
  });

  it('is forgotten by what its feed saw since, and not by a clock that was ahead', () => {
    expect(forgottenBefore(100, 500, 30)).toBe(70);
    expect(forgottenBefore(900, 500, 30)).toBe(470);
  });
});
