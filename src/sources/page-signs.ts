/**
 * Whether a JSON document is one page of several, by the members beside its records: they point to a next page, say that this is not
 * the end, number it among others, or count more records than it holds while it is full. Importing a part of an export is
 * dangerous: the people whom a full file lacks look as if they had left.
 *
 * A closed list of how services say it. On the last page a pointer is absent, null or empty. A total alone proves nothing: some
 * services count what a filter hid. Pure.
 */
import { isList, type JsonValue } from '#src/json/record-value.ts';

const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

// Names are compared without case, digits and punctuation: `next_page_token`, `@odata.nextLink`.

/** Objects that hold such members. */
const holders = names('paging pagination page pageinfo links meta metadata info additionaldata responsemetadata');
const pointers = names(
  `next nextpage nextpagetoken nexttoken nextcursor nextlink nexturl nexturi nexthref nextrecordsurl odatanextlink nextpageurl
  nextpageuri nextpagelink nextoffset nextmarker continuationtoken lastevaluatedkey`,
);
/** What is behind it follows, unless another member says that nothing does: some services name both ends of the last page, too. */
const cursor = 'cursor';
/** True where more follows. */
const moreFlags = names(
  `hasmore hasnext hasnextpage hasmorepages hasmoreitems hasmorerecords hasmoreresults morerecords moreitemsincollection
  moreresults moreavailable incompleteresults truncated istruncated`,
);
/** False where more follows. */
const endFlags = names('done isdone last islast lastpage islastpage complete iscomplete');
const totals = names(
  'total totalitems totalcount totalsize totalrecords totalelements totalresults totalentries odatacount',
);
const pageCounts = names('totalpages pages pagecount pagestotal numpages numberofpages lastpage');
const pageNumbers = names('page currentpage pagenumber pageno pageindex');
const pageSizes = names('perpage pagesize limit size itemsperpage resultsperpage maxresults');
const offsets = names('offset skip start startat startindex');

/** Other members of a page, beside its records. */
const others = names(
  `status statuscode success ok error errors warnings message messages count object type kind included jsonapi
  href url self prev previous prevpage previouspage prevpageurl firstpageurl lastpageurl from to etag context
  odatacontext odataetag request requestid timestamp took timedout time cursor`,
);
/** Of a page where they hold a number or a link, or nothing; as a text they are a name, or the code of a company. */
const othersUnlessText = names('first last code');

/**
 * Whether a member of that name says something of a page or an answer, and nothing of a person or a company.
 * @param value undefined where it is too long to be looked at.
 */
export function isOfPages(name: string, value: JsonValue | undefined): boolean {
  const folded = fold(name);
  if (othersUnlessText.has(folded)) return value !== undefined && isNoText(value);
  const known = [holders, pointers, moreFlags, endFlags, totals, pageCounts, pageNumbers, pageSizes, offsets, others];
  return known.some((set) => set.has(folded));
}

function isNoText(value: JsonValue): boolean {
  if (typeof value === 'string') return /^(?:https?:\/\/|\/|\?)/i.test(value);
  return value === null || typeof value !== 'object' || (isObject(value) && typeof value.href === 'string');
}

/** Said of orders, books, tasks and companies, too: the sum, how many employees, the limit of a credit. */
const saidOfOthers = names('total size limit start skip pages done isdone complete iscomplete');
/** Of companies and people none has such an object. */
const holdersOfPages = names('paging pagination page pageinfo meta');

