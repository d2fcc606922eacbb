/** Files that come after a person was forgotten: nothing of the person is kept (`docs/rules.md`, "Forgetting a person"). */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { NewAct } from '#src/ledger/acts.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { eraseFromFiles } from '#src/runs/erase/erase-files.ts';
import { filesHolding } from '#src/runs/erase/file-bytes.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { generousGuards } from '#test/runs/support/tallies.ts';

const act: NewAct = {
  ...{ who: 'ann', by: 'command', kind: 'forget', reason: 'they asked', atMs: 0, ledgerAtMs: 0, facts: {} },
};
const key = 'forget-me-17';
const marks = [key, 'Zelda'];

async function openForgotten(forgotten = key): Promise<RunsBench> {
  const bench = await openRunsBench();
  await bench.ledger.forgetting.forgetPerson({ key: forgotten, letterIds: [], texts: [] }, act);
  return bench;
}

/** What of the person is in folders of runs, and in tables of the ledger. */
async function left({ folder, ledger }: RunsBench): Promise<readonly unknown[]> {
  const files = ['claimed', 'import', 'reports'].map((one) => filesHolding(join(folder, one), marks, () => false));
  return [...(await Promise.all(files)).flat(), ...(await ledger.forgetting.search(marks))];
}

/** What is kept of the file; null where nothing is. */
async function kept({ folder }: RunsBench, run: RunRecord, under: '_done' | '_failed'): Promise<string | null> {
  const path = join(folder, 'import', under, `${run.id}__${run.fileName}`);
  return readFile(path, 'utf8').catch(() => null);
}

const other = '2,Ann,Clerk';

it('of a person who is allowed again the next file makes a contact, and its archive has the row', async () => {
  const bench = await openForgotten();
  const file = csv([`${key},Zelda,Clerk`, other]);
  expectCounts(await bench.import('a.csv', file), { rows: 2, created: 1, skipped: 1 });
  await bench.ledger.forgetting.allowAgain(key, { ...act, kind: 'forgetAllow' });
  const run = await bench.import('b.csv', file);
  expectCounts(run, { rows: 2, created: 1, unchanged: 1 });
  expect(await kept(bench, run, '_done')).toBe(file);
});

describe('a row that cannot be read', () => {
  it.each([
    ['has too many cells', 'externalId,firstName,role', 'forget-me-17,Zelda,Clerk,x'],
    ['has them before its key', 'role,externalId,firstName', 'Clerk,of,forget-me-17,Zelda'],
    ['has too few before its key', 'role,firstName,externalId', 'Zelda,forget-me-17'],
    ['holds a control character', 'externalId,firstName,role', 'forget-me-17,Zelda\u0007,Clerk'],
  ])('is skipped where it %s, and kept nowhere', async (_, header, row) => {
    const bench = await openForgotten();
    const ann = header.startsWith('externalId')
      ? other
      : header === 'role,externalId,firstName'
        ? 'Clerk,2,Ann'
        : 'x,Ann,2';
    const run = await bench.import('a.csv', csv([row, ann], header));
    expectCounts(run, { rows: 2, created: 1, skipped: 1 });
    expect(run.notes).toContain('1 row was skipped: forgotten');
    expect(run.shape?.forgotten).toEqual({ rows: 1, people: 1 });
    expect(await bench.letters()).toEqual([]);
    expect(await kept(bench, run, '_done')).toBe(csv([ann], header));
    expect(await left(bench)).toEqual([]);
  });

  it('is skipped where the mapping makes the key of two cells', async () => {
    const bench = await openForgotten('forget-me-17');
    const made = mapping({ key: { join: ['Kind', 'Number'], with: '-' }, fields: { firstName: 'Name' } });
    const run = await bench.import('a.csv', csv(['forget-me,17,Zelda,x'], 'Kind,Number,Name'), { mapping: made });
    expectCounts(run, { rows: 1, skipped: 1 });
    expect(await left(bench)).toEqual([]);
  });

  it('of another person is rejected as ever, also where another cell is the key', async () => {
    const bench = await openForgotten('17');
    const run = await bench.import('a.csv', csv(['1,Bea\u0007,17', '2,Ann,x,17']));
    expectCounts(run, { rows: 2, dead: 2 });
    expect(await kept(bench, run, '_done')).toBe(csv(['1,Bea\u0007,17', '2,Ann,x,17']));
  });

  it('is skipped, not ignored, where the mapping leaves such rows alone', async () => {
    const bench = await openForgotten();
    const ignoring = mapping({ ignoreRejected: [{ code: 'cellCount' }] });
    const run = await bench.import('a.csv', csv([`${key},Zelda,Clerk,x`]), { mapping: ignoring });
    expectCounts(run, { rows: 1, skipped: 1 });
    expect(run.shape?.forgotten?.rows).toBe(1);
    expect(await left(bench)).toEqual([]);
  });
});

