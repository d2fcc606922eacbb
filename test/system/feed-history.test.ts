/** What guards compare with a feed's earlier files (`docs/rules.md`, "Guards"): the file before, and the columns left out. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import {
  type BenchOptions,
  csv,
  expectCounts,
  fillers,
  mapping,
  openRunsBench,
  type RunsBench,
} from '#test/runs/support/runs-bench.ts';
import { defaultGuards, generousGuards } from '#test/runs/support/tallies.ts';

const { rowsMin, rowsFloor, keysMin, keysFloor } = defaultGuards;
const guards = { ...generousGuards, rowsMin, rowsFloor, keysMin, keysFloor };
const open = (given: BenchOptions = {}): Promise<RunsBench> => openRunsBench({ guards, ...given });

const load = (bench: RunsBench, rows: readonly string[], options = {}, feed = 'crm'): Promise<RunRecord> =>
  bench.import('export.csv', csv(rows), { feed, options });

/** Gives the feed a mapping that names the column `Rolle`. @returns what takes the column out of it. */
async function mapRole(bench: RunsBench): Promise<() => Promise<void>> {
  const folder = join(bench.folder, 'import', 'crm');
  await mkdir(folder);
  const write = (role: string): Promise<void> =>
    writeFile(join(folder, '_mapping.yaml'), `name: crm\nkey: Nr\nfields: { firstName: Name${role} }\n`);
  await write(', role: Rolle');
  return () => write('');
}

