import { describe, expect, it } from 'vitest';
import type { SourceOptions } from '#src/sources/open-source.ts';
import { dataOf, errorOf, type ReadFile, readText, useTempFolder, warningCodes } from '#test/sources/temp-files.ts';
import { type CellValue, type SheetPlan, workbookMembers, workbookOf, writeWorkbook } from '#test/support/workbook.ts';
import { type ZipMember, zipFile } from '#test/support/zip-file.ts';

const folder = useTempFolder();
const read = (content: Uint8Array, options: Partial<SourceOptions> = {}): Promise<ReadFile> =>
  readText(folder, 'a.xlsx', content, options);
const header: SourceOptions['header'] = {
  isHeader: (cells) => cells.includes('externalId'),
  wanted: 'column externalId',
  hint: 'Add it.',
};

/** The text of one cell. */
async function seen(cell: CellValue, plan: Parameters<typeof workbookOf>[1] = {}): Promise<unknown> {
  const { items } = await read(
    workbookOf(
      [
        ['value', 'end'],
        [cell, 'x'],
      ],
      plan,
    ),
  );
  return (dataOf(items)[0] as string[])[0];
}

/** The parts of a workbook with one of them replaced. */
function withPart(rows: SheetPlan['rows'], name: string, data: ZipMember['data'] | ((old: string) => string)): Buffer {
  const members = workbookMembers({ sheets: [{ name: 'Contacts', rows }] });
  const changed = members.map((member): ZipMember => {
    if (member.name !== name) return member;
    return { name, data: typeof data === 'function' ? data(String(member.data)) : data };
  });
  return zipFile(changed);
}

