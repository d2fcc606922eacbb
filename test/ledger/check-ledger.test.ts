/** Whether a ledger is sound: its pages, and what Patchbay knows must hold. */
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backUpLedger } from '#src/ledger/sqlite/back-up.ts';
import { checkLedger, quickLook } from '#src/ledger/sqlite/check.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { newRun } from '#test/contracts/support/build.ts';
import { damageHeader, damageTables } from '#test/support/damage-ledger.ts';
import { mountSmallDisk } from '#test/support/small-disk.ts';
import { tempFolder } from './support/temp-ledger.ts';

/** A ledger with two runs, and what the SQL makes of it. Closed. */
async function ledgerWith(sql = ''): Promise<string> {
  const file = join(tempFolder(), 'ledger.sqlite');
  const ledger = openSqliteLedger(file);
  await ledger.runs.create(newRun('r1'));
  await ledger.runs.create(newRun('r2'));
  await ledger.close();
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
  return file;
}

/** The runs are those of sequence 1 and 2; `gone` is none. */
const sequenceOf = (run: string): number => (run === 'gone' ? 99 : Number(run.slice(1)));
const staged = (run: string): string =>
  `INSERT INTO staged (place, key) VALUES (${sequenceOf(run)} * 8388608 + 1, 'k');`;
const batch = (run: string, done: 0 | 1): string =>
  `INSERT INTO batches (run_sequence, batch, first, last, done) VALUES (${sequenceOf(run)}, 1, 1, 1, ${done});`;
const contact = (key: string, id: string): string =>
  `INSERT INTO contacts (key, state, contact_id) VALUES ('${key}', 'bound', ${id});`;
const applying = "UPDATE runs SET state = 'applying', \"rows\" = 1 WHERE id = 'r1';";

describe('a ledger that is sound', () => {
  it('is told so with its size and schema, and is left as it was', async () => {
    const file = await ledgerWith(`${applying} ${staged('r1')} ${batch('r1', 0)} ${contact('a', "'c1'")}`);
    const before = readFileSync(file);
    const check = checkLedger(file);
    expect(check).toEqual({
      ...{ file, state: 'sound', findings: [], notes: [] },
      ...{ bytes: statSync(file).size, schema: expect.any(Number) },
    });
    expect(quickLook(file)).toBeNull();
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('may have two keys of one contact, as people can make it: that is a note', async () => {
    const { state, notes } = checkLedger(await ledgerWith(contact('a', "'c1'") + contact('b', "'c1'")));
    expect({ state, notes }).toEqual({
      state: 'sound',
      notes: [{ check: 'twice', message: '1 contact that two keys are bound to: c1' }],
    });
  });
});

describe('what stands in a ledger and does not fit together', () => {
  it.each([
    ['counts', 'UPDATE runs SET state = \'done\', "rows" = 3, created = 2', '2 finished runs'],
    ['pending', "UPDATE runs SET state = 'applying', \"rows\" = 2 WHERE id = 'r1'", 'r1'],
    ['batches', applying + staged('r1') + batch('r1', 1), 'r1'],
    ['batches', applying + staged('r1'), 'r1'],
    ['strays', staged('gone') + batch('gone', 0), '99'],
    ['bound', contact('a', 'NULL'), '1 key that is bound'],
    ['references', "UPDATE runs SET feed = 'nobody' WHERE id = 'r1'", '1 row that refers'],
    ['documents', "UPDATE runs SET options = '{\"accept\"' WHERE id = 'r1'", 'runs.options'],
  ])('is found by the check "%s"', async (name, sql, words) => {
    const { state, findings } = checkLedger(await ledgerWith(sql));
    expect(state).toBe('inconsistent');
    expect(findings).toEqual([{ check: name, message: expect.stringContaining(words) }]);
  });
});

describe('a ledger that is damaged', () => {
  it.each([
    ['in the middle', (file: string) => damageTables(file, ['staged', 'contacts'])],
    ['in an index', (file: string) => damageTables(file, ['runs_by_state'])],
    ['in its header', damageHeader],
    ['by being cut off', (file: string) => truncateSync(file, statSync(file).size / 2)],
  ])('%s is told so, whatever can still be read of it', async (_where, damage) => {
    const file = await ledgerWith();
    damage(file);
    const { state, findings } = checkLedger(file);
    expect(state).toBe('damaged');
    expect(findings[0]).toEqual({ check: 'pages', message: expect.any(String) });
    expect(quickLook(file)).toEqual(expect.any(String));
  });

  it('makes no backup, and leaves nothing behind', async () => {
    const file = await ledgerWith();
    damageTables(file, ['contacts']);
    const folder = tempFolder();
    await expect(backUpLedger(file, join(folder, 'b.sqlite'))).rejects.toMatchObject({ code: 'ledgerDamaged' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a ledger that cannot be checked', () => {
  it.each([
    ['that is not there', async () => join(tempFolder(), 'ledger.sqlite'), 'ledgerMissing'],
    ['of a newer Patchbay', () => ledgerWith('PRAGMA user_version = 4711'), 'ledgerTooNew'],
  ])('%s is a usage error', async (_which, made, code) => {
    const file = await made();
    expect(() => checkLedger(file)).toThrow(expect.objectContaining({ kind: 'usage', code }));
  });
});

describe('a backup', () => {
  it('holds all, for its owner only, under its name alone', async () => {
    const file = await ledgerWith(contact('a', "'c1'"));
    const target = join(tempFolder(), 'b.sqlite');
    expect(await backUpLedger(file, target)).toMatchObject({ file: target, state: 'sound' });
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(target, '..'))).toEqual(['b.sqlite']);
    const ledger = openSqliteLedger(target);
    onTestFinished(() => ledger.close());
    expect((await ledger.runs.list({ limit: 10 })).map(({ id }) => id)).toEqual(['r2', 'r1']);
    expect(await ledger.contacts.sampleBound(10)).toEqual([{ key: 'a', contactId: 'c1' }]);
  });

  it('overwrites nothing, and says where it cannot be written', async () => {
    const file = await ledgerWith();
    const folder = tempFolder();
    const taken = join(folder, 'taken');
    writeFileSync(taken, 'mine');
    await expect(backUpLedger(file, taken)).rejects.toMatchObject({ kind: 'usage', code: 'backupExists' });
    expect(readFileSync(taken, 'utf8')).toBe('mine');
    await expect(backUpLedger(file, folder)).rejects.toMatchObject({ code: 'backupExists' });
    const nowhere = join(folder, 'no', 'b.sqlite');
    await expect(backUpLedger(file, nowhere)).rejects.toMatchObject({ kind: 'usage', code: 'backupNotWritten' });
    expect(existsSync(join(folder, 'no'))).toBe(false);
  });

  it('for which the disk has no room is refused, and nothing is left there', async ({ skip }) => {
    const disk = mountSmallDisk(1) ?? skip('no disk can be mounted here');
    onTestFinished(disk.close);
    const rows = `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
      INSERT INTO meta (name, value) SELECT i, hex(randomblob(300)) FROM n;`;
    const file = await ledgerWith(rows);
    const written = backUpLedger(file, join(disk.folder, 'b.sqlite'));
    await expect(written).rejects.toMatchObject({ code: 'diskFull', message: expect.stringContaining(disk.folder) });
    expect(readdirSync(disk.folder)).toEqual([]);
  });
});
