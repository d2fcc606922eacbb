/** A fix-file is one in every form in which files are read: packed, as a list, as a table (`docs/rules.md`, "Dead letters"). */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { workbookOf } from '#test/support/workbook.ts';
import { zipFile } from '#test/support/zip-file.ts';
import { openPlanBench } from '../plans/support/plan-bench.ts';

const header = 'externalId,firstName,phone';
const columns = { fields: { firstName: 'firstName' }, phones: [{ column: 'phone', label: 'work' }] };
const crm = { feed: 'crm', mapping: mapping({ keyPrefix: 'c-', ...columns }) };

/** The cells without the hint, which comes last: no other one holds a comma or a quote. */
function cellsOf(text: string): readonly (readonly string[])[] {
  const lines = text.replace('\ufeff', '').trimEnd().split('\r\n');
  const count = lines[0]?.split(',').length ?? 0;
  return lines.map((line) => line.split(',').slice(0, count - 1));
}

function recordsOf(text: string): readonly Readonly<Record<string, string>>[] {
  const [names = [], ...rows] = cellsOf(text);
  return rows.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])));
}

const forms: readonly (readonly [name: string, of: (text: string) => string | Buffer])[] = [
  ['fix.csv', (text) => text],
  ['fix.csv.gz', (text) => gzipSync(text)],
  [
    'fix.tsv.gz',
    (text) =>
      gzipSync(
        cellsOf(text)
          .map((cells) => cells.join('\t'))
          .join('\n'),
      ),
  ],
  ['fix.zip', (text) => zipFile([{ name: 'fix.csv', data: text }])],
  [
    'fix.zip',
    (text) =>
      zipFile([
        { name: 'README.txt', data: 'hello' },
        { name: 'in/fix.txt', data: text },
      ]),
  ],
  ['fix.json', (text) => JSON.stringify(recordsOf(text))],
  ['fix.json', (text) => JSON.stringify({ data: recordsOf(text) }, null, 2)],
  ['fix.json', (text) => JSON.stringify({ people: recordsOf(text), count: 1 })],
  ['fix.json', (text) => JSON.stringify(recordsOf(text)[0])],
  ['fix.json.gz', (text) => gzipSync(JSON.stringify(recordsOf(text)))],
  [
    'fix.ndjson.gz',
    (text) =>
      gzipSync(
        recordsOf(text)
          .map((one) => JSON.stringify(one))
          .join('\n'),
      ),
  ],
  ['fix.zip', (text) => zipFile([{ name: 'fix.json', data: JSON.stringify(recordsOf(text)) }])],
  ['fix.zip', (text) => zipFile([{ name: 'fix.xlsx', data: workbookOf(cellsOf(text).map((cells) => [...cells])) }])],
  ['fix.csv', (text) => workbookOf(cellsOf(text).map((cells) => [...cells]))],
];

/** An old fix-file with its row corrected. A newer file has set the contact since. */
async function correctedLate(bench: RunsBench): Promise<string> {
  const old = await bench.import('a.csv', csv(['k1,Old,bad', 'k2,B,'], header), crm);
  await bench.import('b.csv', csv(['k1,Newer,+14155550109', 'k2,B,'], header), crm);
  return (await bench.fixFile(old)).text.replace('bad', '+14155550101');
}

