/** What comes back from a fix-file: every cell, in its original shape, whatever a spreadsheet did to it (`docs/rules.md`, "Dead letters"). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { CellsRow } from '#src/sources/row.ts';
import { act } from '#test/contracts/support/build.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const wide = 'externalId,firstName,lastName,company,phone';
/** One row with a cell too few, one with a cell too many. */
const shifted = csv(['z-9,Bob,ACME,+14155550109', 'z-8,Ada,Smith, Jr.,ACME,+14155550101'], wide);

/** The rows that died when the file was read, with their cells. */
async function deadCells(bench: RunsBench, run: RunRecord): Promise<readonly (readonly string[])[]> {
  const staged = await bench.stage(run);
  expect(staged.counts.dead).toBe(staged.counts.rows);
  return (await bench.deadRows(staged)).map(({ row }) => {
    const { cells, beyond = [] } = row as CellsRow;
    return [...cells, ...beyond];
  });
}

function quotedLine(cells: readonly string[], delimiter: string): string {
  return `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter)}\r\n`;
}

describe('a fix-file', () => {
  it('gives every cell back exactly, whatever stands in it and whatever the delimiter', async () => {
    const bench = await openRunsBench();
    const elsewhere = await openRunsBench();
    const nasty = fc
      .array(fc.constantFrom(...'=+-@\t\r\n\'",;|: aé😀', '\r\n', '#CLEAR', '007', '+1415', "'=", '_id'), {
        maxLength: 6,
      })
      .map((pieces) => pieces.join(''));
    // Many rows in few files: a file costs more than its rows.
    const rows = fc.array(fc.tuple(nasty, nasty, nasty), { minLength: 1, maxLength: 12 });
    let file = 0;
    const property = fc.asyncProperty(rows, fc.constantFrom(',', ';', '\t', '|', '^'), async (cells, delimiter) => {
      file += 1;
      const written = cells.map(([one, two, three], row) => [`c-${file}-${row}`, one, 'call me', two, three]);
      const header = ['externalId', 'firstName', 'phone', '=Notes', '_ID'];
      const text = [header, ...written].map((line) => quotedLine(line, delimiter)).join('');
      const first = await bench.import(`${file}.csv`, text, { options: { delimiter } });
      const fix = await bench.fixFile(first);
      expect(await deadCells(bench, await bench.submit(`${file}-again.csv`, fix.text))).toEqual(written);
      // In another data folder nobody knows the letters.
      expect(await deadCells(elsewhere, await elsewhere.submit(`${file}.csv`, fix.text))).toEqual(written);
    });
    await fc.assert(property, { numRuns: 15 });
  }, 60_000);

  it('gives back a name that begins with a tab or a carriage return as it was', async () => {
    const bench = await openRunsBench();
    const text = csv(['c-1,"\tTab","\rReturn",,call me'], wide);
    const fix = await bench.fixFile(await bench.import('a.csv', text));
    await bench.import('mended.csv', fix.text.replace('call me', '+14155550101'));
    expect((await bench.world.contactOf('c-1')).defaultFields).toMatchObject({ firstName: 'Tab', lastName: 'Return' });
  });

  it('keeps every cell: those beyond the header stand in _more1, _more2…', async () => {
    const bench = await openRunsBench();
    const rows = ['z-9,Bob,ACME,+14155550109', 'z-8,Ada,Smith, Jr.,ACME,+14155550101,,x'];
    const { text } = await bench.fixFile(await bench.import('shift.csv', csv(rows, wide)));
    const [head, short, long] = text.split('\r\n');
    expect(head).toBe(`\ufeff${wide},_more1,_more2,_more3,_id,_line,_code,_hint`);
    expect(short).toMatch(/^z-9,Bob,ACME,\+14155550109,,,,,d\w+,2,cellCount,/);
    expect(long).toMatch(/^z-8,Ada,Smith," Jr\.",ACME,\+14155550101,,x,d\w+,3,cellCount,.*_more1/);
  });

  it('keeps what stands under an empty header, and columns that share a name with ours', async () => {
    const bench = await openRunsBench();
    const text = csv(['c-1,5f,m,call me,x,y', 'c-2,5e,m,+14155550101,,'], 'externalId,_id,_More1,phone,,');
    const run = await bench.import('a.csv', text);
    expectCounts(run, { rows: 2, created: 1, dead: 1 });
    const fix = await bench.fixFile(run);
    expect(fix.text.split('\r\n')[0]).toBe('\ufeffexternalId,__id,__More1,phone,_more1,_more2,_id,_line,_code,_hint');
    expect(await deadCells(bench, await bench.submit('again.csv', fix.text))).toEqual([
      ['c-1', '5f', 'm', 'call me', 'x', 'y'],
    ]);
    const mended = await bench.import('mended.csv', fix.text.replace('call me', '+14155550102'));
    expectCounts(mended, { rows: 1, created: 1 });
  });

  it('of an export whose key is called ID or _id can be dropped in again', async () => {
    for (const key of ['ID', '_id']) {
      const named = mapping({ key, fields: { firstName: 'Name' }, phones: [{ column: 'Phone', label: 'work' }] });
      const bench = await openRunsBench({ mapping: named });
      const { text } = await bench.fixFile(await bench.import('a.csv', csv(['7,Ann,call me'], `${key},Name,Phone`)));
      expectCounts(await bench.import('mended.csv', text.replace('call me', '+14155550101')), { rows: 1, created: 1 });
      expect((await bench.world.contactOf('7')).defaultFields.firstName).toBe('Ann');
    }
  });
});

