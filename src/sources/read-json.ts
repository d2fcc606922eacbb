/**
 * JSON text to rows, in either of its forms (docs/contract.md, "Input"): a document, which is an array, or an object with an
 * array in one of its members; or one object per line, where a line that is no JSON breaks that row only.
 *
 * Invariant: at most one chunk of text, the rows it completed and one unfinished record are in memory. Of the members
 * beside the records only what they say of further pages is kept.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { fileError, type PatchbayError } from '#src/errors.ts';
import { createDocumentScanner, type MemberPlan, type MemberStart } from '#src/json/document-scanner.ts';
import { createLineScanner } from '#src/json/line-scanner.ts';
import { JsonError } from '#src/json/place.ts';
import { type JsonValue, parseText, textOf } from '#src/json/record-value.ts';
import { createMeasure, openList, type ScannedValue } from '#src/json/value-scanner.ts';
import {
  createTally,
  type FormatReader,
  type HeaderRule,
  itemsPerSliceMax,
  type SourceLimits,
  type Tally,
} from './format-reader.ts';
import { itemOf, itemOfValue, jsonInvalid, type ReadValue, readValue, textRow, unexpected } from './json-item.ts';
import { createPageReader } from './json-pages.ts';
import { hintOnInnerList, hintOnSplit, hintOnSyntax, hintOnTable } from './json-ways-out.ts';
import { knownWrappers, type Wrapper } from './json-wrapper.ts';
import { noSigns, type PageSign, type PageSigns, readPageSigns, signsOfPart } from './page-signs.ts';
import { listNames, placeText, recordOf, type SourceItem, shownValue } from './row.ts';

/** Members of a root object that a message names. */
const membersShownMax = 10;
/** Members of a root object that may be one contact by itself. */
const rootMembersMax = 500;

interface JsonOptions {
  /** The user's name of the file. */
  readonly name: string;
  /** Null: an object that is the whole file is no contact. */
  readonly header: HeaderRule | null;
  readonly limits: SourceLimits;
  /** Which member of the root holds the records; looked for by `findWrapper`. */
  readonly wrapper?: Wrapper;
  /** Which member of each record holds the records, where these are pages; looked for by `findPages`. */
  readonly pagesMember?: string | null;
}

/** Takes bytes; what they complete is added to the items. */
interface Reader {
  write(bytes: Uint8Array): void;
  end(): void;
}

/** Its iterator throws PatchbayError `file` `notAJsonArray`, `morePages`, `jsonInvalid`, `jsonTooDeep`, `recordTooLong`, `tooManyRows`. */
export function readJson(text: AsyncGenerator<string>, options: JsonOptions): FormatReader {
  return formatReader('json', text, options, createDocumentReader);
}

/** Its iterator throws PatchbayError `file` `jsonTooDeep`, `recordTooLong`, `tooManyRows`. */
export function readJsonLines(text: AsyncGenerator<string>, options: JsonOptions): FormatReader {
  return formatReader('ndjson', text, options, createLinesReader);
}

function formatReader(
  format: 'json' | 'ndjson',
  text: AsyncGenerator<string>,
  options: JsonOptions,
  createReader: (options: JsonOptions, tally: Tally, items: SourceItem[]) => Reader,
): FormatReader {
  const tally = createTally(options.name, options.limits.rowsMax);
  let isEmpty = true;
  const slices = async function* (): AsyncGenerator<readonly SourceItem[]> {
    const items: SourceItem[] = [];
    const reader = createReader(options, tally, items);
    const encoder = new TextEncoder();
    try {
      for await (const chunk of text) {
        isEmpty &&= chunk.trim() === '';
        reader.write(encoder.encode(chunk));
        yield* cut(items.splice(0));
      }
      reader.end();
    } catch (error) {
      throw error instanceof JsonError ? fileErrorOf(error, options, format, tally.tail().recordCount + 1) : error;
    }
    yield* cut(items);
  };
  return {
    head: { format, columns: null, delimiter: null, wrapper: options.wrapper?.name ?? options.pagesMember ?? null },
    slices,
    tail: () => {
      const tail = tally.tail();
      return tail.recordCount > 0 ? tail : { ...tail, warnings: [...tail.warnings, emptyNote(options.name, isEmpty)] };
    },
  };
}

function* cut(items: readonly SourceItem[]): Generator<readonly SourceItem[]> {
  for (let start = 0; start < items.length; start += itemsPerSliceMax)
    yield items.slice(start, start + itemsPerSliceMax);
}

