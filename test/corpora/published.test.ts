/** Cases that others published for readers of CSV and JSON (docs/bad-inputs.md, "Parsers: known traps"). */
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { detectDelimiter, parseRecords } from '#src/sources/read-csv.ts';
import { createCsvSplitter } from '#src/sources/split-csv.ts';
import { csvPairs, jsonCases, papaCases } from '#test/corpora/published.ts';
import { brokenOf, dataOf, errorOf, readText, useTempFolder, warningCodes } from '#test/sources/temp-files.ts';

const folder = useTempFolder();

describe('csv-spectrum', () => {
  // Its table and its objects hold different phone numbers.
  const [contradicting, pairs] = partition(csvPairs(), ({ name }) => name === 'location_coordinates');

  it('has 11 pairs, and one that contradicts itself', () => {
    expect([pairs.length, contradicting.length]).toEqual([11, 1]);
  });

  it.each(pairs)('$name', async ({ name, csv, objects }) => {
    const { head, items } = await readText(folder, `${name}.csv`, csv);
    const rows = dataOf(items) as readonly (readonly string[])[];
    const columns = head.columns ?? [];
    expect(brokenOf(items)).toEqual([]);
    expect(rows.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))).toEqual(
      objects,
    );
  });
});

describe('the cases of papaparse', () => {
  /** What we read in another way on purpose. */
  const otherwise: ReadonlyMap<string, unknown> = new Map<string, unknown>([
    ['Quoted field has no closing quote', 'quoteNeverCloses'],
    ['Quoted field has invalid trailing quote after new line', 'quoteNeverCloses'],
    ['Quoted field has invalid trailing quote after delimiter with a valid closer', ['stray quote', ['d', 'e', 'f']]],
    ['Quoted field has invalid trailing quote after delimiter', ['stray quote', ['d', 'e', 'f']]],
    ['Quoted field has invalid trailing quote before delimiter', ['stray quote', ['e', 'f', 'g']]],
    // Mixed line ends all count.
    [
      'Mixed slash n and slash r should choose first as precident',
      [
        ['a', 'b', 'c'],
        ['d', 'e', 'f'],
        ['g', 'h', 'i'],
      ],
    ],
  ]);
  const cases = papaCases();

  it('are many', () => expect(cases.length).toBeGreaterThan(80));

  it.each(cases)('$description', ({ description, input, config, expected }) => {
    const text = input.replace(/^\ufeff/, '');
    const delimiter = config?.delimiter ?? detectDelimiter({ head: text, whole: true, header: null });
    expect(recordsOf(text, delimiter)).toEqual(otherwise.get(description) ?? withoutBlankLines(expected.data));
  });

  it('that we read in another way are all among them', () => {
    const known = new Set(cases.map(({ description }) => description));
    expect([...otherwise.keys()].filter((description) => !known.has(description))).toEqual([]);
  });
});

/** The cells of each record; a record with text behind a quote is only named. A file that is refused: its code. */
function recordsOf(text: string, delimiter: string): unknown {
  try {
    const splitter = createCsvSplitter({ name: 'a.csv', delimiter, recordBytesMax: 1024 * 1024 });
    const records = [...splitter.push(text), ...splitter.end()].filter((record) => record.text !== '');
    const rows = parseRecords(records, delimiter);
    return records.map((record, index) => (record.strayAt > 0 ? 'stray quote' : rows[index]));
  } catch (error) {
    if (error instanceof PatchbayError) return error.code;
    throw error;
  }
}

function withoutBlankLines(rows: readonly string[][]): readonly string[][] {
  return rows.filter((cells) => cells.length > 1 || cells[0] !== '');
}

