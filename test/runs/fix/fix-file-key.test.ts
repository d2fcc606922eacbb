/** The key of a row of a fix-file is that of its dead letter (`docs/rules.md`, "Dead letters"), whatever a spreadsheet or a person did to its cell. */
import { describe, expect, it } from 'vitest';
import type { DeadLetter } from '#src/ledger/letters.ts';
import { editLetter } from '#src/operations/mend-letters.ts';
import { otherKeyOf } from '#src/runs/fix/fix-key.ts';
import type { Row } from '#src/sources/row.ts';
import { openPlanBench } from '#test/plans/support/plan-bench.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';
import { type CellValue, writeWorkbook } from '#test/support/workbook.ts';

const header = 'externalId,firstName,role,phone';
const number = '+14155550101';

const keysOf = async ({ world }: RunsBench) => (await world.contacts()).map(({ externalId }) => externalId).sort();
const open = async (bench: RunsBench) =>
  (await bench.letters()).flatMap(({ state, code, key }) => (state === 'open' ? [[code, key]] : []));

async function fixFileOf(bench: RunsBench, ...rows: readonly string[]): Promise<string> {
  return (await bench.fixFile(await bench.import('a.csv', csv(rows, header)))).text;
}

describe('a fix-file that a spreadsheet has opened and saved', () => {
  it.each([
    ['MARCH1', '1-Mar'],
    ['1.1.26', '01.01.2026'],
    ['TRUE', 'WAHR'],
    ['(5)', '-5'],
    ['1.234', '1234'],
    ['12:30', '12:30:00'],
    ['Dez 12', '12. Dez'],
    ['1 000', '1000'],
  ])('goes in under the key of its letter: %s, which came back as %s', async (key, shown) => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, `${key},Ann,${key},CALL-ME`);
    const saved = text.replaceAll(key, shown).replace('CALL-ME', number);
    expectCounts(await bench.import('saved.csv', saved), { rows: 1, created: 1 });
    expect(await keysOf(bench)).toEqual([key]);
    expect((await bench.world.contactOf(key)).defaultFields.role).toBe(key);
    expect(await open(bench)).toEqual([]);
  });
});