describe('a cell is what a person sees in it', () => {
  it.each<readonly [string, CellValue, string]>([
    ['a text', 'Zoë & <b> "x"', 'Zoë & <b> "x"'],
    ['spaces around it, kept for the mapping', '  a  b ', '  a  b '],
    ['a text of digits', '007', '007'],
    ['a phone number as a number', 4155550101, '4155550101'],
    ['twelve digits, which a narrow column shows as 4.91512E+11', 491512345678, '491512345678'],
    ['fifteen digits', 123456789012345, '123456789012345'],
    ['a number that ignores its scientific format', { number: 4155550101, format: '0.00E+00' }, '4155550101'],
    ['leading zeros of a format', { number: 7, format: '00000' }, '00007'],
    ['the parts of a phone format', { number: 4155550101, format: '(###) ###\\-####' }, '(415) 555-0101'],
    ['a format with conditions', { number: 5550101, format: '[<=9999999]###\\-####;\\(###\\) ###\\-####' }, '555-0101'],
    ['a plus that the format adds', { number: 4915112345678, format: '\\+0' }, '+4915112345678'],
    ['thousands without separators', { number: 1234567, format: '#,##0' }, '1234567'],
    ['decimals as shown', { number: 1234.5, format: '#,##0.00' }, '1234.50'],
    ['a sum without the noise of binary fractions', 0.1 + 0.2, '0.3'],
    ['a small number', 0.0000001, '0.0000001'],
    ['a third', 11.666666666666666, '11.66666667'],
    ['the noise of a sum', 4018.99999998843, '4019'],
    ['a percentage', { number: 0.5, format: 9 }, '50%'],
    ['an amount of money', { number: 12.5, format: '[$€-407] #,##0.00' }, '€ 12.50'],
    ['words of a format', { number: 1, format: '"Yes";"Yes";"No"' }, 'Yes'],
    ['a number that its format hides', { number: 5, format: ';;;' }, '5'],
    ['a number in thousands, whole', { number: 1234567, format: '#,##0,' }, '1234567'],
    ['a number in millions, with their unit, whole', { number: 2500000, format: '0.0,,"M"' }, '2500000'],
    ['a small number under a format of thousands', { number: 5, format: '0,' }, '5'],
    ['a number whose own section does not scale', { number: 7, format: '[>999]0.0,"k";000' }, '007'],
    ['the sign that only the colour shows', { number: -1250.5, format: '#,##0.00;[Red]#,##0.00' }, '-1250.50'],
    ['the sign that nothing shows', { number: -5, format: '0;0' }, '-5'],
    ['the sign of a percentage in red', { number: -0.5, format: '0%;[Red]0%' }, '-50%'],
    ['a negative number in brackets, as shown', { number: -1234, format: '#,##0_);(#,##0)' }, '(1234)'],
    ['a negative number that is rounded to 0', { number: -0.4, format: '0' }, '0'],
    ['the same word for both signs', { number: -1, format: '"Yes";"Yes";"No"' }, 'Yes'],
    ['an unusable format', { number: 5, format: 'bad[' }, '5'],
    ['true', true, 'TRUE'],
    ['false', false, 'FALSE'],
    ['an error', { error: '#REF!' }, '#REF!'],
    ['a formula with a text', { formula: 'A1&"x"', value: 'ab' }, 'ab'],
    ['a formula with a number', { formula: '1+1', value: 2 }, '2'],
    ['a rich text, joined', { runs: '<r><t>Ada </t></r><r><rPr><b/></rPr><t>Lovelace</t></r>' }, 'Ada Lovelace'],
    ['a text without its pronunciation', { runs: '<t>東京</t><rPh sb="0" eb="2"><t>とうきょう</t></rPh>' }, '東京'],
    ['a line break', 'a\nb', 'a\nb'],
    ['an escaped character', '_x0041_', '_x0041_'],
    ['a date that is written as text', { xml: '<c r="A2" t="d"><v>2026-03-05T00:00:00</v></c>' }, '2026-03-05'],
    [
      'a time that is written as text',
      { xml: '<c r="A2" t="d"><v>2026-03-05T14:30:00Z</v></c>' },
      '2026-03-05T14:30:00Z',
    ],
  ])('%s', async (_name, cell, expected) => {
    expect(await seen(cell)).toBe(expected);
  });

  it.each<readonly [string, CellValue, string]>([
    ['the short date of the language (format 14)', { date: '2026-03-05' }, '2026-03-05'],
    ['05.03.2026', { date: '2026-03-05', format: 'dd.mm.yyyy' }, '2026-03-05'],
    ['a long date', { date: '2026-03-05', format: '[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy' }, '2026-03-05'],
    ['month and year', { date: '2026-03-01', format: 'mmm yy' }, '2026-03-01'],
    ['a Japanese date (format 31)', { date: '2026-03-05', format: 31 }, '2026-03-05'],
    ['with a time', { date: '2026-03-05T14:30:00', format: 'm/d/yy h:mm' }, '2026-03-05 14:30'],
    ['with seconds', { date: '2026-03-05T14:30:07', format: 'yyyy-mm-dd hh:mm:ss' }, '2026-03-05 14:30:07'],
    ['a time alone, as shown', { number: 0.5, format: 'h:mm AM/PM' }, '12:00 PM'],
    ['a duration, as shown', { number: 1.5, format: '[h]:mm' }, '36:00'],
    ['the day that 1900 did not have', { number: 60, format: 14 }, '1900-02-29'],
    ['a number that is no date', { number: -5, format: 14 }, '-5'],
  ])('a date is an ISO date: %s', async (_name, cell, expected) => {
    expect(await seen(cell)).toBe(expected);
  });

  it('counts dates from 1904 where the workbook says so', async () => {
    expect(await seen({ date: '2026-03-05' }, { date1904: true })).toBe('2026-03-05');
    expect(await seen({ date: '2026-03-05T14:30:00', format: 'm/d/yy h:mm' }, { date1904: true })).toBe(
      '2026-03-05 14:30',
    );
  });

  it('writes a number that has lost digits so that no reader takes it for a whole one, and says so', async () => {
    const rows = [
      ['externalId'],
      [{ number: '1.2345678901234501E+17', format: 0 }],
      [{ number: '1234567890123450', format: 0 }],
    ];
    const { items, tail } = await read(workbookOf(rows));
    expect(dataOf(items)).toEqual([['1.23456789012345E+17'], ['1.23456789012345E+15']]);
    expect(tail.warnings).toMatchObject([
      { code: 'digitsLost', line: 2, message: expect.stringContaining('2 numbers') },
    ]);
  });

  it.each(['0', '#', '#,##0', '0.00', '00000000000000000000', '0%', '"No. "0', 'yyyy-mm-dd'])(
    'does so under any format: %s',
    async (format) => {
      const numbers = ['1.23456789012346E+17', '1234567890123450', '-1234567890123450', '1234567890123450.7'];
      const { items, tail } = await read(
        workbookOf([['externalId'], ...numbers.map((number) => [{ number, format }])]),
      );
      expect(dataOf(items)).toEqual([
        ['1.23456789012346E+17'],
        ['1.23456789012345E+15'],
        ['-1.23456789012345E+15'],
        ['1.23456789012345E+15'],
      ]);
      expect(tail.warnings).toMatchObject([
        { code: 'digitsLost', line: 2, message: expect.stringContaining('4 numbers') },
      ]);
    },
  );

  it.each([
    [0, '1234567890123456'],
    ['0', '1234567890123456'],
    ['#,##0', '1234567890123456'],
    ['00000000000000000000', '00001234567890123456'],
  ])('keeps sixteen digits that another program wrote in full: %s', async (format, text) => {
    expect(await seen({ number: '1234567890123456', format })).toBe(text);
  });

  it('keeps fifteen digits under any format', async () => {
    for (const format of [0, '0', '#,##0'])
      expect(await seen({ number: 999999999999999, format })).toBe('999999999999999');
  });

  it.each(['#,##0;-#,##0;;@', '#,###', '0;;;@', ';;;'])(
    'reads a zero that its format hides as blank, as for a phone that a formula takes from an empty cell, and says so: %s',
    async (format) => {
      const zero: CellValue = { number: 0, format };
      const { items, tail } = await read(
        workbookOf([
          ['id', 'n'],
          ['1', zero],
          ['2', zero],
          ['3', { number: 5, format }],
        ]),
      );
      expect(dataOf(items)).toEqual([
        ['1', ''],
        ['2', ''],
        ['3', '5'],
      ]);
      expect(tail.warnings).toMatchObject([
        { code: 'hiddenZeros', line: 2, message: '2 zeros that their format hides were read as blank (the first: B2)' },
      ]);
    },
  );

  it('reads a formula without a value as blank, and says so', async () => {
    const { items, tail } = await read(
      workbookOf([
        ['id', 'n'],
        ['1', { formula: 'A2' }],
      ]),
    );
    expect(dataOf(items)).toEqual([['1', '']]);
    expect(tail.warnings).toMatchObject([{ code: 'formulaWithoutValue', line: 2 }]);
  });
});

