/** Ctrl-Z as the last character of a file (`docs/bad-inputs.md`, "CSV"): it is no text, wherever the bytes are cut. */
import { describe, expect, it } from 'vitest';
import { decodedText } from '#src/sources/decode.ts';

async function* pieces(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

const encoded = (text: string, label: string): Buffer => {
  const little = Buffer.from(text, 'utf16le');
  if (label === 'utf-16be') return Buffer.from(little).swap16();
  return label === 'utf-16le' ? little : Buffer.from(text);
};

const texts = [
  'Ann\u001a',
  'Ann',
  '\u001a',
  '',
  'A\u001an',
  'Ann\u001a\u001a',
  'Ann\u001a\n',
  'ᨀĀ\u001a',
  'Ā\u0000',
  '"Bob"\u001a',
];

describe.each(['utf-8', 'utf-16le', 'utf-16be'])('in %s', (label) => {
  it.each(texts)('%j', async (text) => {
    const bytes = encoded(text, label);
    for (let pieceBytes = 1; pieceBytes <= Math.max(1, bytes.length); pieceBytes++) {
      let read = '';
      for await (const piece of decodedText(pieces(bytes, pieceBytes), label, 'a.csv').text) read += piece;
      expect([pieceBytes, read]).toEqual([pieceBytes, text.replace(/\u001a$/, '')]);
    }
  });
});

it('in the bytes behind the text that was taken', async () => {
  for (const pieceBytes of [1, 2, 3, 4, 5]) {
    const { text, rest } = decodedText(pieces(Buffer.from('Ann,é\u001ab\u001a'), pieceBytes), 'utf-8', 'a.csv');
    let read = String((await text.next()).value);
    const chunks: Buffer[] = [];
    for await (const chunk of rest?.() ?? []) chunks.push(Buffer.from(chunk));
    read += Buffer.concat(chunks).toString();
    expect([pieceBytes, read]).toEqual([pieceBytes, 'Ann,é\u001ab']);
  }
});
