/**
 * Whether the pages of a file are all there are. What the last one says counts: that there is a next page is said of every other one, too.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { noSigns, type PageSign, type PageSigns, signsOfPart } from './page-signs.ts';

interface ReadPage {
  readonly signs: PageSigns;
  readonly recordCount: number;
  /** Whether it says of itself what pages alone say: an empty list beside nothing may be a failed answer. */
  readonly saysOfPages: boolean;
}

interface PageCount {
  add(page: ReadPage): void;
  count(): number;
  /** @param recordCount of all pages. @throws PatchbayError `file` `morePages`. */
  checkEnd(recordCount: number): void;
}

/** @param name the user's name of the file. */
export function createPageCount(name: string): PageCount {
  const numbers = new Set<number>();
  let numberName = '';
  let numberedCount = 0;
  let repeated: number | null = null;
  let count = 0;
  let last: ReadPage | null = null;
  let highest: ReadPage | null = null;
  let areRanked = true;

  const add = (page: ReadPage): void => {
    count += 1;
    const { page: number } = page.signs;
    if (number !== null) {
      if (numbers.has(number.count)) repeated ??= number.count;
      numbers.add(number.count);
      numberName = number.name;
      numberedCount += 1;
    }
    if (page.recordCount === 0 && !page.saysOfPages && last !== null) return;
    last = page;
    const rank = rankOf(page);
    areRanked &&= rank !== null;
    if (rank !== null && (highest === null || rank >= (rankOf(highest) ?? 0))) highest = page;
  };

  /** Where some page has no number, it may be any. */
  const gapOf = (): PageSign | null => {
    if (numberedCount < count || count < 2) return null;
    if (repeated !== null) return { name: numberName, says: `is ${repeated} in several of them` };
    const sorted = [...numbers].toSorted((one, other) => one - other);
    const before = sorted.findIndex((number, index) => index + 1 < sorted.length && sorted[index + 1] !== number + 1);
    return before < 0
      ? null
      : { name: numberName, says: `is ${sorted[before]} and ${sorted[before + 1]}, and none between` };
  };

  const checkEnd = (recordCount: number): void => {
    // Files may be joined in the order of their names: page10 before page2.
    const end = areRanked ? (highest ?? last) : last;
    const [sign = gapOf()] = end === null ? [] : signsOfEnd(end, recordCount, count);
    if (sign !== null) throw notTheLast(name, count, sign, recordCount);
  };
  return { add, count: () => count, checkEnd };
}

/** Its place among the others; null where it does not say. */
function rankOf({ signs: { page, offset } }: ReadPage): number | null {
  return (page ?? offset)?.count ?? null;
}

function signsOfEnd({ signs, recordCount: own }: ReadPage, recordCount: number, pageCount: number) {
  const { more, unsure, isEnd, total, pages, size, offset } = signs;
  // How many records there are, and that there are several pages, was said of one of them.
  const found = [...signsOfPart({ ...noSigns, more, unsure, isEnd, total }, recordCount)];
  const isLess = total !== null && total.count > recordCount;
  const isFull = size !== null && size.count > 0 && size.count <= own;
  const isBefore = isLess && offset !== null && offset.count + own < total.count;
  if (isLess && (isFull || isBefore)) found.push({ name: total.name, says: `is ${total.count}` });
  if (pages !== null && pages.count > pageCount && (total === null || isLess))
    found.push({ name: pages.name, says: `is ${pages.count}` });
  return found;
}

function notTheLast(name: string, pageCount: number, sign: PageSign, recordCount: number): PatchbayError {
  const records = `${recordCount} ${recordCount === 1 ? 'record' : 'records'}`;
  const pages = pageCount === 1 ? '1 page' : `${pageCount} pages`;
  const message = `${name} holds ${pages} with ${records}, and not all there are: "${sign.name}" ${sign.says}`;
  const hint = `Fetch all pages. If these are all you want, take "${sign.name}" out of the file.`;
  return fileError('morePages', message, { file: name, member: sign.name, recordCount, total: null }, hint);
}
