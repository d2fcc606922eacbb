/** A row compared with what its feed remembers, and what the guards count of it (`docs/rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import type { Said } from '#src/contacts/base.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { type FieldPolicy, type Policies, usualPolicies } from '#src/contacts/policies.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import {
  compareRow,
  countClears,
  hashRow,
  isChange,
  type ReadRow,
  readRow,
  type StageItem,
} from '#src/runs/compare.ts';
import { hashName, seedOf } from '#src/sources/record-hash.ts';
import type { Row } from '#src/sources/row.ts';

const item = (value: string) => ({ label: 'work', value });

function said(given: Partial<Said>): Said {
  return { scalars: {}, emails: [], phones: [], customFields: [], held: [], ...given };
}

function ours(given: Partial<DesiredContact>): DesiredContact {
  return { key: 'a', scalars: {}, source: null, emails: [], phones: [], customFields: [], ...given };
}

const clears = (before: Said, now: DesiredContact, policies: Policies = usualPolicies) =>
  countClears(before, now, policies);

describe('a row takes a value away', () => {
  it('where the file said a field before and now wants it gone', () => {
    expect(clears(said({ scalars: { role: 'Engineer', company: 'Acme' } }), ours({ scalars: { role: null } }))).toBe(1);
  });

  it('where a custom field is cleared', () => {
    const before = said({ customFields: [{ key: 'tier', value: 'gold' }] });
    expect(clears(before, ours({ customFields: [{ key: 'tier', value: null }] }))).toBe(1);
  });

  it('for each item fewer in a column', () => {
    const before = said({
      emails: [{ slot: 'email', items: [item('a@example.com'), item('b@example.com')] }],
      phones: [{ slot: 'phone', items: [item('+14155550100')] }],
    });
    const now = ours({ emails: [{ slot: 'email', items: [] }], phones: [{ slot: 'phone', items: [] }] });
    expect(clears(before, now)).toBe(3);
  });
});

describe('a row takes nothing away', () => {
  it('where a value is replaced by another', () => {
    const before = said({ scalars: { role: 'Engineer' }, emails: [{ slot: 'email', items: [item('a@example.com')] }] });
    const now = ours({ scalars: { role: 'Boss' }, emails: [{ slot: 'email', items: [item('b@example.com')] }] });
    expect(clears(before, now)).toBe(0);
  });

  it('where a blank cell keeps what is there: the field is absent', () => {
    const before = said({ scalars: { role: 'Engineer' }, phones: [{ slot: 'phone', items: [item('+14155550100')] }] });
    expect(clears(before, ours({}))).toBe(0);
  });

  it('where what it clears was not said before, or was cleared already', () => {
    const before = said({ scalars: { role: null }, customFields: [{ key: 'tier', value: null }] });
    const now = ours({
      scalars: { role: null, company: null },
      customFields: [
        { key: 'tier', value: null },
        { key: 'team', value: null },
      ],
      emails: [{ slot: 'email', items: [] }],
    });
    expect(clears(before, now)).toBe(0);
  });

  it('where a value beside it could not be read: what is not named may be that', () => {
    const before = said({ phones: [{ slot: 'phone', items: [item('+14155550100'), item('+14155550101')] }] });
    const now = (partial: boolean) =>
      ours({ phones: [{ slot: 'phone', items: [item('+14155550100')], ...(partial ? { partial } : {}) }] });
    expect(clears(before, now(true))).toBe(0);
    expect(clears(before, now(false))).toBe(1);
  });

  it('where the policy of the list removes none', () => {
    const before = said({
      emails: [{ slot: 'email', items: [item('a@example.com')] }],
      phones: [{ slot: 'phone', items: [item('+14155550100')] }],
    });
    const now = ours({ emails: [{ slot: 'email', items: [] }], phones: [{ slot: 'phone', items: [] }] });
    expect(clears(before, now, { ...usualPolicies, emails: 'none' })).toBe(1);
    expect(clears(before, now, { ...usualPolicies, emails: 'none', phones: 'none' })).toBe(0);
  });
});

function recordOf(given: Partial<Said>, triedFingerprint: string | null = null): SaidRecord {
  return {
    ...{ key: 'a', number: 1 },
    said: said(given),
    rowHash: null,
    fingerprint: null,
    triedFingerprint,
    heldCount: given.held?.length ?? 0,
  };
}

describe('a row is a change, for the guard on updates', () => {
  const change = (record: SaidRecord, given: Partial<DesiredContact>) =>
    isChange(record, ours(given), 'now', usualPolicies);

  it('where a field, an entry or an item is other than its file had settled', () => {
    const record = recordOf({
      scalars: { role: 'Engineer' },
      phones: [{ slot: 'mobile', items: [item('1')] }],
      customFields: [{ key: 'tier', value: 'gold' }],
    });
    expect(change(record, { scalars: { role: 'Boss' } })).toBe(true);
    expect(change(record, { customFields: [{ key: 'tier', value: null }] })).toBe(true);
    expect(change(record, { phones: [{ slot: 'mobile', items: [item('2')] }] })).toBe(true);
    expect(change(record, { phones: [{ slot: 'work', items: [item('2')] }] })).toBe(true);
    const same = { scalars: { role: 'Engineer' }, customFields: [{ key: 'tier', value: 'gold' }] };
    expect(change(record, { ...same, phones: [{ slot: 'mobile', items: [item('1')] }] })).toBe(false);
  });

  it('not where the policy of the field does not write it', () => {
    const record = recordOf({ scalars: { role: 'Engineer' } });
    const policies: Policies = { ...usualPolicies, fields: new Map([['role', 'seed']]) };
    expect(isChange(record, ours({ scalars: { role: 'Boss' } }), 'now', policies)).toBe(false);
    expect(clears(record.said, ours({ scalars: { role: null } }), policies)).toBe(0);
  });

  it('not where a column has another name, or is new, and says what others said', () => {
    const before = recordOf({ phones: [{ slot: 'mobil', items: [item('+1415')] }] });
    const named = (slot: string, ...items: readonly ReturnType<typeof item>[]) => ours({ phones: [{ slot, items }] });
    const changes = (now: DesiredContact) => isChange(before, now, 'new', usualPolicies);
    expect(changes(named('handy', item('+1415')))).toBe(false);
    expect(changes(named('handy'))).toBe(false);
    expect(changes(named('handy', item('+1416')))).toBe(true);
    expect(changes(named('handy', { label: 'home', value: '+1415' }))).toBe(true);
    expect(changes(named('mobil'))).toBe(true);
  });

  it('not where only a held field differs, and where another one does besides', () => {
    const record = recordOf({ scalars: { role: 'Engineer', company: 'Acme' }, held: ['role', 'custom.tier'] });
    const waiting = { customFields: [{ key: 'tier', value: 'gold' }] };
    expect(change(record, { ...waiting, scalars: { role: 'Boss', company: 'Acme' } })).toBe(false);
    expect(change(record, { ...waiting, scalars: { role: 'Boss', company: 'Mill' } })).toBe(true);
  });

  it('not where the row was given up as it is, and where it has changed since', () => {
    expect(change(recordOf({}, 'now'), { scalars: { role: 'Boss' } })).toBe(false);
    expect(change(recordOf({}, 'then'), { scalars: { role: 'Boss' } })).toBe(true);
  });
});

const row: Row = { kind: 'cells', line: 2, record: 1, columns: ['externalId', 'role'], cells: ['a', 'Boss'] };
const boss = ours({ scalars: { role: 'Boss' } });

/** Rules whose mapping gives this contact, and how often it was asked. */
function rulesOf(desired: DesiredContact = boss, adopt = false, policies: Policies = usualPolicies) {
  let mappedCount = 0;
  const mapRow = () => {
    mappedCount += 1;
    return { kind: 'desired', desired, warnings: [] } as const;
  };
  return { rules: { mapping: { version: 'v1', mapRow, policies }, adopt }, mappedCount: () => mappedCount };
}

