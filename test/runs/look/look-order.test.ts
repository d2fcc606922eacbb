/** In which order rows and contacts are read makes no difference to what is found; what need not be read is not. */
import { describe, expect, test } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { contactsKeptMax, type LookParts, lookAtNewKeys } from '#src/runs/look/look.ts';
import { type Contact, contactReply } from '#src/wire/contact.ts';
import { phone, wanted } from '#test/upsert/support/build.ts';

// A cast, here and below, because the look reads these members alone: a whole run would be twenty others that nothing looks at.
const run = { id: 'r1', feed: 'main', kind: 'undo', options: { createAnyway: false } } as unknown as RunRecord;

function contact(id: string, number: string, externalId: string | null = null): Contact {
  const names = { firstName: 'Ann', lastName: null, company: null, role: null };
  const phoneNumbers = [{ id: `${id}-1`, name: 'work', value: number }];
  const defaultFields = { ...names, emails: [], phoneNumbers };
  return contactReply.parse({ id, externalId, source: null, sourceUrl: null, defaultFields, customFields: [] });
}

function partsFor(rowCount: number, contacts: readonly Contact[], hasPhones = true) {
  const rows = Array.from({ length: rowCount }, (_, index) => {
    const desired = wanted(`k${index}`, hasPhones ? { phones: { work: [phone(index)] } } : { firstName: 'Ann' });
    // What the look reads of a staged row.
    return { position: index + 1, key: `k${index}`, desired, row: { line: index + 2 } } as unknown as StagedRecord;
  });
  const read: number[] = [];
  const links: unknown[] = [];
  const pages: number[] = [];
  const runs = {
    newKeys: async (_: string, after: number, limit: number) =>
      rows.slice(after, after + limit).map(({ position, key }) => ({ position, key, unlinked: [] })),
    stagedAt: async (_: string, positions: readonly number[]) => {
      read.push(positions.length);
      return positions.flatMap((position) => rows[position - 1] ?? []);
    },
    linkRows: async (_: string, given: readonly unknown[]) => void links.push(...given),
    lastLook: async () => null,
    record: async () => undefined,
    get: async () => ({ state: 'staging' }),
    keyPrefixes: async () => [],
  };
  const listContactPages = async function* () {
    for (let first = 0; first < contacts.length; first += 50) {
      pages.push(first);
      yield contacts.slice(first, first + 50);
    }
  };
  // Of a ledger and a client with dozens of methods, those that a look calls: what it asks for is counted here.
  const parts = { ledger: { runs, contacts: {} }, workspace: { listContactPages } } as unknown as LookParts;
  return { parts, read, links, pages };
}

const look = (parts: LookParts, creates: number) =>
  lookAtNewKeys(parts, run, { creates, again: [], isFull: true, adopt: false }, new AbortController().signal);

describe('a look at the workspace', () => {
  test('reads the rows of one page where the workspace is empty, however many rows there are', async () => {
    const { parts, read } = partsFor(1_200, []);
    expect(await look(parts, 1_200)).toMatchObject({ look: { contacts: 0, end: 'whole' }, creates: 1_200 });
    expect(read).toEqual([500]);
  });

  test('lists nothing where no row has a phone number or an e-mail address', async () => {
    const { parts, pages } = partsFor(700, [contact('h', phone(1))], false);
    expect(await look(parts, 700)).toMatchObject({ look: null, creates: 700 });
    expect(pages).toEqual([]);
  });

  test.each([
    ['a few contacts', 60],
    ['more contacts than are kept', contactsKeptMax + 200],
  ])('finds the same among %s', async (_, count) => {
    const others = Array.from({ length: count }, (__, index) => contact(`o${index}`, phone(20_000 + index)));
    const there = [
      contact('first', phone(0)),
      contact('existing', phone(1), 'k1'),
      ...others,
      contact('last', phone(600)),
      contact('shared', phone(601)),
      contact('sharing', phone(601), 'elsewhere'),
    ];
    const { parts, links } = partsFor(700, there);
    const found = await look(parts, 700);
    expect(found).toMatchObject({ look: { contacts: there.length, matched: 2, unclear: 1 }, creates: 699 });
    expect(links).toEqual([
      { position: 1, link: { kind: 'contact', contactId: 'first' } },
      { position: 601, link: { kind: 'contact', contactId: 'last' } },
      { position: 602, link: { kind: 'unclear' } },
    ]);
  });
});