describe('JSONTestSuite', () => {
  const cases = jsonCases();
  const named = (prefix: string) => cases.filter(({ name }) => name.startsWith(prefix));
  /** The case as the value of a member, since the root of an export is a list of objects. */
  const readValue = async (bytes: Buffer) =>
    readText(folder, 'v.json', Buffer.concat([Buffer.from('[{"v":'), bytes, Buffer.from('}]')]));

  it('has 95 that are JSON, 188 that are not, and 35 that are left to the reader', () => {
    expect(['y_', 'n_', 'i_'].map((prefix) => named(prefix).length)).toEqual([95, 188, 35]);
  });

  /** They hold control characters, which break a row by purpose. */
  const broken: ReadonlySet<string> = new Set([
    ...['y_object_escaped_null_in_key', 'y_string_allowed_escapes', 'y_string_escaped_control_character'],
    ...['y_string_null_escape', 'y_string_unescaped_char_delete', 'y_string_with_del_character'],
  ]);

  it.each(named('y_'))('$name: read as JSON.parse reads it', async ({ name, bytes }) => {
    const { items } = await readValue(bytes);
    expect(brokenOf(items)).toEqual(broken.has(name) ? ['1:controlCharacter'] : []);
    expect(dataOf(items)).toEqual([{ v: asRead(bytes) }]);
  });

  it.each(named('n_'))('$name: no row', async ({ bytes }) => {
    expect(await errorOf(readValue(bytes))).toMatchObject({ kind: 'file' });
    // A file that holds nothing is no error.
    const isNothing = bytes.toString().replace('\ufeff', '').trim() === '';
    if (isNothing) expect(warningCodes((await readText(folder, 'n.json', bytes)).tail)).toEqual(['emptyFile']);
    else expect(await errorOf(readText(folder, 'n.json', bytes))).toMatchObject({ kind: 'file' });
  });

  const isIn = (name: string, part: string): boolean => name.includes(part);
  it.each(named('i_'))('$name: as the rules say', async ({ name, bytes }) => {
    if (isIn(name, '500_nested')) return expect((await errorOf(readValue(bytes))).code).toBe('jsonTooDeep');
    // They are whole files: their encoding, or the mark at their beginning, is what they are about.
    if (/utf16|UTF-16/.test(name)) {
      const { head, items } = await readText(folder, 'i.json', utf16Of(name));
      return expect([head.encoding, brokenOf(items)]).toEqual([
        /BE/.test(name) ? 'utf-16be' : 'utf-16le',
        ['1:notAnObject'],
      ]);
    }
    if (isIn(name, 'BOM_empty_object')) {
      return expect((await errorOf(readText(folder, 'i.json', bytes))).code).toBe('notAJsonArray');
    }
    const { items, tail } = await readValue(bytes);
    const problem =
      /surrogate/i.test(name) && !isIn(name, 'UTF8_surrogate')
        ? 'loneSurrogate'
        : /huge_exp|overflow/.test(name) && !isIn(name, 'neg_exp')
          ? 'numberTooLarge'
          : null;
    expect(brokenOf(items)).toEqual(problem === null ? [] : [`1:${problem}`]);
    if (!bytes.equals(Buffer.from(bytes.toString()))) expect(warningCodes(tail)).toEqual(['encodingAssumed']);
    else if (problem === null) expect(dataOf(items)).toEqual([{ v: asRead(bytes) }]);
  });
});

/** Without the sign of a zero, as `dataOf` gives values. */
function asRead(bytes: Buffer): unknown {
  return JSON.parse(JSON.stringify(JSON.parse(bytes.toString(), largeAsText)));
}

/** A number that JavaScript cannot hold exactly stays with all its digits. */
function largeAsText(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  const source = context?.source ?? '';
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e');
  const digits = BigInt(mantissa.replace('.', ''));
  if (`${digits}`.replace(/^-|0+$/g, '').length > 15) return source;
  const power = BigInt(exponent) - BigInt(mantissa.split('.')[1]?.length ?? 0);
  return `${power < 0n ? digits / 10n ** -power : digits * 10n ** power}`;
}

/** `["é"]` in the encoding that the case is about. */
function utf16Of(name: string): Buffer {
  const littleEndian = Buffer.from(`${name.includes('with_BOM') ? '\ufeff' : ''}["é"]`, 'utf16le');
  return name.includes('BE') ? littleEndian.swap16() : littleEndian;
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): readonly [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
