/**
 * Which line of a table of an unknown layout is its header: by the names of contact data that it holds. And names for a table that
 * has none. Pure.
 */
import { contactColumnOf, isSynonym } from '#src/mapping/contact-columns.ts';
import { normaliseHeader } from '#src/sources/column-name.ts';
import type { HeaderRule } from '#src/sources/format-reader.ts';
import type { ColumnFacts } from './column-facts.ts';

const wanted = { wanted: 'line with the names of columns', hint: 'Add such a line.' };

/** A line with at least two names of contact data, whatever is above it. */
export const likelyHeader: HeaderRule = { ...wanted, isHeader: isLikelyHeader };

/**
 * The first line, unless that is a title or names groups of columns, and the header is below it: `Customer, , , Contact` above
 * `No., First name, Last name, Phone`.
 */
export const firstOrLikelyHeader: HeaderRule = {
  ...wanted,
  isHeader: (cells, first = []) =>
    isLikelyHeader(cells) && !holdsValues(cells) && !isLikelyHeader(first) && saysMore(cells, first),
  elseFirst: true,
};

const contactNamesMin = 2;
/** No row holds as many names of contact data: such a line is a header, also below a title of as many cells. */
const surelyNames = 3;

function isLikelyHeader(cells: readonly string[]): boolean {
  return contactNamesIn(cells) >= contactNamesMin && !cells.some((cell) => surelyValue.test(cell.trim()));
}

/** Such as an id, which a row has, and a header below the first line has not. */
function holdsValues(cells: readonly string[]): boolean {
  return cells.some((cell) => valueForm.test(cell.trim()));
}

function saysMore(cells: readonly string[], first: readonly string[]): boolean {
  const names = namesIn(cells).size;
  if (names > namesIn(first).size) return true;
  const contactNames = contactNamesIn(cells);
  return contactNamesIn(first) === 0 && contactNames >= surelyNames && contactNames * 2 >= names;
}

function contactNamesIn(cells: readonly string[]): number {
  return new Set(cells.filter((cell) => contactColumnOf(cell) !== null || isSynonym(cell)).map(normaliseHeader)).size;
}

/** A name that is repeated over several columns is one. */
function namesIn(cells: readonly string[]): ReadonlySet<string> {
  return new Set(cells.map(normaliseHeader).filter((name) => name !== ''));
}

/** Addresses, links and phone numbers. */
const surelyValue = /@[^\s@]+\.|^https?:|^\+\d{7}/;

/** Cells of a first line that no header has. */
const valueForm = /@[^\s@]+\.|^\+?[\d\s()./-]{6,}$|^https?:\/\/|^\d{4}-\d{2}-\d{2}|^\d+$/;

/**
 * For a table whose first line holds values: what these are, in words, and names that could be above them, each of them once. Null for
 * a header.
 */
export function suggestHeader(
  header: readonly string[],
  facts: readonly ColumnFacts[],
): { readonly found: readonly string[]; readonly header: readonly string[] } | null {
  const filled = header.map((name) => name.trim()).filter((name) => name !== '');
  const values = filled.filter((name) => valueForm.test(name));
  // An address or a link is proof; of numbers it takes half: years may be names.
  const isProof = values.some((value) => /@|^https?:|^\+\d{7}/.test(value)) || values.length * 2 > filled.length;
  if (values.length === 0 || !isProof) return null;
  const kinds = header.map((cell, index) => kindOfColumn([cell, ...(facts[index]?.values ?? [])]));
  return { found: [...new Set(values.map(kindOfValue))], header: namesFor(kinds) };
}

/** In words: messages do not repeat values. */
function kindOfValue(value: string): string {
  if (value.includes('@')) return 'an e-mail address';
  if (/^https?:/.test(value)) return 'a link';
  return /^\+/.test(value) ? 'a phone number' : 'a number';
}

type ColumnKind = 'email' | 'phone' | 'externalId' | 'name' | 'other';

function kindOfColumn(cells: readonly string[]): ColumnKind {
  const values = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  if (values.length === 0) return 'other';
  if (values.some((value) => value.includes('@'))) return 'email';
  if (values.every((value) => /^\+?[\d\s()./-]{7,}$/.test(value))) return 'phone';
  if (values.every((value) => /^[\w.-]*\d[\w.-]*$/.test(value))) return 'externalId';
  return values.every((value) => /^\p{Lu}[\p{L}'-]+$/u.test(value)) ? 'name' : 'other';
}

/** Names of the generic layout: a person's first and last name, one id, any number of addresses and phone numbers. */
function namesFor(kinds: readonly ColumnKind[]): readonly string[] {
  const names = kinds.filter((kind) => kind === 'name').length > 1 ? ['firstName', 'lastName'] : ['lastName'];
  return kinds.map((kind, index) => {
    const before = kinds.slice(0, index).filter((earlier) => earlier === kind).length;
    const other = `column ${index + 1}`;
    if (kind === 'name') return names[before] ?? other;
    if (kind === 'email' || kind === 'phone') return before === 0 ? kind : `${kind} ${before + 1}`;
    return kind === 'externalId' && before === 0 ? kind : other;
  });
}
