/**
 * Files in which each record is a page of an answer, as a script collects them: `{"page": 1, "data": [{…}, {…}]}` once a line, or in one list; and
 * the list of tables that phpMyAdmin writes, with one table in it. The records are those of all pages.
 *
 * A page holds one list of objects, and beside it nothing but what is said of pages and answers (`isOfPages`). An object with a name, an id or a company of
 * its own is no page: its list belongs to it. The first records decide, and behind pages any other record ends the reading: people would be missing.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { createDocumentScanner } from '#src/json/document-scanner.ts';
import { createLineScanner } from '#src/json/line-scanner.ts';
import { JsonError, type Place } from '#src/json/place.ts';
import { isList, type JsonValue, textOf } from '#src/json/record-value.ts';
import type { SourceLimits, Tally } from './format-reader.ts';
import { itemOf, readValue } from './json-item.ts';
import { knownWrappers, mayHoldRecords } from './json-wrapper.ts';
import { isOfPages, noSigns, type PageSigns, readPageSigns, signsOfPart } from './page-signs.ts';
import type { SourceItem } from './row.ts';

type Limits = Pick<SourceLimits, 'recordBytesMax' | 'jsonDepthMax'>;
type JsonObject = { readonly [name: string]: JsonValue };

/** phpMyAdmin begins with two records that hold no list. */
const recordsLookedAtMax = 10;

/** Ends the pass early. */
class Found extends Error {}

/**
 * Which member of each page holds the records; null where the first records are no pages.
 * @param form one record per line, or a list of them.
 * @param isContact whether an object with these members is a contact by itself.
 */
export async function findPages(
  text: AsyncGenerator<string>,
  form: 'document' | 'lines',
  limits: Limits,
  isContact: (names: readonly string[]) => boolean,
): Promise<string | null> {
  const first: JsonObject[] = [];
  let isOther = false;
  const see = (bytes: Uint8Array): void => {
    const value: JsonValue = JSON.parse(Buffer.from(bytes).toString('utf8'));
    isOther = !isObject(value) || !mayBePage(value) || isContact(Object.keys(value));
    if (!isOther && isObject(value)) first.push(value);
    if (isOther || first.length >= recordsLookedAtMax) throw new Found();
  };
  const scanner = form === 'lines' ? lineScanner(see, limits) : listScanner(see, limits);
  const encoder = new TextEncoder();
  try {
    for await (const chunk of text) scanner.write(encoder.encode(chunk));
    scanner.end();
  } catch (error) {
    // What is no JSON is reported by the reader, which reads as pages what follows pages.
    if (!(error instanceof Found || error instanceof JsonError || error instanceof SyntaxError)) throw error;
  } finally {
    await text.return(undefined);
  }
  if (isOther) return null;
  const members = new Set(first.flatMap((one) => listMembers(one)));
  const [member] = members;
  return members.size === 1 && member !== undefined ? member : null;
}

function lineScanner(see: (bytes: Uint8Array) => void, { recordBytesMax }: Limits) {
  return createLineScanner((bytes) => {
    if (bytes.some((byte) => byte > 0x20)) see(bytes);
  }, recordBytesMax);
}

function listScanner(see: (bytes: Uint8Array) => void, { recordBytesMax, jsonDepthMax }: Limits) {
  return createDocumentScanner(
    {
      onRoot: (kind, place) => {
        if (kind !== 'list') throw new JsonError('refused', 'no list', place);
      },
      onMember: () => ({ as: 'value', keep: 'skip' }),
      onRecord: ({ bytes }) => see(bytes),
      onValue: () => undefined,
    },
    { valueBytesMax: recordBytesMax, depthMax: jsonDepthMax },
  );
}

/** Whether all that the object holds is at most one list of objects, and what is said of pages. */
function mayBePage(object: JsonObject): boolean {
  const lists = listMembers(object);
  const isTable = tableNameOf(object) !== null || lists.length === 0;
  return (
    lists.length <= 1 &&
    Object.keys(object).every(
      (name) => lists.includes(name) || isOfPages(name) || isEmptyList(name, object) || (isTable && ofTables.has(name)),
    )
  );
}

/** The last page may hold nothing. */
function isEmptyList(name: string, { [name]: value = null }: JsonObject): boolean {
  return mayHoldRecords(name) && isList(value) && value.length === 0;
}

/** Beside a list of a known name, no other one counts: `included` of JSON:API. */
function listMembers(object: JsonObject): readonly string[] {
  const names = Object.keys(object).filter((name) => {
    const value = object[name] ?? null;
    return mayHoldRecords(name) && isList(value) && value.length > 0 && value.every(isObject);
  });
  const known = names.filter((name) => knownWrappers.has(name));
  return known.length === 1 ? known : names;
}

/** What phpMyAdmin says of the file, the database and the table. */
const ofTables: ReadonlySet<string> = new Set(['name', 'database', 'version', 'comment']);

/** What it writes before the tables. */
const aside: ReadonlySet<string> = new Set(['header', 'database']);

function tableNameOf({ type = null, name = null }: JsonObject): string | null {
  return type === 'table' && typeof name === 'string' ? name : null;
}