describe('a key that is not that of its letter', () => {
  it('rejects its row, which the next fix-file has with the right one', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'AB-1,Ann,x,CALL-ME');
    const run = await bench.import('saved.csv', text.replace('AB-1', 'AB 1').replace('CALL-ME', number));
    expectCounts(run, { rows: 1, dead: 1 });
    expect(await keysOf(bench)).toEqual([]);
    const [dead] = (await bench.report(run)).problems;
    expect(dead).toMatchObject({ code: 'keyChanged', line: 2, field: 'externalId', value: 'AB 1' });
    expect(dead.hint).toContain('the row of "AB-1"');
    expect(dead.hint).toContain("patchbay dead edit ID --set 'externalId=AB 1'");
    expect(await open(bench)).toEqual([['keyChanged', 'AB-1']]);
    const next = (await bench.fixFile(run)).text;
    expect(next).toContain(`AB-1,Ann,x,${number},`);
    expectCounts(await bench.import('next.csv', next), { rows: 1, created: 1 });
    expect(await keysOf(bench)).toEqual(['AB-1']);
    expect(await open(bench)).toEqual([]);
  });

  it('is what its letter can be edited to have, as the hint says', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'AB-1,Ann,x,CALL-ME');
    await bench.import('saved.csv', text.replace('AB-1', 'AB 1').replace('CALL-ME', number));
    const letter = (await bench.letters()).find(({ state }) => state === 'open');
    const given = { submit: bench.parts, actor: bench.parts.actor };
    const run = await bench.carryOut(await editLetter(given, letter?.id ?? '', ['externalId=AB 1'], null));
    expectCounts(run, { rows: 1, created: 1 });
    expect(await keysOf(bench)).toEqual(['AB 1']);
    expect((await bench.world.contactOf('AB 1')).defaultFields.phoneNumbers).toMatchObject([{ value: number }]);
    expect(await open(bench)).toEqual([]);
  });

  it('rejects its row in a plan, too', async () => {
    const { bench, plan } = await openPlanBench();
    const text = await fixFileOf(bench, 'AB-1,Ann,x,CALL-ME');
    const planned = await plan('saved.csv', text.replace('AB-1', 'AB 1').replace('CALL-ME', number));
    expect(planned.plan.totals.rows).toMatchObject({ rows: 1, created: 0, dead: 1 });
    expect(planned.problems).toMatchObject([{ code: 'keyChanged', line: 2 }]);
  });

  it('rejects the record of a JSON fix-file', async () => {
    const bench = await openRunsBench();
    const json = '{"externalId":"c-1","firstName":"Ann","phone":"bad"}\n';
    const { text } = await bench.fixFile(await bench.import('a.ndjson', json));
    const run = await bench.import('b.ndjson', text.replace('"c-1"', '"c-2"').replace('"bad"', `"${number}"`));
    expectCounts(run, { rows: 1, dead: 1 });
    const next = (await bench.fixFile(run)).text;
    expect(next).toContain(`"phone":"${number}"`);
    expectCounts(await bench.import('next.ndjson', next), { rows: 1, created: 1 });
    expect(await keysOf(bench)).toEqual(['c-1']);
  });

  it('is none where a column changed that the key is not made of in this row', async () => {
    const named = mapping({
      key: { firstOf: ['Id', 'Mail'] },
      fields: { firstName: 'First' },
      emails: [{ column: 'Mail', label: 'work' }],
      phones: [{ column: 'Tel', label: 'work' }],
    });
    const bench = await openRunsBench({ mapping: named });
    const { text } = await bench.fixFile(
      await bench.import('a.csv', csv(['1,Ann,a@example.de,bad', ',Bo,b@example.de,bad'], 'Id,First,Mail,Tel')),
    );
    const run = await bench.import('b.csv', text.replaceAll('@example.de', '@example.com').replaceAll('bad', number));
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    expect(await keysOf(bench)).toEqual(['1']);
    expect(await open(bench)).toEqual([['keyChanged', 'b@example.de']]);
  });

  it('is accepted where the service has refused the one that the row had', async () => {
    const bench = await openRunsBench();
    await fixFileOf(bench, 'AB-1,Ann,x,CALL-ME');
    const [letter] = await bench.letters();
    if (letter?.row?.kind !== 'cells') throw new Error('no letter');
    const row = { ...letter.row, cells: letter.row.cells.map((cell) => cell.replace('AB-1', 'AB-2')) };
    const reading = {
      isKey: (column: string) => column === 'externalId',
      keyOf: (one: Row) => (one.kind === 'cells' ? (one.cells[0] ?? null) : null),
    };
    const refusedFor = (field: string): DeadLetter => {
      const problem = { code: 'refused400', line: 2, field, value: null, message: '', hint: '' };
      return { ...letter, class: 'refused', code: 'refused400', problems: [problem] };
    };
    expect(otherKeyOf(row, refusedFor('externalId'), false, reading)).toMatchObject({ kind: 'accepted' });
    expect(otherKeyOf(row, refusedFor('defaultFields.role'), false, reading)).toMatchObject({ kind: 'rejected' });
    expect(otherKeyOf(letter.row, refusedFor('externalId'), false, reading)).toBeNull();
  });

  it('is written for a row that had none, and with a warning for one of several that shared theirs', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, ',Cy,x,', 'c-1,Ann,A,', 'c-1,Bob,B,');
    const run = await bench.import('b.csv', text.replace('\n,Cy', '\nc-3,Cy').replace('c-1,Bob', 'c-2,Bob'));
    expectCounts(run, { rows: 3, created: 3 });
    expect(await keysOf(bench)).toEqual(['c-1', 'c-2', 'c-3']);
    const warned = (await bench.report(run)).outcomes;
    expect(warned).toMatchObject([{ kind: 'warning', code: 'keyChanged', line: 4, value: 'c-2' }]);
    expect(warned[0].message).toContain('the row of "c-1"');
  });
});

describe('a row without a key that was copied, and got two', () => {
  it('makes two contacts, with a warning that names both keys', async () => {
    const bench = await openRunsBench();
    const text = (await fixFileOf(bench, ',Cy,x,')).replace('\n,Cy', '\nk7,Cy');
    const [, line = ''] = text.split('\r\n');
    const run = await bench.import('copied.csv', `${text}${line.replace('k7', 'k8')}\r\n`);
    expectCounts(run, { rows: 2, created: 2 });
    expect((await bench.report(run)).outcomes).toMatchObject([{ kind: 'warning', code: 'rowCopied', value: 'k8' }]);
  });

  it('has none where the original had it twice', async () => {
    const bench = await openRunsBench();
    const text = (await fixFileOf(bench, ',Cy,x,', ',Cy,x,')).replace('\n,Cy', '\nk7,Cy').replace('\n,Cy', '\nk8,Cy');
    const run = await bench.import('twice.csv', text);
    expectCounts(run, { rows: 2, created: 2 });
    expect((await bench.report(run)).outcomes).toEqual([]);
  });
});

