/**
 * Whether a JSON document is one page of several: a member beside its records points to a next page. Importing a part of
 * an export is dangerous: the people whom a full file lacks look as if they had left.
 *
 * A closed list of how services say it. On the last page the member is absent, null, empty or false. A total alone proves
 * nothing: some services count what a filter hid.
 */
import { isList, type JsonValue } from '#src/json/record-value.ts';

/** Names are compared without case and punctuation: `next_page_token`, `@odata.nextLink`. */
const holders: ReadonlySet<string> = new Set([
  ...['paging', 'pagination', 'page', 'pageinfo', 'links', 'meta', 'metadata', 'info'],
  ...['additionaldata', 'responsemetadata'],
]);
const pointers: ReadonlySet<string> = new Set([
  ...['next', 'nextpage', 'nextpagetoken', 'nexttoken', 'nextcursor', 'nextlink', 'nexturl', 'nextrecordsurl'],
  ...['odatanextlink', 'nextpageurl', 'nextpagelink'],
]);
const flags: ReadonlySet<string> = new Set([
  'hasmore',
  'hasnext',
  'hasnextpage',
  'morerecords',
  'moreitemsincollection',
]);
const totals: ReadonlySet<string> = new Set(['total', 'totalitems', 'totalcount', 'totalsize', 'totalrecords']);
/** `meta.pagination.links.next`. */
const depthMax = 4;

export interface PageSigns {
  /** The member that says that more follows, as a path; null where none does. */
  readonly more: string | null;
  /** The member that says how many records there are in all. */
  readonly total: { readonly name: string; readonly count: number } | null;
}

export const noSigns: PageSigns = { more: null, total: null };

/** What a member beside the records adds to what the others have said. Pure. */
export function readPageSigns(signs: PageSigns, name: string, value: JsonValue, path = name, depth = 1): PageSigns {
  const folded = name.toLowerCase().replace(/[^a-z]/g, '');
  if (typeof value === 'number' && totals.has(folded))
    return { ...signs, total: signs.total ?? { name: path, count: value } };
  if (value === true && flags.has(folded)) return { ...signs, more: signs.more ?? path };
  if (pointers.has(folded) && pointsSomewhere(value)) return { ...signs, more: signs.more ?? path };
  if (!holders.has(folded) || depth >= depthMax || value === null || typeof value !== 'object' || isList(value))
    return signs;
  return Object.entries(value).reduce(
    (known, [inner, held]) => readPageSigns(known, inner, held, `${path}.${inner}`, depth + 1),
    signs,
  );
}

/** A token, a number or a link; or an object with one in it, as in `{"after": "251"}`. */
function pointsSomewhere(value: JsonValue): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (typeof value === 'number') return true;
  if (value === null || typeof value !== 'object' || isList(value)) return false;
  return Object.values(value).some((inner) => typeof inner === 'string' && inner.trim() !== '');
}
