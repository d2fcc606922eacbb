/** Files that were joined, or written by unusual programs (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { headerRule } from '#src/mapping/recognise.ts';
import { brokenOf, dataOf, errorOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const header = headerRule(null);
const read = (content: string, options = {}) => readText(folder, 'j.csv', content, { header, ...options });

describe('a file that was joined from several', () => {
  it('repeats its header: the line is left out, with a note', async () => {
    const one = 'externalId,firstName\nc-1,Ann\n';
    const { items, tail } = await read(`${one}${one.replace('c-1', 'c-2')}`);
    expect(dataOf(items)).toEqual([
      ['c-1', 'Ann'],
      ['c-2', 'Ann'],
    ]);
    expect(tail.warnings).toMatchObject([
      { code: 'headerRepeated', line: 3, message: 'line 3 is left out: it repeats the header' },
    ]);
  });

  it('has byte order marks inside: none hides a header or a quote', async () => {
    const { items, tail } = await read(
      'externalId,firstName\nc-1,Ann\n\ufeffexternalId,firstName\n\ufeff"c-2","B\ufeffea"\n',
    );
    expect(dataOf(items)).toEqual([
      ['c-1', 'Ann'],
      ['c-2', 'B\ufeffea'],
    ]);
    expect(tail.warnings).toMatchObject([{ code: 'headerRepeated', line: 3 }]);
  });

  it('has a second header with the columns in another order: it is refused, since rows would be misread', async () => {
    const error = await errorOf(
      read('externalId,firstName,company\nc-1,Ann,A\nfirstName,externalId,company\nBea,c-2,B\n'),
    );
    expect(error).toMatchObject({ kind: 'file', code: 'secondHeader', facts: { line: 3, firstLine: 1 } });
  });

  it.each([
    ['whose first column has no name', ',externalId,firstName', '0,c-1,Ann', ',externalId,firstName'],
    ['in other case, with other dashes', 'externalId,First-Name', 'c-1,Ann', 'externalid,First_name'],
    ['and the key alone', 'externalId,firstName', 'c-1,Ann', 'externalId,'],
    ['with a blank cell behind it', 'externalId,firstName', 'c-1,Ann', 'externalId,firstName,'],
    ['whose key has an arrow', 'externalId ↑,firstName', 'c-1,Ann', 'externalId ↑,firstName'],
  ])('repeats a header %s', async (_, first, row, again) => {
    const { items, tail } = await read(`${first}\n${row}\n${again}\n${row}\n`);
    expect(dataOf(items)).toEqual([row.split(','), row.split(',')]);
    expect(tail.warnings).toContainEqual(expect.objectContaining({ code: 'headerRepeated', line: 3 }));
  });

  it.each([
    ['has them in another order, and in other case', 'externalid,Lastname,Firstname'],
    ['has another column', 'externalId,firstName,phone'],
    ['lacks a column', 'externalId,firstName'],
    ['has one more', 'externalId,firstName,lastName,phone'],
    ['has the key elsewhere and another column', 'firstName,externalId,phone'],
    ['has another column in place of the key', 'phone,externalId,firstName'],
  ])('has a second header that %s: it is refused', async (_, again) => {
    const error = await errorOf(read(`externalId,firstName,lastName\nc-1,Ann,A\n${again}\nc-2,Bea,B\n`));
    expect(error).toMatchObject({ code: 'secondHeader', facts: { line: 3, firstLine: 1 } });
  });

  it('has an arrow behind its key, and a second header in another order: it is refused', async () => {
    const text = 'externalId ▼,firstName,lastName\nc-1,Ann,A\nexternalId ▼,lastName,firstName\nc-2,B,Bea\n';
    expect(await errorOf(read(text))).toMatchObject({ code: 'secondHeader', facts: { line: 3, firstLine: 1 } });
  });

  it('of a mapping whose key is no single column repeats its header', async () => {
    const { items, tail } = await read('Vorname,Mail\nAnn,a@example.com\nVORNAME,mail\n', { header: null });
    expect([items.length, tail.warnings[0]?.code]).toEqual([1, 'headerRepeated']);
  });

  it('is not one whose cells say what the key is, beside a key', async () => {
    const byEmail = { isHeader: (cells: readonly string[]) => cells.includes('Email'), wanted: '', hint: '' };
    const text = 'Email,Phone,Label,Label 2\na@example.com,+14155550101,Email,Phone\n';
    expect((await read(text, { header: byEmail })).items).toHaveLength(1);
  });

  it.each([
    ['Name,Email,Phone,Preferred,Backup', 'Email', 'Bob,,,Email,Phone'],
    ['Name,Email,Phone,Preferred,Backup', 'Email', 'Bob,-,,Email,Phone'],
    ['Name,Email,Phone,Preferred,Backup', 'Email', 'Bob,none,,Email,Phone'],
    ['Name,Email,Phone,Preferred,Backup', 'Email', ',none,,Email,Phone'],
    ['Name,Email,Phone,Preferred,Backup', 'Email', ',,,Email,Phone'],
    ['Email,Preferred,Backup,Phone', 'Email', ',Phone,Email,'],
    ['First name,Last name,Company,Email,Channel', 'Email', 'Bob,,Company,,Email'],
    ['User,Name,Mail', 'User', 'user,Test user,user@example.com'],
    ['User,Name,Phone', 'User', 'user,User,+14155550101'],
    ['User,Name,Since', 'User', 'user,Test user,2024-05-01'],
  ])('is not one of the columns %s, key %s, with a row %s that names some', async (columns, key, row) => {
    const byKey = { isHeader: (cells: readonly string[]) => cells.includes(key), wanted: '', hint: '' };
    expect((await read(`${columns}\n${row}\n`, { header: byKey })).items).toHaveLength(1);
  });

  it.each([
    ['Email,Name,Phone', 'Name,Email,Phone'],
    ['Email,Name,Phone', ',Email,Name'],
    ['Email,Name,Phone', 'Email,Vorname,Telefon'],
    ['Email,Name,Phone', 'Name,Email'],
    ['Email,Name,Phone', 'Email,Name,Address 2'],
    ['Email,phone1,firstName,lastName', 'phone1,Email,firstName,lastName'],
    ['Email,firstName,lastName', 'Email,Revenue 2024,Revenue 2025'],
    ['Email,Name,City', 'Email,2024 revenue,2025 revenue'],
  ])('with the columns %s has a second header %s', async (columns, again) => {
    const byEmail = { isHeader: (cells: readonly string[]) => cells.includes('Email'), wanted: '', hint: '' };
    const error = await errorOf(read(`${columns}\na@example.com,Ann,1\n${again}\n`, { header: byEmail }));
    expect(error).toMatchObject({ code: 'secondHeader', facts: { line: 3, firstLine: 1 } });
  });

  it('is not a file in which a person is called as a column is', async () => {
    const { items } = await read('firstName,externalId,company\nCompany,c-1,company\nfirstName,c-2,\n');
    expect(items).toHaveLength(2);
  });
});

describe('an unusual program', () => {
  it.each(['\u0085', '\u2028', '\u2029'])(
    'that ends lines with %j: the file is refused, not taken for a header',
    async (end) => {
      const error = await errorOf(read(`externalId,firstName${end}c-1,Ann${end}c-2,Bea${end}`));
      expect(error).toMatchObject({ kind: 'file', code: 'lineEndsUnknown', facts: { line: 1 } });
    },
  );

  it.each(['c-1,Ann\r\n', 'c-1,Ann', 'c-1,"Ann"', 'c-1,"Ann"\n'])(
    'that ends the file with Ctrl-Z behind %j: it is no text and no line',
    async (row) => {
      const { items, tail } = await read(`externalId,firstName\r\n${row}\u001a`);
      expect([dataOf(items), brokenOf(items), tail.blankLineCount]).toEqual([[['c-1', 'Ann']], [], 0]);
    },
  );

  it('that writes characters of no width into the header: the column is known', async () => {
    expect((await read('external\u200bId,\ufefffirstName\nc-1,Ann\n')).items).toHaveLength(1);
  });

  it('that begins with many blank lines: the header is the first line behind them', async () => {
    const { items, tail } = await read(`${'\n'.repeat(1_000)}externalId,firstName\nc-1,Ann\n`);
    expect([items[0]?.row.line, tail.blankLineCount]).toEqual([1_002, 1_000]);
    expect((await read('\n'.repeat(1_000))).tail.warnings).toMatchObject([{ code: 'emptyFile' }]);
  });
});

it('the message about a missing header names the line that it quotes', async () => {
  const error = await errorOf(read('name,mail\nAnn,a@example.com,x\n'));
  expect(error.facts.line).toBe(2);
  expect(error.message).toContain('line 2 holds: "Ann", "a@example.com", "x"');
});

it('a table that is called .json is told so', async () => {
  const error = await errorOf(readText(folder, 'a.json', 'externalId,firstName\nc-1,Ann\n'));
  expect(error).toMatchObject({ code: 'jsonInvalid', hint: expect.stringContaining('give its name the ending .csv') });
});
