/** Redrive: dead letters are tried again (`docs/rules.md`, "Dead letters"). */
import { describe, expect, it } from 'vitest';
import { openRedriveSupply, redrive, redriveEdited } from '#src/dead-letters/redrive.ts';
import type { DeadLetter } from '#src/ledger/letters.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { StageItem } from '#src/runs/compare.ts';
import { finishRun } from '#src/runs/finish-run.ts';
import { act, deadRow, desired, newRun, slice } from '#test/contracts/support/build.ts';
import { testFeeds } from '#test/feeds/support/test-feeds.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const wide = 'externalId,firstName,role,phone';

/** Enters one redrive, and there is one only. */
async function retry(bench: RunsBench, choice: Partial<Parameters<typeof redrive>[1]> = {}): Promise<RunRecord> {
  const [run, ...others] = await redrive(bench.parts, { remap: false, ...choice });
  if (run === undefined || others.length > 0) throw new Error('one run was expected');
  return run;
}

/** A file whose one contact the service refuses: a row that was mapped, and died of the answer. */
async function refusedLetter(bench: RunsBench): Promise<DeadLetter> {
  await bench.world.faults('create:status=422');
  await bench.import('a.csv', csv(['c-1,Ann,Engineer']));
  await bench.world.faults();
  const [letter] = await bench.letters();
  if (letter?.class !== 'refused') throw new Error('the row was not refused');
  return letter;
}

/** A dead letter that a run of that feed met, put straight into the ledger. */
async function enterLetter(
  bench: RunsBench,
  id: string,
  given: {
    feed?: string;
    key?: string;
    code?: string;
    firstName?: string;
    mapped?: boolean;
    cells?: readonly string[];
  },
): Promise<RunRecord> {
  const { feed = 'main', key = 'c-1', code = 'refused', firstName = 'Ann', mapped = true } = given;
  const { ledger } = bench;
  const run = await ledger.runs.create(
    newRun(id, { feed, claimedPath: '', importFolder: bench.parts.folders.importFolders[0] ?? '' }),
  );
  await ledger.runs.beginStaging(id, 1);
  const cells = given.cells ?? [key, firstName];
  const row = { kind: 'cells', line: 2, record: 1, columns: ['externalId', 'firstName'], cells } as const;
  const dead = deadRow(key, { code, row, desired: mapped ? { ...desired(key), scalars: { firstName } } : null });
  await ledger.runs.stage(slice(run, { dead: [dead], counts: { rows: 1, dead: 1 }, atMs: run.sequence * 1_000 }));
  await ledger.runs.move(id, ['staging'], 'applying', { atMs: 2 });
  await ledger.runs.move(id, ['applying'], 'doneWithDead', { atMs: 3 });
  return run;
}

