/** What counts as a URI (2.1), held to the format of the description and to what the worker sends. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHttpUri } from '#src/mapping/cell.ts';
import { isUri } from '#src/service/contacts/contact-bodies.ts';

const ajv = new Ajv2020();
// The package is CommonJS: its function stands under `default` for the types alone.
addFormats.default(ajv);
const fitsFormat = ajv.compile({ type: 'string', format: 'uri' });

const pieces = [..."aZ7-._~!'(*+,;=&$:@/?"];
const odd = ['#', '[', ']', '%', '%41', '%zz', 'ü', '😀', '|', '^', '{', '"', ' ', '\\', '::1', '[::1]', '//', '..'];
const tail = fc.array(fc.constantFrom(...pieces, ...odd), { maxLength: 12 }).map((parts) => parts.join(''));

test('what is taken fits the format that replies are described with', () => {
  const text = fc
    .tuple(fc.constantFrom('http:', 'https://', 'urn:', 'x+1://', ''), tail)
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (one) => {
      if (isUri(one)) expect(fitsFormat(one), one).toBe(true);
    }),
    { numRuns: 5_000 },
  );
});

test('a link that the worker reads from a file is one, whatever stands behind its host', () => {
  fc.assert(
    fc.property(
      tail,
      fc.constantFrom('https://example.com/', 'http://[::1]:8080/?', 'https://ü.example/#'),
      (end, start) => {
        const uri = readHttpUri(start + end);
        if (uri !== null) expect(isUri(uri), uri).toBe(true);
      },
    ),
    { numRuns: 5_000 },
  );
});

test('a link of any length is looked at in one go', () => {
  for (const piece of ['a', '@', ':', '/', '%', '%41', 'a/', '?', '#']) {
    // The blank at the end is no part of a link: each way to read the rest of it is tried.
    expect(isUri(`https://${piece.repeat(100_000)} `)).toBe(false);
    expect(isUri(`a:${piece.repeat(100_000)} `)).toBe(false);
  }
}, 5_000);