describe('a fix-file in any form', () => {
  it('is known in each: its rows are no newer than their letters, and belong to their feed', async () => {
    const bench = await openRunsBench();
    const text = await correctedLate(bench);
    for (const [name, of] of forms) {
      for (const feed of ['crm', 'main']) {
        const run = await bench.import(name, of(text), { feed });
        expect([name, run.kind, run.feed, run.reason]).toEqual([name, 'fixFile', 'crm', null]);
        expectCounts(run, { rows: 1, skipped: 1 });
      }
    }
    expect((await bench.world.contactOf('c-k1')).defaultFields.firstName).toBe('Newer');
    expect((await bench.world.contacts()).map(({ externalId }) => externalId).sort()).toEqual(['c-k1', 'c-k2']);
  });

  it('is known in a plan', async () => {
    const { bench, plan } = await openPlanBench();
    const text = await correctedLate(bench);
    for (const [name, of] of forms.filter(([name]) => name.endsWith('.json'))) {
      const planned = await plan(name, String(of(text)));
      expect(planned.plan.totals.rows).toMatchObject({ rows: 1, created: 0, updated: 0, skipped: 1 });
    }
  });

  it('is read as a person says: in an encoding that has to be named', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(['k1,Ken,bad'], header), crm));
    // 田中健一 in Shift JIS.
    const name = Buffer.from('936392868c9288ea', 'hex').toString('latin1');
    const saved = Buffer.from(text.replace('\ufeff', '').replace('Ken,bad', `${name},`), 'latin1');
    expect((await bench.import('unnamed.csv', saved)).reason?.code).toBe('encodingUnclear');
    const run = await bench.import('named.csv', saved, { options: { encoding: 'shift_jis' } });
    expect([run.kind, run.feed]).toEqual(['fixFile', 'crm']);
    expectCounts(run, { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-k1')).defaultFields.firstName).toBe('田中健一');
  });

  it('is refused without _id', async () => {
    const bench = await openRunsBench();
    const text = (await correctedLate(bench)).replace('_id', 'Id');
    const run = await bench.import('fix.json', JSON.stringify(recordsOf(text)));
    expect([run.state, run.reason?.code]).toEqual(['failed', 'fixFileWithoutId']);
  });

  it('is none for the _id of a database', async () => {
    const bench = await openRunsBench();
    await correctedLate(bench);
    const records = [{ externalId: 'k3', firstName: 'Cy', _id: '65f0c0ffee', _code: 7 }];
    const run = await bench.import('export.json', JSON.stringify(records));
    expect(run.kind).toBe('file');
    expectCounts(run, { rows: 1, created: 1 });
  });
});

describe('a text that was no JSON, in a fix-file that was saved as another form', () => {
  /** Two lines that cannot be read, and one whose phone number is wrong. */
  const lines = '{"externalId":"k1","firstName":"Ann"\n[1]\n{"externalId":"k2","firstName":"Bo","phone":"bad"}\n';
  type Records = Record<string, string>[];

  async function recordsOfFix(bench: RunsBench): Promise<Records> {
    const { text } = await bench.fixFile(await bench.import('a.ndjson', lines, crm));
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
  const asTable = (records: Records): string => {
    const names = [...new Set(records.flatMap((one) => Object.keys(one)))];
    const quoted = (cells: readonly unknown[]) => cells.map((cell) => `"${`${cell}`.replaceAll('"', '""')}"`).join(',');
    return [names, ...records.map((one) => names.map((name) => one[name] ?? ''))].map(quoted).join('\r\n');
  };
  const asList = (records: Records): string => JSON.stringify(records);
  const openCodes = async (bench: RunsBench) =>
    (await bench.letters()).flatMap(({ state, code }) => (state === 'open' ? [code] : [])).sort();

  it.each([
    ['fix.json', asList],
    ['fix.csv', asTable],
  ])('goes in once it is repaired, or written anew beside it: %s', async (name, as) => {
    const bench = await openRunsBench();
    const [one = {}, two = {}, three = {}] = await recordsOfFix(bench);
    const mended = as([
      { ...one, _text: `${one._text}}` },
      { externalId: 'k3', firstName: 'Cy', phone: '', ...two },
      { ...three, phone: '+14155550101' },
    ]);
    const run = await bench.import(name, mended);
    expectCounts(run, { rows: 3, created: 3 });
    expect(run.notes).toEqual([]);
    expect(await openCodes(bench)).toEqual([]);
    const names = (await bench.world.contacts()).map(({ externalId, defaultFields }) => [
      externalId,
      defaultFields.firstName,
    ]);
    expect(names.sort()).toEqual([
      ['c-k1', 'Ann'],
      ['c-k2', 'Bo'],
      ['c-k3', 'Cy'],
    ]);
  });

  it.each([
    ['fix.json', asList],
    ['fix.csv', asTable],
  ])('is rejected as before where it is unchanged, under its letter: %s', async (name, as) => {
    const bench = await openRunsBench();
    const run = await bench.import(name, as(await recordsOfFix(bench)));
    expectCounts(run, { rows: 3, dead: 3 });
    expect(run.counts.deadNew).toBe(0);
    expect(await openCodes(bench)).toEqual(['jsonInvalid', 'notAnObject', 'phoneLetters']);
  });

  it('is in the next table as well, whether it is a record by now or not', async () => {
    const bench = await openRunsBench();
    const [one = {}, two = {}] = await recordsOfFix(bench);
    const half = asTable([
      { ...one, _text: '{"externalId":"k1","firstName":"Ann","phone":"bad"}' },
      { ...two, _text: '[2]' },
    ]);
    const run = await bench.import('half.csv', half);
    expectCounts(run, { rows: 2, dead: 2 });
    const next = (await bench.fixFile(run)).text;
    expect(next).toContain('"{""externalId"":""k1"",""firstName"":""Ann"",""phone"":""bad""}"');
    const again = await bench.import('again.csv', next);
    expectCounts(again, { rows: 2, dead: 2 });
    expect(again.counts.deadNew).toBe(0);
    const mended = (await bench.fixFile(again)).text
      .replace('""bad""', '""+14155550101""')
      .replace('[2]', '"{""externalId"":""k3"",""firstName"":""Cy""}"');
    expectCounts(await bench.import('mended.csv', mended), { rows: 2, created: 2 });
    expect(await openCodes(bench)).toEqual(['phoneLetters']);
  });

  it('is a column like any other in a table that had it before', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.csv', csv([',,{}'], 'externalId,firstName,_text')));
    const run = await bench.import('fix.csv', text.replace(',,{},', 'k1,,{},'));
    expectCounts(run, { rows: 1, dead: 1 });
    expect((await bench.report(run)).problems).toMatchObject([{ code: 'contactEmpty' }]);
  });
});