describe('a column _id that was sorted apart from the others', () => {
  it('gives no row to the key of another one, neither then nor by the next fix-file', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'k1,Ann,x,CALL-ME', 'k2,Bob,y,CALL-ME');
    const [one = '', other = ''] = text.match(/d[0-9a-f]{12}/g) ?? [];
    const swapped = text.replace(one, 'ID').replace(other, one).replace('ID', other).replaceAll('CALL-ME', number);
    const run = await bench.import('sorted.csv', swapped);
    expectCounts(run, { rows: 2, dead: 2 });
    const [dead] = (await bench.report(run)).problems;
    expect(dead).toMatchObject({ code: 'keyChanged', field: '_id', value: 'k1' });
    expect(dead.hint).toContain('The _id is not in its own row any more');
    expect(dead.hint).not.toContain('drop that in as it is');
    const next = (await bench.fixFile(run)).text;
    expect(next).toContain('k2,Bob,y,CALL-ME,');
    expect(next).toContain('k1,Ann,x,CALL-ME,');
    // As it is, corrected, and after the table was put right.
    expectCounts(await bench.import('next.csv', next), { rows: 2, dead: 2 });
    expectCounts(await bench.import('right.csv', text.replaceAll('CALL-ME', number)), { rows: 2, created: 2 });
    expect((await bench.world.contactOf('k1')).defaultFields.firstName).toBe('Ann');
    expect(await open(bench)).toEqual([]);
  });
});

describe('a key that a spreadsheet had damaged before', () => {
  const damaged = ['5E+10,Cy,x,', '1.2E+11,Di,x,'];

  it('goes in as a person writes it anew, and not as a spreadsheet shows it by itself', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, ...damaged);
    const saved = text.replace('5E+10', '50000000000').replace('1.2E+11', '120000000017');
    const run = await bench.import('saved.csv', saved);
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    expect(await keysOf(bench)).toEqual(['120000000017']);
    const letter = (await bench.letters()).find(({ state }) => state === 'open');
    expect(letter?.message).toBe('a spreadsheet has damaged the key, and what is there now counts as unchanged');
    const [dead] = (await bench.report(run)).problems;
    expect(dead).toMatchObject({ code: 'keyDamaged', line: 2, field: 'externalId', value: '50000000000' });
    expect(dead.hint).toContain('makes “50000000000” of “5E+10” by itself');
    expect(dead.hint).toContain(`patchbay dead edit ${letter?.id} --set 'externalId=50000000000'`);
    const next = (await bench.fixFile(run)).text;
    expect(next).toContain('5E+10,Cy,x,');
    expect(next).toContain('If it is right all the same, use dead edit.');
  });

  it('is what its letter can be edited to have, as the hint says', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, ...damaged);
    await bench.import('saved.csv', text.replace('5E+10', '50000000000'));
    const [letter] = await bench.letters();
    const given = { submit: bench.parts, actor: bench.parts.actor };
    const run = await bench.carryOut(await editLetter(given, letter?.id ?? '', ['externalId=50000000000'], null));
    expectCounts(run, { rows: 1, created: 1 });
    expect(await keysOf(bench)).toEqual(['50000000000']);
  });
});

describe('any cell that counts as unchanged', () => {
  it('is told as the file has it, where its row is rejected again', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, 'c-1,Ann,x,4.15555E+09', 'c-2,Bo,x,bad');
    const run = await bench.import('saved.csv', text.replace('4.15555E+09', '4155550000'));
    expectCounts(run, { rows: 2, dead: 2 });
    const [ann, bo] = (await bench.report(run)).problems;
    expect(ann).toMatchObject({ code: 'phoneDamaged', field: 'phone', value: '4155550000' });
    expect(ann.hint).toMatch(/patchbay dead edit d\w+ --set 'phone=4155550000'$/);
    expect(bo).toMatchObject({ code: 'phoneLetters', value: 'bad', hint: expect.not.stringContaining('dead edit') });
  });

  it.each([
    ['5E+10,Ann,x,', '5E+10', '5.0E+10', 'keyDamaged'],
    ['c-1,Ann,x,4.15555E+09', '4.15555E+09', '4.16E+09', 'phoneDamaged'],
    ['c-1,Ann,x,+999123456789', '+999123456789', '999123456789', 'phoneImpossible'],
  ])('keeps the advice of a value that can never be right: %s', async (row, was, shown, code) => {
    const bench = await openRunsBench();
    const run = await bench.import('a.csv', csv([row], header));
    const { hint } = (await bench.report(run)).problems[0];
    const saved = await bench.import('saved.csv', (await bench.fixFile(run)).text.replace(was, shown));
    expectCounts(saved, { rows: 1, dead: 1 });
    expect((await bench.report(saved)).problems[0]).toMatchObject({ code, hint });
  });
});

