/** Dead letters are edited, dropped and exported by people (`docs/rules.md`, "Dead letters"). */
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { retryLetters } from '#src/operations/dead-letters.ts';
import { letterDetailDocument } from '#src/operations/letter-document.ts';
import type { LetterSelection } from '#src/operations/letter-selection.ts';
import { chooseToDrop, dropLetters, editLetter, exportDeadLetters } from '#src/operations/mend-letters.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,role,phone,email';

const homeOf = ({ parts }: RunsBench) => ({ ...parts, submit: parts });

async function letterIds(bench: RunsBench): Promise<readonly string[]> {
  return (await bench.letters()).filter(({ state }) => state === 'open').map(({ id }) => id);
}

async function edit(bench: RunsBench, id: string, ...sets: readonly string[]): Promise<RunRecord> {
  return bench.carryOut(await editLetter(homeOf(bench), id, sets, 'as Ann said'));
}

async function drop(bench: RunsBench, asked: LetterSelection, reason: string | null) {
  return dropLetters(homeOf(bench), await chooseToDrop(homeOf(bench), asked), reason);
}

describe('a dead letter', () => {
  it('tells all that is wrong with its row, also after it was tried again', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me,nobody'], header));
    const [letter] = await bench.letters();
    if (letter === undefined) throw new Error('there is a letter');
    const problems = letter.problems.map(({ code, field, value }) => [code, field, value]);
    expect(problems.toSorted()).toEqual([
      ['emailInvalid', 'email', 'nobody'],
      ['phoneLetters', 'phone', 'call me'],
    ]);
    expect(letterDetailDocument(letter, true).problems).toHaveLength(2);
    expect(JSON.stringify(letterDetailDocument(letter, false))).not.toMatch(/call me|nobody|c-1/);
    await edit(bench, letter.id, 'role=B');
    expect((await bench.letters())[0]?.problems).toHaveLength(2);
    // The only problem of a row is told as one of several: with its value.
    await edit(bench, letter.id, 'email=ann@example.com');
    const [left] = await bench.letters();
    if (left === undefined) throw new Error('there is a letter');
    expect(letterDetailDocument(left, true).problems).toMatchObject([{ field: 'phone', value: 'call me' }]);
    expect(letterDetailDocument(left, false).problems).toMatchObject([{ field: 'phone', value: null }]);
  });

  it('that was edited is tried with its new cells, and is closed when its row went in', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me,', 'c-2,Bo,B,call me,'], header));
    const [first = '', second] = await letterIds(bench);
    const run = await edit(bench, first, 'phone=+1 415 555 0109', 'role=Lead');
    expectCounts(run, { rows: 1, created: 1 });
    expect(await bench.world.contactOf('c-1')).toMatchObject({
      defaultFields: { role: 'Lead', phoneNumbers: [{ value: '+14155550109' }] },
    });
    expect(await letterIds(bench)).toEqual([second]);
    expect(await bench.ledger.acts.list({ runId: run.id, limit: 9 })).toMatchObject([
      { kind: 'deadEdit', who: 'ann', reason: 'as Ann said', facts: { letter: first, columns: ['phone', 'role'] } },
    ]);
    expect(JSON.stringify(await bench.ledger.acts.list({ limit: 9 }))).not.toMatch(/0109|Lead|c-1/);
  });

  it('of a text that was no JSON is edited as a whole; a member by itself is refused with the way to do it', async () => {
    const bench = await openRunsBench();
    await bench.import('a.ndjson', '{"externalId":"c-1"\n{"externalId":"c-9","firstName":"Zoe"}\n');
    const [id = ''] = await letterIds(bench);
    await expect(edit(bench, id, 'firstName=Ann')).rejects.toMatchObject({
      code: 'columnUnknown',
      hint: expect.stringContaining(`--set '_text={`),
    });
    expectCounts(await edit(bench, id, '_text={"externalId":"c-1",'), { rows: 1, dead: 1 });
    expect((await bench.letters()).map(({ code, state }) => [code, state])).toEqual([['jsonInvalid', 'open']]);
    expectCounts(await edit(bench, id, '_text={"externalId":"c-1","firstName":"Ann"}'), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields).toMatchObject({ firstName: 'Ann' });
    expect(await letterIds(bench)).toEqual([]);
  });

  it('that was edited is read with the country that was named when its file was imported', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,(415) 555-0109,nobody'], header), {
      options: { defaultCountry: 'US' },
    });
    const [id = ''] = await letterIds(bench);
    expectCounts(await edit(bench, id, 'email=ann@example.com'), { rows: 1, created: 1 });
    expect(await bench.world.contactOf('c-1')).toMatchObject({
      defaultFields: { phoneNumbers: [{ value: '+14155550109' }] },
    });
  });

  it('that was edited and is wrong still stays open with its new cells', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me,'], header));
    const [id = ''] = await letterIds(bench);
    expectCounts(await edit(bench, id, 'phone=later'), { rows: 1, dead: 1 });
    expect(await bench.letters()).toMatchObject([
      { id, state: 'open', attempts: 1, row: { cells: ['c-1', 'Ann', 'A', 'later', ''] } },
    ]);
  });

  it('of a row with too many cells goes in when a person has put each where it belongs', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Smith, Jr.,+14155550101,ann@example.com'], header));
    const [letter] = await bench.letters();
    expect(letter).toMatchObject({ code: 'cellCount' });
    const id = letter?.id ?? '';
    expectCounts(await edit(bench, id, 'role=Smith, Jr.'), { rows: 1, dead: 1 });
    const run = await edit(bench, id, 'role=Smith, Jr.', 'phone=+14155550101', 'email=ann@example.com', '#6=');
    expectCounts(run, { rows: 1, created: 1 });
    expect(await bench.world.contactOf('c-1')).toMatchObject({ defaultFields: { role: 'Smith, Jr.' } });
  });

  it('is not edited while it is being tried again, after its end, or in a column that it lacks; nothing changes then', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me,'], header));
    const [id = ''] = await letterIds(bench);
    await expect(editLetter(homeOf(bench), id, ['phon=1'], null)).rejects.toMatchObject({ code: 'columnUnknown' });
    const [run] = await retryLetters(homeOf(bench), { ids: [id] });
    await expect(editLetter(homeOf(bench), id, ['phone=1'], null)).rejects.toMatchObject({ code: 'letterNotOpen' });
    if (run !== undefined) await bench.carryOut(run);
    await drop(bench, { ids: [id] }, null);
    await expect(editLetter(homeOf(bench), id, ['phone=1'], null)).rejects.toMatchObject({ code: 'letterNotOpen' });
    await expect(editLetter(homeOf(bench), 'd0', ['phone=1'], null)).rejects.toMatchObject({
      code: 'noSuchDeadLetter',
    });
    expect(await bench.letters()).toMatchObject([{ row: { cells: ['c-1', 'Ann', 'A', 'call me', ''] } }]);
  });
});