describe('a sheet is a table', () => {
  it.each(['excel', 'calc', 'bare'] as const)('as %s writes it', async (dialect) => {
    const { head, items, tail } = await read(
      workbookOf(
        [
          ['id', 'name', 'n'],
          ['1', 'Ada', 3],
          ['2', null, 4],
          ['3', 'Cy', null],
        ],
        { dialect },
      ),
    );
    expect(head).toEqual({ format: 'xlsx', columns: ['id', 'name', 'n'], delimiter: null, encoding: 'utf-8' });
    expect(dataOf(items)).toEqual([
      ['1', 'Ada', '3'],
      ['2', '', '4'],
      ['3', 'Cy', ''],
    ]);
    expect([tail.recordCount, tail.warnings]).toEqual([3, []]);
  });

  it('gives the number of the row in the sheet, and counts blank rows between others only', async () => {
    const { items, tail } = await read(workbookOf([['id'], null, ['1'], [''], [null], ['2'], [''], ['  '], null]));
    expect(items.map(({ row }) => [row.line, row.record])).toEqual([
      [3, 1],
      [6, 2],
    ]);
    expect(tail.blankLineCount).toBe(3);
  });

  it('finds the header below a title, and names what is above it', async () => {
    const { head, items, tail } = await read(
      workbookOf([['Our customers'], null, ['externalId', 'name'], ['1', 'Ada']]),
      {
        header,
      },
    );
    expect([head.columns, dataOf(items)]).toEqual([['externalId', 'name'], [['1', 'Ada']]]);
    expect(tail.warnings).toMatchObject([{ code: 'preambleLine', line: 1 }]);
  });

  it('tells of a column without a name where its cells hold something, and keeps the cells', async () => {
    const { head, items, tail } = await read(workbookOf([['id', null, 'n'], ['1', 'x', 'a', 'beyond'], ['2']]));
    expect([head.columns, dataOf(items)]).toEqual([
      ['id', '', 'n'],
      [
        ['1', 'x', 'a'],
        ['2', '', ''],
      ],
    ]);
    expect(items[0]?.row).toMatchObject({ beyond: ['beyond'] });
    expect(tail.nameless).toEqual([
      { position: 2, line: 2, value: 'x' },
      { position: 4, line: 2, value: 'beyond' },
    ]);
  });

  it('breaks the row of a control character and of a cell above 64 KB', async () => {
    const { items } = await read(
      workbookOf([
        ['id', 'n'],
        ['1', 'a\u0007'],
        ['2', 'x'.repeat(65_537)],
        ['3', 'ok'],
      ]),
    );
    expect(items.map((item) => (item.type === 'broken' ? [item.problem.line, item.problem.code] : 'row'))).toEqual([
      [2, 'controlCharacter'],
      [3, 'cellTooLong'],
      'row',
    ]);
  });

  it('refuses more than 500 columns and more rows than the limit', async () => {
    const wide = (count: number): CellValue => ({
      xml: Array.from({ length: count }, (_, index) => `<c t="inlineStr"><is><t>c${index}</t></is></c>`).join(''),
    });
    expect((await errorOf(read(workbookOf([[wide(501)]])))).code).toBe('tooManyColumns');
    expect((await read(workbookOf([[wide(500)]]))).head.columns).toHaveLength(500);
    const rows = [['id'], ['1'], ['2'], ['3']];
    const error = await errorOf(read(workbookOf(rows), { limits: { rowsMax: 2 } }));
    expect(error).toMatchObject({ code: 'tooManyRows', facts: { line: 4 } });
    expect((await errorOf(read(workbookOf(rows), { limits: { recordBytesMax: 1 } }))).code).toBe('recordTooLong');
  });

  it('names the cell that is too far to the right, unless it holds nothing but spaces', async () => {
    const far = (text: string) => [
      ['externalId', 'name'],
      ['1', 'Ada', { xml: `<c r="ZZ2" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>` }],
    ];
    const error = await errorOf(read(workbookOf(far('check'))));
    expect([error.code, error.message, error.hint]).toEqual([
      'tooManyColumns',
      'a.xlsx, line 2: the cell ZZ2 holds something, and at most 500 columns are read, up to SF',
      'Clear the cells to the right of column SF if they are no part of the table; otherwise export fewer columns.',
    ]);
    const { head, items } = await read(workbookOf(far(' ')));
    expect([head.columns, dataOf(items)]).toEqual([['externalId', 'name'], [['1', 'Ada']]]);
  });

  it('notes hidden rows, hidden columns and merged cells, and reads them', async () => {
    const { items, tail } = await read(
      workbookOf([['Title'], ['externalId', 'company'], ['1', 'ACME'], ['2', null]], {
        hiddenRows: [4],
        before: '<cols><col min="2" max="4" hidden="1"/></cols>',
        after: '<mergeCells><mergeCell ref="A1:B1"/><mergeCell ref="B3:B4"/></mergeCells>',
      }),
      { header },
    );
    expect(dataOf(items)).toEqual([
      ['1', 'ACME'],
      ['2', 'ACME'],
    ]);
    expect(tail.warnings.map(({ code, line, message }) => [code, line, message])).toEqual([
      ['preambleLine', 1, expect.anything()],
      ['hiddenColumns', 1, 'hidden columns were read like all others: B'],
      ['hiddenRows', 4, '1 hidden row was read like all others (4)'],
      ['mergedRows', 3, '1 merged range was read with the value in each row (B3:B4)'],
    ]);
  });

  it('accepts an empty sheet and a header without rows, with a warning', async () => {
    expect(warningCodes((await read(workbookOf([]))).tail)).toEqual(['emptyFile']);
    expect(warningCodes((await read(workbookOf([['id', 'n']]))).tail)).toEqual(['noRows']);
  });

  it('reads columns that are called like members of objects', async () => {
    const { head, items } = await read(
      workbookOf([
        ['__proto__', 'constructor'],
        ['a', 'b'],
      ]),
    );
    expect([head.columns, dataOf(items)]).toEqual([['__proto__', 'constructor'], [['a', 'b']]]);
  });
});

