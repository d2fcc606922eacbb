/**
 * Proof that a ledger of the version before is carried over: `node test/bench/old-ledger.ts OLD_CHECKOUT [KEYS]` (1,000,000).
 *
 * The old checkout (with its node_modules) writes a ledger of that many invented people through its own ledger API: runs that are done, letters,
 * held fields, a stopped run with waiting rows, a create in doubt. This version opens it and checks that nothing is lost: counts,
 * bindings, what a sample of keys remembers, and that each row of the same file is known as unchanged. It prints seconds and bytes per key,
 * and exits with 1 where something is not as it was.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { fingerprint } from '#src/contacts/desired.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { usualContact, usualDesired, usualKey, usualMemory } from '#test/ledger/support/usual-memory.ts';

const oldFolder = resolve(process.argv[2] ?? '');
const keyCount = Number(process.argv[3] ?? 1_000_000);
const feed = 'crm';
const atMs = Date.UTC(2026, 10, 20);
const perSlice = 500;
const doubtKey = 'in-doubt';
const rowsWaiting = 300;
const lettersOpen = Math.min(2_000, Math.ceil(keyCount / 50));
const isHeld = (index: number): boolean => index % 1_000 === 7;

const fromOld = (path: string) => import(pathToFileURL(join(oldFolder, path)).href);

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

const newRun = (id: string, parts: object = {}) => ({
  ...{ id, feed, kind: 'file', fileName: `${id}.csv`, claimedPath: '', importFolder: '', sha256: id, bytes: 1 },
  ...{ options: {}, mapping: null, createdAtMs: atMs, ...parts },
});

/** Through the old version's own API, which this version's types no longer describe. */
async function writeOld(file: string): Promise<void> {
  const { openSqliteLedger: openOld } = await fromOld('src/ledger/sqlite/ledger.ts');
  const { fingerprint: oldFingerprint } = await fromOld('src/contacts/desired.ts');
  const { noOptions } = await fromOld('src/ledger/runs.ts');
  const ledger = openOld(file);
  const recordOf = (index: number, sequence: number) => {
    const desired = usualDesired(index);
    const cells = [desired.key, ...Object.values(desired.scalars).map(String)];
    return {
      ...{ line: index + 2, sequence, key: desired.key, mappingVersion: 'm1', desired },
      ...{ rowHash: `row-${index}`, fingerprint: oldFingerprint(desired) },
      row: { kind: 'cells', line: index + 2, record: index + 1, columns: ['id', 'a', 'b', 'c', 'd'], cells },
    };
  };
  const nothing = { traces: [], dead: [], withdrawn: [], events: [] };
  const slice = (runId: string, more: object) => ({
    runId,
    feed,
    rowsPerBatch: perSlice,
    records: [],
    atMs,
    ...nothing,
    ...more,
  });

  const run = await ledger.runs.create(newRun('first', { options: noOptions }));
  await ledger.runs.beginStaging('first', atMs);
  for (let from = 0; from < keyCount; from += perSlice) {
    const records = numbers(from, Math.min(keyCount, from + perSlice)).map((index) => recordOf(index, run.sequence));
    await ledger.runs.stage(slice('first', { records, counts: { rows: records.length } }));
  }
  await ledger.runs.move('first', ['staging'], 'applying', { atMs });
  const lease = (keys: readonly string[], sequence: number) =>
    ledger.contacts.lease({
      ...{ feed, keys: keys.map((key) => ({ key, sequence })), owner: 'w', leaseMs: 1_000, nowMonotonicMs: 1 },
      ...{ bootId: 'boot', horizonMs: 1_000, isOwnerDead: () => true },
    });
  for (let from = 0; from < keyCount; from += perSlice) {
    const indexes = numbers(from, Math.min(keyCount, from + perSlice));
    await lease(indexes.map(usualKey), run.sequence);
    const records = indexes.map((index) => {
      const { seen, owned, agreed, stamps, saids } = usualMemory(index);
      const record = recordOf(index, run.sequence);
      const held = isHeld(index) ? [{ field: 'role', said: null, theirs: 'Boss', ours: 'Owner' }] : [];
      const said = { ...saids[0]?.said, held: held.map(({ field }) => field) };
      return {
        ...{ position: index + 1, line: record.line, key: record.key, sequence: run.sequence, others: [] },
        end: { outcome: 'created', adopted: false, heldFields: held, removedValues: 0, warnings: [] },
        bound: { contactId: seen?.id, seen, owned, agreed, stamps, writtenAtMs: 5 },
        said: { said, rowHash: record.rowHash, fingerprint: record.fingerprint, mappingVersion: 'm1', held },
      };
    });
    const settled = await ledger.runs.settle({ runId: 'first', feed, owner: 'w', bootId: 'boot', records, atMs });
    assert.equal(settled, records.length);
  }
  await ledger.runs.move('first', ['applying'], 'done', { atMs });
  await ledger.runs.prune('first');

  await ledger.runs.create(newRun('letters', { options: noOptions }));
  await ledger.runs.beginStaging('letters', atMs);
  const dead = numbers(0, lettersOpen).map((index) => ({
    ...{ class: 'invalid', code: 'phoneLetters', line: index + 2, key: `dead-${index}`, desired: null, answer: null },
    problems: [{ code: 'phoneLetters', line: index + 2, field: 'phone', value: 'x', message: 'm', hint: 'h' }],
    row: { kind: 'cells', line: index + 2, record: index + 1, columns: ['id'], cells: [`dead-${index}`] },
  }));
  await ledger.runs.stage(slice('letters', { dead, counts: { rows: dead.length, dead: dead.length } }));
  await ledger.runs.move('letters', ['staging'], 'doneWithDead', { atMs });

  const stopped = await ledger.runs.create(newRun('stopped', { options: noOptions }));
  await ledger.runs.beginStaging('stopped', atMs);
  const records = numbers(0, rowsWaiting).map((index) => recordOf(keyCount + index, stopped.sequence));
  await ledger.runs.stage(slice('stopped', { records, counts: { rows: records.length } }));
  await ledger.runs.move('stopped', ['staging'], 'stopped', { atMs });

  await lease([doubtKey], stopped.sequence);
  const claim = {
    kind: 'create',
    feed,
    sequence: stopped.sequence,
    source: 'crm',
    fields: [],
    said: usualMemory(1).saids[0]?.said,
  };
  await ledger.contacts.intend({
    ...{ contacts: [{ key: doubtKey, owned: usualMemory(1).owned, claim }], owner: 'w', runId: 'stopped' },
    ...{ bootId: 'boot', horizonMonotonicMs: 9 },
  });
  await ledger.close();
}

