/**
 * A JSON document to rows: an array, or an array under `data`, `results` or `records` (contract.md, "Input").
 *
 * Invariant: at most one chunk of text, the rows it completed and one unfinished record are in memory. Of the members
 * beside the records only what they say of further pages is kept.
 */
import type { Problem } from '#src/contacts/outcome.ts';
import type { PatchbayError } from '#src/errors.ts';
import { shownValue } from '#src/sources/cell-text.ts';
import { fileError } from '#src/sources/file-error.ts';
import { type FormatReader, itemsPerSliceMax } from '#src/sources/format-reader.ts';
import { emptyNote, itemOf, type JsonOptions, recordTooLong, valueOptions } from '#src/sources/json-rows.ts';
import {
  createJsonTokens,
  JsonSyntaxError,
  type JsonToken,
  TokenType,
  unexpectedEnd,
} from '#src/sources/json-tokens.ts';
import { type BuiltValue, createValueBuilder, unexpected } from '#src/sources/json-value.ts';
import { noSigns, type PageSigns, readPageSigns } from '#src/sources/more-pages.ts';
import type { JsonValue, SourceItem } from '#src/sources/row.ts';
import { normaliseHeader } from './csv-layout.ts';
import { createTally, type Tally } from './format-reader.ts';

const wrappers: ReadonlySet<string> = new Set(['data', 'results', 'records']);
/** Members of a root object that a message names, should it be no wrapper. */
const membersShownMax = 10;
/** Members of a root object that may be one contact by itself. */
const rootMembersMax = 500;

/** Errors (`file`) come from the iterator: `notAJsonArray`, `morePages`, `jsonInvalid`, `jsonTooDeep`, `recordTooLong`. */
export function readJson(text: AsyncGenerator<string>, options: JsonOptions): FormatReader {
  const tally = createTally(options.name, options.limits.rowsMax);
  let isEmpty = true;
  const noteText = (chunk: string): void => {
    isEmpty &&= chunk.trim() === '';
  };
  return {
    head: { format: 'json', columns: null, delimiter: null },
    slices: () => slicesOf(text, options, tally, noteText),
    tail: () => {
      const tail = tally.tail();
      return tail.recordCount > 0 ? tail : { ...tail, warnings: [...tail.warnings, emptyNote(options.name, isEmpty)] };
    },
  };
}

async function* slicesOf(
  text: AsyncGenerator<string>,
  options: JsonOptions,
  tally: Tally,
  noteText: (chunk: string) => void,
): AsyncGenerator<readonly SourceItem[]> {
  const document = createDocument(options, tally);
  for await (const chunk of text) {
    noteText(chunk);
    yield* cut(document.write(chunk));
  }
  yield* cut(document.end());
}

function* cut(items: readonly SourceItem[]): Generator<readonly SourceItem[]> {
  for (let start = 0; start < items.length; start += itemsPerSliceMax)
    yield items.slice(start, start + itemsPerSliceMax);
}

interface Document {
  /** The rows that this piece of text completed. */
  write(text: string): SourceItem[];
  end(): SourceItem[];
}

/**
 * Where the document stands. `root`: nothing yet. `rows…`: inside the array of records. `key`, `colon`, `member`,
 * `afterMember`: inside a root object. `done`: the root has closed.
 */
type Place =
  | 'root'
  | 'rowOrEnd'
  | 'row'
  | 'afterRow'
  | 'keyOrEnd'
  | 'key'
  | 'colon'
  | 'member'
  | 'afterMember'
  | 'done';