function read(desired: DesiredContact = boss, given: Partial<StageItem> = {}): ReadRow {
  return readRow({ kind: 'row', row, sequence: 7, ...given } as StageItem, 'hash', rulesOf(desired).rules);
}

function memoryOf(record: SaidRecord | null, bound: readonly string[] = []) {
  return { said: new Map(record === null ? [] : [[record.key, record]]), bound: new Set(bound) };
}

describe('the hash of a row', () => {
  const hashed = (item: StageItem, version = 'v1') => {
    const words = { a: 0, b: 0, c: 0, d: 0 };
    hashRow(item, { text: seedOf(`text ${version}`), content: seedOf(`content ${version}`) }, words);
    return hashName(words);
  };
  const asRow = (given: object = {}): StageItem => ({ kind: 'row', sequence: 7, row: { ...row, ...given } as Row });

  it('is that of its cells, its columns and what they are read with, wherever the row stands', () => {
    const hash = hashed(asRow());
    expect(hashed(asRow({ line: 90, record: 12 }))).toBe(hash);
    expect(hashed(asRow(), 'v2')).not.toBe(hash);
    expect(hashed(asRow({ cells: ['a', 'Chief'] }))).not.toBe(hash);
    expect(hashed(asRow({ columns: ['externalId', 'title'] }))).not.toBe(hash);
  });

  it('is that of the text of its record where that tells all', () => {
    const item = { ...asRow(), text: 'a,Boss' } as StageItem;
    expect(hashed({ ...item, row: { ...row, line: 9 } })).toBe(hashed(item));
    expect(hashed({ ...item, text: '"a",Boss' } as StageItem)).not.toBe(hashed(item));
    expect(hashed(item)).not.toBe(hashed(asRow()));
  });
});