async function checkNew(file: string): Promise<{ readonly seconds: number }> {
  const startedAt = performance.now();
  const ledger = openSqliteLedger(file);
  const seconds = (performance.now() - startedAt) / 1_000;
  assert.equal(await ledger.runs.knownKeyCount(feed), keyCount);
  assert.equal((await ledger.counts()).openLetters, lettersOpen);
  assert.equal(await ledger.contacts.heldCount({ feed }), numbers(0, keyCount).filter(isHeld).length);
  assert.equal(await ledger.runs.pendingCount('stopped'), rowsWaiting);
  assert.equal((await ledger.runs.get('first'))?.counts.created, keyCount);
  const doubt = (await ledger.contacts.get([doubtKey])).get(doubtKey);
  assert.equal(doubt?.state, 'intent');
  assert.equal(doubt?.claim?.source, 'crm');
  for (let from = 0; from < keyCount; from += perSlice) {
    const indexes = numbers(from, Math.min(keyCount, from + perSlice));
    const saids = await ledger.runs.saidOf(feed, indexes.map(usualKey));
    for (const index of indexes) {
      assert.equal(saids.get(usualKey(index))?.fingerprint, fingerprint(usualDesired(index)), usualKey(index));
    }
    // Each slice gives a few keys to be compared as a whole.
    const sample = indexes.filter((index) => index % 97 === 0 || isHeld(index));
    const contacts = await ledger.contacts.get(sample.map(usualKey));
    for (const index of sample) {
      const contact = contacts.get(usualKey(index));
      const { owned, agreed, stamps, saids: remembered } = usualMemory(index);
      assert.equal(contact?.state, 'bound');
      assert.equal(contact?.contactId, usualContact(index).id);
      assert.deepEqual(contact?.seen, usualContact(index));
      const [said] = remembered.map((one) => ({ ...one, said: { ...one.said, held: isHeld(index) ? ['role'] : [] } }));
      assert.deepEqual(
        { owned: contact?.owned, agreed: contact?.agreed, stamps: contact?.stamps, saids: contact?.saids },
        { owned, agreed, stamps, saids: [said] },
      );
    }
  }
  await ledger.close();
  return { seconds };
}

/** What the rows of keys take in their tables and indexes, in bytes for each key. */
function sizes(file: string): string {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db
      .prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 9')
      .all();
    return rows.map(({ name, bytes }) => `${name} ${Math.round(Number(bytes) / keyCount)}`).join(', ');
  } catch {
    return 'this SQLite tells no sizes of tables';
  } finally {
    db.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'patchbay-old-ledger-'));
try {
  const file = join(folder, 'ledger.sqlite');
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const startedAt = performance.now();
  await writeOld(file);
  say(`${keyCount} keys written by the old version in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  say(`before: ${Math.round(statSync(file).size / keyCount)} bytes a key (${sizes(file)})`);
  const { seconds } = await checkNew(file);
  say(
    `opened by this version in ${seconds.toFixed(1)} s; everything is there, and each row of the same file is unchanged`,
  );
  say(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1_024)} MB`);
  say(`after, free pages with it: ${Math.round(statSync(file).size / keyCount)} bytes a key (${sizes(file)})`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