describe('a full file of a named feed', () => {
  it('is stopped with fewer than 70 % of the last accepted file’s rows', async () => {
    const bench = await open();
    await load(bench, fillers(10));
    expect((await load(bench, fillers(7))).state).toBe('done');
    await load(bench, fillers(10));
    const run = await load(bench, fillers(6));
    expect(run).toMatchObject({
      state: 'stopped',
      counts: { created: 0, updated: 0 },
      reason: {
        code: 'guardRows',
        message:
          'stopped before the first write: the file has 6 rows, and the previous file had 10 (60%; your limit is 70%: guards.rowsMin)',
        hint: `Check the file. To refuse the file: patchbay runs cancel --sandbox ${run.id}\nIf this is expected, import it again with --feed crm --accept, or approve the run: patchbay runs approve --sandbox ${run.id}`,
        facts: { rowsCount: 6, rowsBase: 10, rowsLimit: 0.7 },
      },
    });
  });

  it('is stopped with fewer than half of its keys', async () => {
    const bench = await open();
    await load(bench, fillers(10));
    expect((await load(bench, [...fillers(5), ...fillers(5, 101)])).state).toBe('done');
    await load(bench, fillers(10));
    const run = await load(bench, [...fillers(4), ...fillers(6, 201)]);
    expect(run).toMatchObject({
      state: 'stopped',
      reason: {
        code: 'guardKeys',
        message:
          'stopped before the first write: the file has 4 of the 10 keys of the previous file (40%; your limit is 50%: guards.keysMin)',
      },
    });
  });

  it('is stopped where a mapped column is missing; a new, unmapped one is a note', async () => {
    const bench = await open();
    await load(bench, ['c-1,Ann,Engineer']);
    const more = await bench.import('more.csv', csv(['c-1,Ann,A,x'], 'externalId,firstName,Role,Shoe size'), {
      feed: 'crm',
    });
    expect(more).toMatchObject({
      state: 'done',
      notes: ['ignored columns (not in the mapping): Shoe size', 'since the last file: new column "Shoe size"'],
    });
    const run = await bench.import('less.csv', csv(['c-1,Ann'], 'externalId,firstName'), { feed: 'crm' });
    expect(run).toMatchObject({
      state: 'stopped',
      reason: {
        code: 'guardColumns',
        message: 'stopped before the first write: the file lacks the mapped column "Role", which the previous file had',
        facts: { columnsCount: 1, columnsBase: 3, columnsLimit: 0 },
      },
    });
    expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('A');
  });

  it('is stopped, not failed, where its mapping names the column; accepted, it leaves that field alone', async () => {
    const bench = await open();
    const withoutRole = await mapRole(bench);
    await bench.import('a.csv', csv(['c-1,Ann,Chief'], 'Nr,Name,Rolle'), { feed: 'crm' });
    const less = csv(['c-1,Annie'], 'Nr,Name');
    expect(await bench.import('b.csv', less, { feed: 'crm' })).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardColumns' },
    });
    expect((await bench.import('b.csv', less, { feed: 'crm', options: { accept: true } })).state).toBe('done');
    expect((await bench.world.contactOf('c-1')).defaultFields).toMatchObject({ firstName: 'Annie', role: 'Chief' });
    // From now on the feed does without it, whether its mapping names it or not.
    expect((await bench.import('c.csv', csv(['c-1,Anna'], 'Nr,Name'), { feed: 'crm' })).state).toBe('done');
    await withoutRole();
    expect((await bench.import('d.csv', csv(['c-1,Anne'], 'Nr,Name'), { feed: 'crm' })).state).toBe('done');
  });

  it('is not stopped for a column that its mapping does not name any more', async () => {
    const bench = await open();
    const withoutRole = await mapRole(bench);
    await bench.import('a.csv', csv(['c-1,Ann,Chief'], 'Nr,Name,Rolle'), { feed: 'crm' });
    await withoutRole();
    expect((await bench.import('b.csv', csv(['c-1,Annie'], 'Nr,Name'), { feed: 'crm' })).state).toBe('done');
  });

  it('passes with --accept, and with approval as it was staged', async () => {
    const bench = await open();
    await load(bench, fillers(10));
    expect((await load(bench, fillers(5), { accept: true })).state).toBe('done');
    await load(bench, fillers(10));
    const stopped = await load(bench, [...fillers(3), 'c-1,New,A']);
    expect(stopped.state).toBe('stopped');
    await bench.ledger.runs.move(stopped.id, ['stopped'], 'applying', { atMs: 1, reason: null });
    expect(await bench.finish(await bench.apply(stopped))).toMatchObject({ state: 'done', counts: { created: 1 } });
  });

  it('of three rows is usable', async () => {
    const bench = await open();
    await load(bench, fillers(3));
    expect((await load(bench, ['c-1,Ann,A'])).state).toBe('done');
    await load(bench, fillers(9));
    expect((await load(bench, ['c-2,Ann,A'])).state).toBe('done');
  });

  it('has the limits of its own feed', async () => {
    const bench = await open({ configured: { crm: { guards: { rowsMin: '10%', keysMin: '10%' } } } });
    await load(bench, fillers(10));
    expect((await load(bench, fillers(2))).state).toBe('done');
    expect((await load(bench, fillers(10), {}, 'shop')).state).toBe('done');
    expect((await load(bench, fillers(2), {}, 'shop')).state).toBe('stopped');
    const report = await bench.report((await bench.ledger.runs.list({ feed: 'crm', limit: 1 }))[0] as RunRecord);
    expect(report.guards).toMatchObject({ rowsMin: 0.1 });
  });
});

describe('the file before', () => {
  it('is the last one that was accepted: one that was stopped, failed or cancelled is none', async () => {
    const bench = await open();
    await load(bench, fillers(10));
    expect((await load(bench, fillers(2))).state).toBe('stopped');
    expect((await bench.import('x.csv', 'nothing\r\nx\r\n', { feed: 'crm' })).state).toBe('failed');
    const cancelled = await bench.submit('y.csv', csv(fillers(3)), { feed: 'crm' });
    await bench.ledger.runs.move(cancelled.id, ['queued'], 'cancelling', { atMs: 1 });
    await bench.finish(cancelled);
    expect(await load(bench, fillers(3))).toMatchObject({ state: 'stopped', reason: { facts: { rowsBase: 10 } } });
    expect((await load(bench, fillers(8))).state).toBe('done');
    expect((await load(bench, fillers(6))).state).toBe('done');
  });

  it('counts also where its rows were all unchanged, or some of them dead', async () => {
    const bench = await open();
    await load(bench, fillers(10));
    await load(bench, [...fillers(10), ',nobody,A']);
    await load(bench, [...fillers(10), ',nobody,A']);
    expect(await load(bench, [...fillers(3), ...fillers(7, 101)])).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardKeys', facts: { keysCount: 3, keysBase: 10 } },
    });
  });

  it('does not matter to main, nor to a feed whose files are deltas', async () => {
    const bench = await open({ configured: { crm: { kind: 'delta' } } });
    for (const feed of ['main', 'crm']) {
      await load(bench, fillers(10), {}, feed);
      const less = csv(['f-1,Anna'], 'externalId,firstName');
      expect((await bench.import('b.csv', less, { feed })).state).toBe('done');
      expect((await load(bench, fillers(3, 101), {}, feed)).state).toBe('done');
    }
  });
});