describe('a row of a fix-file that nobody has changed', () => {
  it('is judged again in its original shape: a cell too few or too many is rejected as before', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('shift.csv', shifted));
    const before = await bench.letters();
    const again = await bench.import('again.csv', text);
    expectCounts(again, { rows: 2, dead: 2 });
    expect((await bench.letters()).map(({ id, code, seenCount }) => [id, code, seenCount])).toEqual(
      before.map(({ id }) => [id, 'cellCount', 2]),
    );
    expect((await bench.fixFile(again)).text.split('\r\n')[0]).toBe(text.split('\r\n')[0]);
  });

  it('is rejected as before where a quote stood in the wrong place', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(['z-1,"Bob"x,Y,ACME,'], wide)));
    expectCounts(await bench.import('again.csv', text), { rows: 1, dead: 1 });
    expect((await bench.letters()).map(({ code }) => code)).toEqual(['strayQuote']);
  });

  it('is rejected as before where it was no JSON', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.ndjson', '{"externalId":"c-1"\n"text"\n'));
    expectCounts(await bench.import('again.ndjson', text), { rows: 2, dead: 2 });
    expect((await bench.letters()).map(({ code, seenCount }) => [code, seenCount])).toEqual([
      ['jsonInvalid', 2],
      ['notAnObject', 2],
    ]);
  });

  it('is rejected also after a spreadsheet has damaged it', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('shift.csv', shifted));
    const saved = text
      .replaceAll(',', ';')
      .replace('+14155550109', '14155550109')
      .replace('+14155550101', '1.41556E+10');
    expectCounts(await bench.import('again.csv', saved), { rows: 2, dead: 2 });
  });
});

