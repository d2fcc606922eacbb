/** Which keys a run touched and which audits look at them, without a database. */
import { describe, expect, it } from 'vitest';
import { auditsAfter, scopeOnDemand, type TouchFacts, touchesOf, touchOf } from '#src/ledger/rules/audits.ts';

const plain: TouchFacts = {
  ...{ position: 1, key: 'k1', outcome: 'updated', sent: false, isWithdrawn: false, isIntent: false },
  ...{ intendedByRun: false, boundByRun: false, isLeased: false, doubtedInRun: false },
};
const touch = (parts: Partial<TouchFacts>, isCancelled = false) => touchOf({ ...plain, ...parts }, isCancelled);

describe('a key', () => {
  it.each(['created', 'updated', 'unchanged', 'dead'] as const)('is touched by a row that was %s', (outcome) => {
    expect(touch({ outcome })).toEqual({ inDoubt: false });
  });

  it('is not touched by a pending row, or by one that was rejected when the file was read', () => {
    expect(touch({ outcome: null, sent: true })).toBeNull();
    expect(touch({ outcome: 'dead', isWithdrawn: true })).toBeNull();
  });

  it('is touched by a skipped row only where something of it was on its way, and then it is in doubt', () => {
    expect(touch({ outcome: 'skipped' })).toBeNull();
    expect(touch({ outcome: 'skipped', isIntent: true })).toBeNull();
    const onTheirWay: Partial<TouchFacts>[] = [
      { sent: true },
      { doubtedInRun: true },
      { intendedByRun: true },
      { boundByRun: true },
    ];
    for (const parts of onTheirWay) expect(touch({ outcome: 'skipped', ...parts })).toEqual({ inDoubt: true });
  });

  it('that a worker holds is touched by a skipped row of a cancelled run alone', () => {
    expect(touch({ outcome: 'skipped', isLeased: true })).toBeNull();
    expect(touch({ outcome: 'skipped', isLeased: true }, true)).toEqual({ inDoubt: true });
  });

  it('is in doubt by the history of the run, and while a create of it is', () => {
    expect(touch({ doubtedInRun: true })).toEqual({ inDoubt: true });
    expect(touch({ intendedByRun: true })).toEqual({ inDoubt: true });
    expect(touch({ isIntent: true })).toEqual({ inDoubt: true });
  });

  it('is touched once, where its first row is, and in doubt where any of its rows is', () => {
    const rows = [
      { ...plain, position: 9, doubtedInRun: true },
      { ...plain, position: 4 },
      { ...plain, key: 'k2' },
    ];
    expect(touchesOf(rows, false)).toEqual([
      { key: 'k1', position: 4, inDoubt: true },
      { key: 'k2', position: 1, inDoubt: false },
    ]);
  });
});

describe('audits', () => {
  const entry = { runId: 'r1', atMs: 1, firstDueAtMs: 10, secondDueAtMs: 20 };

  it('look at all keys of a run, and once more at those in doubt', () => {
    expect(auditsAfter(entry, 0, 0)).toMatchObject([{ kind: 'first', done: true }]);
    expect(auditsAfter(entry, 5, 0)).toMatchObject([{ kind: 'first', dueAtMs: 10, keyCount: 5, done: false }]);
    expect(auditsAfter(entry, 5, 2)).toMatchObject([{ kind: 'first' }, { kind: 'second', dueAtMs: 20, keyCount: 2 }]);
  });

  it('on demand look at what the run touched, while that is known', () => {
    expect(scopeOnDemand(3, false, 3)).toBe('touched');
    expect(scopeOnDemand(0, false, 0)).toBe('touched');
    expect([scopeOnDemand(null, false, 3), scopeOnDemand(3, true, 3), scopeOnDemand(3, false, 0)]).toEqual([
      ...['settled', 'settled', 'settled'],
    ]);
  });
});
