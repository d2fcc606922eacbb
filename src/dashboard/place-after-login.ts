/**
 * Where a login leads: to the page that was asked for, as by the link of a notice. Pure.
 *
 * The form brings that place back, so the sender of the form chooses it: only an address of a page of ours is followed, and never
 * one that a browser would read as another site (`docs/rules.md`, "Secrets and personal data").
 */

const overview = '/';

/** The pages, with any query. A fragment is never sent. */
const pageAddress = /^\/(?:runs(?:\/[^/?]+)?|feeds|dead-letters)?(?:\?.*)?$/;

/** Printable ASCII, as browsers send addresses. A browser reads `\` as `/`, and leaves out tabs and line ends. */
const plainText = /^[!-[\]-~]+$/;

/** Encoded, and beside a token, it fits into the form's 4 KB. */
const charactersMax = 1_000;

/** Any origin will do: an address that is not local leaves it. */
const here = 'http://page.invalid';

/** The path and query of one of our pages, in the browser's own spelling; the overview in place of anything else. */
export function placeAfterLogin(asked: unknown): string {
  if (typeof asked !== 'string' || asked.length > charactersMax || !plainText.test(asked)) return overview;
  if (!asked.startsWith('/') || !URL.canParse(asked, here)) return overview;
  const { origin, pathname, search } = new URL(asked, here);
  const place = `${pathname}${search}`;
  return origin === here && pageAddress.test(place) ? place : overview;
}