describe('an older file again', () => {
  const role = (rows: readonly string[], to: string): string[] => rows.map((row) => row.replace('Engineer', to));
  const withOlder = { guards: { ...guards, olderRows: 20 } };

  it('is stopped where it would turn values back, and says which run it was', async () => {
    const bench = await open();
    const first = await load(bench, fillers(3));
    await load(bench, role(fillers(3), 'Boss'));
    await load(bench, role(fillers(3), 'Chief'));
    const run = await load(bench, fillers(3));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardOlder', facts: { olderCount: 2 } } });
    const day = new Date(first.createdAtMs).toISOString().slice(0, 10);
    expect(run.reason?.message).toBe(
      `stopped before the first write: this is the file of run ${first.id} of ${day}, and 2 newer files have been imported since: it would restore old values`,
    );
    expect((await bench.world.contactOf('f-1')).defaultFields.role).toBe('Chief');
  });

  it('passes as the latest: twice in a row, or after it was approved', async () => {
    const bench = await open();
    const twice = [await load(bench, fillers(3)), await load(bench, fillers(3))];
    expect(twice.map(({ state }) => state)).toEqual(['done', 'done']);
    await load(bench, role(fillers(3), 'Boss'));
    await load(bench, fillers(3), { accept: true });
    expect((await load(bench, fillers(3))).state).toBe('done');
    expect((await load(bench, role(fillers(3), 'Boss'))).state).toBe('stopped');
  });

  it('is stopped in main from 20 rows; two lists that take turns there and change nothing pass', async () => {
    const bench = await open(withOlder);
    for (const count of [19, 20]) {
      await load(bench, fillers(count), {}, 'main');
      await load(bench, role(fillers(count), `Boss ${count}`), {}, 'main');
      expect((await load(bench, fillers(count), {}, 'main')).state).toBe(count === 20 ? 'stopped' : 'done');
    }
    for (const from of [101, 201, 101, 201])
      expect((await load(bench, fillers(20, from), {}, 'main')).state).toBe('done');
  });

  it('passes where the files of the feed are deltas', async () => {
    const bench = await open({ ...withOlder, configured: { crm: { kind: 'delta' } } });
    await load(bench, fillers(20));
    await load(bench, role(fillers(20), 'Boss'));
    expect((await load(bench, fillers(20))).state).toBe('done');
  });
});

describe('a file with a wrong key column', () => {
  it.each([['main'], ['crm']])('stops in %s: it would make everybody twice', async (feed) => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, keysMin: 0, rowsMin: 0 } });
    await load(bench, fillers(100), {}, feed);
    const run = await load(bench, fillers(100, 1_001), {}, feed);
    expect(run).toMatchObject({
      state: 'stopped',
      counts: { created: 0 },
      reason: { facts: { strangersCount: 100, strangersBase: 100, createsCount: 100, createsBase: 100 } },
    });
    expect(run.reason?.message).toContain("none of the file's 100 rows has one of the");
    const few = await load(bench, fillers(20, 2_001), {}, feed);
    expect(few).toMatchObject({ state: 'stopped', reason: { code: 'guardStrangers' } });
    expect((await load(bench, fillers(19, 3_001), {}, feed)).state).toBe('done');
  });

  it('is counted against all keys that the feed knows, also those that the file lacks', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, keysMin: 0, rowsMin: 0 } });
    await load(bench, fillers(100));
    expect((await load(bench, fillers(31, 100))).state).toBe('done');
    expect(await load(bench, fillers(41, 130))).toMatchObject({ state: 'stopped', reason: { code: 'guardCreates' } });
  });

  it('does not stop a feed of deltas for sharing none, nor for a few dead rows that it knows', async () => {
    const bench = await openRunsBench({
      guards: { ...defaultGuards, createsMax: 1, keysMin: 0, rowsMin: 0, deadMax: 1 },
      configured: { part: { kind: 'delta' } },
    });
    await load(bench, fillers(100), {}, 'part');
    expect((await load(bench, fillers(20, 1_001), {}, 'part')).state).toBe('done');
    await load(bench, fillers(100));
    const known = await bench.import(
      'dead.csv',
      csv(['f-1,Ann,call me', ...fillers(19, 1_001)], 'externalId,firstName,phone'),
      {
        feed: 'crm',
        options: {},
      },
    );
    // It lacks a column besides; for strangers it would be stopped first.
    expect(known.reason?.code).toBe('guardColumns');
  });
});