describe('a row of a fix-file that somebody has mended', () => {
  const mendShift = (text: string): string =>
    text
      .replace('z-9,Bob,ACME,+14155550109,,', 'z-9,Bob,,ACME,+14155550109,')
      .replace('z-8,Ada,Smith," Jr.",ACME,+14155550101', 'z-8,Ada,"Smith, Jr.",ACME,+14155550101,');

  it('is judged by its new cells: moved under their columns, with _more1 emptied', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('shift.csv', shifted));
    expectCounts(await bench.import('mended.csv', mendShift(text)), { rows: 2, created: 2 });
    expect((await bench.world.contactOf('z-8')).defaultFields).toMatchObject({
      lastName: 'Smith, Jr.',
      company: 'ACME',
    });
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed', 'closed']);
  });

  it('is rejected as long as _more1 holds something', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('shift.csv', shifted));
    const half = await bench.import('half.csv', text.replace('Ada', 'Ida'));
    expectCounts(half, { rows: 2, dead: 2 });
    const next = (await bench.fixFile(half)).text;
    expect(next).toContain('z-8,Ida,Smith," Jr.",ACME,+14155550101,');
    expectCounts(await bench.import('mended.csv', mendShift(next.replace('Ida', 'Ada'))), { rows: 2, created: 2 });
  });

  it('is taken as it stands where somebody emptied _code', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(['z-9,Bob,ACME'], wide)));
    expectCounts(await bench.import('again.csv', text.replace('cellCount', '')), { rows: 1, created: 1 });
  });

  it('has the cells that only a spreadsheet damaged put back', async () => {
    const bench = await openRunsBench();
    const row = '0049123456789012,007,2026-11-21,+14155550109,call me';
    const { text } = await bench.fixFile(
      await bench.import('a.csv', csv([row], 'externalId,firstName,lastName,phone home,phone work')),
    );
    const saved = text.replace(row, '4.91235E+13,7,21.11.2026,1.41556E+10,+14155550101').replaceAll(',', ';');
    expectCounts(await bench.import('mended.csv', saved), { rows: 1, created: 1 });
    const { defaultFields } = await bench.world.contactOf('0049123456789012');
    expect(defaultFields).toMatchObject({ firstName: '007', lastName: '2026-11-21' });
    expect(defaultFields.phoneNumbers?.map(({ value }) => value)).toEqual(['+14155550109', '+14155550101']);
  });

  it('has damaged cells put back also where they were moved under their columns', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('shift.csv', shifted));
    const saved = mendShift(text).replace('+14155550109', '14155550109').replace('+14155550101', '1.41556E+10');
    expectCounts(await bench.import('mended.csv', saved), { rows: 2, created: 2 });
    for (const [key, value] of [
      ['z-9', '+14155550109'],
      ['z-8', '+14155550101'],
    ] as const) {
      const { phoneNumbers } = (await bench.world.contactOf(key)).defaultFields;
      expect(phoneNumbers).toMatchObject([{ value }]);
    }
  });

  it('keeps its key also where a nightly file has met the letter again on another line', async () => {
    const bench = await openRunsBench();
    const header = 'externalId,firstName,phone';
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(['007,Ann,call me'], header)));
    await bench.import('b.csv', csv(['c-1,Bea,', '007,Anna,call me'], header));
    const saved = text.replace('007,Ann,call me', '7,Ann,+14155550101');
    expectCounts(await bench.import('mended.csv', saved), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('007')).defaultFields.firstName).toBe('Ann');
  });

  it('may get another key: one of two that shared it', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(['c-1,Ann,A', 'c-1,Bob,B'])));
    expectCounts(await bench.import('mended.csv', text.replace('c-1,Bob', 'c-2,Bob')), { rows: 2, created: 2 });
    expect((await bench.world.contactOf('c-2')).defaultFields.firstName).toBe('Bob');
  });

  it('keeps its letter open where it is rejected beside another one of its key, though its contact is as it says', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(await bench.import('a.csv', csv(['c-1,Ann,A', 'c-1,Bob,B'])));
    const ann = text.split('\r\n').filter((line) => !line.includes('Bob'));
    expectCounts(await bench.import('one.csv', ann.join('\r\n')), { rows: 1, created: 1 });
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed']);
    // Bob says something new.
    expectCounts(await bench.import('both.csv', text.replace('Bob,B', 'Bob,C')), { rows: 2, dead: 2 });
    expect((await bench.letters()).map(({ code, state }) => [code, state])).toEqual([['duplicateKey', 'open']]);
  });

  describe('that belongs to another feed', () => {
    const header = 'externalId,firstName,phone';
    /** Both feeds have a person `1`, and each puts its own letter in front. A file with a rejected row of each. */
    const mixedFile = async (bench: RunsBench): Promise<string> => {
      const columns = { fields: { firstName: 'firstName' }, phones: [{ column: 'phone', label: 'work' }] };
      const named = (keyPrefix: string) => mapping({ keyPrefix, ...columns });
      const crm = { feed: 'crm', mapping: named('c-') };
      const shop = { feed: 'shop', mapping: named('s-') };
      const ann = await bench.fixFile(await bench.import('a.csv', csv(['1,Ann,call me'], header), crm));
      const zed = await bench.fixFile(await bench.import('b.csv', csv(['1,Zed,call me'], header), shop));
      const both = `${ann.text}${zed.text.split('\r\n')[1] ?? ''}\r\n`;
      return both.replace('call me', '+14155550101').replaceAll('call me', '+14155550102');
    };
    const states = async (bench: RunsBench) =>
      new Map((await bench.letters()).map(({ feed, code, state }) => [`${feed} ${code}`, state]));

    it('is rejected, and stays in the letter of its feed', async () => {
      const bench = await openRunsBench();
      const run = await bench.import('both.csv', await mixedFile(bench));
      expectCounts(run, { rows: 2, created: 1, dead: 1 });
      expect([run.feed, run.counts.deadNew]).toEqual(['crm', 0]);
      expect(await states(bench)).toEqual(
        new Map([
          ['crm phoneLetters', 'closed'],
          ['shop phoneLetters', 'open'],
        ]),
      );
    });

    it('goes to its own feed by the fix-file that was named with it, and nowhere else', async () => {
      const bench = await openRunsBench();
      const both = await bench.import('both.csv', await mixedFile(bench));
      const again = await bench.import('again.csv', (await bench.fixFile(both)).text);
      expectCounts(again, { rows: 1, created: 1 });
      expect(again.feed).toBe('shop');
      for (const [key, firstName] of [
        ['c-1', 'Ann'],
        ['s-1', 'Zed'],
      ] as const)
        expect((await bench.world.contactOf(key)).defaultFields.firstName).toBe(firstName);
      expect([...(await states(bench)).values()]).toEqual(['closed', 'closed']);
    });

    it('opens its letter again where that was dropped', async () => {
      const bench = await openRunsBench();
      const text = await mixedFile(bench);
      await bench.ledger.deadLetters.drop({ feed: 'shop' }, act('deadDrop'));
      expect((await states(bench)).get('shop phoneLetters')).toBe('dropped');
      await bench.import('both.csv', text);
      expect((await states(bench)).get('shop phoneLetters')).toBe('open');
    });
  });
});

