import { describe, expect, test } from 'vitest';
import { walkPages } from '#src/workspace/page-walker.ts';

/** Walks a list whose pages carry these tokens; gives the page numbers seen and the tokens asked for. */
async function walk(tokens: readonly unknown[], pagesMax = 10) {
  const asked: (string | null)[] = [];
  const seen: number[] = [];
  const pages = walkPages(
    async (token) => {
      asked.push(token);
      return { data: asked.length, nextPageToken: tokens[asked.length - 1] };
    },
    { pagesMax },
  );
  const failure = await (async () => {
    for await (const page of pages) seen.push(page);
  })().catch((error: unknown) => error);
  return { asked, seen, failure };
}

describe('the page walker', () => {
  test.each([[null], [undefined]])('%s ends the walk', async (end) => {
    expect(await walk(['a', 'b', end])).toEqual({ asked: [null, 'a', 'b'], seen: [1, 2, 3], failure: undefined });
  });

  test.each([
    ['a', 'a'],
    ['a', 'b', 'a'],
  ])('a token that came before is refused', async (...tokens) => {
    const { failure } = await walk(tokens);
    expect(failure).toMatchObject({ kind: 'unreachable', code: 'pageTokenRepeated' });
  });

  test.each([0, 7, true, {}, ['a']])('the token %j is refused', async (token) => {
    const { failure, seen } = await walk(['a', token]);
    expect(failure).toMatchObject({ kind: 'unreachable', code: 'pageTokenNotText' });
    expect(seen).toEqual([1]);
  });

  test('an empty string is a token like any other', async () => {
    expect((await walk(['', null])).asked).toEqual([null, '']);
  });

  test('a list with exactly as many pages as allowed is whole; one more fails', async () => {
    expect(await walk(['a', 'b', null], 3)).toMatchObject({ seen: [1, 2, 3], failure: undefined });
    const { failure, asked } = await walk(['a', 'b', 'c', null], 3);
    expect(failure).toMatchObject({ kind: 'unreachable', code: 'tooManyPages' });
    expect(asked).toHaveLength(3);
  });

  test('what the fetch throws passes through', async () => {
    const pages = walkPages(() => Promise.reject(new Error('gone')), { pagesMax: 3 });
    await expect(pages.next()).rejects.toThrow('gone');
  });
});