describe('dropping', () => {
  it('ends open letters by id, code, run or feed; a file that brings the row again opens its letter again', async () => {
    const bench = await openRunsBench();
    const file = csv(['c-1,Ann,A,call me,', 'c-2,Bo,B,,nobody', 'c-3,Cy,C,call me,'], header);
    await bench.import('a.csv', file, { feed: 'crm' });
    await bench.import('b.csv', csv(['d-1,Di,D,call me,'], header));
    const states = async () => Object.fromEntries((await bench.letters()).map(({ key, state }) => [key, state]));
    const nothing = drop(bench, { ids: [] }, null);
    await expect(nothing).rejects.toMatchObject({ code: 'nothingChosen' });
    expect(await drop(bench, { ids: [], code: 'phoneLetters', feed: 'crm' }, 'footers')).toEqual({
      letters: 2,
      notices: 0,
    });
    expect(await states()).toEqual({ 'c-1': 'dropped', 'c-2': 'open', 'c-3': 'dropped', 'd-1': 'open' });
    const [act] = await bench.ledger.acts.list({ limit: 1 });
    expect(act).toMatchObject({
      kind: 'deadDrop',
      reason: 'footers',
      feed: 'crm',
      facts: { letters: 2, code: 'phoneLetters' },
    });
    const again = drop(bench, { ids: [], code: 'phoneLetters', feed: 'crm' }, null);
    await expect(again).rejects.toMatchObject({ code: 'noDeadLetters' });
    await bench.import('a.csv', `${file}e-1,Ed,E,,\r\n`, { feed: 'crm' });
    expect(await states()).toEqual({ 'c-1': 'open', 'c-2': 'open', 'c-3': 'open', 'd-1': 'open' });
    expect(await drop(bench, { ids: [], all: true }, null)).toEqual({ letters: 4, notices: 0 });
  });

  it('goes in slices, each with its act, and leaves nothing', async () => {
    const bench = await openRunsBench();
    await bench.import(
      'a.csv',
      csv(
        Array.from({ length: 600 }, (_, index) => `c-${index},Ann,A,call me,`),
        header,
      ),
    );
    expect(await drop(bench, { ids: [], all: true }, 'not ours')).toEqual({ letters: 600, notices: 0 });
    const acts = await bench.ledger.acts.list({ limit: 9 });
    expect(acts.map(({ facts }) => facts.letters)).toEqual([100, 250, 250]);
    expect((await bench.ledger.counts()).openLetters).toBe(0);
  });
});

