/**
 * Opens a dropped file for reading: from bytes on disk to rows with their physical lines.
 *
 * Regular file → unpacked bytes → encoding, decided by a first pass → text → rows, slice by slice; a workbook → the parts of its
 * archive → rows. A problem of the file as a whole is thrown as a `file` error ("F" in docs/bad-inputs.md); a problem of one row becomes a broken item.
 *
 * Invariants: memory stays flat whatever the file's size, and a file that changed while it was read ends in an error.
 */
import { setImmediate } from 'node:timers/promises';
import type { Problem } from '#src/contacts/outcome.ts';
import { quotedCell } from '#src/contacts/quoted-cell.ts';
import { fileError, PatchbayError } from '#src/errors.ts';
import {
  type DecodedText,
  type DetectedEncoding,
  decodedText,
  detectEncoding,
  type PeekedText,
  peekText,
} from './decode.ts';
import { classifyFileName, type Named, type NamedFormat } from './file-name.ts';
import {
  defaultSourceLimits,
  type FormatReader,
  type HeaderRule,
  type RecordLook,
  type SourceLimits,
} from './format-reader.ts';
import { findPages } from './json-pages.ts';
import { findWrapper } from './json-wrapper.ts';
import { lookInside } from './look-inside.ts';
import { lookedAtChars, notAnExport } from './not-an-export.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readJsonLines } from './read-json.ts';
import type { SourceHead, SourceItem, SourceTail } from './row.ts';
import { openSourceFile, type SourceFile, unpackedBytes } from './source-file.ts';
import { looksLikeVcf, readVcf } from './vcard/cards.ts';
import { joinTornCharacters } from './vcard/content-lines.ts';

export interface SourceOptions {
  /** The user's file name: decides between text formats, and is part of every message. */
  readonly name: string;
  /** CSV: one character. Without it: `sep=`, then .tsv, then detection. */
  readonly delimiter?: string;
  /** Overrides detection and makes it strict. */
  readonly encoding?: string;
  /** Of a text that is neither UTF-8 nor recognised as UTF-16: nothing is assumed then. */
  readonly encodingIfNotUtf8?: string;
  /** How the header is known; without it, the first line that is not blank is the header. */
  readonly header?: HeaderRule | null;
  /** Of a workbook: the name of a sheet; without it, the first visible one that holds something. */
  readonly sheet?: string;
  /** CSV rows that an exporter cut are read, unless this is false. */
  readonly mayBeCut?: boolean;
  /** It came by a folder or a schedule: what to do about it is a setting of its feed, since no command is typed for the next one. */
  readonly comesByItself?: boolean;
  readonly limits?: Partial<SourceLimits>;
}

export interface OpenSource {
  readonly head: SourceHead;
  /** See `FormatReader`. */
  readonly meaning: string | null;
  /**
   * Slices of 1 to 500 items; can be read once. The next one is read when it is requested. With a `look`, records that it knows are
   * left out, and a slice may be empty. @throws PatchbayError `file`.
   */
  slices(look?: RecordLook | null): AsyncIterable<readonly SourceItem[]>;
  /** Valid after the last slice. */
  tail(): SourceTail;
  /** May be called at any time, and twice. */
  close(): Promise<void>;
}

/** The caller closes it. @throws PatchbayError `file`; `usage` for an unknown encoding or an unusable delimiter. */
export async function openSource(path: string, options: SourceOptions): Promise<OpenSource> {
  const named = formatByName(options.name);
  const limits: SourceLimits = { ...defaultSourceLimits, ...options.limits };
  const file = await openSourceFile(path, options.name);
  let text: AsyncGenerator<string> | null = null;
  try {
    const content = await lookInside(file, named, limits);
    if (content.kind === 'workbook') {
      const { name } = content.archive;
      const { sheet = null, header = null } = options;
      // Its parsers are loaded for a workbook only.
      const { readXlsx } = await import('./xlsx/read-xlsx.ts');
      const reader = await readXlsx(content.archive, { name, sheet, header, limits });
      return sourceOf(file, reader, { encoding: 'utf-8', notes: [...content.notes, ...ignoredNotes(options)] });
    }
    const { file: inner, named: found, notes } = content;
    const read = () => {
      if (found.format === 'vcf') return joinTornCharacters(unpackedBytes(inner, found.gzip, limits));
      return unpackedBytes(inner, found.gzip, limits, 'one');
    };
    const encoding = await detectEncoding(read, inner.name, options.encoding, options.encodingIfNotUtf8);
    const again = () => decodedText(read(), encoding.label, inner.name);
    const decoded = again();
    text = decoded.text;
    const input = { again, encoding: encoding.label };
    const reader = await readerFor(found.format, decoded, input, { ...options, name: inner.name }, limits);
    const cameBy = { comesByItself: options.comesByItself ?? false, isOfCards: reader.head.format === 'vcf' };
    const allNotes = [...notes, ...assumedEncoding(inner.name, encoding, cameBy)];
    return sourceOf(file, reader, { encoding: encoding.label, notes: allNotes, text });
  } catch (error) {
    const reported = await preferChange(file, error);
    await text?.return(undefined);
    await file.close();
    throw reported;
  }
}

