/** A ledger from before agreements (schema 3) goes on: what it can vouch for stays, nothing else is assumed. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { firstDesign } from '#src/ledger/sqlite/migrations/first-design.ts';
import { contactReply } from '#src/wire/contact.ts';
import { createdAtMs, hash, lease } from '#test/contracts/support/build.ts';
import { tempFolder } from './support/temp-ledger.ts';

const [mobile, desk] = ['+14155550101', '+14155550102'];

/** As the service returned it: people changed the company since the file said it, and the desk number is theirs. */
const seen = contactReply.parse({
  id: 'c1',
  externalId: 'k1',
  source: 'crm',
  sourceUrl: null,
  defaultFields: {
    firstName: 'Ann',
    lastName: null,
    company: 'Their Mill',
    role: 'Boss',
    emails: [{ id: 'e1', name: 'work', value: 'Ann@example.com' }],
    phoneNumbers: [
      { id: 'p1', name: 'mobile', value: mobile },
      { id: 'p2', name: 'desk', value: desk },
    ],
  },
  customFields: [
    { id: 'f1', key: 'seats', name: 'Seats', type: 'number', value: 4 },
    { id: 'f2', key: 'tags', name: 'Tags', type: 'select', value: ['a', 'b'] },
    { id: 'f3', key: 'portal', name: 'Portal', type: 'url', value: 'https://portal.example.com' },
  ],
});

const slot = (name: string, value: string) => ({ slot: name, items: [{ label: name, value }] });
const saidOfCrm = {
  scalars: { firstName: 'Ann', company: 'Our Mill', role: 'Buyer' },
  emails: [slot('email', 'Ann@example.com')],
  phones: [slot('mobile', mobile)],
  customFields: [
    { key: 'seats', value: 4 },
    { key: 'tags', value: ['b', 'a'] },
  ],
  // Its value above is that from before the hold.
  held: ['role'],
};
const saidOfShop = { scalars: { lastName: null, role: 'Boss' }, emails: [], phones: [], customFields: [], held: [] };

const owned = {
  emails: [{ value: 'ann@example.com', feed: 'crm' }],
  phones: [{ value: mobile, feed: 'crm' }],
  customFields: [
    { key: 'seats', feed: 'crm' },
    { key: 'tags', feed: 'crm' },
    { key: 'gone', feed: 'crm' },
  ],
};

/** The shape that claims had: the whole contact before and after. */
const claim = { feed: 'crm', sequence: 2, before: seen, expected: {}, said: saidOfCrm };

