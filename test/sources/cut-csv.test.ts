/** Records that are cut as bytes are those that the splitter makes of the text, wherever it stopped and however the bytes come. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { hashText, seedOf } from '#src/sources/record-hash.ts';
import { type CsvRecord, createCsvSplitter, cutGroups } from '#src/sources/split-csv.ts';

const seed = seedOf('a mapping');
const noWords = { a: 0, b: 0, c: 0, d: 0 };
const options = { name: 'a.csv', delimiter: ';', recordBytesMax: 1_000 };

/** Each piece is in the one buffer that all of them share. */
async function* pieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const shared = Buffer.alloc(bytes.length + 1);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((left, right) => left - right);
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    if (end === start) continue;
    bytes.copy(shared, 0, start, end);
    yield shared.subarray(0, end - start);
    start = end;
  }
}

interface Cut {
  readonly records: readonly CsvRecord[];
  /** Of what threw. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

async function outcomeOf(work: (into: CsvRecord[]) => Promise<void> | void): Promise<Cut> {
  const records: CsvRecord[] = [];
  try {
    await work(records);
    return { records, error: null };
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    return { records, error: { code: error.code, message: error.message } };
  }
}

function split(text: string, given = options): Promise<Cut> {
  return outcomeOf((into) => {
    const splitter = createCsvSplitter(given);
    into.push(...splitter.push(text), ...splitter.end());
  });
}

/** The first pieces of the text by the splitter, the others as bytes. */
function cut(first: string, rest: string, cuts: readonly number[], given = options): Promise<Cut> {
  return outcomeOf(async (into) => {
    const splitter = createCsvSplitter(given);
    into.push(...splitter.push(first));
    for await (const group of cutGroups(pieces(Buffer.from(rest), cuts), splitter.open(), given)) {
      while (group.next()) {
        const words = { ...noWords };
        const isAscii = group.hash(seed, words);
        const record = group.take();
        const expected = { ...noWords };
        expect(isAscii).toBe(hashText(record.text, seed, expected));
        expect(words).toEqual(expected);
        expect(group.line).toBe(record.line);
        into.push(record);
      }
    }
  });
}

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'é', '😀', ';', ' ') },
  { weight: 3, arbitrary: fc.constantFrom('\n', '\r\n', '\r', '"x;\n"', '"a ""b"" c"', '";"', '""') },
  { weight: 1, arbitrary: fc.constantFrom('"', '" ', '\ufeff', '\ufeff"', '"\r"', '"\n\r\n\r"', '\u00a0', '\u0000') },
);
const pieceOfPlain = fc.constantFrom('a', 'é', '😀', ';', '\n', '\r\n', '\r', ';"x;\r\n";', ';"a ""b""";', ';"";');
const cutsOf = fc.array(fc.nat(2_000), { maxLength: 20 });

describe('records cut as bytes', () => {
  it.each([
    ['of any text', piece],
    ['of text that leaves no question', pieceOfPlain],
  ])('%s are those of the splitter', async (_, unit) => {
    await fc.assert(
      fc.asyncProperty(fc.array(unit, { maxLength: 60 }), fc.nat(60), cutsOf, async (units, firstCount, cuts) => {
        const [first, rest] = [units.slice(0, firstCount).join(''), units.slice(firstCount).join('')];
        const expected = await split(first + rest);
        const found = await cut(first, rest, cuts);
        expect(found.error).toEqual(expected.error);
        // A push that throws gives none of its records.
        if (expected.error === null) expect(found.records).toEqual(expected.records);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are refused beyond the limit, where those of the splitter are', async () => {
    const small = { ...options, recordBytesMax: 12 };
    const unit = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'é', ';', '\n', '";\n"') }, piece);
    await fc.assert(
      fc.asyncProperty(fc.array(unit, { maxLength: 60 }), cutsOf, async (units, cuts) => {
        const text = units.join('');
        const expected = await split(text, small);
        const found = await cut('', text, cuts, small);
        // In which of two ways a quote that never closes shows depends on the cuts; that it is refused does not.
        expect(found.error === null).toBe(expected.error === null);
        if (expected.error === null) expect(found.records).toEqual(expected.records);
      }),
      { numRuns: 500 },
    );
  });

  it('go on by the splitter behind the first one that leaves a question, with the right lines', async () => {
    const text = '1;a\n"2";"b\r\nb"\r\n"3" ;c\r4;"d\nd"\n5;e';
    const { records } = await cut('', text, [9, 10, 25]);
    expect(records.map(({ line }) => line)).toEqual([1, 2, 4, 5, 7]);
    expect(records.at(-1)).toEqual({ text: '5;e', line: 7, strayAt: 0, isUnclosed: true });
  });
});