describe('which sheet', () => {
  const sheet = (name: string, ...rows: SheetPlan['rows'][number][]): SheetPlan => ({ name, rows });
  const book = writeWorkbook({
    sheets: [
      { ...sheet('Old', ['externalId'], ['0']), state: 'hidden' },
      sheet('Cover'),
      sheet('People', ['externalId'], ['1']),
      sheet('Companies', ['externalId'], ['2']),
    ],
  });

  it('is the first visible one that holds something, and the others are named, hidden ones as such', async () => {
    const { items, tail } = await read(book);
    expect(dataOf(items)).toEqual([['1']]);
    expect(tail.warnings).toMatchObject([
      { code: 'otherSheets', message: 'only the sheet People was read, not Companies, Old (hidden)' },
    ]);
  });

  it('is the only one, where a hidden one holds nothing: no note', async () => {
    const sheets = [sheet('People', ['externalId'], ['1']), { ...sheet('Lists'), state: 'hidden' as const }];
    expect((await read(writeWorkbook({ sheets }))).tail.warnings).toEqual([]);
  });

  it('is the one that the mapping names, without regard to case, hidden ones too', async () => {
    for (const [name, key] of [
      ['Companies', '2'],
      [' companies', '2'],
      ['Old', '0'],
    ] as const) {
      const { items, tail } = await read(book, { sheet: name });
      expect([dataOf(items), tail.warnings]).toEqual([[[key]], []]);
    }
  });

  it('hidden, where the visible ones hold nothing: not read, but named', async () => {
    const { items, tail } = await read(
      writeWorkbook({ sheets: [sheet('Cover'), { ...sheet('Old', ['externalId'], ['0']), state: 'veryHidden' }] }),
    );
    expect([items, tail.warnings.map(({ message }) => message)]).toEqual([
      [],
      ['a.xlsx is empty', 'only the visible sheets, which hold nothing, were read, not Old (hidden)'],
    ]);
  });

  it('visible in the words of a program of its own', async () => {
    const state = 'show' as 'visible';
    expect(dataOf((await read(workbookOf([['id'], ['1']], { state }))).items)).toEqual([['1']]);
  });

  it('unknown: names those that there are', async () => {
    const error = await errorOf(read(book, { sheet: 'Contacts' }));
    expect(error).toMatchObject({ code: 'sheetMissing' });
    expect(error.message).toContain('its sheets are: Old (hidden), Cover, People, Companies');
  });

  it('is the only one with the header that is looked for where the first has none, and a note says so', async () => {
    const cover = sheet('Cover', ['Export of 2026-03-05']);
    const people = sheet('People', ['Title'], ['externalId'], ['1']);
    const { items, tail } = await read(writeWorkbook({ sheets: [cover, sheet('Deals', ['Deal']), people] }), {
      header,
    });
    expect(dataOf(items)).toEqual([['1']]);
    expect(tail.warnings.map(({ code, message }) => [code, message])).toEqual([
      ['preambleLine', expect.anything()],
      ['sheetChosen', 'the sheet People was read: the first one, Cover, has no header that is known'],
      ['otherSheets', 'only the sheet People was read, not Cover, Deals'],
    ]);
    const two = await errorOf(read(writeWorkbook({ sheets: [cover, people, { ...people, name: 'Old' }] }), { header }));
    expect([two.code, two.hint]).toEqual(['keyColumnMissing', expect.stringContaining('(People, Old)')]);
  });

  it('without the header that is looked for: names it and the other sheets', async () => {
    const error = await errorOf(
      read(
        writeWorkbook({
          sheets: [
            sheet('Notes', ['hello']),
            sheet('People', ['id']),
            { ...sheet('Old', ['externalId']), state: 'hidden' },
          ],
        }),
        { header },
      ),
    );
    expect(error).toMatchObject({ code: 'keyColumnMissing' });
    expect([error.message, error.hint]).toEqual([
      expect.stringContaining('a.xlsx, sheet Notes: no column externalId'),
      expect.stringContaining('another sheet (People, Old (hidden))'),
    ]);
  });
});