describe('an export', () => {
  it('has a file for each feed and mapping, with all problems of a row, and goes in again', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,call me,nobody', 'c-2,Bo,B,call me,'], header), { feed: 'crm' });
    await bench.import('b.csv', csv(['d-1,Di,call me'], 'externalId,firstName,phone'), { feed: 'crm' });
    await bench.import('e.ndjson', '{"externalId":"e-1","firstName":"Ed","phone":"call me"}\n', { feed: 'erp' });
    const files = await exportDeadLetters(homeOf(bench), { ids: [] }, null);
    expect(files.map(({ feed, letters }) => [feed, letters]).toSorted()).toEqual([
      ['crm', 3],
      ['erp', 1],
    ]);
    for (const { file, letters } of files) {
      const text = await readFile(file, 'utf8');
      if (file.endsWith('.csv')) expect(text).toMatch(/email: .*\| phone: |phone: .*\| email: /);
      const fixed = text.replaceAll('call me', '+14155550109').replaceAll('nobody', 'ann@example.com');
      await writeFile(file, fixed);
      const name = file.endsWith('.csv') ? 'fixed.csv' : 'fixed.ndjson';
      expectCounts(await bench.import(name, fixed), { rows: letters, created: letters });
    }
    expect(await letterIds(bench)).toEqual([]);
    await expect(exportDeadLetters(homeOf(bench), { ids: [] }, null)).rejects.toMatchObject({ code: 'noDeadLetters' });
  });
});

async function exportAndMend(bench: RunsBench): Promise<readonly string[]> {
  const files = await exportDeadLetters(homeOf(bench), { ids: [] }, null);
  expect(new Set(files.map(({ file }) => file.toLowerCase())).size).toBe(files.length);
  for (const { file, feed, letters } of files) {
    const text = await readFile(file, 'utf8');
    const fixed = text.replaceAll('call me', '030 123456').replaceAll('nobody', 'ann@example.com');
    const run = await bench.import('fixed.csv', fixed);
    expect(run.feed).toBe(feed);
    expectCounts(run, { rows: letters, created: letters });
  }
  expect(await letterIds(bench)).toEqual([]);
  return files.map(({ file }) => basename(file).replace(/^.*__/, ''));
}

describe('an export of letters that were read in several ways', () => {
  const columns = 'externalId,firstName,phone';
  const inCountry = (defaultCountry: string) => ({ options: { defaultCountry } });

  it('keeps feeds apart of which name and country look alike when they are joined', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['a-1,Ann,call me'], columns), { feed: 'eu', ...inCountry('DE') });
    await bench.import('b.csv', csv(['b-1,Bo,,nobody'], `${columns},email`), { feed: 'eu-DE' });
    expect(await exportAndMend(bench)).toEqual(['dead-letters-eu-DE.csv', 'dead-letters-2-eu-DE.csv']);
  });

  it('has a file for each also where their names are cut to the same', async () => {
    const bench = await openRunsBench();
    const feed = '\u6f22'.repeat(60);
    for (const [key, country] of Object.entries({ 'c-1': 'DE', 'c-2': 'AT' }))
      await bench.import(`${key}.csv`, csv([`${key},Ann,call me`], columns), { feed, ...inCountry(country) });
    expect(await exportAndMend(bench)).toHaveLength(2);
  });

  it('keeps mappings apart that two files have under one name', async () => {
    const bench = await openRunsBench();
    for (const [key, row] of Object.entries({ Nr: 'n-1,x,call me', Code: 'x,k-1,call me' })) {
      const given = mapping({ key, fields: {}, phones: [{ column: 'Phone', country: 'DE' }] });
      const named = { mapping: given, mappingNamed: `/mappings/${key}.yaml` };
      expectCounts(await bench.import(`${key}.csv`, csv([row], 'Nr,Code,Phone'), named), { rows: 1, dead: 1 });
    }
    expect(await exportAndMend(bench)).toHaveLength(2);
    expect((await bench.world.contacts()).map(({ externalId }) => externalId).toSorted()).toEqual(['k-1', 'n-1']);
  });
});