describe('a redrive', () => {
  it('rejects rows of one key that differ once more: their letter holds one of them, and chooses none', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Engineer', 'c-1,Bea,Engineer']));
    for (const remap of [false, true]) {
      const run = await bench.carryOut(await retry(bench, { remap }));
      expectCounts(run, { rows: 1, dead: 1 });
    }
    const [letter] = await bench.letters();
    expect(letter).toMatchObject({
      key: 'c-1',
      code: 'duplicateKey',
      state: 'open',
      hint: expect.stringContaining('dead edit'),
    });
    expect(await bench.world.contacts()).toEqual([]);
    if (letter?.row?.kind !== 'cells') throw new Error('the letter has no cells');
    const row = { ...letter.row, cells: ['c-1', 'Cleo', 'Engineer'] };
    const run = await redriveEdited(bench.parts, letter, row, act('deadEdit'));
    if (run === null) throw new Error('the letter was not open');
    expectCounts(await bench.carryOut(run), { rows: 1, created: 1 });
  });

  it('takes the mapped record verbatim: it is not mapped again', async () => {
    const bench = await openRunsBench();
    const letter = await refusedLetter(bench);
    const run = await retry(bench);
    const supply = await openRedriveSupply(bench.parts, run);
    const items: (readonly StageItem[])[] = [];
    for await (const slice of supply.items(null)) items.push(slice);
    expect(items.flat()).toEqual([
      {
        kind: 'desired',
        row: letter.row,
        desired: letter.desired,
        sequence: letter.sequence,
        letterId: letter.id,
      },
    ]);
    expectCounts(await bench.carryOut(run), { rows: 1, created: 1 });
  });

  it('maps anew with today’s mapping, where that is asked for', async () => {
    const bench = await openRunsBench({ mapping: mapping({ keyPrefix: 'new-' }) });
    await enterLetter(bench, 'r-1', { mapped: true, cells: ['c-1', 'Bob', 'Chief'] });
    const feeds = await testFeeds({ mapping: mapping({ keyPrefix: 'new-', fields: { firstName: 'firstName' } }) });
    const today = { ...bench.parts, feeds };
    const [run] = await redrive(today, { remap: true });
    if (run === undefined) throw new Error('nothing was entered');
    expectCounts(await bench.carryOut(run), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('new-c-1')).defaultFields.firstName).toBe('Bob');
  });

  it('maps with the mapping of the run that met the row, where it was never mapped', async () => {
    const bench = await openRunsBench();
    const crm = mapping({
      key: 'Nr',
      keyPrefix: 'crm-',
      fields: { firstName: 'Vorname' },
      phones: [{ column: 'Telefon' }],
    });
    await bench.import('a.csv', csv(['1;Ann;030 23456789'], 'Nr;Vorname;Telefon'), { mapping: crm });
    expect((await bench.letters()).map(({ code }) => code)).toEqual(['phoneCountryMissing']);
    for (const attempt of [1, 2, 3]) {
      const run = await bench.carryOut(await retry(bench));
      expectCounts(run, { rows: 1, dead: 1 });
      const [letter, ...others] = await bench.letters();
      expect(others).toEqual([]);
      expect(letter).toMatchObject({ key: 'crm-1', code: 'phoneCountryMissing', state: 'open', attempts: attempt });
    }
  });

  it('of letters that were read with two mappings is one run each', async () => {
    const bench = await openRunsBench();
    const crm = mapping({ key: 'Nr', fields: { firstName: 'Vorname' }, phones: [{ column: 'Telefon' }] });
    await bench.import('a.csv', csv(['1;Ann;call me'], 'Nr;Vorname;Telefon'), { mapping: crm });
    await bench.import('b.csv', csv(['c-1,Ann,A,call me', 'c-2,Ann,A,call me'], wide));
    const runs = await redrive(bench.parts, { remap: false });
    expect(runs.map(({ fileName }) => fileName).toSorted()).toEqual([
      '2 dead letters',
      expect.stringMatching(/^dead letter d/),
    ]);
    for (const run of runs) expect((await bench.carryOut(run)).state).toBe('doneWithDead');
    expect((await bench.letters()).map(({ code }) => code)).toEqual(['phoneLetters', 'phoneLetters', 'phoneLetters']);
  });

  it('keeps the country that was given for the run that met the row', async () => {
    const bench = await openRunsBench();
    const rows = csv(['c-1,Ann,A,030 23456789,x'], `${wide},email`);
    await bench.import('a.csv', rows, { options: { defaultCountry: 'DE' } });
    expect((await bench.letters()).map(({ code }) => code)).toEqual([expect.stringContaining('email')]);
    await bench.carryOut(await retry(bench));
    expect((await bench.letters()).map(({ code }) => code)).toEqual([expect.stringContaining('email')]);
  });
});

