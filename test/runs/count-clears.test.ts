/** What the guard on clears and removals counts (`rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import type { Said } from '#src/contacts/base.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { countClears } from '#src/runs/count-clears.ts';

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