describe('rows that the mapping says to leave alone', () => {
  const fields = { fields: { firstName: 'firstName' }, phones: [{ column: 'phone' }], emails: [{ column: 'email' }] };
  const rules = [{ code: 'phoneLetters', column: 'Phone' }, { code: 'cellCount' }];

  it('are skipped and counted, and leave no letter; another problem of the row rejects it', async () => {
    const given = mapping({ ...fields, ignoreRejected: rules });
    const bench = await openRunsBench({ mapping: given });
    const rows = ['c-1,Ann,A,,', 'c-2,Bo,B,call me,', 'c-3,Cy,C,call me,nobody', 'c-9,Di,D,,,more,cells'];
    const run = await bench.import('a.csv', csv(rows, header));
    expectCounts(run, { rows: 4, created: 1, skipped: 2, dead: 1 });
    const outcomes = (await bench.report(run)).outcomes.filter(({ code }: { code: string }) => code === 'ignored');
    expect(outcomes).toMatchObject([
      { kind: 'skipped', line: 3, field: 'phone', key: null },
      { kind: 'skipped', line: 5, field: null },
    ]);
    expect((await bench.letters()).map(({ key }) => key)).toEqual(['c-3']);
  });

  it('close their letters when these are tried again with that mapping', async () => {
    const bench = await openRunsBench({ mapping: mapping({ ...fields, ignoreRejected: rules }) });
    const before = mapping(fields);
    await bench.import('a.csv', csv(['c-2,Bo,B,call me,'], header), { mapping: before });
    expect(await letterIds(bench)).toHaveLength(1);
    const [run] = await retryLetters(homeOf(bench), { ids: [], all: true, remap: true });
    if (run === undefined) throw new Error('a run was entered');
    expectCounts(await bench.carryOut(run), { rows: 1, skipped: 1 });
    expect(await bench.letters()).toMatchObject([{ state: 'closed' }]);
  });
});

describe('a retry at a rate', () => {
  it('is one batch, and waits behind each chunk as long as its requests take at that rate', async () => {
    const bench = await openRunsBench();
    const count = 12;
    const rows = Array.from({ length: count }, (_, index) => `c-${index},Ann,A,,`);
    await bench.world.faults('create:status=400');
    await bench.import('a.csv', csv(rows, header));
    expect(await letterIds(bench)).toHaveLength(count);
    await bench.world.faults();
    const [run] = await retryLetters(homeOf(bench), { ids: [], all: true, rate: 5 });
    if (run === undefined) throw new Error('a run was entered');
    const staged = await bench.stage(run, { parts: { ...bench.parts, rowsPerBatch: 2 } });
    expect(await bench.ledger.runs.nextBatches(Number.MAX_SAFE_INTEGER, 100)).toHaveLength(1);
    const { clock } = bench.world;
    const slept: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      slept.push(ms);
      clock.advance(ms);
    };
    await bench.world.workOnce(staged, { ...bench.world.parts, clock: { ...clock, sleep } });
    const done = await bench.finish(staged);
    expectCounts(done, { rows: count, created: count });
    const { get, post } = done.requests;
    expect(post).toBe(count);
    const rested = slept.filter((ms) => ms > 100);
    expect(rested).toHaveLength(count / 4);
    // Behind the last chunk, too, and less what the requests took themselves.
    expect(Math.max(...rested)).toBeLessThanOrEqual((5 / 5) * 1_000);
    expect(get + post).toBe(count + count / 4);
  });
});