describe('a workbook in other clothes', () => {
  const people = workbookOf([
    ['id', 'name'],
    ['1', 'Ada'],
  ]);

  it.each(['a.csv', 'a.txt', 'a.json', 'a.xlsm', 'a.zip'])(
    'is read by its content when it is called %s',
    async (name) => {
      const { head, items, tail } = await readText(folder, name, people);
      expect([head.format, dataOf(items)]).toEqual(['xlsx', [['1', 'Ada']]]);
      expect(warningCodes(tail)).toEqual(name === 'a.xlsm' ? [] : ['formatByContent']);
    },
  );

  it('is text after all: read as CSV, with a note', async () => {
    const { head, items, tail } = await read(Buffer.from('id;name\n1;Ada\n'));
    expect([head.format, dataOf(items), warningCodes(tail)]).toEqual(['csv', [['1', 'Ada']], ['formatByContent']]);
  });

  it('has a password: says so', async () => {
    const container = Buffer.concat([
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
      Buffer.alloc(300_000),
      Buffer.from('EncryptedPackage', 'utf16le'),
      Buffer.alloc(100),
    ]);
    const error = await errorOf(read(container));
    expect([error.code, error.hint]).toEqual(['xlsxEncrypted', expect.stringContaining('remove the password')]);
    expect(await errorOf(read(container.subarray(0, 5_000)))).toMatchObject({
      code: 'formatUnknown',
      message: 'a.xlsx is an old Excel workbook, not text',
    });
  });

  it('ignores --delimiter and --encoding, and says so', async () => {
    const { tail } = await read(people, { delimiter: ';', encoding: 'windows-1252' });
    expect(tail.warnings).toMatchObject([
      { code: 'optionIgnored', message: expect.stringContaining('--delimiter and --encoding') },
    ]);
  });

  it('follows relationships, prefixes, absolute targets and other names of parts', async () => {
    const relations = (old: string): string => old.replace('worksheets/sheet1.xml', '/book/./x/../tab.xml');
    const members = workbookMembers({ sheets: [{ name: 'S', rows: [['id'], ['1']] }] }).map((member) => {
      if (member.name === 'xl/_rels/workbook.xml.rels') return { ...member, data: relations(String(member.data)) };
      if (member.name !== 'xl/worksheets/sheet1.xml') return member;
      return {
        name: 'book/tab.xml',
        data: String(member.data)
          .replace(/<(\/?)(?=[a-z])/g, '<$1x:')
          .replace('xmlns=', 'xmlns:x='),
      };
    });
    expect(dataOf((await read(zipFile(members))).items)).toEqual([['1']]);
  });

  it('reads a part in UTF-16', async () => {
    const members = workbookMembers({ sheets: [{ name: 'S', rows: [['id'], ['é']] }] }).map((member) =>
      member.name.endsWith('sharedStrings.xml')
        ? { ...member, data: Buffer.from(`\ufeff${String(member.data).replace('UTF-8', 'UTF-16')}`, 'utf16le') }
        : member,
    );
    expect(dataOf((await read(zipFile(members))).items)).toEqual([['é']]);
  });
});

