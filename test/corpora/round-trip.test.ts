/** What we write, we read back: the CSV and the lines of JSON of fix-files (docs/rules.md, "Dead letters"). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unguardFormulas, writeCsvFile } from '#src/sources/csv-writer.ts';
import { holdsControlCharacter } from '#src/sources/row.ts';
import { naughtyStrings } from '#test/corpora/naughty-strings.ts';
import { brokenOf, dataOf, readAll, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();
const columns = ['_id', 'first', 'second'];
const header = { isHeader: (cells: readonly string[]) => cells.includes('_id'), wanted: 'column _id', hint: 'Add it.' };
/** Those that are detected, and some that are written down in a first line. */
const delimiters = [',', ';', '\t', '|', ':', '^', ' '];

async function writtenAndRead(rows: readonly (readonly string[])[], delimiter: string): Promise<unknown> {
  const path = folder.path('written.csv');
  await writeCsvFile(path, { columns, rows, delimiter });
  const { head, items } = await readAll(path, { name: 'written.csv', header });
  expect([head.columns, head.delimiter, brokenOf(items)]).toEqual([columns, delimiter, []]);
  return (dataOf(items) as readonly (readonly string[])[]).map((cells) => cells.map(unguardFormulas));
}

const awkward = fc.string({ unit: fc.constantFrom(...'a1 ,;|:^\t\r\n"\'=+-@é😀\u00a0\ufeff'), maxLength: 12 });
const any = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !holdsControlCharacter(text));

describe('CSV that we write', () => {
  it.each(delimiters)('holds any cells, separated by %j', async (delimiter) => {
    const row = fc.tuple(fc.constantFrom('1', 'é'), fc.oneof(awkward, any), fc.oneof(awkward, any));
    const property = fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (rows) => {
      expect(await writtenAndRead(rows, delimiter)).toEqual(rows);
    });
    await fc.assert(property, { numRuns: 25 });
  });

  it.each(delimiters)('holds the naughty strings, separated by %j', async (delimiter) => {
    const rows = naughtyStrings.map((text, index) => [`${index}`, text, naughtyStrings.at(-index) ?? '']);
    expect(await writtenAndRead(rows, delimiter)).toEqual(rows);
  });
});

describe('lines of JSON that we write', () => {
  it('hold any object', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((one) => !holdsControlCharacter(one));
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, text, fc.boolean(), fc.constant(null), fc.nat(), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    }));
    // Each line of a fix-file has its `_id`: without one, a line with a single list of objects would be a page of an answer.
    const line = fc
      .tuple(fc.nat(), value.object)
      .map(([id, members]) => Object.assign(Object.create(null), { _id: id }, members));
    const property = fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 8 }), async (objects) => {
      const lines = objects.map((object) => `${JSON.stringify(object)}\n`).join('');
      const { items } = await readText(folder, 'written.ndjson', lines);
      expect([dataOf(items), brokenOf(items)]).toEqual([JSON.parse(JSON.stringify(objects)), []]);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  it('hold the naughty strings, as names and as values', async () => {
    const objects = naughtyStrings.map((text) => ({ [`_${text}`]: text }));
    const { items } = await readText(
      folder,
      'naughty.ndjson',
      objects.map((one) => `${JSON.stringify(one)}\n`).join(''),
    );
    expect([dataOf(items), brokenOf(items)]).toEqual([objects, []]);
  });
});