function createDocumentReader(options: JsonOptions, tally: Tally, items: SourceItem[]): Reader {
  const { name, header, limits, wrapper: given } = options;
  const pages = pagesOf(options, 'document', tally, items);
  const root = createRootObject();
  let rootKind: 'list' | 'object' | 'scalar' = 'list';
  let rootLine = 1;
  let wrapper: string | null = null;
  let memberName = '';
  let signs = noSigns;

  const startMember = (member: MemberStart): MemberPlan => {
    memberName = member.name;
    const isWrapper = member.name === given?.name || knownWrappers.has(member.name);
    if (!isWrapper || member.kind !== 'list') return { as: 'value', keep: 'drop' };
    if (wrapper !== null) throw notAList(name, member.place.line, `two lists, "${wrapper}" and "${member.name}"`);
    wrapper = member.name;
    return { as: 'records', keep: 'refuse' };
  };

  const takeValue = (scanned: ScannedValue): void => {
    if (rootKind === 'scalar') {
      const shown = textOf(scanned);
      parseText(shown, scanned.place);
      throw notAList(name, rootLine, `the value ${shown.slice(0, 40)}`);
    }
    const read = scanned.isDropped
      ? null
      : readValue(textOf(scanned), scanned.memberCount, scanned.place, limits.cellBytesMax, tally);
    if (wrapper === null) root.add(memberName, read, scanned.bytes.length);
    if (read !== null) signs = readPageSigns(signs, memberName, read.value);
  };

  const closeRoot = (): void => {
    if (wrapper !== null) {
      const { recordCount } = tally.tail();
      const [sign, ...others] = signsOfPart(signs, recordCount);
      if (sign !== undefined) throw morePages(name, [sign, ...others], signs, recordCount);
      return;
    }
    if (rootKind === 'list') {
      pages?.end();
      return;
    }
    const names = root.names();
    if (header?.isHeader(names) !== true) {
      const { rivals = [] } = given ?? {};
      if (rivals.length > 1) throw severalLists(name, rootLine, rivals);
      const members = root.members();
      throw notAList(name, rootLine, membersFound(names), hintOnTable(members) ?? hintOnInnerList(names, members));
    }
    const tableHint = hintOnTable(root.members());
    if (tableHint !== null) throw notAList(name, rootLine, membersFound(names), tableHint);
    if (root.bytes() > limits.recordBytesMax)
      throw recordTooLong(name, { line: rootLine }, limits.recordBytesMax, false);
    items.push(itemOfValue(root.read(), rootLine, tally));
  };

  const scanner = createDocumentScanner(
    {
      onRoot: (kind, place) => {
        rootKind = kind;
        rootLine = place.line;
      },
      onMember: startMember,
      onRecord: (scanned) => {
        if (pages !== null) return pages.take(scanned.bytes, scanned.place);
        if (wrapper !== null && scanned.bytes[0] === openList) {
          const hint = hintOnSplit(root.names());
          if (hint !== null) throw notAList(name, rootLine, `lists in "${wrapper}"`, hint);
        }
        items.push(itemOf(textOf(scanned), scanned.memberCount, scanned.place, limits.cellBytesMax, tally));
      },
      onValue: takeValue,
    },
    { valueBytesMax: limits.recordBytesMax, depthMax: limits.jsonDepthMax },
  );
  const end = (): void => {
    // What follows the root is no JSON, whatever the root is.
    if (scanner.end() === 'complete') closeRoot();
  };
  return { write: scanner.write, end };
}

function pagesOf(
  { name, limits, pagesMember = null }: JsonOptions,
  form: 'document' | 'lines',
  tally: Tally,
  items: SourceItem[],
) {
  return pagesMember === null ? null : createPageReader({ name, member: pagesMember, form, limits }, tally, items);
}

/** The members of a root object, which may turn out to be a wrapper, one contact, or neither. */
function createRootObject() {
  const object: { [name: string]: JsonValue } = Object.create(null);
  const names: string[] = [];
  let problem: Problem | null = null;
  let bytes = 0;
  return {
    /** `read` is null for a member that is too long for a record. */
    add: (name: string, read: ReadValue | null, memberBytes: number): void => {
      if (names.length < rootMembersMax) names.push(name);
      else bytes = Number.POSITIVE_INFINITY;
      bytes += read === null ? Number.POSITIVE_INFINITY : memberBytes;
      // What is more than a record may hold is not kept.
      if (read === null || !Number.isFinite(bytes)) return;
      object[name] = read.value;
      problem ??= read.problem && { ...read.problem, field: name };
    },
    names: () => names,
    bytes: () => bytes,
    /** Those that are not too long. */
    members: () => object,
    read: () => ({ value: object, problem }),
  };
}

function createLinesReader(options: JsonOptions, tally: Tally, items: SourceItem[]): Reader {
  const { name, limits } = options;
  const pages = pagesOf(options, 'lines', tally, items);
  const measure = createMeasure(limits.jsonDepthMax);
  const scanner = createLineScanner((bytes, line) => {
    const place = { line, column: 1 };
    const text = textOf({ bytes, place });
    if (text.trim() === '') return tally.blankLine();
    if (pages !== null) return pages.take(bytes, place);
    const { memberCount, isTooDeep } = measure(bytes);
    try {
      if (isTooDeep) parseText(text, place);
      else items.push(itemOf(text, memberCount, place, limits.cellBytesMax, tally));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      const row = textRow(text, line, tally.nextRecord(line));
      items.push({ type: 'broken', row, problem: jsonInvalid(error, text, line) });
      return;
    }
    if (isTooDeep) throw tooDeep(name, { line }, limits.jsonDepthMax);
  }, limits.recordBytesMax);
  const end = (): void => {
    scanner.end();
    pages?.end();
  };
  return { write: scanner.write, end };
}

