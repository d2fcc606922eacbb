/** The fix-file can be dropped in again (`docs/rules.md`, "Dead letters"). */

import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { letterDocument } from '#src/operations/letter-document.ts';
import type { ProblemLine } from '#src/runs/report.ts';
import { csv, expectCounts, mapping, openRunsBench } from '#test/runs/support/runs-bench.ts';

const wide = 'externalId,firstName,role,phone';

describe('a fix-file', () => {
  it('has the original columns in order and delimiter, a BOM, and four more: _id _line _code _hint', async () => {
    const bench = await openRunsBench();
    const header = 'Notes;externalId;firstName;phone';
    const run = await bench.import('people.csv', csv(['x;c-1;Jürgen;call me', 'y;c-2;Ann;'], header));
    const { path, text } = await bench.fixFile(run);
    expect(basename(path)).toBe(`${run.id}__people.csv`);
    const [letter] = await bench.letters();
    expect(text).toBe(
      `\ufeffNotes;externalId;firstName;phone;_id;_line;_code;_hint\r\n` +
        `x;c-1;Jürgen;call me;${letter?.id};2;phoneLetters;phone: the phone number contains letters. Write it in digits, or leave the cell blank.\r\n`,
    );
  });

  it('keeps both cells of two columns with one header, which nothing maps', async () => {
    const bench = await openRunsBench();
    const header = 'externalId,firstName,Notes,Notes,phone';
    const run = await bench.import('a.csv', csv(['c-1,Ann,one,two,call me'], header));
    expect((await bench.fixFile(run)).text).toContain('\r\nc-1,Ann,one,two,call me,');
    await redrive(bench.parts, { remap: false });
    const [again] = await bench.ledger.runs.list({ states: ['queued'], limit: 1 });
    if (again === undefined) throw new Error('no run waits');
    expect((await bench.fixFile(await bench.carryOut(again))).text).toContain('\r\nc-1,Ann,one,two,call me,');
  });

  it('tells all that is wrong with a row, not the first only', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv([',Ann,A,call me'], wide));
    const { text } = await bench.fixFile(run);
    expect(text).toMatch(/externalId: .* \| phone: /);
  });

  it('dropped in again as it is, makes the same dead letters again and none besides', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A,call me', ',Bob,A,', 'c-3,Cy,A,'], wide));
    const before = await bench.letters();
    const { text } = await bench.fixFile(run);
    const again = await bench.import('again.csv', text);
    expectCounts(again, { rows: 2, dead: 2 });
    expect(again.notes).toEqual([]);
    const after = await bench.letters();
    const seen = (letters: typeof after) => new Map(letters.map(({ id, seenCount }) => [id, seenCount]));
    expect(seen(after)).toEqual(new Map(before.map(({ id }) => [id, 2])));
    const next = await bench.fixFile(again);
    expect(next.text.split('\r\n')[0]).toBe(text.split('\r\n')[0]);
    expect(next.text.match(/_id/g)).toHaveLength(1);
  });

  it('closes the dead letter of a row whose key was missing, once it was filled in', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv([',Ann,A,'], wide));
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('mended.csv', text.replace('\n,Ann', '\nc-1,Ann')), { rows: 1, created: 1 });
    expect((await bench.letters()).map((letter) => letter.state)).toEqual(['closed']);
  });

  it('closes the dead letter of a row that was mended to what the contact is already', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,A,'], wide));
    const run = await bench.import('b.csv', csv([',Ann,A,'], wide));
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('mended.csv', text.replace('\n,Ann', '\nc-1,Ann')), { rows: 1, unchanged: 1 });
    expect((await bench.letters()).map((letter) => letter.state)).toEqual(['closed']);
  });

  it('answers the dead letter by another one, where the mended row is dead of something else', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv([',Ann,A,'], wide));
    const { text } = await bench.fixFile(run);
    const mended = text.replace('\n,Ann,A,', '\nc-1,Ann,A,call me');
    expectCounts(await bench.import('mended.csv', mended), { rows: 1, dead: 1 });
    const letters = await bench.letters();
    expect(new Map(letters.map(({ code, state }) => [code, state]))).toEqual(
      new Map([
        ['keyMissing', 'closed'],
        ['phoneLetters', 'open'],
      ]),
    );
  });

  it('mended and dropped in again, creates the contacts and closes the dead letters', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1;Jürgen;Köln;call me'], 'externalId;firstName;company;phone'));
    const { text } = await bench.fixFile(run);
    const mended = await bench.import('mended.csv', text.replace('call me', '+14155550100'));
    expectCounts(mended, { rows: 1, created: 1 });
    expect(mended.notes).toEqual([]);
    const { defaultFields } = await bench.world.contactOf('c-1');
    expect(defaultFields).toMatchObject({ firstName: 'Jürgen', company: 'Köln' });
    expect(defaultFields.phoneNumbers).toEqual([expect.objectContaining({ name: 'phone', value: '+14155550100' })]);
    expect((await bench.letters()).map((letter) => letter.state)).toEqual(['closed']);
  });

  it('keeps cells that look like formulas safe, and what they say the same', async () => {
    const bench = await openRunsBench();
    const cells = ['=1+1', '@home', '-5', '+14155550101'];
    const header = 'externalId,firstName,lastName,company,role,phone';
    const run = await bench.import('a.csv', csv([`c-1,${cells.join(',')},call me`], header));
    const { text } = await bench.fixFile(run);
    expect(text).toContain("c-1,'=1+1,'@home,'-5,+14155550101,call me");
    const mended = await bench.import('mended.csv', text.replace('call me', '+14155550100'));
    expectCounts(mended, { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields).toMatchObject({
      firstName: '=1+1',
      lastName: '@home',
      company: '-5',
      role: '+14155550101',
    });
  });

  it('keeps delimiters, quotes and line breaks within cells', async () => {
    const bench = await openRunsBench();
    const cell = '"Acme; ""Sons""\r\nLtd, Köln"';
    const run = await bench.import('a.csv', csv([`c-1;Ann;${cell};call me`], 'externalId;firstName;company;phone'));
    const { text } = await bench.fixFile(run);
    const mended = await bench.import('mended.csv', text.replace('call me', '+14155550100'));
    expectCounts(mended, { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.company).toMatch(/^Acme; "Sons"\s+Ltd, Köln$/);
  });

  it('of a JSON original is NDJSON, with every member, and can be dropped in again', async () => {
    const bench = await openRunsBench();
    const people = [
      { externalId: 'c-1', firstName: 'Jürgen', phones: ['call me'], tags: ['a', { b: 1 }], __note: null },
      { externalId: 'c-2', firstName: 'Ann' },
    ];
    const run = await bench.import('people.json', JSON.stringify(people));
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    const { path, text } = await bench.fixFile(run);
    expect(basename(path)).toBe(`${run.id}__people.ndjson`);
    const [letter] = await bench.letters();
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { ...people[0], _id: letter?.id, _line: 1, _code: 'phoneLetters', _hint: expect.stringContaining('phone') },
    ]);
    const mended = await bench.import('mended.ndjson', text.replace('call me', '+14155550100'));
    expectCounts(mended, { rows: 1, created: 1 });
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed']);
  });

  it('of JSON without line breaks names the record, as report and letters do, and can be dropped in again', async () => {
    const bench = await openRunsBench();
    const people = [
      { externalId: 'c-1', firstName: 'Ann' },
      { externalId: 'c-2', _record: 'mine', phones: ['call me'] },
      { externalId: 'c-3', phones: ['+1 415 555 0101 x12'] },
      { externalId: 'c-4', firstName: 'Bea' },
      { externalId: 'c-4', firstName: 'Eve' },
    ];
    const run = await bench.import('people.json', JSON.stringify(people));
    const { problems, outcomes } = await bench.report(run);
    expect(problems.map(({ line, record, code }: ProblemLine) => [line, record, code])).toEqual([
      [1, 2, 'phoneLetters'],
      [1, 4, 'duplicateKey'],
      [1, 5, 'duplicateKey'],
    ]);
    expect(outcomes.filter(({ kind }: RunEvent) => kind === 'warning')).toMatchObject([
      { line: 1, record: 3, code: 'phoneExtensionDropped' },
    ]);
    const letters = (await bench.letters()).map(letterDocument);
    expect(letters.map(({ line, record }) => [line, record]).toSorted()).toEqual([
      [1, 2],
      [1, 5],
    ]);
    expect(letters.find(({ code }) => code === 'duplicateKey')?.message).toBe(
      'several records in line 1 have the same key and differ',
    );
    const { text } = await bench.fixFile(run);
    const first = JSON.parse(text.split('\n')[0] ?? '');
    expect(first).toMatchObject({ externalId: 'c-2', __record: 'mine', _line: 1, _record: 2, _code: 'phoneLetters' });
    const corrected = await bench.import('c.ndjson', `${text.split('\n')[0]}\n`.replace('call me', '+14155550100'));
    expectCounts(corrected, { rows: 1, created: 1 });
  });

  it('of a gzipped original is plain, under its name', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('people.csv.gz', gzipSync(csv(['c-1,Ann,A,call me'], wide)));
    expect(basename((await bench.fixFile(run)).path)).toBe(`${run.id}__people.csv`);
  });

  it('is there only where rows died', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,A']));
    expect((await bench.report(run)).fixFile).toBeNull();
    expect(await bench.names('import', '_fix')).toEqual([]);
  });
});

