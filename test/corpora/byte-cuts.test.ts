/**
 * Nasty files of each format, cut: into chunks wherever that is possible, which must not change a row; and off, which must
 * give the rows before the cut or an error that says so.
 */
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { decodeText } from '#src/sources/decode.ts';
import { type FormatReader, defaultSourceLimits as limits } from '#src/sources/format-reader.ts';
import { readCsv } from '#src/sources/read-csv.ts';
import { readJson, readJsonLines } from '#src/sources/read-json.ts';
import type { SourceItem } from '#src/sources/row.ts';
import { readVcf } from '#src/sources/vcard/cards.ts';

const header = {
  isHeader: (cells: readonly string[]) => cells.includes('id'),
  wanted: 'column id',
  hint: 'Add it.',
};

const csv =
  'Report of today\r\n\r\nid,name,"no\r\nte"\r\n1,"Zoë ""Z"" Ünal","a\rb\nc\r\n"\r2,"x, y" ,😀\n\n"3",,"""quoted"""\r\n' +
  '4,"\n\r\n","é"\r\r\n5,"",5" pipe\n6,ragged\n7,"stray" x,y\n8,€,"last"';

const json =
  ' {\r\n "meta" : {"a":[1,2,{"b":"\\u00e9"}]}, "data":[ {"id":"1","n":"Zoë \\"Z\\"\\n\\ud83d\\ude00"},\r{"id":2e3,"é":[{},[],null,true]},' +
  '\n\n {"id":12345678901234567890,"deep":{"a":{"b":["\\\\",""]}}},7,\r\n{"id":"x","id":"y","t":"\\ud800"} ], "total": 5 } \n';

const ndjson =
  '{"id":"1","n":"Zoë \\"Z\\""}\r\n\n{"id":2,"é":[{},[],null]}\r{"id":3,"broken":\n  {"id":"4","n":"😀"}  \r\n[5]\n{"id":6}';

const vcf =
  '\r\ntext before\r\nBEGIN:VCARD\r\nVERSION:3.0\r\nN:Ünal;Zoë;;;\r\nitem1.TEL;type=pref:+1 415\r\n  555 0101\r\nitem1.X-ABLabel:_$!<Mobile>!$_\n' +
  'PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ\r\n SkZJRgABAQ\r\n AASABIAAD\r\nNOTE:one\\n\r\n\ttwo\\, 😀\\\r\n ; three\r\nno property\r\nEND:VCARD\r\n\r\n' +
  'BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=\n=BCller;J=C3=B6rg\nAGENT:\nBEGIN:VCARD\nN:x;y\nEND:VCARD\n' +
  'PHOTO;JPEG;ENCODING=BASE64:\n/9j/4AAQ\nAAAA==\n\nTEL;WORK;FAX:+14155550102\nEND:VCARD\r' +
  'begin:vcard\rversion:4.0\rkind:group\rfn:Friends\rend:vcard\r' +
  'BEGIN:VCARD\r\nFN:never ends\r\nBEGIN:VCARD\r\nTEL;VALUE=uri;TYPE="voice,home":tel:+1-415-555-0103\r\nEND:VCARD\r\nFN:never began\r\nEND:VCARD\r\n';

type Read = (text: AsyncGenerator<string>) => FormatReader | Promise<FormatReader>;

interface Format {
  readonly name: string;
  readonly text: string;
  readonly read: Read;
}

const formats: readonly Format[] = [
  {
    name: 'CSV',
    text: csv,
    read: (text) => readCsv(text, { name: 'a.csv', delimiter: null, header, limits }),
  },
  {
    name: 'JSON',
    text: json,
    read: (text) => readJson(text, { name: 'a.json', header, limits, wrapper: { name: 'data', rivals: [] } }),
  },
  { name: 'NDJSON', text: ndjson, read: (text) => readJsonLines(text, { name: 'a.ndjson', header, limits }) },
  {
    name: 'vCard',
    text: vcf,
    read: (text) => readVcf(text, { name: 'a.vcf', encoding: 'utf-8', limits, isByContent: false }),
  },
];

interface Outcome {
  readonly items: readonly SourceItem[];
  readonly warnings: readonly string[];
  /** The code and the line of the error that ended it. */
  readonly error: string | null;
}

/** Everything that reading the bytes gives. An error that is none of a file fails the test. */
async function outcomeOf(chunks: Iterable<Buffer>, read: Read): Promise<Outcome> {
  const items: SourceItem[] = [];
  try {
    const bytes = async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
    };
    const reader = await read(decodeText(bytes(), 'utf-8', 'a'));
    for await (const slice of reader.slices()) items.push(...slice);
    const warnings = reader.tail().warnings.map(({ code, line, message }) => `${line}:${code}:${message}`);
    return { items, warnings, error: null };
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
    return { items, warnings: [], error: `${error.code}:${error.message}` };
  }
}

function* piecesOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

describe.each(formats)('$name', ({ text, read }) => {
  const bytes = Buffer.from(text);
  const wholeOf = () => outcomeOf([bytes], read);

  it('is as nasty as it looks, and can be read', async () => {
    const { items, error } = await wholeOf();
    expect(error).toBeNull();
    expect(new Set(items.map(({ type }) => type))).toEqual(new Set(['row', 'broken']));
  });

  it('gives the same rows and warnings wherever its bytes are cut in two', async () => {
    const whole = await wholeOf();
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(await outcomeOf([bytes.subarray(0, cut), bytes.subarray(cut)], read), `cut ${cut}`).toEqual(whole);
    }
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('gives the same rows and warnings in chunks of %i bytes', async (size) => {
    expect(await outcomeOf(piecesOf(bytes, size), read)).toEqual(await wholeOf());
  });

  it('gives, cut off at any byte, the rows before the cut or an error', async () => {
    const { items: all } = await wholeOf();
    for (let end = 0; end < bytes.length; end++) {
      const { items, error } = await outcomeOf([bytes.subarray(0, end)], read);
      // What is cut may look like a shorter row, or like a broken one; those before it are as they were.
      const sure = error === null ? items.slice(0, -1) : items;
      expect(all.slice(0, sure.length), `end ${end}, ${error}`).toEqual(sure);
    }
  });

  it('gives, cut off anywhere, the same end in chunks of 3 bytes', async () => {
    for (let end = 0; end < bytes.length; end += 4) {
      const cut = bytes.subarray(0, end);
      const [{ error }, inPieces] = [await outcomeOf([cut], read), await outcomeOf(piecesOf(cut, 3), read)];
      expect(inPieces.error).toBe(error);
    }
  });
});
