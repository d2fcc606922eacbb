/** Which keys a run touched and which audits look at them, without a database. */
import { describe, expect, it } from 'vitest';
import { findingsPerKindMax, type NewFinding } from '#src/ledger/audits.ts';
import {
  auditsAfter,
  groupOf,
  type KeptAudit,
  keptAudit,
  newStanding,
  scopeOnDemand,
  stepped,
  type TouchFacts,
  touchesOf,
  touchFactsOf,
  touchOf,
} from '#src/ledger/rules/audits.ts';

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

  it('go on from where they stood, once, and keep so many findings of each kind', () => {
    const step = { fromPosition: 0, toPosition: 9, checked: 2, requests: { get: 1, retried: 0, rateLimited: 0 } };
    const finding: NewFinding = { key: 'k1', kind: 'missing', contacts: [], code: null };
    const after = stepped(audit({ missing: findingsPerKindMax - 1 }), { ...step, findings: [finding, finding] });
    expect(after?.audit).toMatchObject({ position: 9, checked: 2, missing: findingsPerKindMax + 1, hasFindings: true });
    expect(after?.kept).toEqual([{ finding, ordinal: findingsPerKindMax }]);
    expect(stepped(audit({ position: 9 }), { ...step, findings: [] })).toBeNull();
    expect(stepped(audit({ state: 'done' }), { ...step, findings: [] })).toBeNull();
  });

  it('stand where the newest of a run that is done found a duplicate', () => {
    const [old, newer] = [audit({ id: 'a1', state: 'done', duplicates: 1, stands: true }), audit({ id: 'a2' })];
    expect(newStanding([old, newer])).toEqual([]);
    expect(newStanding([old, { ...newer, state: 'done' }])).toEqual([{ ...old, stands: false }]);
    expect(newStanding([{ ...old, stands: false }, newer])).toEqual([old]);
  });

  it('are listed by what is next to be done with them', () => {
    const groups = [{}, { kind: 'demand' }, { state: 'done' }, { state: 'done', hasFindings: true }] as const;
    expect(groups.map((parts) => groupOf(audit(parts)))).toEqual(['waiting', 'asked', 'done', 'found']);
    expect(groupOf(audit({ state: 'done', hasFindings: true, stands: true }))).toBe('standing');
  });
});

function audit(parts: Partial<KeptAudit> = {}): KeptAudit {
  const run = { id: 'r1', sequence: 7 };
  const entered = { kind: 'first', scope: 'touched', atMs: 1, dueAtMs: 10, keyCount: 5, done: false } as const;
  return { ...keptAudit('a1', run, entered), ...parts };
}

describe('what is known of a row', () => {
  const run = { id: 'r1', sequence: 7 };
  const row = { position: 3, key: 'k1', outcome: 'updated', sent: true, notBeforeMs: 0 } as const;
  const contact = { number: 1, key: 'k1', state: 'bound', contactId: 'c1', document: null, linkedTo: null } as const;
  const flight = { key: 'k1', leaseUntilMs: null, horizonAtMs: null, horizonSpanMs: null, claim: null } as const;

  it('is nothing where the ledger has never met its key', () => {
    expect(touchFactsOf(run, row, undefined, false)).toEqual({ ...plain, position: 3, sent: true });
  });

  it('comes from its contact, and from work in flight', () => {
    const rows = {
      contact: { ...contact, boundRun: 7, boundAtMs: 1, writtenAtMs: 1 },
      flight: { ...flight, owner: 'w1', intentRun: 'r9', attempts: 0, owned: null },
    };
    expect(touchFactsOf(run, row, rows, true)).toMatchObject({
      ...{ isIntent: true, intendedByRun: false, boundByRun: true, isLeased: true, doubtedInRun: true },
    });
  });

  it('tells a row that was ended while the file was read from one that was skipped', () => {
    expect(touchFactsOf(run, { ...row, outcome: 'withdrawn' }, undefined, false)).toMatchObject({ isWithdrawn: true });
    expect(touchFactsOf(run, { ...row, outcome: 'cancelled' }, undefined, false)).toMatchObject({
      ...{ outcome: 'skipped', isWithdrawn: false },
    });
  });
});