describe('a fix-file of JSON that was saved as a table', () => {
  const nested = {
    externalId: '007',
    firstName: 'MARCH1',
    phones: [{ label: 'work', value: '+14155550107' }],
    role: 'bad',
  };
  const named = {
    feed: 'crm',
    mapping: mapping({
      fields: { firstName: 'firstName' },
      phones: [
        { column: 'phones[0].value', label: 'work' },
        { column: 'role', label: 'mobile' },
      ],
    }),
  };
  /** As programs make it: a column for each member, lists as JSON. A spreadsheet has shown the key as a number, and the name as a date. */
  const saved = (text: string): string => {
    const record = JSON.parse(text);
    const cells = Object.values({
      ...record,
      externalId: 7,
      firstName: '1-Mar',
      phones: JSON.stringify(record.phones, null, 1),
    });
    return [Object.keys(record), cells]
      .map((line) => line.map((one) => `"${`${one}`.replaceAll('"', '""')}"`).join(','))
      .join('\n');
  };

  it('has its records again, with what a spreadsheet damaged and all that is inside them', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.json', JSON.stringify([nested]), named));
    const run = await bench.import('fix.csv', saved(text).replace('"bad"', '"+14155550101"'));
    expectCounts(run, { rows: 1, created: 1 });
    const { defaultFields } = await bench.world.contactOf('007');
    expect(defaultFields.firstName).toBe('MARCH1');
    expect(defaultFields.phoneNumbers?.map(({ value }) => value).sort()).toEqual(['+14155550101', '+14155550107']);
  });

  it('is judged as before where it is unchanged, and the next table has all of it', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.json', JSON.stringify([nested]), named));
    const run = await bench.import('fix.csv', saved(text));
    expectCounts(run, { rows: 1, dead: 1 });
    expect(run.counts.deadNew).toBe(0);
    expect((await bench.letters()).map(({ row }) => row)).toMatchObject([{ kind: 'object', object: nested }]);
    const next = (await bench.fixFile(run)).text;
    expect(next).toContain('007,MARCH1,"[{""label"":""work"",""value"":""+14155550107""}]",bad,');
    expectCounts(await bench.import('next.csv', next.replace(',bad,', ',+14155550101,')), { rows: 1, created: 1 });
  });

  it('keeps its corrections where its key was changed', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.json', JSON.stringify([nested]), named));
    const run = await bench.import('fix.csv', saved(text).replace('"7"', '"8"').replace('"bad"', '"+14155550101"'));
    expectCounts(run, { rows: 1, dead: 1 });
    expectCounts(await bench.import('next.csv', (await bench.fixFile(run)).text), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('007')).defaultFields.phoneNumbers).toHaveLength(2);
  });
});