function formatByName(name: string): Named {
  const named = classifyFileName(name);
  if (named.kind === 'take') return named;
  const refusal = named.kind === 'refuse' ? named : classifyFileName(`x${name.replace(/^[._~$]+/, '')}`);
  if (refusal.kind === 'take') return refusal;
  const hint = refusal.kind === 'refuse' ? refusal.hint : 'Wait until it is complete and has its final name.';
  const message = refusal.kind === 'refuse' ? refusal.message : 'its name is that of a temporary file';
  throw fileError('formatUnknown', `${name}: ${message}`, { file: name }, hint);
}

interface Decoded {
  /** Gives the text from its beginning. */
  readonly again: () => DecodedText;
  readonly encoding: string;
}

async function readerFor(
  format: NamedFormat,
  { text, rest }: DecodedText,
  { again, encoding }: Decoded,
  options: SourceOptions,
  limits: SourceLimits,
): Promise<FormatReader> {
  const { name, header = null } = options;
  const start = await peekText(text, (head) => head.length >= lookedAtChars);
  const refusal = notAnExport(start.head, start.whole, name, format);
  if (refusal !== null) throw refusal;
  if (format === 'vcf') return readVcf(start.all(), { name, encoding, limits, isByContent: false });
  if (format === 'csv' || format === 'tsv') {
    if (looksLikeVcf(start.head)) return readVcf(start.all(), { name, encoding, limits, isByContent: true });
    const csvOptions = {
      name,
      delimiter: options.delimiter ?? (format === 'tsv' ? '\t' : null),
      header,
      ...(options.mayBeCut === undefined ? {} : { mayBeCut: options.mayBeCut }),
      limits,
    };
    return readCsv(start.all(), csvOptions, rest);
  }
  const peeked = await peekText(start.all(), (head) => isEnoughForForm(head, limits.recordBytesMax));
  const form = jsonFormOf(peeked, format === 'ndjson' ? 'lines' : 'document');
  const isContact = (names: readonly string[]): boolean => header?.isHeader(names) === true;
  const isObject = form === 'document' && peeked.head.trimStart().startsWith('{');
  if (!isObject) {
    const pagesMember = await findPages(again().text, form, limits, header);
    const read = form === 'lines' ? readJsonLines : readJson;
    return read(peeked.all(), { name, header, limits, pagesMember });
  }
  const wrapper = { wrapper: await findWrapper(again().text, limits, isContact) };
  return readJson(peeked.all(), { name, header, limits, ...wrapper });
}

interface Found {
  readonly encoding: string;
  /** Warnings about the file as such. */
  readonly notes: readonly Problem[];
  /** What is to be given back. */
  readonly text?: AsyncGenerator<string>;
}

function sourceOf(file: SourceFile, reader: FormatReader, { encoding, notes, text }: Found): OpenSource {
  let closed: Promise<void> | null = null;
  return {
    head: { ...reader.head, encoding },
    meaning: reader.meaning ?? null,
    slices: (look = null) => guardedSlices(file, reader, look),
    tail: () => {
      const tail = reader.tail();
      return { ...tail, warnings: [...notes, ...tail.warnings] };
    },
    close: () => {
      closed ??= Promise.resolve(text?.return(undefined)).then(() => file.close());
      return closed;
    },
  };
}

async function* guardedSlices(
  file: SourceFile,
  reader: FormatReader,
  look: RecordLook | null,
): AsyncGenerator<readonly SourceItem[]> {
  try {
    for await (const slice of reader.slices(look)) {
      yield slice;
      // Parsing is synchronous; timers, sockets and leases get their turn between two slices.
      await setImmediate();
    }
  } catch (error) {
    throw await preferChange(file, error);
  }
  await file.assertUnchanged();
}

/** A file that changed while it was read may be wrong in any way: the change is reported instead. */
async function preferChange(file: SourceFile, error: unknown): Promise<unknown> {
  if (!(error instanceof PatchbayError) || error.kind !== 'file') return error;
  return file.assertUnchanged().then(
    () => error,
    (changed: unknown) => changed,
  );
}

/** A workbook says itself how it is to be read. */
function ignoredNotes({ name, delimiter, encoding }: SourceOptions): readonly Problem[] {
  const given = [
    ...(delimiter === undefined ? [] : ['--delimiter']),
    ...(encoding === undefined ? [] : ['--encoding']),
  ];
  if (given.length === 0) return [];
  const message = `${name} is an Excel workbook: ${given.join(' and ')} ${given.length === 1 ? 'has' : 'have'} no effect on it`;
  return [{ code: 'optionIgnored', line: 1, field: null, value: null, message, hint: 'Leave the option out.' }];
}