describe('a fix-file of dead letters from several files', () => {
  it('leaves a column alone that a row’s own file did not have', async () => {
    const bench = await openRunsBench({ onBlank: 'clear' });
    await bench.import('before.csv', csv(['c-2,Bea,Boss'], 'externalId,firstName,role'));
    await bench.import('a.csv', csv(['c-1,Ann,A,call me'], 'externalId,firstName,role,phone'));
    await bench.import('b.csv', csv(['c-2,call me'], 'externalId,phone'));
    const [again] = await redrive(bench.parts, { remap: false });
    if (again === undefined) throw new Error('nothing was tried again');
    const { text } = await bench.fixFile(await bench.carryOut(again));
    const mended = await bench.import('mended.csv', text.replaceAll('call me', '+14155550101'));
    expectCounts(mended, { rows: 2, created: 1, updated: 1 });
    expect((await bench.world.contactOf('c-2')).defaultFields).toMatchObject({ firstName: 'Bea', role: 'Boss' });
  });

  it('of CSV and JSON keeps the cells beyond a header, too', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,x,y'], 'externalId,firstName'));
    await bench.import('b.json', JSON.stringify([{ externalId: 'c-2', phone: 'call me' }]));
    const [again] = await redrive(bench.parts, { remap: true });
    if (again === undefined) throw new Error('nothing was tried again');
    const run = await bench.carryOut(again);
    const fix = await bench.fixFile(run);
    const lines = fix.text.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ externalId: 'c-1', _more1: 'x', _more2: 'y' }),
    );
    expectCounts(await bench.import('again.ndjson', fix.text), { rows: 2, dead: 2 });
  });
});

describe('a row whose text was no JSON', () => {
  it.each([
    [
      'a.ndjson',
      '{"externalId":"c-1","firstName":"Ann"\n{"externalId":"c-9","firstName":"Zoe"}\n',
      '\\"Ann\\"',
      '\\"Ann\\"}',
    ],
    [
      'a.json',
      '[{"externalId":"c-9","firstName":"Zoe"}, "c-1 Ann"]',
      'c-1 Ann\\""',
      '{\\"externalId\\":\\"c-1\\",\\"firstName\\":\\"Ann\\"}"',
    ],
  ])('goes in when the text is repaired: %s', async (name, text, broken, repaired) => {
    const bench = await openRunsBench();
    const { text: fix } = await bench.fixFile(await bench.import(name, text));
    expect(fix).toContain('correct the text in _text');
    const once = fix.replace('"_text":"\\"', '"_text":"').replace(broken, repaired);
    expectCounts(await bench.import('again.ndjson', once), { rows: 1, created: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields).toMatchObject({ firstName: 'Ann' });
    expect((await bench.letters()).map(({ state }) => state)).toEqual(['closed']);
  });

  it('goes in when the members of a contact are written beside it', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(
      await bench.import('a.ndjson', 'nonsense\n{"externalId":"c-9","firstName":"Zoe"}\n'),
    );
    const written = text.replace('{', '{"externalId":"c-1","firstName":"Ann",');
    const run = await bench.import('again.ndjson', written);
    expectCounts(run, { rows: 1, created: 1 });
    expect(run.notes).toEqual([]);
  });

  it('is rejected with what is wrong now when it is repaired in part', async () => {
    const bench = await openRunsBench();
    const { text } = await bench.fixFile(
      await bench.import('a.ndjson', '{"externalId":"c-1"\n{"externalId":"c-9","firstName":"Zoe"}\n'),
    );
    const half = text.replace('\\"c-1\\"', '\\"c-1\\",\\"phone\\":\\"x');
    expectCounts(await bench.import('half.ndjson', half), { rows: 1, dead: 1 });
    const [letter] = await bench.letters();
    expect(letter).toMatchObject({ code: 'jsonInvalid', row: { object: { _text: '{"externalId":"c-1","phone":"x' } } });
    expectCounts(await bench.import('whole.ndjson', half.replace('"x', '"x\\"}')), { rows: 1, dead: 1 });
    const open = (await bench.letters()).filter(({ state }) => state === 'open');
    expect(open.map(({ code, key, row }) => [code, key, row])).toMatchObject([
      ['phoneLetters', 'c-1', { object: { externalId: 'c-1', phone: 'x' } }],
    ]);
  });
});
