/** Keys of the first design after the migration to the second. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { firstDesign } from '#src/ledger/sqlite/migrations/first-design.ts';
import {
  claimBy,
  createdAtMs,
  hash,
  lease,
  nobodyOwns,
  saidOfKey,
  seenContact,
} from '#test/contracts/support/build.ts';
import { tempFolder } from './support/temp-ledger.ts';

const text = JSON.stringify;
const oldHash = (name: string): string => createHash('sha256').update(name).digest('hex');

function migrated(): Ledger {
  const file = join(tempFolder(), 'ledger.sqlite');
  const db = new DatabaseSync(file);
  for (const sql of firstDesign) db.exec(sql);
  db.exec(`PRAGMA user_version = ${firstDesign.length}`);
  db.exec("INSERT INTO feeds (name, created_at) VALUES ('shop', 2), ('crm', 1)");
  db.exec(`INSERT INTO runs (sequence, id, feed, kind, file_name, claimed_path, import_folder, sha256, bytes, state, options, created_at)
    VALUES (4, 'r4', 'crm', 'file', '', '', '', '', 0, 'done', '{}', 1)`);
  const contact = db.prepare(
    `INSERT INTO contacts (key, state, contact_id, seen, owned, agreed, stamps, claim, linked_to, bound_run, bound_at, attempts,
       owner, lease_until, lease_boot) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const agreed = [{ feed: null, values: [{ field: 'role', value: 'Seller' }] }];
  const stamps = [{ feed: 'crm', sequence: 4, fields: ['role'] }];
  const seen = seenContact('k1', 'c1');
  contact.run(
    'k1',
    'bound',
    'c1',
    text(seen),
    text(nobodyOwns),
    text(agreed),
    text(stamps),
    null,
    'c1',
    'r4',
    7,
    0,
    null,
    null,
    null,
  );
  contact.run(
    'k2',
    'bound',
    'c2',
    text(seen),
    text(nobodyOwns),
    null,
    null,
    text(claimBy('crm', 4)),
    null,
    null,
    null,
    1,
    'w0',
    9e15,
    'b',
  );
  const said = db.prepare(
    `INSERT INTO said (feed, key, said, row_hash, fingerprint, mapping_version, sequence, settled_at, spoken, held_count, tried)
     VALUES (?, ?, ?, ?, ?, 'm1', ?, 1, ?, ?, ?)`,
  );
  said.run('crm', 'k1', text(saidOfKey('k1')), 'row', oldHash('print'), 3, 4, 1, oldHash('tried'));
  said.run('shop', 'k1', text(saidOfKey('shop')), null, null, 1, 1, 0, null);
  db.exec(`INSERT INTO key_events (key, ordinal, at, run_id, kind) VALUES ('k1', 1, 5, 'r4', 'doubt')`);
  db.close();
  const ledger = openSqliteLedger(file);
  onTestFinished(() => ledger.close());
  return ledger;
}

test('a key at rest is as it was, with what each feed said', async () => {
  const ledger = migrated();
  expect((await ledger.contacts.get(['k1'])).get('k1')).toEqual({
    ...{ key: 'k1', state: 'bound', contactId: 'c1', seen: seenContact('k1', 'c1'), owned: nobodyOwns },
    agreed: [{ feed: null, values: [{ field: 'role', value: 'Seller' }] }],
    stamps: [{ feed: 'crm', sequence: 4, fields: ['role'] }],
    saids: expect.arrayContaining([
      { feed: 'crm', said: saidOfKey('k1') },
      { feed: 'shop', said: saidOfKey('shop') },
    ]),
    ...{ writtenAtMs: null, attempts: 0, intentRun: null, claim: null, linkedTo: 'c1' },
  });
});

test('what a feed knows stays but for the hashes of rows, which are made in another way now', async () => {
  const ledger = migrated();
  expect((await ledger.runs.saidOf('crm', ['k1'])).get('k1')).toMatchObject({
    ...{ rowHash: null, fingerprint: hash('print'), triedFingerprint: hash('tried'), heldCount: 1 },
  });
  expect([await ledger.runs.knownKeyCount('crm'), await ledger.runs.knownKeyCount('shop')]).toEqual([1, 1]);
  const ask = async (sequence: number) => {
    return (await lease(ledger, 'w1', ['k1'], { feed: 'crm', sequence })).get('k1')?.kind;
  };
  expect([await ask(3), await ask(4)]).toEqual(['superseded', 'leased']);
});

test('a claim and its doubts go on, and the lease of the process before is void', async () => {
  const ledger = migrated();
  const nowMs = await ledger.nowMs({ bootId: 'b', nowMs: () => createdAtMs, monotonicMs: () => 5_000 });
  const answer = (await lease(ledger, 'w1', ['k2'], { feed: 'crm', sequence: 4, nowMs })).get('k2');
  expect(answer).toMatchObject({ kind: 'leased', contact: { contactId: 'c2', claim: claimBy('crm', 4), attempts: 1 } });
});
