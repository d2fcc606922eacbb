import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lookUpChunks, lookUpQuery } from '#src/workspace/look-up-chunks.ts';

describe('the query of a look-up', () => {
  test('repeats the plain key and encodes what is special', () => {
    expect(lookUpQuery(['a&b=c', '1+1', 'x y', 'é', '#?/%', '💡'], null)).toBe(
      'externalIds=a%26b%3Dc&externalIds=1%2B1&externalIds=x%20y&externalIds=%C3%A9&externalIds=%23%3F%2F%25' +
        '&externalIds=%F0%9F%92%A1&maxResults=50',
    );
    expect(lookUpQuery(['a'], 't&k')).toBe('externalIds=a&maxResults=50&pageToken=t%26k');
  });

  test('refuses none, more than 20 and more than 4 KB as a bug', () => {
    const bug = expect.objectContaining({ kind: 'bug' });
    expect(() => lookUpQuery([], null)).toThrow(bug);
    expect(() => lookUpQuery(Array(21).fill('a'), null)).toThrow(bug);
    expect(() => lookUpQuery(Array(20).fill('é'.repeat(75)), null)).toThrow(bug);
    expect(() => lookUpQuery(['\ud800'], null)).toThrow(bug);
    expect(() => lookUpQuery(Array(20).fill('a'.repeat(75)), null)).not.toThrow();
  });

  test('a cut list keeps every key in order, and each piece fits one call', () => {
    const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 75 }).filter((text) => text.isWellFormed());
    const bounded = key.map((text) => [...text].slice(0, 75).join(''));
    fc.assert(
      fc.property(fc.array(bounded, { maxLength: 120 }), (keys) => {
        const chunks = lookUpChunks(keys);
        expect(chunks.flat()).toEqual(keys);
        for (const chunk of chunks) expect(lookUpQuery(chunk, null).length).toBeLessThanOrEqual(4_096);
      }),
    );
  });

  test('short keys fill each call with 20', () => {
    const keys = Array.from({ length: 45 }, (_, index) => `crm-${index}`);
    expect(lookUpChunks(keys).map((chunk) => chunk.length)).toEqual([20, 20, 5]);
  });
});