describe('a stopped run does not block its feed', () => {
  it('a newer full file of the feed replaces it and says so', async () => {
    const bench = await open();
    await load(bench, fillers(10));
    const stopped = await load(bench, fillers(5));
    const next = await load(bench, [...fillers(10), 'c-1,New,A']);
    expect(next).toMatchObject({
      state: 'done',
      counts: { created: 1 },
      notes: [`takes the place of run ${stopped.id}, which was stopped`],
    });
    expect(await bench.finish(stopped)).toMatchObject({
      state: 'cancelled',
      reason: { code: 'replaced', message: `run ${next.id} read a newer file of the feed and took its place` },
    });
  });

  it('a newer file that is stopped as well takes its place too: one waits for a person, not many', async () => {
    const bench = await open();
    await load(bench, fillers(10));
    const [first, second] = [await load(bench, fillers(5)), await load(bench, fillers(4))];
    expect((await bench.again(first)).state).toBe('cancelling');
    expect((await bench.again(second)).state).toBe('stopped');
  });

  it('one that cannot be read, a delta, or a file of another feed does not', async () => {
    const bench = await open({ configured: { part: { kind: 'delta', guards: { deadMax: '0%', deadFloor: 1 } } } });
    await load(bench, fillers(10));
    const stopped = await load(bench, fillers(5));
    await bench.import('x.csv', 'nothing\r\nx\r\n', { feed: 'crm' });
    await load(bench, fillers(10), {}, 'shop');
    expect((await bench.again(stopped)).state).toBe('stopped');
    const delta = await load(bench, [',nobody,A'], {}, 'part');
    expect(delta.state).toBe('stopped');
    await load(bench, fillers(3), {}, 'part');
    expect((await bench.again(delta)).state).toBe('stopped');
  });
});

/** Columns with contact data that nothing maps stop the first file of a feed that has them (`docs/rules.md`, "Guards"). */
const header = 'externalId,firstName,Telefon Empfang,Handy Chef,Notes';
const rows = ['1,Ada,+14155550101,+14155550102,Owner', '2,Ben,,,'];