/** A ledger as the version before wrote it. */
function oldLedger(): string {
  const file = join(tempFolder(), 'ledger.sqlite');
  const db = new DatabaseSync(file);
  for (const sql of firstDesign.slice(0, 3)) db.exec(sql);
  db.exec('PRAGMA user_version = 3');
  for (const feed of ['crm', 'shop']) db.prepare('INSERT INTO feeds (name, created_at) VALUES (?, 1)').run(feed);
  const contact = db.prepare(
    `INSERT INTO contacts (key, state, contact_id, seen, owned, written_sequence, horizon, horizon_boot, intent_run, claim)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const text = JSON.stringify;
  contact.run('k1', 'bound', 'c1', text(seen), text(owned), 2, null, null, null, null);
  contact.run(
    'k2',
    'bound',
    'c2',
    text({ ...seen, id: 'c2', externalId: 'k2' }),
    text(owned),
    2,
    9_000,
    'boot-a',
    null,
    text(claim),
  );
  contact.run('k3', 'intent', null, null, text(owned), 2, 9_000, 'boot-a', 'r2', null);
  contact.run('k4', 'lookup', null, null, null, 0, null, null, null, null);
  const said = db.prepare(
    `INSERT INTO said (feed, key, said, row_hash, fingerprint, mapping_version, sequence, settled_at)
     VALUES (?, ?, ?, ?, ?, 'mapping-1', ?, 1)`,
  );
  said.run('crm', 'k1', text(saidOfCrm), null, null, 2);
  said.run('shop', 'k1', text(saidOfShop), 'row-k1', createHash('sha256').update('print-k1').digest('hex'), 1);
  db.close();
  return file;
}

async function contactOf(ledger: Ledger, key: string) {
  const contact = (await ledger.contacts.get([key])).get(key);
  if (contact === undefined) throw new Error(`${key} is not there`);
  return contact;
}

function migrated(): Ledger {
  const ledger = openSqliteLedger(oldLedger());
  onTestFinished(() => ledger.close());
  return ledger;
}

test('owned items stay, by value; entries of custom fields with the value that the service held', async () => {
  const { owned: now } = await contactOf(migrated(), 'k1');
  expect(now).toEqual({
    emails: ['ann@example.com'],
    phones: [mobile],
    customFields: [
      { key: 'seats', value: 4 },
      { key: 'tags', value: ['a', 'b'] },
    ],
  });
});

test('file and app agreed only on what the file said and the service then held, each feed for itself', async () => {
  const { agreed, stamps, saids } = await contactOf(migrated(), 'k1');
  expect(agreed.toSorted((left, right) => ((left.feed ?? '') < (right.feed ?? '') ? -1 : 1))).toEqual([
    {
      feed: 'crm',
      values: [
        { field: 'firstName', value: 'Ann' },
        { field: 'custom.seats', value: 4 },
        { field: 'custom.tags', value: ['a', 'b'] },
      ],
    },
    {
      feed: 'shop',
      values: [
        { field: 'lastName', value: null },
        { field: 'role', value: 'Boss' },
      ],
    },
  ]);
  expect(stamps).toEqual([]);
  expect(saids).toHaveLength(2);
});

test('order goes on per feed, and what waited for a person waits still', async () => {
  const ledger = migrated();
  const ask = async (feed: string, sequence: number) => {
    const kind = (await lease(ledger, 'w1', ['k1'], { feed, sequence })).get('k1')?.kind;
    await ledger.contacts.release('w1', ['k1']);
    return kind;
  };
  expect(await ask('crm', 1)).toBe('superseded');
  expect(await ask('crm', 2)).toBe('leased');
  expect(await ask('shop', 1)).toBe('leased');
  const said = (await ledger.runs.saidOf('crm', ['k1'])).get('k1');
  // Its next row is planned, and then listed with both values.
  expect(said).toMatchObject({ fingerprint: null, said: { held: ['role'] } });
  expect((await ledger.runs.saidOf('shop', ['k1'])).get('k1')).toMatchObject({
    fingerprint: hash('print-k1'),
    rowHash: null,
  });
});

test('a write that was in doubt waits for a whole horizon of the clock that reads it first; what its claim said is judged by what the service holds', async () => {
  const ledger = migrated();
  const wholeMs = 60_000;
  const beginMs = await ledger.nowMs({ bootId: 'boot-a', nowMs: () => createdAtMs, monotonicMs: () => 5_000 });
  const early = await lease(ledger, 'w1', ['k2', 'k3'], { feed: 'crm', sequence: 2, nowMs: beginMs + 1_000 });
  expect([...early.values()]).toEqual([
    { kind: 'horizon', waitMs: wholeMs - 1_000 },
    { kind: 'horizon', waitMs: wholeMs - 1_000 },
  ]);
  const late = await lease(ledger, 'w1', ['k2', 'k3'], { feed: 'crm', sequence: 2, nowMs: beginMs + wholeMs });
  expect(late.get('k2')).toMatchObject({ kind: 'leased', contact: { state: 'bound', contactId: 'c2', claim: null } });
  expect(late.get('k3')).toMatchObject({
    kind: 'leased',
    contact: { state: 'intent', intentRun: 'r2', claim: null, seen: null, agreed: [] },
  });
  expect((await contactOf(ledger, 'k3')).owned).toEqual({
    emails: ['ann@example.com'],
    phones: [mobile],
    customFields: [],
  });
  expect(await contactOf(ledger, 'k4')).toMatchObject({ state: 'lookup', owned: { phones: [] } });
});
