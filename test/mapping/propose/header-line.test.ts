/** Which line of a table of an unknown layout is taken for its header. */
import { describe, expect, it } from 'vitest';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { readForMap } from '#src/operations/read-for-map.ts';
import { errorOf, useTempFolder } from '#test/sources/temp-files.ts';
import { type SheetPlan, workbookOf, writeWorkbook } from '#test/support/workbook.ts';

const folder = useTempFolder();

async function headerOf(name: string, content: string | Buffer): Promise<readonly string[] | null> {
  return (await readForMap(await folder.write(name, content), {}, undefined)).columns;
}

const header = ['Nr.', 'Vorname', 'Nachname', 'Telefon', 'E-Mail'];
const rows = ['A-1', 'A-2', 'A-3'].map((key) => [key, 'Ada', 'Lang', '+49 30 123451', `${key}@example.com`]);
const contacts: SheetPlan['rows'] = [header, ...rows];

describe('the header of a table of an unknown layout', () => {
  it.each<[string, (string | null)[]]>([
    ['names of groups', ['Kunde', null, null, 'Kontakt', null]],
    ['names of groups that are repeated', ['Person', 'Person', 'Person', 'Kontakt', 'Kontakt']],
    ['a group that is called as a column is', ['Person', null, null, 'Telefon', null]],
    ['a title with a date', ['Kontaktliste', 'Stand', '2026-03-01']],
    ['a title with a sender', ['Export', 'info@example.com', '+49 30 1234567']],
    ['a title of as many cells', ['Liste', 'von', 'Maier', 'Filiale', 'Süd']],
    ['a title with two names of the header', ['Nr.', 'E-Mail', 'siehe unten']],
  ])('is below %s', async (_, title) => {
    expect(await headerOf('a.xlsx', workbookOf([title, ...contacts]))).toEqual(header);
    const text = [title, ...contacts].map((cells) => cells?.map((cell) => cell ?? '').join(';')).join('\n');
    expect(await headerOf('a.csv', text)).toEqual(header);
  });

  it.each<[string, string[], string[]]>([
    ['no name is known', ['Naam', 'Voorn', 'Soort'], ['Jan', 'Mobile', 'Email']],
    ['a row holds names of columns', ['Id', 'Voorn', 'Tel', 'Soort'], ['1', 'Email', '+31 20 1234567', 'Mobile']],
    ['a row that holds such names is wider', ['Nr.', 'Name', 'Telefon'], ['1', 'Mobile', 'Email', 'Vorname', 'Fax']],
    ['a row is longer, and has an id', ['', 'customer', 'channel 1', 'channel 2'], ['0', 'Meyer', 'Telefon', 'E-Mail']],
    ['a row has an id and other values', ['ID', 'Name', 'Kanal', 'Kanal'], ['1', 'Meyer', 'Telefon', 'E-Mail']],
    ['a row fills a gap of the header', ['ID', '', 'Name', 'Kanal'], ['1', 'Meyer', 'Telefon', 'E-Mail']],
    ['a row has a date', ['', 'Name', 'Kanal', 'Kanal'], ['2026-03-01', 'Meyer', 'Telefon', 'E-Mail']],
    ['a wider row has addresses, too', ['Id', 'Soort'], ['1', 'Mobile', 'Email', 'ada@example.com']],
  ])('is the first line where %s', async (_, first, row) => {
    expect(await headerOf('b.xlsx', workbookOf([first, ['7', 'x'], row]))).toEqual(first);
  });

  it('is looked for in the first 20 lines; without one, no row and no blank line is lost', async () => {
    const text = (lines: number) => `Kunde;;;Kontakt\n\n${'1;a;b;c\n'.repeat(lines)}${header.join(';')}\n`;
    expect(await headerOf('c.csv', text(17))).toEqual(header);
    const path = await folder.write('c.csv', text(18));
    const { columns, facts } = await readForMap(path, {}, undefined);
    expect([columns, facts.rows + facts.unreadable]).toEqual([['Kunde', '', '', 'Kontakt'], 19]);
    expect(facts.sample.map(({ row }) => row.line)).toEqual(Array.from({ length: 19 }, (_, index) => index + 3));
  });

  it('does not decide what separates the cells', async () => {
    const text = 'Nr;Weg\n1;Telefon, E-Mail\n2;Mobil, E-Mail\n';
    expect(await headerOf('d.csv', text)).toEqual(['Nr', 'Weg']);
  });

  it('is of the first sheet where that is a table, and of the one other sheet below a cover page', async () => {
    const book = (first: SheetPlan['rows']) =>
      writeWorkbook({
        sheets: [
          { name: 'One', rows: first },
          { name: 'Two', rows: contacts },
          {
            name: 'Sums',
            rows: [
              ['Region', 'Sum'],
              ['East', '1'],
            ],
          },
        ],
      });
    expect(
      await headerOf(
        'e.xlsx',
        book([
          ['Naam', 'Plaats'],
          ['Jan', 'Delft'],
        ]),
      ),
    ).toEqual(['Naam', 'Plaats']);
    expect(await headerOf('e.xlsx', book([['Report']]))).toEqual(header);
  });
});

describe('a table without the column of the key', () => {
  const named = parseMapping('name: mine\nkey: Kd.-Nr.\nfields: { firstName: Vorname }\n', 'mine.yaml');
  it.each<[string, Mapping | null]>([
    ['of a mapping', named],
    ['of the generic layout', null],
  ])('%s: names the delimiter where there is one, and not in a workbook', async (_, mapping) => {
    const hintOf = async (name: string, content: string | Buffer): Promise<string> => {
      const error = await errorOf(readForMap(await folder.write(name, content), {}, { mapping }));
      expect(error.code).toBe('keyColumnMissing');
      return error.hint ?? '';
    };
    const inText = await hintOf('k.csv', contacts.map((cells) => cells?.join(';')).join('\n'));
    expect(inText).toMatch(/\. If its cells are separated by another character, name that with --delimiter\.$/);
    expect(await hintOf('k.xlsx', workbookOf(contacts))).toBe(inText.slice(0, inText.indexOf(' If its cells')));
  });
});