describe('a phone, e-mail or name column that nothing maps', () => {
  it('stops the first file with it, before anything is sent, with what to do', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(await bench.submit('a.csv', csv(rows, header)));
    expect(run).toMatchObject({
      state: 'stopped',
      reason: {
        code: 'guardUnmapped',
        message:
          'stopped before the first write: the columns "Telefon Empfang", "Handy Chef" are not mapped, although their names suggest contact data',
        hint: expect.stringMatching(
          /^To import them, rename "Telefon Empfang" to "phone" and "Handy Chef" to "phone mobile" in the file, or map them with --mapping\. To leave them out, put ignore: \["Telefon Empfang", "Handy Chef"\] into that mapping\. To refuse the file: .*\nIf this is expected, .*--accept/,
        ),
      },
    });
    expect(await bench.world.contacts()).toEqual([]);
  });

  it('names the lines for the mapping of the feed, which may take it in or ignore it', async () => {
    const bench = await openRunsBench();
    const by = (more: object) => ({ feed: 'crm', mapping: mapping({ fields: { firstName: 'firstName' }, ...more }) });
    const run = await bench.stage(await bench.submit('a.csv', csv(rows, header), by({})));
    expect(run.reason?.hint).toContain(
      'Add the columns you need to mapping "test", for example phones: [{ column: "Telefon Empfang", label: phone }] and phones: [{ column: "Handy Chef", label: mobile }]; ignore the others with ignore: ["Telefon Empfang", "Handy Chef"].',
    );
    const phones = [{ column: 'Handy Chef', label: 'mobile' }];
    const done = await bench.import('b.csv', csv(rows, header), by({ phones, ignore: ['telefon empfang'] }));
    expect(done.state).toBe('done');
    expect(done.notes).toContain('ignored columns (not in the mapping): Notes');
  });

  it('passes for good once it was accepted, until another one comes', async () => {
    const bench = await openRunsBench();
    const accepted = await bench.import('a.csv', csv(rows, header), { options: { accept: true } });
    expectCounts(accepted, { rows: 2, created: 2 });
    expect((await bench.import('b.csv', csv([...rows, '3,Cy,x,y,z'], header))).state).toBe('done');
    const other = await bench.stage(
      await bench.submit('c.csv', csv(['4,Dy,d@example.com'], 'externalId,firstName,Chef Mailadresse')),
    );
    expect(other.reason?.code).toBe('guardUnmapped');
    const elsewhere = await bench.stage(await bench.submit('d.csv', csv(rows, header), { feed: 'shop' }));
    expect(elsewhere.reason?.code).toBe('guardUnmapped');
  });

  it('does not matter while it is blank in every row, nor does a full name beside first and last', async () => {
    const bench = await openRunsBench();
    expect((await bench.import('a.csv', csv(['1,Ada,,N/A,'], header))).state).toBe('done');
    const names = 'externalId,firstName,lastName,Full Name';
    expect((await bench.import('b.csv', csv(['2,Ben,Bo,Ben Bo'], names))).state).toBe('done');
    const run = await bench.stage(
      await bench.submit('c.csv', csv(['3,Cy,+14155550101'], 'externalId,Nombre completo,phone')),
    );
    expect(run.reason?.message).toContain(
      'the column "Nombre completo" is not mapped, although its name suggests contact data',
    );
  });

  it('is a member of JSON too, with a mapping and without', async () => {
    const bench = await openRunsBench();
    const text = JSON.stringify([
      { externalId: '1', firstName: 'Ada', role: 'x' },
      { externalId: '2', firstName: 'Ben', 'Handy Chef': '1' },
    ]);
    expect((await bench.stage(await bench.submit('a.json', text))).reason?.code).toBe('guardUnmapped');
    const by = { feed: 'crm', mapping: mapping({}) };
    expect((await bench.stage(await bench.submit('a.json', text, by))).reason?.code).toBe('guardUnmapped');
    const ignoring = { feed: 'crm', mapping: mapping({ ignore: ['handy chef'] }) };
    const done = await bench.import('b.json', text, ignoring);
    expect([done.state, done.notes.join()]).toEqual(['done', expect.not.stringContaining('not in the mapping')]);
  });

  it('in the files that older versions accepted was accepted with them', async () => {
    const bench = await openRunsBench();
    const old = await bench.import('a.csv', csv(rows, header), { options: { accept: true } });
    const { format, columns, delimiter } = old.shape ?? { format: 'csv', columns: [], delimiter: ',' };
    await bench.ledger.runs.record(old.id, { shape: { format, columns, delimiter } });
    expect((await bench.import('b.csv', csv([...rows, '3,Cy,x,y,z'], header))).state).toBe('done');
  });

  it('is read by a synonym where there is one: the file goes in, and each reading is told once', async () => {
    const bench = await openRunsBench();
    const known = 'externalId,Name,Telephone,Mobile,Organisation,Job Title';
    const done = await bench.import('a.csv', csv(['1,Ada van Dyke,+14155550101,+14155550102,ACME,Owner'], known));
    expect(done.state).toBe('done');
    expect(done.notes).toEqual([
      'read as: Name → firstName and lastName, Telephone → phone, Mobile → phone (mobile), Organisation → company, Job Title → role',
      expect.stringMatching(
        /^the column "Name" is split into first and last name: .* fields: \{ firstName: "Name" \}$/,
      ),
    ]);
  });

  it('stops the file beside another of the same meaning, with both as alternatives', async () => {
    const bench = await openRunsBench();
    const run = await bench.stage(
      await bench.submit('a.csv', csv(['1,Ada,A,B'], 'externalId,firstName,Firma,Organisation')),
    );
    expect(run.reason?.message).toContain('the columns "Firma", "Organisation" are not mapped');
    expect(run.reason?.hint).toContain('rename "Firma" or "Organisation" to "company" in the file');
  });
});
