/** What the guards on updates, clears and removals count (`rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import type { Said } from '#src/contacts/base.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import { countClears, isChange } from '#src/runs/compare.ts';

const item = (value: string) => ({ label: 'work', value });

function said(given: Partial<Said>): Said {
  return { scalars: {}, emails: [], phones: [], customFields: [], held: [], ...given };
}

function ours(given: Partial<DesiredContact>): DesiredContact {
  return { key: 'a', scalars: {}, source: null, emails: [], phones: [], customFields: [], ...given };
}

describe('a row takes a value away', () => {
  it('where the file said a field before and now wants it gone', () => {
    expect(
      countClears(said({ scalars: { role: 'Engineer', company: 'Acme' } }), ours({ scalars: { role: null } })),
    ).toBe(1);
  });

  it('where a custom field is cleared', () => {
    const before = said({ customFields: [{ key: 'tier', value: 'gold' }] });
    expect(countClears(before, ours({ customFields: [{ key: 'tier', value: null }] }))).toBe(1);
  });

  it('for each item fewer in a column', () => {
    const before = said({
      emails: [{ slot: 'email', items: [item('a@example.com'), item('b@example.com')] }],
      phones: [{ slot: 'phone', items: [item('+14155550100')] }],
    });
    const now = ours({ emails: [{ slot: 'email', items: [] }], phones: [{ slot: 'phone', items: [] }] });
    expect(countClears(before, now)).toBe(3);
  });
});

describe('a row takes nothing away', () => {
  it('where a value is replaced by another', () => {
    const before = said({ scalars: { role: 'Engineer' }, emails: [{ slot: 'email', items: [item('a@example.com')] }] });
    const now = ours({ scalars: { role: 'Boss' }, emails: [{ slot: 'email', items: [item('b@example.com')] }] });
    expect(countClears(before, now)).toBe(0);
  });

  it('where a blank cell keeps what is there: the field is absent', () => {
    const before = said({ scalars: { role: 'Engineer' }, phones: [{ slot: 'phone', items: [item('+14155550100')] }] });
    expect(countClears(before, ours({}))).toBe(0);
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
    expect(countClears(before, now)).toBe(0);
  });
});

describe('a row is a change, for the guard on updates', () => {
  const recordOf = (given: Partial<Said>, triedFingerprint: string | null = null): SaidRecord => ({
    key: 'a',
    said: said(given),
    rowHash: null,
    fingerprint: null,
    triedFingerprint,
    heldCount: given.held?.length ?? 0,
  });
  const change = (record: SaidRecord, given: Partial<DesiredContact>) => isChange(record, ours(given), 'now');

  it('where a field, an entry or an item is other than its file had settled', () => {
    const record = recordOf({
      scalars: { role: 'Engineer' },
      phones: [{ slot: 'mobile', items: [item('1')] }],
      customFields: [{ key: 'tier', value: 'gold' }],
    });
    expect(change(record, { scalars: { role: 'Boss' } })).toBe(true);
    expect(change(record, { customFields: [{ key: 'tier', value: null }] })).toBe(true);
    expect(change(record, { phones: [{ slot: 'mobile', items: [item('2')] }] })).toBe(true);
    expect(change(record, { phones: [{ slot: 'work', items: [item('1')] }] })).toBe(true);
    const same = { scalars: { role: 'Engineer' }, customFields: [{ key: 'tier', value: 'gold' }] };
    expect(change(record, { ...same, phones: [{ slot: 'mobile', items: [item('1')] }] })).toBe(false);
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