describe('a damaged or hostile workbook', () => {
  const rows = [['id'], ['1']];
  const part = 'xl/worksheets/sheet1.xml';

  it.each<readonly [string, Buffer, string]>([
    ['XML that breaks off', withPart(rows, part, (old) => old.slice(0, -40)), 'xlsxDamaged'],
    ['no XML', withPart(rows, part, '\u0001\u0002'), 'xlsxDamaged'],
    [
      'bytes that are no UTF-8',
      withPart(rows, part, Buffer.from('<worksheet>\xff</worksheet>', 'latin1')),
      'xlsxDamaged',
    ],
    ['a cell that names no text', withPart(rows, part, (old) => old.replace('<v>1</v>', '<v>99</v>')), 'xlsxDamaged'],
    ['a row with no number', withPart(rows, part, (old) => old.replace('r="2"', 'r="-2"')), 'xlsxDamaged'],
    ['a row too far down', withPart(rows, part, (old) => old.replace('r="2"', 'r="4294967296"')), 'xlsxDamaged'],
    ['a cell too far right', withPart(rows, part, (old) => old.replace('r="A2"', 'r="ZZZZ2"')), 'xlsxDamaged'],
    ['a cell without letters', withPart(rows, part, (old) => old.replace('r="A2"', 'r="12"')), 'xlsxDamaged'],
    [
      'two cells of one place',
      withPart(rows, part, (old) => old.replace(/<c r="A2".*?<\/c>/, `$&<c r="A2"><v>7</v></c>`)),
      'xlsxDamaged',
    ],
    ['no sheet', withPart(rows, 'xl/workbook.xml', '<workbook/>'), 'xlsxDamaged'],
    ['parts that are missing', zipFile([{ name: 'xl/worksheets/sheet1.xml', data: '<worksheet/>' }]), 'xlsxDamaged'],
    ['elements too deep', withPart(rows, part, '<a>'.repeat(100)), 'xlsxDamaged'],
    [
      'entities of its own (billion laughs)',
      withPart(rows, part, '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><worksheet>&c;</worksheet>'),
      'xlsxDamaged',
    ],
    [
      'an entity that reads a file',
      withPart(rows, part, '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><worksheet>&b;</worksheet>'),
      'xlsxDamaged',
    ],
    ['one endless tag', withPart(rows, part, `<worksheet a="${'x'.repeat(6_000_000)}"/>`), 'xlsxDamaged'],
    ['one endless text', withPart(rows, part, `<worksheet>${'x '.repeat(3_000_000)}</worksheet>`), 'xlsxDamaged'],
  ])('%s', async (_name, bytes, code) => {
    const error = await errorOf(read(bytes));
    expect([error.kind, error.code]).toEqual(['file', code]);
    expect(error.message).toContain('a.xlsx is a damaged workbook');
  });

  it('every cut ends in an error in words', async () => {
    const whole = workbookOf([['id'], ['1']]);
    for (let end = 4; end < whole.length; end += 41) {
      const error = await errorOf(read(whole.subarray(0, end)));
      expect([error.kind, error.code]).toEqual(['file', 'zipDamaged']);
    }
  });

  it('a changed byte never passes for another value', async () => {
    const whole = workbookOf([
      ['id', 'name'],
      ['1', 'Ada'],
    ]);
    const expected = JSON.stringify([['1', 'Ada']]);
    for (let at = 0; at < whole.length; at += 13) {
      const changed = Buffer.from(whole);
      changed.writeUInt8((changed[at] ?? 0) ^ 0x55, at);
      const result = await read(changed).then(
        ({ items }) => JSON.stringify(dataOf(items)),
        (error: { kind?: string }) => error.kind,
      );
      // Bytes of fields that nothing reads, such as times, may change.
      expect([expected, 'file']).toContain(result);
    }
  });

  it('refuses more text than fits into memory', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `<si><t>${`${index}`.repeat(30_000)}</t></si>`).join('');
    const bytes = withPart(rows, 'xl/sharedStrings.xml', `<sst>${texts}</sst>`);
    const error = await errorOf(read(bytes, { limits: { sharedTextBytesMax: 2 * 1024 ** 2 } }));
    expect([error.code, error.message]).toEqual(['xlsxTooLarge', expect.stringContaining('2 MB of texts')]);
  });

  it('counts what all parts together unpack to', async () => {
    const error = await errorOf(read(workbookOf(rows), { limits: { unpackedBytesMax: 1_500 } }));
    expect(error.code).toBe('xlsxTooLarge');
  });
});