describe('a redrive is entered with its letters at once', () => {
  it('so that of two that ask for the same letters, one gets them and the other enters no run', async () => {
    const bench = await openRunsBench();
    await enterLetter(bench, 'r-1', { key: 'c-1' });
    const both = await Promise.allSettled([retry(bench), retry(bench)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await bench.ledger.runs.nextQueued(10)).toHaveLength(1);
  });
});

describe('what is tried again', () => {
  async function threeLetters(bench: RunsBench): Promise<readonly RunRecord[]> {
    return [
      await enterLetter(bench, 'r-1', { key: 'c-1', code: 'refused' }),
      await enterLetter(bench, 'r-2', { key: 'c-2', code: 'refused' }),
      await enterLetter(bench, 'r-3', { key: 'c-3', code: 'doubt' }),
    ];
  }
  const keysOf = async (bench: RunsBench, run: RunRecord) =>
    (await bench.letters())
      .filter(({ redriveRunId }) => redriveRunId === run.id)
      .map(({ key }) => key)
      .toSorted();

  it('is chosen by id', async () => {
    const bench = await openRunsBench();
    await threeLetters(bench);
    const id = (await bench.letters()).find(({ key }) => key === 'c-2')?.id ?? '';
    expect(await keysOf(bench, await retry(bench, { ids: [id] }))).toEqual(['c-2']);
  });

  it('is chosen by code', async () => {
    const bench = await openRunsBench();
    await threeLetters(bench);
    expect(await keysOf(bench, await retry(bench, { code: 'refused' }))).toEqual(['c-1', 'c-2']);
  });

  it('is chosen by run', async () => {
    const bench = await openRunsBench();
    await threeLetters(bench);
    expect(await keysOf(bench, await retry(bench, { runId: 'r-3' }))).toEqual(['c-3']);
  });

  it('is all that is open, where nothing is chosen', async () => {
    const bench = await openRunsBench();
    await threeLetters(bench);
    expect(await keysOf(bench, await retry(bench))).toEqual(['c-1', 'c-2', 'c-3']);
  });

  it('is only what is open: what is being tried again is not taken twice', async () => {
    const bench = await openRunsBench();
    await threeLetters(bench);
    const first = await retry(bench, { code: 'doubt' });
    const second = await retry(bench);
    expect(await keysOf(bench, first)).toEqual(['c-3']);
    expect(await keysOf(bench, second)).toEqual(['c-1', 'c-2']);
    await expect(redrive(bench.parts, { remap: false })).rejects.toMatchObject({
      kind: 'usage',
      code: 'noDeadLetters',
    });
  });

  it('keeps feeds apart: one run each, of its own feed', async () => {
    const bench = await openRunsBench();
    await enterLetter(bench, 'r-1', { key: 'c-1' });
    await enterLetter(bench, 'r-2', { key: 'c-1', feed: 'crm', firstName: 'Anna' });
    const runs = await redrive(bench.parts, { remap: false });
    expect(runs.map(({ feed, kind }) => [feed, kind]).toSorted()).toEqual([
      ['crm', 'redrive'],
      ['main', 'redrive'],
    ]);
    for (const run of runs) expect(await keysOf(bench, run)).toEqual(['c-1']);
  });
});

describe('a dead letter that is tried again', () => {
  it('is closed by success, and keeps its identity: id, first moment, how often it was seen', async () => {
    const bench = await openRunsBench();
    const before = await refusedLetter(bench);
    bench.world.clock.advance(60_000);
    const run = await retry(bench);
    expect((await bench.letters())[0]).toMatchObject({ state: 'redriven', redriveRunId: run.id, attempts: 1 });
    await bench.carryOut(run);
    const [after, ...others] = await bench.letters();
    expect(others).toEqual([]);
    expect(after).toMatchObject({ ...before, state: 'closed', attempts: 1, redriveRunId: null });
  });

  it('is open again where it dies again: seen once more, not new', async () => {
    const bench = await openRunsBench();
    const before = await refusedLetter(bench);
    await bench.world.faults('create:status=422');
    const run = await bench.carryOut(await retry(bench));
    expectCounts(run, { rows: 1, dead: 1 });
    expect(run.counts.deadNew).toBe(0);
    const [after, ...others] = await bench.letters();
    expect(others).toEqual([]);
    expect(after).toMatchObject({
      id: before.id,
      firstAtMs: before.firstAtMs,
      seenCount: 2,
      attempts: 1,
      state: 'open',
    });
  });

  it('keeps the name and the line of its file where it dies again', async () => {
    const bench = await openRunsBench();
    await bench.import('people.csv', csv(['c-1,Ann,A,', 'c-2,Ann,A,call me', 'c-3,Ann,A,call me'], wide));
    await bench.carryOut(await retry(bench));
    const where = async () => (await bench.letters()).map(({ file, line, state }) => `${file}:${line} ${state}`);
    expect(await where()).toEqual(['people.csv:3 open', 'people.csv:4 open']);
    const { feeds } = bench.parts;
    await bench.carryOut((await redrive({ ...bench.parts, feeds }, { remap: true }))[0] as RunRecord);
    expect(await where()).toEqual(['people.csv:3 open', 'people.csv:4 open']);
  });

  it('is open again where its run is cancelled', async () => {
    const bench = await openRunsBench();
    await refusedLetter(bench);
    const staged = await bench.stage(await retry(bench));
    await bench.ledger.runs.move(staged.id, ['applying'], 'cancelling', { atMs: 1 });
    expect((await bench.finish(staged)).state).toBe('cancelled');
    expect((await bench.letters())[0]).toMatchObject({ state: 'open', redriveRunId: null });
  });

  it('is open again where its run fails, since today’s mapping does not fit its columns', async () => {
    const bench = await openRunsBench();
    await refusedLetter(bench);
    const feeds = await testFeeds({ mapping: mapping({ key: 'Nr' }) });
    const [run] = await redrive({ ...bench.parts, feeds }, { remap: true });
    if (run === undefined) throw new Error('nothing was entered');
    expect(await bench.stage(run)).toMatchObject({ state: 'failed', reason: { code: 'columnMissing' } });
    expect((await bench.letters())[0]).toMatchObject({ state: 'open', redriveRunId: null });
    expect(await bench.report(run)).toMatchObject({ state: 'failed' });
  });

  it('is open again where the accounts of its run are broken', async () => {
    const bench = await openRunsBench();
    await enterLetter(bench, 'r-1', { key: 'c-1' });
    const staged = await bench.stage(await retry(bench));
    await bench.ledger.runs.skipPending(staged.id, 'cancelled', 1);
    await bench.ledger.runs.record(staged.id, { counts: { rows: 1 } });
    expect((await bench.finish(staged)).state).toBe('failed');
    expect((await bench.letters())[0]).toMatchObject({ state: 'open', redriveRunId: null });
  });

  it('is open again also where the process died at the very end of its run', async () => {
    const bench = await openRunsBench();
    await enterLetter(bench, 'r-1', { key: 'c-1' });
    const staged = await bench.stage(await retry(bench));
    await bench.ledger.runs.skipPending(staged.id, 'cancelled', 1);
    const { ledger } = bench;
    const dies = { ...ledger.runs, move: () => Promise.reject(new Error('killed')) };
    const dying = { ...bench.parts, ledger: { ...ledger, runs: dies } };
    await expect(finishRun(dying, staged.id)).rejects.toThrow('killed');
    expect((await bench.again(staged)).state).toBe('applying');
    expect((await bench.finish(staged)).state).toBe('done');
    expect((await bench.letters())[0]).toMatchObject({ state: 'open', redriveRunId: null });
  });

  it('of which a reading was cut off is read again with all others', async () => {
    const bench = await openRunsBench();
    const rows = Array.from({ length: 700 }, (_, index) => `c-${index},Ann,A,call me`);
    await bench.import('a.csv', csv(rows, wide));
    const run = await retry(bench);
    const controller = new AbortController();
    const supply = await openRedriveSupply(bench.parts, run);
    const cut = bench.stage(run, {
      signal: controller.signal,
      supply: async () => ({
        ...supply,
        items: async function* () {
          for await (const items of supply.items(null)) {
            yield items;
            controller.abort();
          }
        },
      }),
    });
    await expect(cut).rejects.toMatchObject({ name: 'AbortError' });
    expectCounts(await bench.stage(await bench.again(run)), { rows: 700, dead: 700 });
  });

  it('stays dead where it was no row: a cell too few, a cell too many', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,+14155550101', 'c-2,Bob,A,+14155550101,x'], wide));
    for (const remap of [false, true]) {
      const [run] = await redrive(bench.parts, { remap });
      if (run === undefined) throw new Error('nothing was tried again');
      expectCounts(await bench.carryOut(run), { rows: 2, dead: 2 });
      expect((await bench.letters()).map(({ code, state }) => [code, state])).toEqual([
        ['cellCount', 'open'],
        ['cellCount', 'open'],
      ]);
    }
  });

  it('has a fix-file with all columns that the letters have, in the order they were met', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me'], wide));
    await bench.import('b.csv', csv(['x;c-2;call me'], 'Notes;externalId;phone'));
    const run = await bench.carryOut(await retry(bench));
    const [head = '', ...lines] = (await bench.fixFile(run)).text.trimEnd().split('\r\n');
    expect(head).toBe('\ufeffexternalId,firstName,role,phone,Notes,_id,_line,_code,_hint');
    expect(lines.map((line) => line.split(',').slice(0, 5))).toEqual([
      ['c-1', 'Ann', 'A', 'call me', ''],
      ['c-2', '', '', 'call me', 'x'],
    ]);
  });

  it('has an NDJSON fix-file with every cell where letters of CSV and of JSON come together', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me'], wide));
    await bench.import('b.json', JSON.stringify([{ externalId: 'c-2', phone: 'call me' }]));
    const run = await bench.carryOut(await retry(bench));
    const { path, text } = await bench.fixFile(run);
    expect(path).toMatch(/\.ndjson$/);
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ externalId: 'c-1', firstName: 'Ann', phone: 'call me' }),
      expect.objectContaining({ externalId: 'c-2', phone: 'call me' }),
    ]);
    expectCounts(await bench.import('mended.ndjson', text.replaceAll('call me', '+14155550100')), {
      rows: 2,
      created: 2,
    });
  });
});

