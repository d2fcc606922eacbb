/** What a run wrote to a contact, from the rows of its journal: one order, from the first value before to the last one left. */
import { describe, expect, it } from 'vitest';
import { contentsBefore, undoOrderOf, writtenContact } from '#src/journal/undo-records.ts';
import type { JournalRow } from '#src/ledger/contacts.ts';

function row(number: number, parts: Partial<JournalRow>): JournalRow {
  return {
    number,
    runId: 'r1',
    runSequence: 1,
    key: 'c-1',
    contactId: 'id-1',
    atMs: 1,
    kind: 'patch',
    changes: [],
    ...parts,
  };
}

const phone = 'phone.+14155550101';

describe('several writes of one contact', () => {
  it('are one change of each value, and none where the value is what it was', () => {
    const written = writtenContact([
      row(1, {
        changes: [
          { field: 'role', from: 'A', to: 'B', why: 'changed' },
          { field: 'company', from: 'X', to: 'Y', why: 'landed' },
          { field: phone, from: null, to: '+14155550101', why: 'added' },
        ],
      }),
      row(2, {
        changes: [
          { field: 'role', from: 'B', to: 'C', why: 'changed' },
          { field: 'company', from: 'Y', to: 'X', why: 'changed' },
          { field: phone, from: 'work', to: 'home', why: 'relabelled' },
        ],
      }),
    ]);
    expect(written.changes).toEqual([
      { field: 'role', left: 'C', before: 'A' },
      { field: phone, left: '+14155550101', before: null },
      { field: phone, left: 'home', before: 'work', isLabel: true },
    ]);
  });

  it('keep the label of an item that was removed, and tell a landed label from a landed item', () => {
    const { changes } = writtenContact([
      row(1, {
        changes: [
          { field: phone, from: '+14155550101', to: null, why: 'removed', label: 'mobile' },
          { field: 'email.ann@example.com', from: 'work', to: 'home', why: 'landed' },
        ],
      }),
    ]);
    expect(changes).toEqual([
      { field: phone, left: null, before: '+14155550101', label: 'mobile' },
      { field: 'email.ann@example.com', left: 'home', before: 'work', isLabel: true },
    ]);
  });
});

describe('the order to take it back', () => {
  const made = writtenContact([
    row(1, { kind: 'create', changes: [{ field: 'role', from: null, to: 'A', why: 'added' }] }),
    row(2, {}),
  ]);

  it('deletes a contact that the run made, on demand only', () => {
    expect(undoOrderOf(made, false)).toBeNull();
    expect(undoOrderOf(made, true)).toMatchObject({ contactId: 'id-1', deletes: true });
  });

  it('makes a contact again that the run deleted, with what it held', () => {
    const changes = [
      { field: 'role', from: 'Lead', to: null, why: 'cleared' },
      { field: 'custom.seats', from: 3, to: null, why: 'cleared' },
      { field: 'phone.+14155550100', from: '+14155550100', to: null, why: 'removed', label: 'mobile' },
    ] as const;
    const order = undoOrderOf(writtenContact([row(1, { kind: 'delete', changes, source: 'partner' })]), false);
    expect(order).toMatchObject({ contactId: 'id-1', deletes: false, makes: true });
    expect(order && contentsBefore(order)).toEqual({
      scalars: { role: 'Lead' },
      emails: [],
      phones: [{ slot: 'phones', items: [{ label: 'mobile', value: '+14155550100' }], whole: true }],
      customFields: [{ key: 'seats', value: 3 }],
      source: 'partner',
    });
    expect(undoOrderOf(writtenContact([row(1, { kind: 'delete' })]), true)).toBeNull();
  });

  it('writes to any other', () => {
    const changes = [{ field: 'role', from: 'A', to: 'B', why: 'changed' }] as const;
    expect(undoOrderOf(writtenContact([row(1, { changes })]), true)).toMatchObject({ deletes: false });
  });
});
