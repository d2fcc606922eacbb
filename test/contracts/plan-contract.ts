/** Plans: kept whole or not at all, read in the order of their file, and forgotten in time; a draft writes nothing. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PlannedContact } from '#src/contacts/planned.ts';
import { type PlanRecord, plansKeptMax } from '#src/ledger/plans.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { openScratch } from '#src/ledger/sqlite/ledger.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { act, newRecord, newRun, slice, stagingRun } from './support/build.ts';
import { type OpenLedger, openForTest } from './support/opened-ledger.ts';

function planned(key: string): PlannedContact {
  const nothing = { name: null, contactId: null, changes: [], held: [], notes: [] };
  return { key, line: 2, deed: 'create', digest: `digest of ${key}`, ...nothing };
}

function plan(id: string, parts: Partial<PlanRecord> = {}): PlanRecord {
  const rows = { rows: 1, created: 1, updated: 0, unchanged: 0, skipped: 0, dead: 0 };
  const values = { added: 1, changed: 0, cleared: 0, removed: 0, relabelled: 0, heldFields: 0, linked: 0, deleted: 0 };
  return {
    ...{
      id,
      feed: 'crm',
      runId: null,
      undoes: null,
      fileName: 'a.csv',
      sha256: 'sha',
      path: '/a.csv',
      service: 'sandbox',
    },
    reading: {
      ...{ mapping: null, sourceLabel: null, options: noOptions },
      defaults: { defaultCountry: null, onBlank: 'keep' },
    },
    mappingNamed: null,
    totals: { rows, ...values, requests: { get: 1, post: 1, patch: 0, delete: 0 }, seconds: 1 },
    ...{ stop: null, checksum: `sum of ${id}`, createdAtMs: 1_000 },
    ...parts,
  };
}

export function planContract(open: OpenLedger): void {
  test('a plan is there once it is kept, with its contacts in the order of entry, also for another process', async () => {
    const { ledger, reopen } = await openForTest(open);
    await ledger.plans.begin('p1', 1_000);
    const contacts = Array.from({ length: 1_203 }, (_, index) => planned(`k${index}`));
    await ledger.plans.enter('p1', contacts.slice(0, 700));
    await ledger.plans.enter('p1', contacts.slice(700));
    expect(await ledger.plans.get('p1')).toBeNull();
    expect(await ledger.plans.list({ limit: 10 })).toEqual([]);
    await ledger.plans.keep(plan('p1'));
    const other = await reopen();
    expect(await other.plans.get('p1')).toEqual(plan('p1'));
    expect(await Array.fromAsync(other.plans.contacts('p1'))).toEqual(contacts);
    expect(await Array.fromAsync(other.plans.contacts('p0'))).toEqual([]);
  });

  test('a plan of an older version, which knew no undo and fewer options, is read as what it was', async () => {
    const { ledger } = await openForTest(open);
    const { undoes: _, totals, ...older } = plan('p1');
    const { deleted: _none, requests, ...counted } = totals;
    const { delete: _never, ...sent } = requests;
    const reading = { ...older.reading, options: { adopt: true } };
    await ledger.plans.keep(JSON.parse(JSON.stringify({ ...older, reading, totals: { ...counted, requests: sent } })));
    const today = plan('p1');
    expect(await ledger.plans.list({ limit: 10 })).toEqual([
      { ...today, reading: today.reading && { ...today.reading, options: { ...noOptions, adopt: true } } },
    ]);
  });

  test('what a plan says of keys is its own: other keys and other plans are not named', async () => {
    const { ledger } = await openForTest(open);
    for (const id of ['p1', 'p2']) {
      await ledger.plans.begin(id, 1_000);
      await ledger.plans.enter(id, [planned('k1'), ...(id === 'p2' ? [planned('k 2')] : [])]);
      await ledger.plans.keep(plan(id));
    }
    expect(await ledger.plans.digests('p1', ['k1', 'k 2', 'k3'])).toEqual(new Map([['k1', 'digest of k1']]));
    expect((await ledger.plans.digests('p2', ['k 2'])).get('k 2')).toBe('digest of k 2');
  });

  test('a person who is forgotten leaves the plans, also what they were asked for', async () => {
    const { ledger } = await openForTest(open);
    await ledger.plans.begin('p1', 1_000);
    await ledger.plans.enter('p1', [planned('forget-me'), planned('keep-me')]);
    const asked = plan('p1');
    const reading = asked.reading && { ...asked.reading, options: { ...noOptions, only: ['forget-me', 'keep-me'] } };
    await ledger.plans.keep({ ...asked, reading });
    await ledger.forgetting.forgetPerson({ key: 'forget-me', letterIds: [], texts: [] }, act('forget'));
    expect(await Array.fromAsync(ledger.plans.contacts('p1'), ({ key }) => key)).toEqual(['keep-me']);
    expect((await ledger.plans.get('p1'))?.reading?.options.only).toEqual(['(forgotten)', 'keep-me']);
    expect(await ledger.forgetting.search(['forget-me'])).toEqual([]);
  });

  test('plans are listed newest first, those of a run by themselves', async () => {
    const { ledger } = await openForTest(open);
    for (const [id, runId] of [
      ['p1', null],
      ['p2', 'r1'],
      ['p3', 'r1'],
    ] as const)
      await ledger.plans.keep(plan(id, { runId }));
    expect((await ledger.plans.list({ limit: 10 })).map(({ id }) => id)).toEqual(['p3', 'p2', 'p1']);
    expect((await ledger.plans.list({ runId: 'r1', limit: 1 })).map(({ id }) => id)).toEqual(['p3']);
  });

  test(`the ${plansKeptMax} newest plans are kept, and none for longer than files are; one that was never finished leaves, too`, async () => {
    const { ledger } = await openForTest(open);
    const ids = Array.from({ length: plansKeptMax + 1 }, (_, index) => `p${String(index).padStart(3, '0')}`);
    for (const [index, id] of ids.entries()) {
      await ledger.plans.begin(id, index);
      await ledger.plans.enter(id, [planned('k1')]);
      await ledger.plans.keep(plan(id, { createdAtMs: index }));
    }
    expect(await ledger.plans.get('p000')).toBeNull();
    expect(await ledger.plans.digests('p000', ['k1'])).toEqual(new Map());
    await ledger.plans.begin('p000b', 0);
    await ledger.plans.enter('p000b', [planned('k1')]);
    await ledger.forget(plansKeptMax, 0);
    expect((await ledger.plans.list({ limit: 100 })).map(({ id }) => id)).toEqual([ids.at(-1)]);
    expect(await ledger.plans.digests('p000b', ['k1'])).toEqual(new Map());
  });

  test('a draft shows what is known, keeps a run behind all others, and writes nothing to the ledger', async () => {
    const { ledger, reopen } = await openForTest(open);
    const first = await stagingRun(ledger, 'r1', { feed: 'crm' });
    await ledger.runs.stage(slice(first, { records: [newRecord('k1')], counts: { rows: 1 } }));
    const scratch = openScratch(join(tempFolder(), 'scratch.sqlite'), first.sequence);
    const draft = ledger.draft(scratch);
    const run = await draft.runs.create(newRun('r2', { feed: 'crm' }));
    expect(run.sequence).toBe(first.sequence + 1);
    expect(await draft.runs.beginStaging('r2', 1_000)).toBe(true);
    await draft.runs.stage(slice(run, { records: [newRecord('k2'), newRecord('k3')], counts: { rows: 2 } }));
    await draft.runs.record('r1', { notes: ['never'], counts: { rows: 5 } });
    expect(await draft.runs.move('r1', ['staging'], 'cancelling', { atMs: 1_000 })).toBe(true);
    expect((await draft.runs.list({ limit: 10 })).map(({ id }) => id)).toEqual(['r2', 'r1']);
    expect((await draft.runs.newKeys('r2', 0, 10)).map(({ key }) => key)).toEqual(['k2', 'k3']);
    expect((await draft.runs.stagedPage('r2', 0, 10)).records.map(({ key }) => key)).toEqual(['k2', 'k3']);
    expect((await draft.runs.stagedPage('r1', 0, 10)).records.map(({ key }) => key)).toEqual(['k1']);
    const other = await reopen();
    expect(await other.runs.get('r2')).toBeNull();
    expect(await other.runs.get('r1')).toMatchObject({ state: 'staging', notes: [], counts: { rows: 1 } });
    scratch.close();
  });

  test('staged rows come page by page, behind a position, until the last one', async () => {
    const { ledger } = await openForTest(open);
    const run = await stagingRun(ledger, 'r1', { feed: 'crm' });
    const keys = ['k1', 'k2', 'k3', 'k4', 'k5'];
    await ledger.runs.stage(slice(run, { records: keys.map((key) => newRecord(key)), counts: { rows: 5 } }));
    const first = await ledger.runs.stagedPage('r1', 0, 2);
    expect([first.records.map(({ key }) => key), first.next]).toEqual([['k1', 'k2'], 2]);
    const last = await ledger.runs.stagedPage('r1', 4, 2);
    expect([last.records.map(({ key }) => key), last.next]).toEqual([['k5'], null]);
    expect(await ledger.runs.stagedPage('nobody', 0, 2)).toEqual({ records: [], next: null });
  });
}
