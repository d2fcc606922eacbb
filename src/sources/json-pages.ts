/**
 * Files in which each record is a page of an answer, as a script collects them: `{"page": 1, "data": [{…}, {…}]}` once a line, or in one list; and
 * the list of tables that phpMyAdmin writes, with one table in it. The records are those of all pages.
 *
 * A page holds one list of objects, and beside it nothing but what is said of pages and answers (`isOfPages`). An object with a name, an id or a company of
 * its own is no page: its list belongs to it. As companies have a `status` or a `type`, too, a proof is asked for: the list has a known name, nothing is beside
 * it, or some member says what pages alone say. The first records decide, and behind pages any other record ends the reading: people would be missing.
 */
import { fileError, type PatchbayError } from '#src/errors.ts';
import { createDocumentScanner } from '#src/json/document-scanner.ts';
import { createLineScanner } from '#src/json/line-scanner.ts';
import { JsonError, type Place } from '#src/json/place.ts';
import { isList, type JsonValue, textOf } from '#src/json/record-value.ts';
import type { HeaderRule, SourceLimits, Tally } from './format-reader.ts';
import { itemOf, readValue } from './json-item.ts';
import { knownWrappers, mayHoldRecords } from './json-wrapper.ts';
import { isOfPages, noSigns, provesPages, readPageSigns } from './page-signs.ts';
import type { SourceItem } from './row.ts';
import { createPageCount } from './whole-pages.ts';

type Limits = Pick<SourceLimits, 'recordBytesMax' | 'jsonDepthMax'>;
type JsonObject = { readonly [name: string]: JsonValue };

/** phpMyAdmin begins with two records that hold no list. */
const recordsLookedAtMax = 10;

/** Ends the pass early. */
class Found extends Error {}

/**
 * Which member of each page holds the records; null where the first records are no pages.
 * @param form one record per line, or a list of them.
 * @param header tells what is a contact by itself.
 */
