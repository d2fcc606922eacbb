/** Contacts by a value: every page of the ledger is looked at. */
import { expect, test } from 'vitest';
import { keysSeenWith } from '#src/ledger/seen-values.ts';
import type { ContactRow, SomeContacts } from '#src/ledger/tables/keys.ts';

function contact(key: string, number: number): ContactRow {
  return {
    ...{ number, key, state: 'bound', contactId: 'wanted', document: null },
    ...{ linkedTo: null, boundRun: 1, boundAtMs: 1, writtenAtMs: null },
  };
}

test('the look goes on behind pages in which nothing is found, and passes over numbers that no key has', async () => {
  const there = [contact('early', 7), contact('late', 120_000), contact('later', 9_000_000)];
  let looks = 0;
  const someContacts = async (_: number, which: SomeContacts) => {
    if (typeof which === 'string' || !('patterns' in which)) return [];
    looks += 1;
    const { first, last } = which;
    const behind = there.find(({ number }) => (number ?? 0) > last);
    const within = there.filter(({ number }) => (number ?? 0) >= first && (number ?? 0) <= last);
    return behind === undefined ? within : [...within, behind];
  };
  expect(await keysSeenWith({ someContacts }, 'wanted')).toEqual(['early', 'late', 'later']);
  expect(looks).toBe(3);
});