function createDocument(options: JsonOptions, tally: Tally): Document {
  const state = { place: 'root' as Place, inWrapper: false, wrapperName: '', key: '', lastOffset: 0, rootLine: 1 };
  const root = createRootMembers();
  let signs = noSigns;
  let items: SourceItem[] = [];
  const outerDepth = (): number => (state.inWrapper ? 2 : 1);
  const builder = createValueBuilder(valueOptions(options, tally, outerDepth));

  const takeRow = (built: BuiltValue | null, token: JsonToken): void => {
    if (built === null) return;
    if (token.offset - built.offset > options.limits.recordBytesMax) throw recordTooLong(options, built.line);
    items.push(itemOf(built, tally));
    state.place = 'afterRow';
  };

  const takeMember = (built: BuiltValue | null): void => {
    if (built === null) return;
    if (state.wrapperName === '') root.add(state.key, built);
    signs = readPageSigns(signs, state.key, built.value);
    state.place = 'afterMember';
  };

  const closeRoot = (token: JsonToken): void => {
    state.place = 'done';
    if (state.wrapperName !== '') {
      if (signs.more !== null) throw morePages(options.name, signs.more, signs, tally.tail().recordCount);
      return;
    }
    const required = new Set(options.requiredColumn.map(normaliseHeader));
    const names = root.names();
    if (!names.some((name) => required.has(normaliseHeader(name)))) {
      const shown = names.slice(0, membersShownMax).map(shownValue).join(', ') || '(none)';
      throw notAList(options.name, state.rootLine, `an object with the members ${shown}`);
    }
    if (root.isTooLong()) throw recordTooLong(options, state.rootLine);
    items.push(itemOf({ ...root.built(), line: state.rootLine, offset: token.offset }, tally));
  };

  const startMember = (token: JsonToken): void => {
    if (wrappers.has(state.key) && token.type === TokenType.LEFT_BRACKET) {
      if (state.wrapperName !== '') {
        throw notAList(options.name, token.line, `two lists, "${state.wrapperName}" and "${state.key}"`);
      }
      state.wrapperName = state.key;
      state.inWrapper = true;
      state.place = 'rowOrEnd';
    } else takeMember(builder.push(token));
  };

  const onToken = (token: JsonToken): void => {
    state.lastOffset = token.offset;
    if (builder.isOpen()) {
      if (state.place === 'member') takeMember(builder.push(token));
      else takeRow(builder.push(token), token);
      return;
    }
    step(token);
  };

  const step = (token: JsonToken): void => {
    const { place } = state;
    const { type } = token;
    if (place === 'root') startRoot(token);
    else if (place === 'rowOrEnd' && type === TokenType.RIGHT_BRACKET) endRows();
    else if (place === 'rowOrEnd' || place === 'row') {
      state.place = 'row';
      takeRow(builder.push(token), token);
    } else if (place === 'afterRow' && type === TokenType.COMMA) state.place = 'row';
    else if (place === 'afterRow' && type === TokenType.RIGHT_BRACKET) endRows();
    else if (place === 'keyOrEnd' && type === TokenType.RIGHT_BRACE) closeRoot(token);
    else if ((place === 'keyOrEnd' || place === 'key') && type === TokenType.STRING) {
      state.key = String(token.value);
      state.place = 'colon';
    } else if (place === 'colon' && type === TokenType.COLON) state.place = 'member';
    else if (place === 'member') startMember(token);
    else if (place === 'afterMember' && type === TokenType.COMMA) state.place = 'key';
    else if (place === 'afterMember' && type === TokenType.RIGHT_BRACE) closeRoot(token);
    else throw unexpected(token);
  };

  const startRoot = (token: JsonToken): void => {
    state.rootLine = token.line;
    if (token.type === TokenType.LEFT_BRACKET) state.place = 'rowOrEnd';
    else if (token.type === TokenType.LEFT_BRACE) state.place = 'keyOrEnd';
    else
      throw isScalar(token) ? notAList(options.name, token.line, `the value ${shortValue(token)}`) : unexpected(token);
  };

  const endRows = (): void => {
    state.place = state.inWrapper ? 'afterMember' : 'done';
    state.inWrapper = false;
  };

  const tokens = createJsonTokens(onToken);
  /** What is not complete yet is held in memory: never more than one record's length of it. */
  const boundOpenValue = (): void => {
    const { recordBytesMax } = options.limits;
    const isRow = builder.isOpen() && state.place === 'row';
    const openSince = isRow ? builder.openOffset() : state.lastOffset;
    if (tokens.byteCount() - openSince > recordBytesMax) throw recordTooLong(options, tokens.line());
    if (!builder.isOpen() || isRow) return;
    if (tokens.byteCount() - builder.openOffset() > recordBytesMax) {
      root.giveUp();
      builder.discard();
    }
  };
  const taken = (work: () => void): SourceItem[] => {
    items = [];
    try {
      work();
    } catch (error) {
      throw error instanceof JsonSyntaxError ? invalid(options.name, error) : error;
    }
    return items;
  };
  return {
    write: (text) =>
      taken(() => {
        tokens.write(text);
        boundOpenValue();
      }),
    end: () =>
      taken(() => {
        tokens.end();
        if (state.place !== 'done' && state.place !== 'root') throw unexpectedEnd(tokens.line());
      }),
  };
}

/** The members of a root object, until it turns out to be a wrapper, no contact, or too long to be one. */
function createRootMembers() {
  const object: { [name: string]: JsonValue } = Object.create(null);
  const names: string[] = [];
  let problem: Problem | null = null;
  let tooLong = false;
  return {
    add: (name: string, built: BuiltValue): void => {
      if (names.length < rootMembersMax) names.push(name);
      else tooLong = true;
      if (tooLong) return;
      object[name] = built.value;
      problem ??= built.problem && { ...built.problem, field: name };
    },
    giveUp: (): void => {
      tooLong = true;
    },
    names: () => names,
    isTooLong: () => tooLong,
    built: () => ({ value: object, problem }),
  };
}

function isScalar(token: JsonToken): boolean {
  return [TokenType.STRING, TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE, TokenType.NULL].includes(token.type);
}

function shortValue(token: JsonToken): string {
  return (typeof token.value === 'number' ? token.source : JSON.stringify(token.value)).slice(0, 40);
}

function notAList(name: string, line: number, found: string): PatchbayError {
  const message = `${name} holds ${found}, not a list of contacts`;
  const hint = 'Give an array, an object with the array under "data", "results" or "records", or one object per line.';
  return fileError('notAJsonArray', message, { file: name, line, found }, hint);
}

function morePages(name: string, more: string, { total }: PageSigns, recordCount: number): PatchbayError {
  const records = `${recordCount} ${recordCount === 1 ? 'record' : 'records'}`;
  const counts =
    total !== null && total.count > recordCount ? `; it holds ${records}, and "${total.name}" is ${total.count}` : '';
  const message = `${name} is one page of several: "${more}" points to the next one${counts}`;
  const hint = `Fetch all pages and put their records into one list. If this page is all you want, take "${more}" out of the file.`;
  return fileError('morePages', message, { file: name, member: more, recordCount, total: total?.count ?? null }, hint);
}

function invalid(name: string, error: JsonSyntaxError): PatchbayError {
  const message = `${name}, line ${error.line}: not valid JSON: ${error.message}`;
  const hint = 'Make the export again; a file that was edited by hand often lacks a comma or has one too many.';
  return fileError('jsonInvalid', message, { file: name, line: error.line }, hint, error);
}
