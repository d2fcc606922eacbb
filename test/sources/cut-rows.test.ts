/** Short rows: which were cut by an exporter, and which are broken (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { brokenOf, dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const header = 'externalId,firstName,lastName,company,email,phone,notes';
const full = 'a-1,Ada,Lovelace,Engines,ada@example.com,+14155550101,first';
const read = (...rows: readonly string[]) => readText(folder, 'short.csv', `${[header, ...rows].join('\n')}\n`);

describe('a short row that an exporter cut', () => {
  it.each([
    ['ends in a phone number under the phones', 'a-2,Bea,Smith,ACME,bea@example.com,+14155550102'],
    ['ends in an address under the addresses', 'a-2,Bea,Smith,ACME,bea@example.com'],
    ['has blank cells behind and before the address', 'a-2,,Smith,,bea@example.com,'],
    ['ends in a quoted address', 'a-2,"Bea, B.",Smith,"AC\nME","bea@example.com"'],
  ])('%s: it is read, with blank cells at its end', async (_name, row) => {
    const { items, tail } = await read(full, row, full);
    expect(brokenOf(items)).toEqual([]);
    const cells = items[1]?.row.kind === 'cells' ? items[1].row.cells : [];
    expect([cells.length, cells[0], cells[2], cells[4], cells[6]]).toEqual([7, 'a-2', 'Smith', 'bea@example.com', '']);
    expect(tail.warnings).toMatchObject([
      {
        ...{ code: 'rowsCut', line: 3 },
        message: 'the row in line 3 was shorter than the header; the missing cells at the end were read as blank',
      },
    ]);
  });

  it('is known by the names of the columns where no row is complete', async () => {
    const { items } = await read('a-2,Bea,Smith,ACME,bea@example.com', 'a-3,Cy,Lee,ACME,,+1 415 555 0103');
    expect(brokenOf(items)).toEqual([]);
  });

  it('may end in any text where the file shows that blank ends are removed and blank cells inside are kept', async () => {
    const { items, tail } = await read('a-1,Ada,Lovelace', 'a-2,,Smith,ACME', full, 'a-3,Cy', 'a-4,,,ACME');
    expect(brokenOf(items)).toEqual([]);
    expect(dataOf(items).map((cells) => (cells as string[]).join('|'))).toEqual([
      'a-1|Ada|Lovelace||||',
      'a-2||Smith|ACME|||',
      full.replaceAll(',', '|'),
      'a-3|Cy|||||',
      'a-4|||ACME|||',
    ]);
    expect(tail.warnings).toMatchObject([
      {
        code: 'rowsCut',
        message: expect.stringMatching(/^4 rows \(the first in line 2\) were shorter than the header/),
      },
    ]);
  });

  it('may end in any text where addresses and numbers show that nothing moved', async () => {
    const { items } = await read(
      ...['a-1,Ada,Lovelace', 'a-2,Bea,Smith,ACME,bea@example.com', 'a-3,Cy,Lee,ACME,cy@example.com,+14155550103'],
    );
    expect(brokenOf(items)).toEqual([]);
  });
});

describe('a short row that lost a delimiter', () => {
  it.each([
    ['a phone number under the company', 'z-9,Bob,ACME,+14155550109'],
    ['an address under the company', 'z-9,Bob,ACME,bob@example.com,+14155550109,note'],
    ['two merged cells in front', 'z-9 Bob,Lee,ACME,bob@example.com,+14155550109,note'],
    ['a phone number under the addresses', 'z-9,Bob,Lee,ACME,+14155550109'],
    ['a text under the phones', 'z-9,Bob,Lee,ACME,bob@example.com,a note'],
    ['nothing that tells its columns', 'z-9,Bob,ACME'],
    ['one filled cell, which may be a remark', 'Confidential Information - Do Not Distribute'],
    ['an address as its only filled cell', ',,,,bob@example.com'],
    ['an address and a phone number in one cell', 'z-9,Bob,Lee,ACME,bob@example.com+14155550109'],
    ['text behind a closing quote', 'z-9,"Bob" x,Lee,ACME,bob@example.com'],
  ])('stays rejected: %s', async (_name, row) => {
    const { items, tail } = await read(full, row, full);
    expect(items.map(({ type }) => type)).toEqual(['row', 'broken', 'row']);
    expect(tail.warnings).toEqual([]);
  });

  it('stays rejected in a file whose other short rows are cut', async () => {
    const cut = ['a-1,Ada,Lovelace', 'a-2,,Smith,ACME', 'a-3,Cy', 'a-4,,,ACME'];
    const rows = [
      ...Array.from({ length: 200 }, () => cut).flat(),
      'z-9,Bob,ACME,+14155550109',
      'z-8,Bob,Lee,ACME,a note',
    ];
    expect(brokenOf((await read(...rows)).items)).toEqual(['802:cellCount', '803:cellCount']);
  });

  it('stays rejected where an exporter leaves out blank cells anywhere', async () => {
    const { items } = await read('a-1,Ada,ACME', 'a-2,Smith,ACME,+14155550102', 'a-3,Lee', 'a-4,Cy,Ray,cy@example.com');
    expect(items.map(({ type }) => type)).toEqual(['broken', 'broken', 'broken', 'broken']);
  });

  it('stays rejected where two columns hold such values: the one between may be lost', async () => {
    const content = 'externalId,phone mobile,phone work\n1,+14155550101,+14155550102\n2,+14155550103\n';
    expect(brokenOf((await readText(folder, 'two.csv', content)).items)).toEqual(['3:cellCount']);
  });

  it('stays rejected where rows end in a blank cell, since blank ends are not removed there', async () => {
    const blank = 'a-5,Eve,Ray,ACME,,,';
    const { items } = await read('a-1,Ada,Lovelace', 'a-2,,Smith,ACME', blank, 'a-3,Cy', 'a-4,,,ACME');
    expect(brokenOf(items)).toHaveLength(4);
  });
});

it('the last row of a file that ends inside it is rejected: the file may be cut off', async () => {
  const content = `${header}\n${full}\na-2,Bea,Smith,ACME,bea@example.co`;
  const { items } = await readText(folder, 'cut.csv', content);
  expect(items[1]).toMatchObject({
    type: 'broken',
    problem: { code: 'cellCount', line: 3, hint: expect.stringContaining('may be cut off') },
  });
  expect(brokenOf((await readText(folder, 'cut.csv', `${content}\n`)).items)).toEqual([]);
});
