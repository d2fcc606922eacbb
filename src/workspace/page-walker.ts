/**
 * Walks the pages of a list until the token is null or absent (`interface.md`, 4.6; `facts.md`).
 *
 * Invariant: a walk either ends at a real end or throws; it never ends early as if it were complete. `totalItems` is
 * wrong by declaration and is not read.
 */
import { PatchbayError } from '#src/errors.ts';

export interface Page<Data> {
  readonly data: Data;
  /** As it came: null or absent at the end, else a string. */
  readonly nextPageToken: unknown;
}

export interface WalkLimits {
  readonly pagesMax: number;
}

/**
 * Yields the data of each page. Throws `unreachable`: `pageTokenNotText`, `pageTokenRepeated` (any token that was
 * followed before: the walk would go in a circle), `tooManyPages`.
 */
export async function* walkPages<Data>(
  fetchPage: (token: string | null) => Promise<Page<Data>>,
  limits: WalkLimits,
): AsyncGenerator<Data, void, void> {
  const followed = new Set<string>();
  let token: string | null = null;
  // Ends at the last page, or after `pagesMax` pages.
  for (let pageCount = 1; pageCount <= limits.pagesMax; pageCount += 1) {
    const page: Page<Data> = await fetchPage(token);
    const next = page.nextPageToken ?? null;
    if (next !== null && typeof next !== 'string') {
      const facts = { page: pageCount, type: typeof next };
      throw oddPage('pageTokenNotText', `the page token after page ${pageCount} is no text`, facts);
    }
    if (next !== null && followed.has(next)) {
      throw oddPage('pageTokenRepeated', `the page token after page ${pageCount} came before`, { page: pageCount });
    }
    yield page.data;
    if (next === null) return;
    followed.add(next);
    token = next;
  }
  throw oddPage('tooManyPages', `the list has more than ${limits.pagesMax} pages`, { pagesMax: limits.pagesMax });
}

function oddPage(code: string, message: string, facts: Record<string, string | number>): PatchbayError {
  return new PatchbayError('unreachable', code, `The service pages its list oddly: ${message}.`, { facts });
}