describe('reading a row', () => {
  it('takes what an earlier run has mapped as it was, and maps nothing of a row that cannot be read', () => {
    const { rules, mappedCount } = rulesOf();
    const verbatim = ours({ scalars: { role: 'Chief' } });
    const known = { kind: 'desired', row, desired: verbatim, sequence: 3, letterId: 'l' } as const;
    expect(readRow(known, 'hash', rules)).toMatchObject({ desired: verbatim, sequence: 3, letterId: 'l' });
    const problem = { code: 'cellCount', line: 2, field: null, value: null, message: '', hint: '' };
    expect(readRow({ kind: 'broken', row, problem }, 'hash', rules)).toMatchObject({
      ...{ kind: 'rejected', key: null, problems: [problem], letterId: null },
    });
    expect(mappedCount()).toBe(0);
  });
});

describe('the verdict on a row', () => {
  const { rules } = rulesOf();

  it('is changed, with a record to stage, where its feed does not know the key', () => {
    expect(compareRow(read(boss, { letterId: 'l' }), memoryOf(null), rules)).toMatchObject({
      ...{ kind: 'changed', isKnown: false, isUpdate: false, clears: 0 },
      record: { line: 2, sequence: 7, key: 'a', rowHash: 'hash', mappingVersion: 'v1', desired: boss, letterId: 'l' },
    });
  });

  it('is changed where the file says something else than it said last, and counts what it takes away', () => {
    const before = recordOf({ scalars: { role: 'Engineer', company: 'Acme' } });
    const now = ours({ scalars: { role: 'Boss', company: null } });
    expect(compareRow(read(now), memoryOf(before), rules)).toMatchObject({
      ...{ kind: 'changed', isKnown: true, isUpdate: true, clears: 1 },
    });
  });

  it('is changed but no update, where the row was given up as it is', () => {
    const given = recordOf({ scalars: { role: 'Engineer', company: 'Acme' } });
    const now = read(ours({ scalars: { company: null } }));
    const tried = { ...given, triedFingerprint: now.kind === 'mapped' ? now.fingerprint : null };
    expect(compareRow(now, memoryOf(tried), rules)).toMatchObject({ kind: 'changed', isUpdate: false, clears: 0 });
  });

  it('is unchanged by fingerprint, and knows the row hash by which it is unchanged the next time', () => {
    const now = read();
    const before = { ...recordOf({}), fingerprint: now.kind === 'mapped' ? now.fingerprint : null, heldCount: 2 };
    expect(compareRow(now, memoryOf(before), rules)).toMatchObject({
      ...{ kind: 'unchanged', isKnown: true, heldCount: 2, newRowHash: 'hash' },
    });
    expect(compareRow(now, memoryOf(before), rulesOf(boss, true).rules).kind).toBe('changed');
  });

  it('is changed where a field waits for a person who need not be asked any more, and counts as an update', () => {
    const now = read(boss);
    const print = now.kind === 'mapped' ? now.fingerprint : null;
    const before = { ...recordOf({ held: ['role'] }), fingerprint: print };
    const underPolicy = (policy: FieldPolicy) =>
      compareRow(
        now,
        memoryOf(before),
        rulesOf(boss, false, { ...usualPolicies, fields: new Map([['role', policy]]) }).rules,
      );
    expect(underPolicy('shared').kind).toBe('unchanged');
    expect(underPolicy('source')).toMatchObject({ kind: 'changed', isUpdate: true });
    expect(underPolicy('seed')).toMatchObject({ kind: 'changed', isUpdate: false });
  });

  it('rejects a row that holds nothing but its key, where nothing would be kept or cleared by it', () => {
    const bare = read(ours({ scalars: { role: null } }));
    expect(compareRow(bare, memoryOf(null), rules)).toMatchObject({
      ...{ kind: 'rejected', key: 'a', problems: [{ code: 'contactEmpty', line: 2 }] },
    });
    expect(compareRow(bare, memoryOf(null, ['a']), rules).kind).toBe('changed');
    expect(compareRow(bare, memoryOf(recordOf({})), rules).kind).toBe('changed');
  });
});