interface PageReader {
  /** Reads one record of the file. @throws JsonError; PatchbayError `file` `notAJsonArray`, `tooManyRows`. */
  take(bytes: Uint8Array, place: Place): void;
  /** @throws PatchbayError `file` `morePages` where none of the pages is the last. */
  end(): void;
}

/** @param member which `findPages` found. @param items get the records of each page. */
export function createPageReader(
  { name, member, limits }: { readonly name: string; readonly member: string; readonly limits: SourceLimits },
  tally: Tally,
  items: SourceItem[],
): PageReader {
  let pageCount = 0;
  let firstLine = 1;
  let table: string | null = null;
  let last: PageSigns = noSigns;
  let isEndSeen = false;

  const take = (bytes: Uint8Array, place: Place): void => {
    const beside: { [name: string]: JsonValue } = Object.create(null);
    let signs = noSigns;
    let memberName = '';
    let hasList = false;
    let isOther = false;
    const scanner = createDocumentScanner(
      {
        onRoot: (kind) => {
          isOther = kind !== 'object';
        },
        onMember: ({ name: found, kind }) => {
          memberName = found;
          isOther ||= found !== member && !isOfPages(found) && !ofTables.has(found);
          if (found !== member || kind !== 'list') return { as: 'value', keep: 'drop' };
          hasList = true;
          return { as: 'records', keep: 'refuse' };
        },
        onRecord: (scanned) => {
          const at = placeFrom(place, scanned.place);
          items.push(itemOf(textOf(scanned), scanned.memberCount, at, limits.cellBytesMax, tally));
        },
        onValue: (scanned) => {
          if (scanned.isDropped || isOther) return;
          const { value } = readValue(textOf(scanned), scanned.memberCount, place, limits.cellBytesMax, tally);
          beside[memberName] = value;
          signs = readPageSigns(signs, memberName, value);
        },
      },
      { valueBytesMax: limits.recordBytesMax, depthMax: limits.jsonDepthMax },
    );
    try {
      scanner.write(bytes);
      scanner.end();
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw new JsonError(error.kind, error.message, placeFrom(place, error.place), error.found);
    }
    if (!hasList && aside.has(String(beside.type))) return;
    if (isOther || !hasList) throw noPage(name, place.line, member);
    const ofTable = tableNameOf(beside);
    if (table !== null && ofTable !== table) throw severalTables(name, place.line, table, ofTable);
    table = ofTable;
    if (pageCount === 0) firstLine = place.line;
    pageCount += 1;
    last = signs;
    isEndSeen ||= signs.more.length === 0;
  };

  const end = (): void => {
    if (pageCount === 0) return;
    const { recordCount } = tally.tail();
    const { pages, total } = last;
    // Which of the pages this is, and how many records it holds, was said of one of them.
    const [sign] = signsOfPart(
      {
        ...noSigns,
        more: isEndSeen ? [] : last.more,
        total,
        isEnd: last.isEnd,
        unsure: isEndSeen ? null : last.unsure,
      },
      recordCount,
    );
    if (sign !== undefined) throw notTheLast(name, pageCount, sign, recordCount);
    if (pages !== null && pages.count > pageCount && (total === null || total.count > recordCount))
      throw notTheLast(name, pageCount, { name: pages.name, says: `is ${pages.count}` }, recordCount);
    tally.warn(pagesRead(member, pageCount, firstLine));
  };
  return { take, end };
}

function placeFrom(start: Place, { line, column }: Place): Place {
  return { line: start.line + line - 1, column: line === 1 ? start.column + column - 1 : column };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

function pagesRead(member: string, count: number, line: number) {
  const pages = count === 1 ? 'one page' : `${count} pages`;
  const message = `the file holds ${pages} of an answer: its records are the list "${member}" of ${count === 1 ? 'it' : 'each'}`;
  return { code: 'pagesRead', line, field: null, value: null, message, hint: 'Nothing to do if that is right.' };
}

function noPage(name: string, line: number, member: string): PatchbayError {
  const found = 'a record without contacts in it';
  const message = `${name}, line ${line}: ${found}, among pages with a list "${member}"`;
  const hint = `If an answer is missing there, fetch it again; else write the contacts alone, one per line, as jq -c '.${member}[]' does.`;
  return fileError('notAJsonArray', message, { file: name, line, found }, hint);
}

function severalTables(name: string, line: number, first: string, other: string | null): PatchbayError {
  const found = `several tables, "${first}" and ${other === null ? 'another' : `"${other}"`}`;
  const message = `${name}, line ${line}: ${found}`;
  const hint = `Export the table with the contacts alone, or take it out of the file, as jq -c '.[] | select(.name == "${first}") | .data[]' does.`;
  return fileError('notAJsonArray', message, { file: name, line, found }, hint);
}

function notTheLast(
  name: string,
  pageCount: number,
  sign: { readonly name: string; readonly says: string },
  recordCount: number,
): PatchbayError {
  const records = `${recordCount} ${recordCount === 1 ? 'record' : 'records'}`;
  const pages = pageCount === 1 ? '1 page' : `${pageCount} pages`;
  const message = `${name} holds ${pages} with ${records}, and not all there are: "${sign.name}" ${sign.says}`;
  const hint = `Fetch all pages. If these are all you want, take "${sign.name}" out of the file.`;
  return fileError('morePages', message, { file: name, member: sign.name, recordCount, total: null }, hint);
}
