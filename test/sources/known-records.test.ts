/** Records that are known by their text are counted and not read; nothing else changes, however the text is cut. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FormatReader, defaultSourceLimits as limits, type RecordLook } from '#src/sources/format-reader.ts';
import { readCsv } from '#src/sources/read-csv.ts';
import { hashName, hashText, seedOf } from '#src/sources/record-hash.ts';
import type { SourceItem } from '#src/sources/row.ts';

const header = {
  isHeader: (cells: readonly string[]) => cells.includes('id'),
  wanted: 'column id',
  hint: 'Add it.',
};

const seed = seedOf('a mapping');

function nameOf(text: string): string {
  const words = { a: 0, b: 0, c: 0, d: 0 };
  hashText(text, seed, words);
  return hashName(words);
}

/** Knows these texts; their places are their positions. */
function lookFor(texts: readonly string[]): RecordLook & { readonly met: (readonly [number, number])[] } {
  const places = new Map(texts.map((text, index) => [nameOf(text), index]));
  const met: (readonly [number, number])[] = [];
  return {
    seed,
    find: (hash) => places.get(hashName(hash)) ?? -1,
    meet: (place, line) => met.push([place, line]),
    met,
  };
}

async function* pieces(text: string, cuts: readonly number[]): AsyncGenerator<string> {
  const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((left, right) => left - right);
  let start = 0;
  for (const end of [...ends, text.length]) {
    if (end > start) yield text.slice(start, end);
    start = end;
  }
}

async function itemsOf(reader: FormatReader, look: RecordLook | null): Promise<readonly SourceItem[]> {
  const items: SourceItem[] = [];
  for await (const slice of reader.slices(look)) items.push(...slice);
  return items;
}

const open = (text: string, cuts: readonly number[] = [], rule: typeof header | null = header) =>
  readCsv(pieces(text, cuts), { name: 'a.csv', delimiter: ',', header: rule, limits });

const lineOf = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('1,Ann', '2,Bea', '3,"C, y"', '4,"two\nlines"', '5,Zoë', '6,Ω') },
  fc.constantFrom(
    '',
    ' , ',
    '7',
    '8,a,b',
    '9,"stray" x',
    'id,name',
    'Total,12',
    '10,MÃ¼ller',
    '11,\u0007',
    '\ufeff"12",x',
  ),
);

describe('a record that is known', () => {
  it('is left out of the items and met with its line; all others, the counts and the warnings stay', async () => {
    const lines = fc.array(fc.tuple(lineOf, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.array(fc.nat(400), { maxLength: 12 }),
        fc.infiniteStream(fc.boolean()),
        async (all, cuts, coin) => {
          const text = `id,name\n${all.map(([line, end]) => line + end).join('')}`;
          const slow = await open(text);
          const read = await itemsOf(slow, null);
          // Any of the rows that were read whole may be known.
          const texts = [...new Set(read.flatMap((item) => (item.type === 'row' ? (item.text ?? []) : [])))];
          const look = lookFor(texts.filter(() => coin.next().value));
          const quick = await open(text, cuts);
          const others = await itemsOf(quick, look);

          const isKnown = (item: SourceItem): boolean =>
            item.type === 'row' &&
            item.text !== undefined &&
            look.find(hashOf(item.text), item.row.line) >= 0 &&
            !item.text.includes('Ã');
          expect(others).toEqual(read.filter((item) => !isKnown(item)));
          expect(look.met.map(([, line]) => line)).toEqual(read.filter(isKnown).map(({ row }) => row.line));
          expect(quick.tail()).toEqual(slow.tail());
        },
      ),
    );
  });

  it('is read all the same while a column without a name may turn out to hold something', async () => {
    const text = `id,name,\n${'1,Ann,\n'.repeat(499)}2,Bea,x\n1,Ann,\n`;
    const look = lookFor(['1,Ann,']);
    const reader = await open(text);
    expect(await itemsOf(reader, look)).toHaveLength(500);
    expect(look.met).toEqual([[0, 502]]);
    expect(reader.tail().nameless).toEqual([{ position: 3, line: 501, value: 'x' }]);
  });

  it('has a meaning that changes with the delimiter, the header and the column of the key', async () => {
    const meanings = await Promise.all([
      open('id,name\n'),
      open('id,names\n'),
      open('id,name,\n'),
      open('id,name\n', [], null),
      readCsv(pieces('id;name\n', []), { name: 'a.csv', delimiter: ';', header, limits }),
    ]);
    expect(new Set(meanings.map(({ meaning }) => meaning)).size).toBe(5);
  });

  it('has no text where the rows around it decide how it is read: one that an exporter cut', async () => {
    const text = 'id,name,email,phone\n1,Ann,a@example.com\n2,Bea,b@example.com,1\n';
    const items = await itemsOf(await open(text), null);
    expect(items.map((item) => item.type === 'row' && item.text)).toEqual([undefined, '2,Bea,b@example.com,1']);
  });
});

function hashOf(text: string) {
  const words = { a: 0, b: 0, c: 0, d: 0 };
  hashText(text, seed, words);
  return words;
}