describe('the fix-file of a run with a mapping', () => {
  const crm = mapping({
    name: 'crm',
    key: 'Nr',
    keyPrefix: 'crm-',
    defaultCountry: 'DE',
    fields: { firstName: 'Vorname' },
    phones: [{ column: 'Telefon', label: 'work' }],
  });
  const rows = csv(['1;Jürgen;ruf an', '2;Ann;030 12345678'], 'Nr;Vorname;Telefon');

  it('is read with that mapping, whatever today’s is', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', rows, { mapping: crm });
    const { text } = await bench.fixFile(run);
    const mended = await bench.import('mended.csv', text.replace('ruf an', '030 23456789'));
    expectCounts(mended, { rows: 1, created: 1 });
    const { phoneNumbers } = (await bench.world.contactOf('crm-1')).defaultFields;
    expect(phoneNumbers).toEqual([expect.objectContaining({ name: 'work', value: '+493023456789' })]);
  });

  it('is read with that mapping also after its dead letters were tried again in vain', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', rows, { mapping: crm });
    const { text } = await bench.fixFile(run);
    const [again] = await redrive(bench.parts, { remap: false });
    if (again === undefined) throw new Error('nothing was tried again');
    expectCounts(await bench.carryOut(again), { rows: 1, dead: 1 });
    const mended = await bench.import('mended.csv', text.replace('ruf an', '030 23456789'));
    expectCounts(mended, { rows: 1, created: 1 });
  });

  it('is read with that mapping again and again, until all is mended', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', rows, { mapping: crm });
    const [first] = await bench.ledger.runs.list({ limit: 1 });
    if (first === undefined) throw new Error('there is no run');
    const second = await bench.import('b.csv', (await bench.fixFile(first)).text.replace('ruf an', 'ruf mich an'));
    expectCounts(second, { rows: 1, dead: 1 });
    const third = await bench.import(
      'c.csv',
      (await bench.fixFile(second)).text.replace('ruf mich an', '030 23456789'),
    );
    expectCounts(third, { rows: 1, created: 1 });
  });

  it('is read with that mapping also where another one is configured', async () => {
    const bench = await openRunsBench({ mapping: mapping({ name: 'configured', key: 'Id' }) });
    const run = await bench.import('a.csv', rows, { mapping: crm });
    const { text } = await bench.fixFile(run);
    expectCounts(await bench.import('mended.csv', text.replace('ruf an', '030 23456789')), { rows: 1, created: 1 });
  });

  it('is read with the mapping that a person names for it, where one is named', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', rows, { mapping: crm });
    const { text } = await bench.fixFile(run);
    const other = mapping({ ...crm, name: 'other', keyPrefix: 'other-' });
    await bench.import('mended.csv', text.replace('ruf an', '030 23456789'), { mapping: other });
    expect((await bench.world.contactOf('other-1')).defaultFields.firstName).toBe('Jürgen');
  });

  it('with a country that was given for the run is read with that country', async () => {
    const bench = await openRunsBench();
    const generic = csv(['c-1,Ann,A,call me'], wide);
    const run = await bench.import('a.csv', generic, { options: { defaultCountry: 'DE' } });
    const { text } = await bench.fixFile(run);
    const mended = await bench.import('mended.csv', text.replace('call me', '030 23456789'));
    expectCounts(mended, { rows: 1, created: 1 });
  });
});