describe('an older row', () => {
  it('that a newer file overtook stays untouched: skipped as superseded, its letter open for a person to judge', async () => {
    const bench = await openRunsBench();
    await enterLetter(bench, 'r-1', { key: 'c-1', feed: 'crm', firstName: 'Old' });
    await bench.import('a.csv', csv(['c-1,New,A']));
    const [run] = await redrive(bench.parts, { remap: false });
    if (run === undefined) throw new Error('nothing was entered');
    const older = await bench.carryOut(run);
    expectCounts(older, { rows: 1, skipped: 1 });
    expect(older.notes).toEqual([expect.stringContaining('its contact since they were rejected. To write such rows')]);
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('New');
    expect((await bench.letters())[0]).toMatchObject({ state: 'open' });
  });

  it('of the same feed is closed by the newer file’s success, and not tried again', async () => {
    const bench = await openRunsBench();
    await enterLetter(bench, 'r-1', { key: 'c-1', firstName: 'Old' });
    await bench.import('a.csv', csv(['c-1,New,A']));
    expect((await bench.letters())[0]).toMatchObject({ state: 'closed' });
    await expect(redrive(bench.parts, { remap: false })).rejects.toMatchObject({ code: 'noDeadLetters' });
  });

  it('with a letter beside a newer one of the same key gives way to it', async () => {
    const bench = await openRunsBench();
    await enterLetter(bench, 'r-1', { key: 'c-1', code: 'refused', firstName: 'Old' });
    await enterLetter(bench, 'r-2', { key: 'c-1', code: 'notApplied', firstName: 'New' });
    expectCounts(await bench.carryOut(await retry(bench)), { rows: 2, created: 1, skipped: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('New');
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  it('that dies again does not take a newer good one of the same key with it', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Old,A,call me'], wide));
    await enterLetter(bench, 'r-2', { key: 'c-1', code: 'notApplied', firstName: 'New' });
    expectCounts(await bench.carryOut(await retry(bench)), { rows: 2, created: 1, dead: 1 });
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed', 'closed']);
  });
});

describe('a redrive beside a running import', () => {
  it('is safe: both write their own, and one contact a key', async () => {
    const bench = await openRunsBench();
    await refusedLetter(bench);
    const again = await bench.stage(await retry(bench));
    const file = await bench.stage(await bench.submit('b.csv', csv(['c-1,Bea,B', 'c-2,Cy,B'])));
    await bench.apply(file);
    await bench.apply(again);
    expect((await bench.finish(file)).state).toBe('done');
    expectCounts(await bench.finish(again), { rows: 1, skipped: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('Bea');
  });
});

describe('guards', () => {
  it('do not count dead letters that a person tries again', async () => {
    const sharesMax = { updatesMax: 0, createsMax: 0, clearsMax: 0, deadMax: 0 };
    const never = { ...sharesMax, updatesFloor: 0, createsFloor: 0, clearsFloor: 0, deadFloor: 0 };
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me'], wide));
    const run = await retry(bench);
    expect(
      (await bench.stage(run, { parts: { ...bench.parts, feeds: await testFeeds({ guards: never }) } })).state,
    ).toBe('applying');
  });
});