describe('what is kept of a file', () => {
  it('has no row of a forgotten person that the mapping leaves out', async () => {
    const bench = await openForgotten();
    const skipping = mapping({ skipRows: [{ column: 'role', equals: 'Left' }] });
    const run = await bench.import('a.csv', csv([`${key},Zelda,Left`, other]), { mapping: skipping });
    expectCounts(run, { rows: 1, created: 1 });
    expect(await kept(bench, run, '_done')).toBe(csv([other]));
    expect(run.notes).toContain('1 row of forgotten people taken out of the file');
  });

  it('has no row of a person who was forgotten after it was read', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv([`${key},Zelda,Clerk`]));
    const waiting = await bench.stage(await bench.submit('b.csv', csv([`${key},Zelda,Clerk`, other])));
    expect(await bench.ledger.forgetting.forgetPerson({ key, letterIds: [], texts: [] }, act)).toMatchObject({
      kind: 'done',
    });
    const run = await bench.finish(await bench.apply(waiting));
    expectCounts(run, { rows: 2, unchanged: 1, created: 1 });
    expect(await kept(bench, run, '_done')).toBe(csv([other]));
  });

  it('is what a stopped run goes on with, whose rows of a forgotten person are skipped', async () => {
    const bench = await openRunsBench({ guards: { ...generousGuards, updatesMax: 0, updatesFloor: 0 } });
    const rows = [`${key},Zelda,Clerk`, other];
    await bench.import('a.csv', csv(rows));
    const changed = [...rows.map((row) => row.replace('Clerk', 'Chief')), '3,Bea,x,y'];
    const submitted = await bench.submit('b.csv', csv(changed));
    const stopped = await bench.stage(submitted);
    expect(stopped.state).toBe('stopped');
    const { ledger, parts } = bench;
    await ledger.forgetting.forgetPerson({ key, letterIds: [], texts: [] }, act);
    const marked = { key, contactId: null, texts: marks };
    const { erased } = await eraseFromFiles({ ledger, folders: parts.folders, host: null }, marked);
    expect(erased).toContainEqual({ path: stopped.claimedPath, removed: 1 });
    expect(await left(bench)).toEqual([]);
    await ledger.runs.move(stopped.id, ['stopped'], 'applying', { atMs: 0, reason: null });
    const run = await bench.finish(await bench.apply(stopped));
    expectCounts(run, { rows: 3, updated: 1, skipped: 1, dead: 1 });
    expect(await kept(bench, run, '_done')).toBe(csv(changed.slice(1)));
    expect(await left(bench)).toEqual([]);
  });

  it('does not show the value of a forgotten person in a warning about the file', async () => {
    const bench = await openForgotten();
    const rows = [`${key},Zelda,Clerk,+1 415 555 0117 (private)`, `${other},+14155550101`];
    const run = await bench.import('a.csv', csv(rows, 'externalId,firstName,role,phone'));
    expectCounts(run, { rows: 2, created: 1, skipped: 1 });
    expect(run.counts.warnings).toBe(1);
    expect(JSON.stringify(await bench.report(run))).not.toContain('0117');
    expect(await left(bench)).toEqual([]);
  });

  it('is nothing where the file was exchanged since it was read, names the person, and cannot be cut', async () => {
    const bench = await openForgotten();
    const staged = await bench.stage(await bench.submit('a.csv', csv([`${key},Zelda,Clerk`, other])));
    await writeFile(staged.claimedPath, `no,id\r\n"${key},Zelda`);
    const run = await bench.finish(await bench.apply(staged));
    expect(run.state).toBe('done');
    expect(await kept(bench, run, '_done')).toBeNull();
    expect(run.notes).toContain('the file is not kept: it names forgotten people, and cannot be cut by lines');
    expect((await bench.report(run)).notes).toEqual(run.notes);
    expect(await left(bench)).toEqual([]);
  });

  it('is nothing, and no error, where the file has disappeared', async () => {
    const bench = await openForgotten();
    const staged = await bench.stage(await bench.submit('a.csv', csv([`${key},Zelda,Clerk`, other])));
    await rm(staged.claimedPath);
    expect((await bench.finish(await bench.apply(staged))).state).toBe('done');
  });
});

