/** What a fix-file is known by after a person has removed some of its columns (`docs/rules.md`, "Dead letters"). */
import { describe, expect, it } from 'vitest';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,phone';

/** The fix-file of a rejected row of feed `crm`, with its phone number mended. */
async function mendedFile(bench: RunsBench): Promise<string> {
  const { text } = await bench.fixFile(await bench.import('a.csv', csv(['c-1,Ann,bad'], header), { feed: 'crm' }));
  return text.replace('Ann,bad', 'Ann,+14155550101');
}

/** The table without these columns. No cell before the hint, which comes last, holds a comma. */
function without(text: string, ...columns: readonly string[]): string {
  const [head = '', ...rows] = text.replace('\ufeff', '').trimEnd().split('\r\n');
  const names = head.split(',');
  const kept = names.flatMap((name, index) => (columns.includes(name) ? [] : [index]));
  const cut = (cells: readonly string[]) => kept.map((index) => cells[index] ?? '').join(',');
  const cellsOf = (row: string) => {
    const cells = row.split(',');
    return [...cells.slice(0, names.length - 1), cells.slice(names.length - 1).join(',')];
  };
  return [cut(names), ...rows.map((row) => cut(cellsOf(row)))].map((line) => `${line}\r\n`).join('');
}

describe('a fix-file that has lost some of its columns', () => {
  it.each([[['_hint']], [['_line']], [['_code']], [['_line', '_code', '_hint']]])(
    'goes by _id: without %s',
    async (lost) => {
      const bench = await openRunsBench();
      const run = await bench.import('mended.csv', without(await mendedFile(bench), ...lost));
      expectCounts(run, { rows: 1, created: 1 });
      expect([run.feed, run.kind]).toEqual(['crm', 'fixFile']);
      expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed']);
    },
  );

  it('goes by _id also where its case was changed', async () => {
    const bench = await openRunsBench();
    const text = (await mendedFile(bench)).replace('_id,_line,_code,_hint', '_ID,_Line,_CODE,_Hint');
    const run = await bench.import('mended.csv', text);
    expectCounts(run, { rows: 1, created: 1 });
    expect([run.feed, run.notes]).toEqual(['crm', []]);
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed']);
  });

  it('has its keys from the letters where the column of the key is gone, in the next fix-file too', async () => {
    const bench = await openRunsBench();
    const rows = ['c-1,Ann,bad', 'c-2,Bea,bad'];
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(rows, header)));
    const keyless = without(text, 'externalId').replace('Ann,bad', 'Ann,+14155550101');
    const run = await bench.import('keyless.csv', keyless);
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('Ann');
    const next = (await bench.fixFile(run)).text;
    expect(next).toMatch(/^\ufefffirstName,phone,externalId,_id,.*\r\nBea,bad,c-2,/);
    expectCounts(await bench.import('next.csv', next.replace('Bea,bad', 'Bea,')), { rows: 1, created: 1 });
  });

  it('has its keys from the letters also where they are members, or made of columns', async () => {
    const bench = await openRunsBench();
    const json = await bench.fixFile(
      await bench.import('a.ndjson', '{"externalId":"c-1","firstName":"Ann","phone":"bad"}\n'),
    );
    const mended = json.text.replace('"externalId":"c-1",', '').replace('"bad"', '"+14155550101"');
    expectCounts(await bench.import('mended.ndjson', mended), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.firstName).toBe('Ann');

    const made = mapping({
      key: { template: '{City}-{No}' },
      fields: { firstName: 'Name' },
      phones: [{ column: 'Phone', label: 'work' }],
    });
    const given = { feed: 'made', mapping: made };
    const table = await bench.fixFile(await bench.import('m.csv', csv(['Ulm,7,Bo,bad'], 'City,No,Name,Phone'), given));
    const cut = without(table.text, 'City', 'No').replace('Bo,bad', 'Bo,+14155550102');
    expectCounts(await bench.import('cut.csv', cut), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('Ulm-7')).defaultFields.firstName).toBe('Bo');
  });

  it('lets no row in that is out of shape because _code is gone', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(['c-1,Ann'], header)));
    expectCounts(await bench.import('again.csv', without(text, '_line', '_code', '_hint')), { rows: 1, dead: 1 });
  });

  it('is refused without _id, and says what to do', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('mended.csv', without(await mendedFile(bench), '_id', '_line'));
    expect([run.state, run.reason?.code]).toEqual(['failed', 'fixFileWithoutId']);
    expect(run.reason?.message).toContain('_code, _hint');
    expect(run.reason?.hint).toContain('Put _id back');
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['open']);
  });
});

describe('a fix-file that has lost a column of its mapping', () => {
  it('is refused, as any file without it', async () => {
    const bench = await openRunsBench();
    const named = mapping({ fields: { firstName: 'Name' }, phones: [{ column: 'Phone', label: 'work' }] });
    const given = { feed: 'crm', mapping: named };
    const { text } = await bench.fixFile(
      await bench.import('a.csv', csv(['7,Bo,bad'], 'externalId,Name,Phone'), given),
    );
    const run = await bench.import('cut.csv', without(text, 'Name'));
    expect([run.state, run.reason?.code]).toEqual(['failed', 'columnMissing']);
    expect(run.reason?.message).toContain('Name');
  });
});

describe('any other file', () => {
  it('may have columns that are called as in a fix-file: they are no part of it, and noted as ignored', async () => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv(['c-1,Ann,5f0c,x'], 'externalId,firstName,_id,_code'));
    expectCounts(run, { rows: 1, created: 1 });
    expect([run.kind, run.notes]).toEqual(['file', ['ignored columns (not in the mapping): _id, _code']]);
  });
});