export async function findPages(
  text: AsyncGenerator<string>,
  form: 'document' | 'lines',
  limits: Limits,
  header: HeaderRule | null,
): Promise<string | null> {
  const first: JsonObject[] = [];
  let isOther = false;
  const see = (bytes: Uint8Array): void => {
    const value: JsonValue = JSON.parse(Buffer.from(bytes).toString('utf8'));
    isOther = !isObject(value) || !mayBePage(value) || isContact(Object.keys(value), header);
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
  if (members.size !== 1 || member === undefined || !first.every((one) => isPageOf(member, one))) return null;
  return isProven(member, first) ? member : null;
}

function isContact(names: readonly string[], header: HeaderRule | null): boolean {
  const holdsKey = (name: string): boolean => !knownWrappers.has(name) && header?.leadsToKey?.(name) === true;
  return header?.isHeader(names) === true || names.some(holdsKey);
}

/** The list of a page that holds nothing has the name that it has elsewhere. */
function isPageOf(member: string, object: JsonObject): boolean {
  return Object.keys(object).every((name) => name === member || !isEmptyList(name, object) || isBeside(name, object));
}

/** A page may say less than others: the last one has no pointer. */
function isProven(member: string, records: readonly JsonObject[]): boolean {
  if (knownWrappers.has(member)) return true;
  const beside = records.flatMap((one) => Object.entries(one).filter(([name]) => name !== member));
  return beside.length === 0 || beside.some(([name, value]) => provesPages(name, value));
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
  return (
    lists.length <= 1 &&
    Object.keys(object).every((name) => lists.includes(name) || isBeside(name, object) || isEmptyList(name, object))
  );
}

/** Whether the member says something of a page, an answer or a table. */
function isBeside(name: string, object: { readonly [name: string]: JsonValue | undefined }): boolean {
  if (isOfPages(name, object[name])) return true;
  return ofTables.has(name) && (object.type === 'table' || aside.has(String(object.type)));
}

/** The last page may hold nothing. */
function isEmptyList(name: string, { [name]: value = null }: JsonObject): boolean {
  return mayHoldPeople(name) && isList(value) && value.length === 0;
}

/** What one person has: a list under such a name holds the ways to reach them. Compared as `mayHoldRecords` does. */
const ofOnePerson: ReadonlySet<string> = new Set(['phone', 'email', 'mail', 'tel', 'telephone', 'mobile', 'address']);

function mayHoldPeople(name: string): boolean {
  return mayHoldRecords(name) && !ofOnePerson.has(name.toLowerCase().replace(/[^a-z]/g, ''));
}

/** Beside a list of a known name, no other one counts: `included` of JSON:API. */
function listMembers(object: JsonObject): readonly string[] {
  const names = Object.keys(object).filter((name) => {
    const value = object[name] ?? null;
    return mayHoldPeople(name) && isList(value) && value.length > 0 && value.every(isObject);
  });
  const known = names.filter((name) => knownWrappers.has(name));
  return known.length === 1 ? known : names;
}

/** What phpMyAdmin says of the file, the database and the table. */
const ofTables: ReadonlySet<string> = new Set(['name', 'database', 'version', 'comment']);

/** What it writes before the tables. */
const aside: ReadonlySet<string> = new Set(['header', 'database']);

function tableNameOf({ type, name }: { readonly [name: string]: JsonValue | undefined }): string | null {
  return type === 'table' && typeof name === 'string' ? name : null;
}

interface PageReader {
  /** Reads one record of the file. @throws JsonError; PatchbayError `file` `notAJsonArray`, `tooManyRows`. */
  take(bytes: Uint8Array, place: Place): void;
  /** @throws PatchbayError `file` `morePages` where none of the pages is the last. */
  end(): void;
}

interface PagesOptions {
  readonly name: string;
  /** Which `findPages` found. */
  readonly member: string;
  readonly form: 'document' | 'lines';
  readonly limits: SourceLimits;
}

/** @param items get the records of each page. */
export function createPageReader(options: PagesOptions, tally: Tally, items: SourceItem[]): PageReader {
  const { name, member, limits } = options;
  const pages = createPageCount(name);
  let firstLine = 0;
  let table: string | null = null;

  const take = (bytes: Uint8Array, place: Place): void => {
    const beside: { [name: string]: JsonValue | undefined } = Object.create(null);
    let signs = noSigns;
    let saysOfPages = false;
    let count = 0;
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
          if (found !== member || kind !== 'list') return { as: 'value', keep: 'drop' };
          hasList = true;
          return { as: 'records', keep: 'refuse' };
        },
        onRecord: (scanned) => {
          count += 1;
          const at = placeFrom(place, scanned.place);
          items.push(itemOf(textOf(scanned), scanned.memberCount, at, limits.cellBytesMax, tally));
        },
        onValue: (scanned) => {
          if (scanned.isDropped || isOther) {
            beside[memberName] = undefined;
            return;
          }
          const { value } = readValue(textOf(scanned), scanned.memberCount, place, limits.cellBytesMax, tally);
          beside[memberName] = value;
          signs = readPageSigns(signs, memberName, value);
          saysOfPages ||= provesPages(memberName, value);
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
    isOther ||= Object.keys(beside).some((found) => found !== member && !isBeside(found, beside));
    if (!hasList && !isOther && aside.has(String(beside.type))) return;
    if (isOther || !hasList) throw noPage(options, place.line, 'a record without contacts in it');
    if (count === 0 && isFailure(beside)) throw noPage(options, place.line, 'an answer with an error in it');
    const ofTable = tableNameOf(beside);
    if (table !== null && ofTable !== table) throw severalTables(name, place.line, table, ofTable);
    table = ofTable;
    firstLine ||= place.line;
    pages.add({ signs, recordCount: count, saysOfPages });
  };

  const end = (): void => {
    const pageCount = pages.count();
    if (pageCount === 0) return;
    pages.checkEnd(tally.tail().recordCount);
    tally.warn(pagesRead(member, pageCount, firstLine));
  };
  return { take, end };
}

/** Of an answer without records. */
function isFailure(beside: { readonly [name: string]: JsonValue | undefined }): boolean {
  return Object.entries(beside).some(([name, value]) => {
    const folded = name.toLowerCase();
    if (folded === 'success' || folded === 'ok') return value === false;
    return (folded === 'error' || folded === 'errors') && isFilled(value);
  });
}

/** What is too long to be read is filled. */
function isFilled(value: JsonValue | undefined): boolean {
  if (value === null || value === '' || value === false || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
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

function noPage({ name, member, form }: PagesOptions, line: number, found: string): PatchbayError {
  const message = `${name}, line ${line}: ${found}, among pages with a list "${member}"`;
  const hint = `If an answer is missing there, fetch it again; else write the contacts alone, one per line, as jq -c '${form === 'document' ? '.[]' : ''}${jqStep(member)}[]' does.`;
  return fileError('notAJsonArray', message, { file: name, line, found }, hint);
}

function jqStep(member: string): string {
  return /^[a-z_]\w*$/i.test(member) ? `.${member}` : `.[${JSON.stringify(member)}]`;
}

function severalTables(name: string, line: number, first: string, other: string | null): PatchbayError {
  const found = `several tables, "${first}" and ${other === null ? 'another' : `"${other}"`}`;
  const message = `${name}, line ${line}: ${found}`;
  const hint = `Export the table with the contacts alone, or take it out of the file, as jq -c '.[] | select(.name == "${first}") | .data[]' does.`;
  return fileError('notAJsonArray', message, { file: name, line, found }, hint);
}
