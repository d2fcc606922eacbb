/** Generated cards: whatever their texts, however programs escape, encode, fold and end their lines, the texts are read. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsControlCharacter } from '#src/sources/row.ts';
import { naughtyStrings } from '#test/corpora/naughty-strings.ts';
import { brokenOf, dataOf, readText, useTempFolder } from '#test/sources/temp-files.ts';

const folder = useTempFolder();

const lineEnd = fc.constantFrom('\r\n', '\n', '\r');
const awkward = fc.string({ unit: fc.constantFrom(...'a1 ,;:\\="é😀\t\n'), maxLength: 20 });
const any = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !holdsControlCharacter(text));
/** As it comes back: a card has no blank text, no space around it, and one kind of line end. */
const text = fc.oneof(awkward, any).map((one) => one.replace(/\r\n?/g, '\n').trim());
const texts = fc.array(text, { minLength: 1, maxLength: 6 });

const escaped = (value: string): string => value.replace(/[\\,;]/g, '\\$&').replaceAll('\n', '\\n');

/** Folded after each so many bytes, in the middle of characters too. */
function folded(line: string, bytes: number, fold: string): Buffer {
  const whole = Buffer.from(line);
  const pieces = [whole.subarray(0, bytes)];
  for (let start = bytes; start < whole.length; start += bytes) {
    pieces.push(Buffer.from(fold), whole.subarray(start, start + bytes));
  }
  return Buffer.concat(pieces);
}

/** Each byte as `=XX`, with soft breaks. */
function quotedPrintable(value: string, end: string, perLine: number): string {
  const bytes = [...Buffer.from(value.replaceAll('\n', '\r\n'))].map(
    (byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return bytes.map((byte, index) => (index > 0 && index % perLine === 0 ? `=${end}${byte}` : byte)).join('');
}

function objectsOf(values: readonly string[]): readonly unknown[] {
  return values.map((value) => (value === '' ? {} : { NOTE: value }));
}

describe('cards with any text', () => {
  it('of 3.0 and 4.0, escaped, and folded anywhere but inside their names', async () => {
    const property = fc.asyncProperty(
      texts,
      fc.constantFrom('3.0', '4.0'),
      fc.constantFrom('\r\n', '\n'),
      fc.constantFrom(' ', '\t'),
      fc.integer({ min: 5, max: 80 }),
      async (values, version, end, space, bytes) => {
        const cards = values.flatMap((value) => [
          Buffer.from(`BEGIN:VCARD${end}VERSION:${version}${end}`),
          folded(`NOTE:${escaped(value)}`, bytes, end + space),
          Buffer.from(`${end}END:VCARD${end}`),
        ]);
        const { head, items } = await readText(folder, 'a.vcf', Buffer.concat(cards));
        expect([head.encoding, brokenOf(items), dataOf(items)]).toEqual(['utf-8', [], objectsOf(values)]);
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });

  it('of 2.1, in quoted-printable with soft breaks', async () => {
    const property = fc.asyncProperty(texts, lineEnd, fc.integer({ min: 1, max: 25 }), async (values, end, perLine) => {
      const cards = values.map((value) =>
        [
          'BEGIN:VCARD',
          'VERSION:2.1',
          `NOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:${quotedPrintable(value.replace(/[\\,;]/g, '\\$&'), end, perLine)}`,
          `END:VCARD${end}`,
        ].join(end),
      );
      const { items } = await readText(folder, 'b.vcf', cards.join(''));
      expect([brokenOf(items), dataOf(items)]).toEqual([[], objectsOf(values)]);
    });
    await fc.assert(property, { numRuns: 150 });
  });

  it('with naughty strings as names, companies and labels', async () => {
    const tidied = naughtyStrings.map((one) => one.replace(/\r\n?/g, '\n').trim());
    const tidy = [...new Set(tidied)].filter((one) => one !== '' && one.length < 10_000);
    const cards = tidy.map(
      (one) =>
        `BEGIN:VCARD\nVERSION:3.0\nN:${escaped(one)};${escaped(one)};;;\nORG:${escaped(one)};x\na.URL:${escaped(one)}\na.X-ABLabel:${escaped(one)}\nEND:VCARD\n`,
    );
    const { items } = await readText(folder, 'c.vcf', cards.join(''));
    expect(brokenOf(items)).toEqual([]);
    expect(dataOf(items)).toEqual(
      tidy.map((one) => ({
        N: { familyName: one, givenName: one },
        ORG: { name: one, unit: 'x' },
        URL: [{ name: one, value: one }],
      })),
    );
  });
});
