/** Rows of totals (`docs/bad-inputs.md`, "CSV"). */
import { describe, expect, it } from 'vitest';
import { createRowFilter } from '#src/mapping/conditions.ts';
import { headerRule } from '#src/mapping/recognise.ts';
import { isRuleRow, isTotalRow } from '#src/sources/total-rows.ts';
import { mapping } from '#test/mapping/support.ts';
import { brokenOf, dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();

describe('a row of totals', () => {
  it.each([
    ...[
      'Total',
      'TOTAL:',
      'Grand Totals (3 records)',
      'Gesamtsummen (20 Datensätze)',
      'Totaux généraux (3 enregistrements)',
      'Grand Total',
      'Subtotal',
      'Total records: 128',
      'Total 12',
      'Total (12)',
      'Total (12) ',
      'Grand Totals (128 records)\u00a0',
    ],
    ...['Summe', 'Gesamt', 'Gesamtsumme', 'Insgesamt:', 'Zwischensumme', 'Total général', 'Sous-total', 'Suma total'],
    ...['Total general', 'Totale', 'Totaal', 'Razem', 'Łącznie', 'Suma', 'Totalt'],
  ])('begins with %s', (word) => {
    expect(isTotalRow([word, '', ''], [])).toBe(true);
    expect(isTotalRow(['', word, '128'], [])).toBe(true);
    expect(isTotalRow([word], [0])).toBe(true);
  });

  it.each([[['Total', '3']], [['Total', '1,234,567.89', '12.50 €']], [['Total', '-12', '100%']], [['Total', '1 234']]])(
    'may hold short numbers and sums: %j',
    (cells) => {
      expect(isTotalRow(cells, [])).toBe(true);
    },
  );

  it.each([
    ['a phone number', ['Total', '+14155550109']],
    ['a phone number in digits', ['Total', '4155550109']],
    ['a phone number in groups', ['Total', '612 345 678']],
    ['an address', ['Total', 'total@example.com']],
    ['a name', ['Total', 'Recall']],
    ['a word more', ['Total Recall', '']],
    ['another word', ['Totality', '']],
    ['a first name', ['Summer', '', '12']],
  ])('is not one with %s', (_name, cells) => {
    expect(isTotalRow(cells, [])).toBe(false);
  });

  it.each([
    [['Subtotal', 'Count', '5']],
    [['', 'Total', '', 'Record Count', '20', '']],
    [['Gesamtsumme', 'Anzahl', '20']],
    [['Sous-total', 'Moyenne', '12,50']],
    [['Total', 'Sum', '$1,234.00', '7']],
  ])('may say what its numbers are: %j', (cells) => {
    expect(isTotalRow(cells, [])).toBe(true);
  });

  it.each([
    ['without a number', ['Total', 'Count', '']],
    ['with a phone number', ['Total', 'Count', '4155550109']],
    ['with an address', ['Total', 'Count', '5', 'count@example.com']],
    ['behind the number', ['Total', '5', 'Count']],
    ['that is a first name', ['Total', 'Max', '5']],
    ['beside another text', ['Total', 'Count', '5', 'Basie']],
  ])('is not one with such a word %s', (_name, cells) => {
    expect(isTotalRow(cells, [])).toBe(false);
  });

  it('is not one with a key of its own', () => {
    expect(isTotalRow(['Total', '', '17'], [2])).toBe(false);
    expect(isTotalRow(['17', 'Total', ''], [0])).toBe(false);
    expect(isTotalRow(['Total', '2', '17'], [1, 2])).toBe(false);
  });

  it('may have the word and a number in the cells of a key of several', () => {
    expect(isTotalRow(['Total', '', '', '128'], [0, 3])).toBe(true);
    expect(isTotalRow(['', 'Summe', '128'], [1, 2])).toBe(true);
    expect(isTotalRow(['Total', '', 'A-17'], [0, 2])).toBe(false);
    expect(isTotalRow(['Total', '4155550109'], [0, 1])).toBe(false);
  });

  it.each([
    [{ join: ['Firm', 'Number'], with: ',' }, ['Total,,128', 'Summe,3,128'], true],
    [{ template: '{Firm},{Number}' }, ['Total,,128', 'Summe,3,128'], true],
    [{ firstOf: ['Number', 'Firm'] }, ['Total,,128'], false],
    ['Number', ['Total,,128'], false],
  ] as const)('is left out where the key is %j: %j', async (key, lines, isLeftOut) => {
    const by = mapping({ key, fields: { company: 'Firm', lastName: 'Name' } });
    const content = `Firm,Name,Number\nACME,Ann,1\n${lines.join('\n')}\n`;
    const { items, tail } = await readText(folder, 'a.csv', content, { header: headerRule(by) });
    expect(items).toHaveLength(isLeftOut ? 1 : 1 + lines.length);
    expect(tail.warnings.map(({ code }) => code)).toEqual(isLeftOut ? lines.map(() => 'totalLine') : []);
  });
});

describe('the count of a database below its rows', () => {
  it.each([
    '(20 rows)',
    '(1 row)',
    '(20 Zeilen)',
    '(20 rows affected)',
    '20 rows in set (0.01 sec)',
    '20 rows selected.',
  ])('is a row of totals: %s', (text) => {
    expect(isTotalRow([text], [0])).toBe(true);
    expect(isTotalRow(['', text, ''], [])).toBe(true);
  });

  it.each([[['20 rows']], [['(20 rows)', 'Ann']], [['Studio (20 rows)']], [['(030) 1234567']]])(
    'is none with anything else: %j',
    (cells) => {
      expect(isTotalRow(cells, [])).toBe(false);
    },
  );
});

describe('a rule', () => {
  it.each([[['-----']], [['----+-----+---']], [['--', '----', '-']], [['', '=====', '']], [['━━━━┼━━━']]])(
    'is %j',
    (cells) => {
      expect(isRuleRow(cells)).toBe(true);
    },
  );

  it.each([[['-', '-', '-']], [['', '    ']], [['-----', 'Ann']], [['1-----']], [['']]])('is not %j', (cells) => {
    expect(isRuleRow(cells)).toBe(false);
  });
});

it('totals are left out of a file in any layout, with a note that names the line, and people called Total are not', async () => {
  const header = { isHeader: (cells: readonly string[]) => cells.includes('externalId'), wanted: 'key', hint: '' };
  const { items, tail } = await readText(
    folder,
    't.csv',
    'firstName,lastName,phone,externalId\nAnn,Lee,+14155550101,1\nTotal,,,2\nTotal,Recall,+14155550102,3\nSubtotal,,,\n\nGrand Totals (3 records)\n',
    { header },
  );
  expect(dataOf(items)).toEqual([
    ['Ann', 'Lee', '+14155550101', '1'],
    ['Total', '', '', '2'],
    ['Total', 'Recall', '+14155550102', '3'],
  ]);
  expect([brokenOf(items), tail.recordCount]).toEqual([[], 3]);
  expect(tail.warnings).toMatchObject([
    { code: 'totalLine', line: 5, value: 'Subtotal,,,', message: 'line 5 is left out: it holds totals' },
    { code: 'totalLine', line: 7, value: 'Grand Totals (3 records)' },
  ]);
});

it('rules and the count below the rows are left out, and a footer is rejected with what leaves it out', async () => {
  const header = {
    isHeader: (cells: readonly string[]) => cells.some((cell) => cell.trim() === 'id'),
    wanted: 'key',
    hint: '',
  };
  const content =
    ' id | name | phone \n----+------+-------\n 1 | Ann | +14155550101\n(1 row)\n\n"Generiert von: Ilja Birch 26.11.2026"\n26.11.2026  Kunden  Seite 2\n2 Bob\n';
  const { items, tail } = await readText(folder, 'r.txt', content, { header });
  expect(tail.warnings.map(({ code, line }) => [code, line])).toEqual([
    ['ruleLine', 2],
    ['totalLine', 4],
  ]);
  const problems = items.flatMap((item) => (item.type === 'broken' ? [item.problem] : []));
  expect(problems.map(({ line, hint }) => [line, hint])).toEqual([
    [6, expect.stringContaining('add { beginsWith: "Generiert von: Ilja Birch", isAlone: true } to the list skipRows')],
    [7, expect.stringContaining('add { contains: "Kunden  Seite", isAlone: true } to the list skipRows')],
    [8, 'Put a value that contains the delimiter into quotes, or add the missing delimiters.'],
  ]);
  const skipRows = [
    { beginsWith: 'Generiert von: Ilja Birch', isAlone: true },
    { contains: 'Kunden  Seite', isAlone: true },
  ];
  const filter = createRowFilter(mapping({ key: 'id', skipRows }), ['id', 'name', 'phone']);
  expect(items.map((item) => filter.skips(item))).toEqual([false, true, true, false]);
});