describe('a file that fails as a whole', () => {
  const header = 'no,name';
  const fails = async (name: string, content: string | Uint8Array, given: { mapping?: Mapping; key?: string } = {}) => {
    const bench = await openForgotten(given.key);
    const run = await bench.import(name, content, given);
    expect(run.state).toBe('failed');
    const reasons = (await bench.names('import', '_failed')).filter((one) => one.endsWith('.reason.txt'));
    const reason = await readFile(join(bench.folder, 'import', '_failed', reasons[0] ?? ''), 'utf8');
    return { bench, reason, file: await kept(bench, run, '_failed') };
  };

  it('is kept without the lines that name a forgotten person', async () => {
    const rows = ['1,Ann', `${key},Zelda`, '"3","Bea\r\nBo"'];
    const { bench, reason, file } = await fails('a.csv', csv(rows, header));
    expect(file).toBe(csv(['1,Ann', '"3","Bea\r\nBo"'], header));
    expect(reason).toContain('1 line that names forgotten people was taken out of the file');
    expect(await left(bench)).toEqual([]);
  });

  it.each<readonly [string, string, string | Uint8Array]>([
    ['a record of theirs has several lines', 'a.csv', csv([`${key},"Zelda`, 'Zelda"'], header)],
    ['its quotes do not close', 'a.csv', csv(['1,"Ann', `${key},Zelda`], 'externalId,firstName')],
    ['it is one document', 'a.json', `[{"externalId":"1"},{"externalId":"${key}","firstName":"Zelda"]`],
    ['it is packed', 'a.csv.gz', gzipSync(csv([`${key},Zelda`], header))],
    ['it is UTF-16', 'a.csv', Buffer.from(`\ufeff${header}\r\n${key},Zelda\r\n`, 'utf16le')],
  ])('is not kept where %s', async (_, name, content) => {
    const { bench, reason, file } = await fails(name, content);
    expect(file).toBeNull();
    expect(reason).toContain('the file is not kept: it names forgotten people, and cannot be cut by lines');
    expect(await left(bench)).toEqual([]);
  });

  it('is searched for the key as the mapping would make it', async () => {
    const prefixed = mapping({ keyPrefix: 'crm-', key: 'Id' });
    const rows = ["'10017.0,Zelda", '10018,Ann'];
    const { file } = await fails('a.csv', csv(rows, header), { mapping: prefixed, key: 'crm-10017' });
    expect(file).toBe(csv(['10018,Ann'], header));
  });

  it('is kept as it is where it names none, and where a short key is part of it', async () => {
    const content = csv(['1,Ann', '17,Bea'], header);
    expect((await fails('a.csv', content, { key: '17' })).file).toBe(content);
    const { file, reason } = await fails('b.csv', content);
    expect([file, reason.includes('forgotten')]).toEqual([content, false]);
  });

  it('is kept without a line whose key is short, or made of several cells, where the mapping fits its header', async () => {
    const rows = ['a.csv', csv(['17,Zelda', '170,17', '3,"Ann'], 'externalId,firstName')] as const;
    const { file, reason } = await fails(...rows, { key: '17' });
    expect(file).toBe(csv(['170,17', '3,"Ann'], 'externalId,firstName'));
    expect(reason).toContain('1 line that names forgotten people was taken out of the file');
    const made = mapping({ key: { join: ['Kind', 'Number'], with: '-' }, fields: { firstName: 'Name' } });
    const header = 'Kind;Number;Name';
    const content = csv(['forget-me;17;Zölda', 'forget-me;18;Ann', 'x;3;"Bo'], header);
    expect((await fails('b.csv', content, { mapping: made })).file).toBe(csv(['forget-me;18;Ann', 'x;3;"Bo'], header));
  });

  it('is kept where it cannot be looked into, and its reason says so', async () => {
    const torn = gzipSync(csv([`${key},Zelda`], header)).subarray(0, 20);
    const { file, reason } = await fails('a.csv.gz', torn);
    expect(file).not.toBeNull();
    expect(reason).toContain('the file is kept as it came: it could not be searched for forgotten people');
  });
});
