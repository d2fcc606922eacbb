/** The hash of records is MurmurHash3, and is the same however a text is held in memory. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HashWords, hashBytes, hashName, hashText, seedOf, viewOf } from '#src/sources/record-hash.ts';

const seed = (word: number): HashWords => ({ a: word, b: word, c: word, d: word });

function wordsOf(text: string, from = seed(0)): HashWords {
  const words = seed(0);
  hashText(text, from, words);
  return words;
}

function wordsOfBytes(bytes: Uint8Array, from = seed(0)): HashWords {
  const into = seed(0);
  hashBytes(bytes, viewOf(bytes), { start: 0, end: bytes.length, seed: from, into });
  return into;
}

const hex = ({ a, b, c, d }: HashWords): string =>
  [a, b, c, d].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');

describe('the hash of a record', () => {
  it('passes the published verification of MurmurHash3_x86_128: the hash of 256 hashes begins with b3ece62a', () => {
    const hashes = Buffer.alloc(256 * 16);
    for (let length = 0; length < 256; length++) {
      const { a, b, c, d } = wordsOfBytes(Buffer.from(Array.from({ length }, (_, index) => index)), seed(256 - length));
      for (const [index, word] of [a, b, c, d].entries()) hashes.writeInt32LE(word, length * 16 + index * 4);
    }
    expect(hex(wordsOfBytes(hashes))).toMatch(/^b3ece62a/);
  });

  it('gives the published values', () => {
    expect(hex(wordsOf(''))).toBe('0'.repeat(32));
    expect(hex(wordsOf('', seed(1)))).toBe('88c4adec54d201b954d201b954d201b9');
    expect(hex(wordsOf('The quick brown fox jumps over the lazy dog'))).toBe('2f1583c3ecee2c675d7bf66ce5e91d2c');
  });

  it('is the same for a piece of a longer text, and for a text that was put together', () => {
    const ends = fc.tuple(fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ unit: 'binary', maxLength: 80 }));
    fc.assert(
      fc.property(ends, ([one, other]) => {
        const piece = `${one}${other}é😀`.slice(0, one.length + other.length);
        expect(wordsOf(piece)).toEqual(wordsOf(Buffer.from(piece, 'utf16le').toString('utf16le')));
      }),
      { numRuns: 50 },
    );
  });

  it('is that of the text in UTF-8, wherever the bytes lie', () => {
    const texts = fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: 'grapheme', maxLength: 80 }));
    fc.assert(
      fc.property(texts, fc.nat(20), (text, start) => {
        const bytes = Buffer.concat([Buffer.alloc(start, 0xff), Buffer.from(text), Buffer.of(0xff)]);
        const into = seed(0);
        const piece = { start, end: bytes.length - 1, seed: seed(7), into };
        const isAscii = hashBytes(bytes, viewOf(bytes), piece);
        expect(into).toEqual(wordsOf(text, seed(7)));
        expect(isAscii).toBe(hashText(text, seed(7), seed(0)));
      }),
    );
    const long = 'ß'.repeat(20_000);
    expect(wordsOf(long)).toEqual(wordsOfBytes(Buffer.from(long)));
  });

  it('tells texts apart by their last character, and their seed', () => {
    const texts = [
      '',
      'a',
      'b',
      'é',
      'ŕ',
      '\u6161',
      'aa',
      'Ω',
      'Ωa',
      'x'.repeat(31),
      'x'.repeat(32),
      `${'x'.repeat(31)}Ω`,
    ];
    const hashes = texts.flatMap((text) => [hex(wordsOf(text, seedOf('one'))), hex(wordsOf(text, seedOf('other')))]);
    expect(new Set(hashes).size).toBe(2 * texts.length);
  });

  it('says whether a text is ASCII, and is written in 22 characters', () => {
    expect(['plain', 'Zoë', 'Ω', '\u007f', '\u0080'].map((text) => hashText(text, seed(0), seed(0)))).toEqual([
      ...[true, false, false, true, false],
    ]);
    expect(hashName(wordsOf('plain'))).toMatch(/^[\w-]{22}$/);
    expect(Buffer.from(hashName(wordsOf('hello')), 'base64url').readInt32LE(0)).toBe(wordsOf('hello').a);
  });
});