describe('a row with two cells that count as unchanged', () => {
  it('has in both hints the letter that an edit of it takes', async () => {
    const bench = await openRunsBench();
    const text = await fixFileOf(bench, '5E+10,Ann,x,4.15555E+09');
    const run = await bench.import(
      'saved.csv',
      text.replace('5E+10', '50000000000').replace('4.15555E+09', '4155550000'),
    );
    const [letter] = (await bench.letters()).filter(({ state }) => state === 'open');
    const hints = (await bench.report(run)).problems.map(({ hint }: { readonly hint: string }) => hint);
    expect(hints).toEqual([
      expect.stringContaining(`dead edit ${letter?.id} --set 'externalId=50000000000'`),
      expect.stringContaining(`dead edit ${letter?.id} --set 'phone=4155550000'`),
    ]);
  });
});

describe('a fix-file of another data folder', () => {
  it('goes in as new rows, and a note says so', async () => {
    const [bench, elsewhere] = [await openRunsBench(), await openRunsBench()];
    const text = (await fixFileOf(bench, '00123,Ann,x,CALL-ME')).replace('CALL-ME', number);
    const run = await elsewhere.import('b.csv', text.replace('00123', '123'));
    expectCounts(run, { rows: 1, created: 1 });
    expect(run.notes).toEqual([
      expect.stringMatching(/^1 row names a dead letter in _id .* the first in line 2: .*--data/),
    ]);
    expect((await bench.import('b.csv', text)).notes).toEqual([]);
  });
});

describe('a fix-file that was saved as a workbook', () => {
  const serialOf = (date: string) => Date.parse(date) / 86_400_000 + 25_569;

  it('goes in under the keys of its letters, with the cells that became dates and numbers as they were', async () => {
    const bench = await openRunsBench();
    const wide = 'externalId,firstName,lastName,role,phone';
    const was = ['3-4,Ed,5.3.26,1/2,CALL-ME', '00124,Ann,MARCH1,WAHR,CALL-ME'];
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(was, wide)));
    const rows = text
      .replace('\ufeff', '')
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',').slice(0, wide.split(',').length + 2));
    const year = new Date().getFullYear();
    const date = (day: string, format = 'DD.MM.YYYY'): CellValue => ({ number: serialOf(day), format });
    const [head = [], ed = [], ann = []] = rows;
    const saved: CellValue[][] = [
      head,
      [date(`${year}-04-03`, 'DD. MMM'), 'Ed', date('2026-03-05'), date(`${year}-02-01`), number, ...ed.slice(5)],
      [124, 'Ann', date(`${year}-03-01`, 'D-MMM'), true, number, ...ann.slice(5)],
    ];
    const run = await bench.import('a.xlsx', writeWorkbook({ sheets: [{ name: 'a', rows: saved }] }));
    expectCounts(run, { rows: 2, created: 2 });
    expect(await keysOf(bench)).toEqual(['00124', '3-4']);
    const roles = async (key: string) => (await bench.world.contactOf(key)).defaultFields;
    expect(await roles('3-4')).toMatchObject({ lastName: '5.3.26', role: '1/2' });
    expect(await roles('00124')).toMatchObject({ lastName: 'MARCH1', role: 'WAHR' });
    expect(await open(bench)).toEqual([]);
  });
});

describe('a correction', () => {
  it('is taken where the cell was rejected, though a spreadsheet could have made it', async () => {
    const role = { column: 'Born', transform: [{ date: 'D.M.YYYY' }] };
    const bench = await openRunsBench({ mapping: mapping({ fields: { firstName: 'firstName', role } }) });
    const { text } = await bench.fixFile(
      await bench.import('a.csv', csv(['c-1,Ann,2026-03-05'], 'externalId,firstName,Born')),
    );
    expect(text).toContain('dateInvalid');
    const run = await bench.import('b.csv', text.replace('2026-03-05', '5.3.2026'));
    expectCounts(run, { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('2026-03-05');
  });
});