/** @param record the number of the record that was being read. */
function fileErrorOf(
  error: JsonError,
  { name, limits }: JsonOptions,
  format: 'json' | 'ndjson',
  record: number,
): PatchbayError {
  const place: RecordPlace = { line: error.place.line, ...recordOf({ line: error.place.line, record }) };
  const { line } = place;
  if (error.kind === 'tooLong') return recordTooLong(name, place, limits.recordBytesMax, format === 'json');
  if (error.kind === 'tooDeep') return tooDeep(name, place, limits.jsonDepthMax);
  const message = `${name}, line ${placeText(place)}: not valid JSON: ${inWords(error)}`;
  const isOther = line === 1 && error.place.column === 1 && error.found !== null;
  const known = hintOnSyntax(error);
  const hint =
    known ??
    (isOther
      ? 'The file does not begin as JSON does. If it is a table, give its name the ending .csv.'
      : 'Export the file again; a file that was edited by hand often lacks a comma or has one too many.');
  return fileError('jsonInvalid', message, { file: name, ...place }, hint, error);
}

function inWords({ found, place, message }: JsonError): string {
  return found === null ? message : unexpected(found, place.column);
}

interface RecordPlace {
  readonly line: number;
  /** Only where several records share the line. */
  readonly record?: number;
}

function recordTooLong(name: string, place: RecordPlace, recordBytesMax: number, isList: boolean): PatchbayError {
  const message = `${name}, line ${placeText(place)}: the record is longer than ${recordBytesMax} bytes`;
  const facts = { file: name, ...place, recordBytesMax };
  return fileError(
    'recordTooLong',
    message,
    facts,
    `Check that the file is a list with one object per contact. ${ofPagesHint(isList)}`,
  );
}

/** @param isList whether the file is a list of them. */
function ofPagesHint(isList: boolean): string {
  const path = isList ? '.[].data[]' : '.data[]';
  return `Where each record is a page of an answer, write its contacts alone, one per line, as jq -c '${path}' does.`;
}

function tooDeep(name: string, place: RecordPlace, jsonDepthMax: number): PatchbayError {
  const message = `${name}, line ${placeText(place)}: lists and objects inside each other more than ${jsonDepthMax} deep`;
  const hint = 'Check that the file is a list with one object per contact.';
  return fileError('jsonTooDeep', message, { file: name, ...place, jsonDepthMax }, hint);
}

function membersFound(names: readonly string[]): string {
  const shown = names.slice(0, membersShownMax).map(shownValue).join(', ') || '(none)';
  const more = names.length > membersShownMax ? ` and ${names.length - membersShownMax} more` : '';
  return `an object with the members ${shown}${more}`;
}

function severalLists(name: string, line: number, rivals: readonly string[]): PatchbayError {
  const found = `several lists, ${listNames(rivals)}`;
  const message = `${name} holds ${found}, and none of them is known to be the list of contacts`;
  const hint = 'Take the other lists out of the file, or rename the member that holds the contacts to "data".';
  return fileError('notAJsonArray', message, { file: name, line, found }, hint);
}

function notAList(name: string, line: number, found: string, wayOut: string | null = null): PatchbayError {
  const message = `${name} holds ${found}, not a list of contacts`;
  const hint =
    wayOut ?? 'Give an array, an object with one list of contacts in it, as {"data": […]}, or one object per line.';
  return fileError('notAJsonArray', message, { file: name, line, found }, hint);
}

function morePages(
  name: string,
  [sign, ...others]: readonly [PageSign, ...PageSign[]],
  { total }: PageSigns,
  recordCount: number,
): PatchbayError {
  const records = `${recordCount} ${recordCount === 1 ? 'record' : 'records'}`;
  const counts =
    total !== null && total.count > recordCount ? `; it holds ${records}, and "${total.name}" is ${total.count}` : '';
  const message = `${name} is one page of several: "${sign.name}" ${sign.says}${counts}`;
  const members = listNames([sign, ...others].map((one) => one.name));
  const hint = `Fetch all pages and put their records into one list. If this page is all you want, take ${members} out of the file.`;
  const facts = { file: name, member: sign.name, recordCount, total: total?.count ?? null };
  return fileError('morePages', message, facts, hint);
}

/** The warning about a file without a record. */
function emptyNote(name: string, isEmpty: boolean): Problem {
  const message = isEmpty ? `${name} is empty` : `${name} holds no records`;
  const hint = 'Check the export if rows were expected.';
  return { code: isEmpty ? 'emptyFile' : 'noRows', line: 1, field: null, value: null, message, hint };
}
