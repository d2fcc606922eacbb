import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { decodeText } from '#src/sources/decode.ts';
import { parseRecords } from '#src/sources/read-csv.ts';
import { type CsvRecord, createCsvSplitter } from '#src/sources/split-csv.ts';

const options = { name: 'a.csv', delimiter: ',', recordBytesMax: 1024 * 1024 };
const nasty =
  'id,name,"no\r\nte"\r\n1,"Zoë ""Z"" Ünal","a\rb\nc\r\n"\r2,"x, y" ,😀\n\n"3",,"""quoted"""\r\n4,"\n\r\n","é"\r\r\n5,"",5" pipe\n6,€,"last"';
const nastyRows = [
  ['id', 'name', 'no\r\nte'],
  ['1', 'Zoë "Z" Ünal', 'a\rb\nc\r\n'],
  ['2', 'x, y', '😀'],
  ['3', '', '"quoted"'],
  ['4', '\n\r\n', 'é'],
  ['5', '', '5" pipe'],
  ['6', '€', 'last'],
];
const nastyLines = [1, 3, 7, 9, 10, 14, 15];

function splitAll(chunks: Iterable<string>): CsvRecord[] {
  const splitter = createCsvSplitter(options);
  const records: CsvRecord[] = [];
  for (const chunk of chunks) records.push(...splitter.push(chunk));
  return [...records, ...splitter.end()].filter((record) => record.text !== '');
}

async function splitBytes(pieces: Iterable<Uint8Array>, label = 'utf-8'): Promise<CsvRecord[]> {
  const bytes = async function* () {
    yield* pieces;
  };
  const texts: string[] = [];
  for await (const text of decodeText(bytes(), label, 'a.csv')) texts.push(text);
  return splitAll(texts);
}

function* piecesOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

describe('cutting CSV text into records', () => {
  it('gives the rows and their physical lines of a nasty file', () => {
    const records = splitAll([nasty]);
    expect(parseRecords(records, ',')).toEqual(nastyRows);
    expect(records.map((record) => record.line)).toEqual(nastyLines);
  });

  it('gives the same rows wherever the bytes are cut in two', async () => {
    const bytes = Buffer.from(nasty);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const records = await splitBytes([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(parseRecords(records, ',')).toEqual(nastyRows);
      expect(records.map((record) => record.line)).toEqual(nastyLines);
    }
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('gives the same rows in chunks of %i bytes, in UTF-8 and UTF-16', async (size) => {
    expect(parseRecords(await splitBytes(piecesOf(Buffer.from(nasty), size)), ',')).toEqual(nastyRows);
    const wide = Buffer.from(nasty, 'utf16le');
    expect(parseRecords(await splitBytes(piecesOf(wide, size), 'utf-16le'), ',')).toEqual(nastyRows);
    expect(parseRecords(await splitBytes(piecesOf(wide.swap16(), size), 'utf-16be'), ',')).toEqual(nastyRows);
  });

  it('agrees with another parser on any table, any quoting, any line ends, any cut', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'ab ,;"\n\r\t|é😀€0'), maxLength: 6 });
    const table = fc.array(fc.array(fc.tuple(cell, fc.boolean()), { minLength: 2, maxLength: 4 }), {
      minLength: 1,
      maxLength: 6,
    });
    const property = fc.property(
      table,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.integer({ min: 1, max: 7 }),
      (rows, end, size) => {
        const text = rows.map((row) => row.map(([value, always]) => written(value, always)).join(',') + end).join('');
        const chunks = [...piecesOf16(text, size)];
        const expected = parse(text, { record_delimiter: end, relax_column_count: true });
        expect(parseRecords(splitAll(chunks), ',')).toEqual(expected);
      },
    );
    fc.assert(property, { numRuns: 400 });
  });

  it('names the line on which a quote opened that never closes, after one record length of text', () => {
    const splitter = createCsvSplitter(options);
    let pushedChars = 0;
    const pushAll = (): void => {
      splitter.push('id,name\n1,Ann\n2,"Bea\n');
      // 30 MB would follow; the error comes long before.
      for (let index = 0; index < 480; index++) {
        pushedChars += 65_536;
        splitter.push('x,y\n'.repeat(16_384));
      }
    };
    expect(pushAll).toThrow(expect.objectContaining({ code: 'quoteNeverCloses', facts: { file: 'a.csv', line: 3 } }));
    expect(pushedChars).toBeLessThan(1_200_000);
  });

  it('refuses a quote that only the quote of a later row closes', () => {
    expect(() => splitAll(['id,name\n1,"Ann\n2,"Bea"\n'])).toThrow(/quote opened at line 2 never closes/);
  });

  it('marks text behind a closing quote and goes on with the next line', () => {
    const records = splitAll(['id,name\n1,"Hotel "Bristol" Wien"\n2,Bea\n']);
    expect(records.map((record) => record.strayAt > 0)).toEqual([false, true, false]);
    expect(parseRecords(records, ',')[2]).toEqual(['2', 'Bea']);
  });

  it('refuses a record beyond its limit, in quotes or not', () => {
    const small = { ...options, recordBytesMax: 10 };
    const split = (text: string) => () => createCsvSplitter(small).push(text);
    expect(split('a,bcdefghijk\n')).toThrow(PatchbayError);
    expect(split('éééééé\n')).toThrow(/longer than 10 bytes/);
    expect(split('"abcdefgh"\n')).not.toThrow();
  });
});

function written(value: string, always: boolean): string {
  const needed = always || /[",\n\r]/.test(value);
  return needed ? `"${value.replaceAll('"', '""')}"` : value;
}

function* piecesOf16(text: string, size: number): Generator<string> {
  for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size);
}