const encodingWords: ReadonlyMap<string, string> = new Map([
  ['windows-1252', 'Windows-1252'],
  ['macintosh', 'Mac Roman'],
]);

function assumedEncoding(
  name: string,
  encoding: DetectedEncoding,
  { comesByItself, isOfCards }: { readonly comesByItself: boolean; readonly isOfCards: boolean },
): readonly Problem[] {
  const { label, assumedFromLine: line, doubt = null, isMostlyUtf8 = false } = encoding;
  if (line === null) return [];
  const read = `${name} is not UTF-8 (first at line ${line}); it was read as ${encodingWords.get(label) ?? label}`;
  const about = { code: 'encodingAssumed', line, field: null };
  const hints = comesByItself
    ? hintsOnFeed
    : hintsOnImport(isOfCards ? 'export it again as UTF-8' : 'save it as "CSV UTF-8"');
  if (isMostlyUtf8) {
    const hint = `Letters such as ü are wrong now. ${hints.correct(line)}`;
    return [{ ...about, value: null, message: `${read}, although most of it is UTF-8`, hint }];
  }
  if (doubt !== null) {
    const message = `${read}, and a word on line ${doubt.line} looks wrong; ${hints.named(doubt.label)} would probably be right`;
    const hint = `If that should be ${quotedCell(doubt.meant)}, ${hints.choose(doubt.label)}`;
    return [{ ...about, value: `${doubt.word} → ${doubt.meant}`, message, hint }];
  }
  const hint = `If letters look wrong, ${hints.lookWrong(label === 'macintosh' ? 'windows-1252' : null)}`;
  return [{ ...about, value: null, message: read, hint }];
}

interface EncodingHints {
  readonly correct: (line: number) => string;
  readonly named: (label: string) => string;
  readonly choose: (label: string) => string;
  /** @param label what it may be otherwise; null where nothing suggests one. */
  readonly lookWrong: (label: string | null) => string;
}

/** @param save how a program gives such a file in UTF-8. */
function hintsOnImport(save: string): EncodingHints {
  return {
    correct: (line) => `Correct line ${line} or export the file again, and import it once more.`,
    named: (label) => `--encoding ${label}`,
    choose: (label) => `import the file again with --encoding ${label}, or ${save}.`,
    lookWrong: (label) =>
      `${save} or ${label === null ? 'name its encoding with --encoding' : `import it again with --encoding ${label}`}.`,
  };
}

/** The rows of this file are in; the next one writes them as they are meant. */
const hintsOnFeed: EncodingHints = {
  correct: (line) => `Have line ${line} corrected where the file comes from; the next file then sets them right.`,
  named: (label) => `encoding: ${label} in the mapping of its feed`,
  choose: (label) =>
    `write encoding: ${label} into the mapping of its feed, or have it saved as UTF-8 where it comes from; the next file then sets it right.`,
  lookWrong: (label) =>
    `have it saved as UTF-8 where it comes from, or write ${label === null ? 'its encoding (encoding: NAME)' : `encoding: ${label}`} into the mapping of its feed; the next file then sets them right.`,
};

/**
 * Whether JSON text is one document or one object per line. The file's name does not decide: a `.json` often holds lines,
 * and a `.jsonl` sometimes an array.
 */
type JsonForm = 'document' | 'lines';

/** Needed are the first line, and the first character of the next line that is not blank. */
function isEnoughForForm(head: string, recordBytesMax: number): boolean {
  const start = head.trimStart();
  if (start === '') return head.length > recordBytesMax;
  return start[0] !== '{' || head.length > recordBytesMax || secondLineStart(start) !== null;
}

/** `named` follows from the file's ending; it decides where the text allows both. */
function jsonFormOf(text: PeekedText, named: JsonForm): JsonForm {
  const start = text.head.trimStart();
  if (start[0] === '[') return 'document';
  // An object over several lines is none of the lines.
  if (start === '' || (named === 'lines' && !/^\{[ \t]*[\r\n]/.test(start))) return named;
  // In lines, the second one begins with an object too; in a document, with a member name.
  const firstLine = start.split(/[\r\n]/, 1)[0] ?? '';
  return start[0] === '{' && firstLine.trimEnd().endsWith('}') && secondLineStart(start) === '{' ? 'lines' : 'document';
}

/** The first character behind the first line that is not white space. */
function secondLineStart(start: string): string | null {
  const lineEnd = start.search(/[\r\n]/);
  return lineEnd < 0 ? null : (start.slice(lineEnd).trimStart()[0] ?? null);
}