/** Whether the member says what is said of pages alone: also that there is no next one. */
export function provesPages(name: string, value: JsonValue): boolean {
  const folded = fold(name);
  const { more, unsure, isEnd, ...counts } = readPageSigns(noSigns, name, value);
  const found = [...more, unsure, ...Object.values(counts)].filter((one) => one !== null);
  if (holdersOfPages.has(folded)) return found.length > 0 || isEnd;
  if (found.some((sign) => !saidOfOthers.has(fold(sign.name.slice(sign.name.lastIndexOf('.') + 1))))) return true;
  if (saidOfOthers.has(folded)) return false;
  const isFlag = moreFlags.has(folded) || endFlags.has(folded);
  return (isFlag && isEnd) || (pointers.has(folded) && (value === null || value === ''));
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** `meta.pagination.links.next`. */
const depthMax = 4;
/** A document names few of them; of one that has more, these are enough to refuse it. */
const signsMax = 20;

interface Counted {
  /** As a path: `meta.total`. */
  readonly name: string;
  readonly count: number;
}

/** One member that says that the document is not the whole. */
export interface PageSign {
  /** As a path: `paging.next`. */
  readonly name: string;
  /** What it says, as the end of a sentence about it: `is false`. */
  readonly says: string;
}

export interface PageSigns {
  /** What needs no other member to be sure of. */
  readonly more: readonly PageSign[];
  /** What counts where nothing says that this is the end. */
  readonly unsure: PageSign | null;
  /** Whether a member says that nothing follows. */
  readonly isEnd: boolean;
  /** How many records there are in all. */
  readonly total: Counted | null;
  /** How many pages there are. */
  readonly pages: Counted | null;
  /** Which of them this is: from 0 or 1. */
  readonly page: Counted | null;
  /** How many records a page has at most. */
  readonly size: Counted | null;
  /** How many records are before this page; some services count from 1. */
  readonly offset: Counted | null;
}

export const noSigns: PageSigns = {
  ...{ more: [], unsure: null, isEnd: false, total: null },
  ...{ pages: null, page: null, size: null, offset: null },
};

/** What a member beside the records adds to what the others have said. */
export function readPageSigns(signs: PageSigns, name: string, value: JsonValue, path = name, depth = 1): PageSigns {
  const folded = fold(name);
  const sure = (says: string): PageSigns =>
    signs.more.length < signsMax ? { ...signs, more: [...signs.more, { name: path, says }] } : signs;
  const count = countIn(value);
  if (count !== null) {
    const counted = { name: path, count };
    if (totals.has(folded)) return { ...signs, total: signs.total ?? counted };
    if (pageCounts.has(folded)) return { ...signs, pages: signs.pages ?? counted };
    if (pageNumbers.has(folded)) return { ...signs, page: signs.page ?? counted };
    if (pageSizes.has(folded)) return { ...signs, size: signs.size ?? counted };
    if (offsets.has(folded)) return { ...signs, offset: signs.offset ?? counted };
  }
  const truth = truthIn(value);
  if (truth === true && moreFlags.has(folded)) return sure('is true');
  if (truth === false && endFlags.has(folded)) return sure('is false');
  if (truth !== null && (moreFlags.has(folded) || endFlags.has(folded))) return { ...signs, isEnd: true };
  if (folded === cursor && isObject(value) && pointsSomewhere(value.after ?? null))
    return { ...signs, unsure: signs.unsure ?? { name: `${path}.after`, says: 'points to the next one' } };
  // Where an offset is no number, it is a token for the next page.
  const isPointer = pointers.has(folded) || (folded === 'offset' && count === null);
  if (isPointer && pointsSomewhere(value)) return sure('points to the next one');
  if (!holders.has(folded) || depth >= depthMax || value === null || typeof value !== 'object') return signs;
  if (isList(value)) return value.some(isLinkToNext) ? sure('holds a link to the next one') : signs;
  return Object.entries(value).reduce(
    (known, [inner, held]) => readPageSigns(known, inner, held, `${path}.${inner}`, depth + 1),
    signs,
  );
}

/** After all members were read: why a document with that many records is not the whole, the surest sign first. Empty for a whole one. */
export function signsOfPart(
  { more, unsure, isEnd, total, pages, page, size, offset }: PageSigns,
  recordCount: number,
): readonly PageSign[] {
  const isWhole = total !== null && total.count <= recordCount;
  const isLess = total !== null && total.count > recordCount;
  const sign = (found: Counted | null, isPart: (count: number) => boolean): readonly PageSign[] =>
    found !== null && isPart(found.count) ? [{ name: found.name, says: `is ${found.count}` }] : [];
  return [
    ...more,
    ...(unsure === null || isEnd || isWhole ? [] : [unsure]),
    ...sign(pages, (count) => count > 1 && !isWhole),
    ...sign(page, (count) => count > 1 && !isWhole),
    ...sign(size, (count) => isLess && count > 0 && count <= recordCount),
    ...sign(offset, (count) => isLess && count > 1),
  ];
}

/** A whole number, also where it is written as a text. */
function countIn(value: JsonValue): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

function truthIn(value: JsonValue): boolean | null {
  if (typeof value === 'boolean') return value;
  return value === 'true' ? true : value === 'false' ? false : null;
}

/** A token, a number or a link; or an object with one in it, as in `{"after": "251"}`. */
function pointsSomewhere(value: JsonValue): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (typeof value === 'number') return true;
  if (value === null || typeof value !== 'object' || isList(value)) return false;
  return Object.values(value).some((inner) => typeof inner === 'string' && inner.trim() !== '');
}

/** `{"rel": "next", "href": "…"}`. */
function isLinkToNext(value: JsonValue): boolean {
  return isObject(value) && (value.rel ?? value.relation) === 'next';
}

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return value !== null && typeof value === 'object' && !isList(value);
}
