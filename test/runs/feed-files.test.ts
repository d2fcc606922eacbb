/** Files of named feeds: how they are taken, and what a crash or a broken mapping does to them. */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type NewRun, noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { enterOrphans, hasOrphans, submitCopy, submitFile, takeFile } from '#src/runs/enter-run.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { csv, expectCounts, fillers, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

/** Puts a file into a folder of the import folder (null: itself) and takes it. */
async function drop(
  bench: RunsBench,
  folder: string | null,
  name: string,
  text: string,
  parts = bench.parts,
): Promise<RunRecord> {
  const importFolder = join(bench.folder, 'import');
  const place = folder === null ? importFolder : join(importFolder, folder);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, name), text);
  return takeFile(parts, { importFolder, folder, path: join(place, name) });
}

async function writeMapping(bench: RunsBench, feed: string, text: string): Promise<string> {
  const folder = join(bench.folder, 'import', feed);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, '_mapping.yaml'), text);
  return join(folder, '_mapping.yaml');
}

const rows = csv(['c-1,Ann,Engineer']);
const mappingText = 'name: crm\nkey: Nr\nfields: { firstName: Vorname }\n';

describe('a file in the folder of a feed', () => {
  it('is a run of that feed, under its source label, and is archived in the import folder', async () => {
    const bench = await openRunsBench();
    const run = await drop(bench, 'crm', 'a.csv', rows);
    expect(run).toMatchObject({ feed: 'crm', kind: 'file', importFolder: join(bench.folder, 'import') });
    expectCounts(await bench.carryOut(run), { rows: 1, created: 1 });
    expect(await bench.names('import', '_done')).toEqual([`${run.id}__a.csv`, `${run.id}__a.csv.txt`]);
    expect(await bench.names('import', 'crm')).toEqual([]);
    expect((await bench.world.contactOf('c-1')).source).toBe('crm');
  });

  it('is read with the mapping that lies there, and an edit of it counts for the next file', async () => {
    const bench = await openRunsBench();
    await writeMapping(bench, 'crm', mappingText);
    const first = await drop(bench, 'crm', 'a.csv', 'Nr,Vorname\r\nc-1,Ann\r\n');
    await writeMapping(bench, 'crm', mappingText.replace('Vorname', 'Rufname'));
    const second = await drop(bench, 'crm', 'b.csv', 'Nr,Rufname\r\nc-1,Annie\r\n');
    expectCounts(await bench.carryOut(first), { rows: 1, created: 1 });
    expectCounts(await bench.carryOut(second), { rows: 1, updated: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('Annie');
  });

  it('has the label of the configuration, also where its mapping names another', async () => {
    const bench = await openRunsBench({ configured: { crm: { source: 'The CRM' } } });
    await writeMapping(bench, 'crm', `${mappingText}source: export\n`);
    expectCounts(await bench.carryOut(await drop(bench, 'crm', 'a.csv', 'Nr,Vorname\r\nc-1,Ann\r\n')), {
      rows: 1,
      created: 1,
    });
    expect((await bench.world.contactOf('c-1')).source).toBe('The CRM');
  });

  it('goes to _failed with file, line and column where the mapping is broken; the next one works after the fix', async () => {
    const bench = await openRunsBench();
    const place = await writeMapping(bench, 'crm', 'name: crm\nkey: Nr\nfields:\n  firstname: Vorname\n');
    const text = 'Nr,Vorname\r\nc-1,Ann\r\n';
    const run = await drop(bench, 'crm', 'a.csv', text);
    const failed = await bench.stage(run);
    expect(failed).toMatchObject({ feed: 'crm', state: 'failed', reason: { code: 'mappingInvalid' } });
    const reason = await readFile(join(bench.folder, 'import', '_failed', `${run.id}__a.csv.reason.txt`), 'utf8');
    expect(reason).toContain(`${place}:4:3: unknown key "firstname"`);
    await writeMapping(bench, 'crm', mappingText);
    expectCounts(await bench.carryOut(await drop(bench, 'crm', 'a.csv', text)), { rows: 1, created: 1 });
  });

  it('fails with the way out where its folder cannot be a feed, or has a reserved name', async () => {
    const bench = await openRunsBench();
    for (const [folder, feed, code, hint] of [
      ['csv', 'csv', 'sourceRefused', 'Rename the folder csv, or choose a label with feeds.csv.source'],
      ['-old', 'main', 'feedRefused', 'rename it and drop the file again'],
      ['main', 'main', 'feedRefused', 'rename it and drop the file again'],
    ] as const) {
      const run = await drop(bench, folder, 'a.csv', rows);
      expect(await bench.stage(run)).toMatchObject({ feed, state: 'failed', reason: { code }, counts: { rows: 0 } });
      const reason = await readFile(join(bench.folder, 'import', '_failed', `${run.id}__a.csv.reason.txt`), 'utf8');
      expect(reason).toContain(hint);
    }
  });
});

describe('files of a feed wait in line in order of arrival', () => {
  it('one run at a time, and two feeds side by side', async () => {
    const bench = await openRunsBench();
    const [first, second] = [await drop(bench, 'crm', 'a.csv', rows), await drop(bench, 'crm', 'b.csv', rows)];
    const other = await drop(bench, 'shop', 'a.csv', rows);
    // A file is known by feed and content.
    expect((await bench.ledger.runs.list({ feed: 'crm', sha256: other.sha256, limit: 1 })).at(0)?.id).toBe(second.id);
    expect((await bench.ledger.runs.list({ feed: 'shop', sha256: other.sha256, limit: 1 })).at(0)?.id).toBe(other.id);
    const next = async () => (await bench.ledger.runs.nextQueued(10)).map(({ id }) => id);
    expect(await next()).toEqual([first.id, other.id]);
    await bench.stage(first);
    await bench.stage(other);
    expect(await next()).toEqual([]);
    await bench.finish(await bench.apply(first));
    expect(await next()).toEqual([second.id]);
  });
});

describe('a file named on the command line for a feed', () => {
  it('has that feed’s mapping and label; a mapping that is named for it wins', async () => {
    const bench = await openRunsBench();
    await writeMapping(bench, 'crm', mappingText);
    const run = await bench.import('a.csv', 'Nr,Vorname\r\nc-1,Ann\r\n', { feed: 'crm' });
    expect(run).toMatchObject({ feed: 'crm', state: 'done' });
    expectCounts(await bench.import('b.csv', csv(['c-2,Bob,A']), { feed: 'crm', mapping: null }), {
      rows: 1,
      created: 1,
    });
    expect((await bench.world.contactOf('c-2')).source).toBe('crm');
  });

  it('goes on with the run of that feed that was cut off, and with no other’s', async () => {
    const bench = await openRunsBench();
    const run = await bench.submit('a.csv', rows, { feed: 'crm' });
    expect((await bench.submit('a.csv', rows, { feed: 'crm' })).id).toBe(run.id);
    expect((await bench.submit('a.csv', rows, { feed: 'shop' })).id).not.toBe(run.id);
  });
});

describe('a fix-file of a feed', () => {
  const broken = csv(['c-1,Ann,A,call me', 'c-2,Bob,A,', 'c-3,Cat,A,call me'], 'externalId,firstName,role,phone');
  const mended = async (bench: RunsBench, run: RunRecord): Promise<string> =>
    (await bench.fixFile(run)).text.replaceAll('call me', '+14155550101');

  it('goes to its feed wherever it is dropped, and is read as its run was', async () => {
    const bench = await openRunsBench();
    const first = await bench.carryOut(await drop(bench, 'crm', 'a.csv', broken));
    expectCounts(first, { rows: 3, created: 1, dead: 2 });
    // Also where somebody emptied the first cell of _id.
    const [letter] = await bench.letters();
    const text = (await mended(bench, first)).replace(letter?.id ?? '-', '');
    expect(await drop(bench, null, 'emptied.csv', text)).toMatchObject({ feed: 'crm', kind: 'fixFile' });
    for (const folder of [null, 'shop', '-old']) {
      const run = await drop(bench, folder, 'mended.csv', await mended(bench, first));
      expect(run).toMatchObject({ feed: 'crm', kind: 'fixFile', mapping: null });
      expect((await bench.carryOut(run)).state).toBe('done');
    }
    expect((await bench.world.contactOf('c-1')).source).toBe('crm');
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  it('is exempt from the file guards, and no part of the feed’s history', async () => {
    const bench = await openRunsBench({ guards: { ...bench70 } });
    const text = csv(['c-1,Ann,A,call me', ...fillers(10).map((row) => `${row},`)], 'externalId,firstName,role,phone');
    const first = await bench.carryOut(await drop(bench, 'crm', 'a.csv', text));
    const fix = await bench.carryOut(await drop(bench, 'crm', 'mended.csv', await mended(bench, first)));
    expect(fix).toMatchObject({ state: 'done', counts: { rows: 1, created: 1 } });
    expect((await bench.ledger.runs.lastAccepted('crm', Number.MAX_SAFE_INTEGER))?.run.id).toBe(first.id);
    const half = await bench.carryOut(await drop(bench, 'crm', 'b.csv', csv(fillers(5))));
    expect(half).toMatchObject({ state: 'stopped', reason: { facts: { rowsCount: 5, rowsBase: 11 } } });
  });

  it('is exempt from all guards: each row was looked at by a person', async () => {
    const bench = await openRunsBench({ guards: defaultGuards });
    const row = (index: number, phone: string): string => `c-${index},Ann,${phone}`;
    const header = 'externalId,firstName,phone';
    const numbers = Array.from({ length: 700 }, (_, index) => `+1415555${1_000 + index}`);
    await bench.import(
      'a.csv',
      csv(
        numbers.map((number, index) => row(index, number)),
        header,
      ),
    );
    const broken = numbers.map((number, index) => row(index, index < 30 ? 'call me' : number));
    const run = await bench.import('b.csv', csv(broken, header), { options: { maxDead: 1 } });
    const { text } = await bench.fixFile(run);
    expect((await bench.import('again.csv', text)).state).toBe('doneWithDead');
    expect((await bench.import('mended.csv', text.replaceAll('call me', '+14155550101'))).state).toBe('done');
  });

  it('is read with what the mapping of its feed is today, and told what is wrong with it', async () => {
    const bench = await openRunsBench();
    const phones = 'name: crm\nkey: Nr\nphones: [{ column: Tel, label: work }]\n';
    await writeMapping(bench, 'crm', phones);
    const run = await bench.carryOut(await drop(bench, 'crm', 'a.csv', 'Nr,Tel\r\nc-1,415 555 0101\r\n'));
    const { text } = await bench.fixFile(run);
    await writeMapping(bench, 'crm', `${phones}country: US\n`);
    const refused = await bench.stage(await drop(bench, null, 'again.csv', text));
    expect(refused).toMatchObject({ feed: 'crm', state: 'failed', reason: { code: 'mappingInvalid' } });
    await writeMapping(bench, 'crm', `${phones}defaultCountry: US\n`);
    expectCounts(await bench.carryOut(await drop(bench, null, 'again.csv', text)), { rows: 1, created: 1 });
  });
});

const bench70 = {
  ...{ updatesMax: 1_000, updatesFloor: 10, createsMax: 1_000, createsFloor: 100, clearsMax: 1_000, clearsFloor: 10 },
  ...{
    deadMax: 1,
    deadFloor: 20,
    lossesMax: 1,
    lossesFloor: 20,
    rowsMin: 0.7,
    rowsFloor: 10,
    keysMin: 0.5,
    keysFloor: 10,
  },
  ...{ strangersRows: 20, strangersFloor: 100, olderRows: 20 },
};

describe('a crash between claim and run', () => {
  const claimOf = async (bench: RunsBench, folder: string | null): Promise<string> => {
    let id = '';
    const create = (run: NewRun): Promise<RunRecord> => {
      id = run.id;
      return Promise.reject(new Error('killed'));
    };
    const parts = { ...bench.parts, ledger: { ...bench.ledger, runs: { ...bench.ledger.runs, create } } };
    await expect(drop(bench, folder, 'a.csv', rows, parts)).rejects.toThrow('killed');
    return id;
  };

  it('keeps the feed: the claimed file’s place tells it', async () => {
    const bench = await openRunsBench();
    const [ofMain, ofCrm] = [await claimOf(bench, null), await claimOf(bench, 'crm')];
    expect(await bench.names('claimed')).toEqual([`${ofMain}__a.csv`, 'crm'].toSorted());
    expect(await hasOrphans(bench.parts)).toBe(true);
    expect(await enterOrphans(bench.parts)).toBe(2);
    expect(await hasOrphans(bench.parts)).toBe(false);
    expect(await bench.ledger.runs.get(ofMain)).toMatchObject({ feed: 'main', fileName: 'a.csv' });
    expect(await bench.ledger.runs.get(ofCrm)).toMatchObject({ feed: 'crm', fileName: 'a.csv' });
  });

  it('leaves alone what this very process is about to enter', async () => {
    const bench = await openRunsBench();
    const id = await claimOf(bench, 'crm');
    bench.parts.entering.add(id);
    expect([await hasOrphans(bench.parts), await enterOrphans(bench.parts)]).toEqual([false, 0]);
    bench.parts.entering.delete(id);
    expect(await enterOrphans(bench.parts)).toBe(1);
  });

  it('does not let a file of a folder that is no feed pass as one of main', async () => {
    const bench = await openRunsBench();
    const ids = [await claimOf(bench, 'csv'), await claimOf(bench, '-old'), await claimOf(bench, 'main')];
    expect(await enterOrphans(bench.parts)).toBe(3);
    for (const id of ids) {
      const run = await bench.ledger.runs.get(id);
      expect(run?.refusal).not.toBeNull();
      expect((await bench.stage(run as RunRecord)).state).toBe('failed');
    }
  });
});

describe('a file that was brought from elsewhere', () => {
  const bring = async (bench: RunsBench, name: string, text: string): Promise<RunRecord> => {
    const path = await bench.write('download.part', text);
    return submitCopy(bench.parts, {
      feed: await bench.parts.feeds.get('crm'),
      path,
      fileName: name,
      origin: 'schedule',
    });
  };

  it('is moved out of its private folder and is a run of its feed under its own name', async () => {
    const bench = await openRunsBench();
    const run = await bring(bench, 'export of today.csv', rows);
    expect(run).toMatchObject({ feed: 'crm', kind: 'file', fileName: 'export of today.csv', state: 'queued' });
    expect((await readdir(bench.folder)).includes('download.part')).toBe(false);
    expectCounts(await bench.carryOut(run), { rows: 1, created: 1 });
    expect(await bench.names('import', '_done')).toContain(`${run.id}__export of today.csv`);
  });

  it('is entered once, also where a crash makes it come again', async () => {
    const bench = await openRunsBench();
    const run = await bring(bench, 'a.csv', rows);
    expect((await bring(bench, 'a.csv', rows)).id).toBe(run.id);
    expect(await bench.names('claimed', 'crm')).toEqual([`${run.id}__a.csv`]);
    expect((await readdir(bench.folder)).includes('download.part')).toBe(false);
    await bench.carryOut(run);
    expectCounts(await bench.carryOut(await bring(bench, 'a.csv', rows)), { rows: 1, unchanged: 1 });
  });

  it('has a run of its own behind one of the same content that a person began with some of its rows', async () => {
    const bench = await openRunsBench();
    const feed = await bench.parts.feeds.get('crm');
    const named = await bench.write('a.csv', rows);
    const { run: some } = await submitFile(bench.parts, named, { ...noOptions, only: ['nobody'] }, { feed });
    const whole = await bring(bench, 'a.csv', rows);
    expect(whole.id).not.toBe(some.id);
    expect((await bring(bench, 'a.csv', rows)).id).toBe(whole.id);
    expectCounts(await bench.carryOut(some), { rows: 1, skipped: 1 });
    expectCounts(await bench.carryOut(whole), { rows: 1, created: 1 });
  });

  it('keeps its feed where the process dies before its run is entered', async () => {
    const bench = await openRunsBench();
    const id = newRunId(bench.world.clock.nowMs());
    await mkdir(join(bench.folder, 'claimed', 'crm'), { recursive: true });
    await rename(await bench.write('x.part', rows), join(bench.folder, 'claimed', 'crm', `${id}__a.csv`));
    await enterOrphans(bench.parts);
    expect((await bring(bench, 'a.csv', rows)).id).toBe(id);
  });
});
