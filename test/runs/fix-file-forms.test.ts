/** A fix-file is one in every form in which files are read: packed, as a list, as a table (`docs/rules.md`, "Dead letters"). */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { workbookOf } from '#test/support/workbook.ts';
import { zipFile } from '#test/support/zip-file.ts';
import { openPlanBench } from '../plans/support/plan-bench.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from './support/runs-bench.ts';

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
