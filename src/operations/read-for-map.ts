/** Reads a file for `map`: its header, the facts of its columns, and the row of one line. */
import { basename } from 'node:path';
import type { CountryCode } from 'libphonenumber-js/max';
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError, unreachable } from '#src/errors.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import { fileReadingOf } from '#src/mapping/file-reading.ts';
import type { MappingContext } from '#src/mapping/layout.ts';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { checkCountry } from '#src/mapping/phone-cell.ts';
import { keyRank } from '#src/mapping/propose/choose-key.ts';
import { collectFacts, type FileFacts } from '#src/mapping/propose/column-facts.ts';
import { firstOrLikelyHeader, likelyHeader } from '#src/mapping/propose/header-line.ts';
import {
  type FileHead,
  headerRule,
  isKnownHeader,
  isKnownKey,
  presetWords,
  recognise,
} from '#src/mapping/recognise.ts';
import { checkEncoding } from '#src/sources/decode.ts';
import type { HeaderRule } from '#src/sources/format-reader.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import { checkDelimiter } from '#src/sources/read-csv.ts';
import type { NamelessColumn, Row, ShownPlace, SourceHead, SourceItem } from '#src/sources/row.ts';
import { requireThere } from '#src/sources/source-file.ts';
import { type KeptReading, readKeeping } from './kept-reading.ts';

export interface MapReadOptions {
  /** One character, or `tab`. */
  readonly delimiter?: string;
  readonly encoding?: string;
  /** Two letters, as `DE`. */
  readonly defaultCountry?: string;
  readonly sheet?: string;
}

/** @returns the default country. @throws PatchbayError `usage` where delimiter, encoding or country is not one. */
export function checkOptions({ delimiter, encoding, defaultCountry }: MapReadOptions): CountryCode | null {
  if (delimiter !== undefined && delimiter !== 'tab') checkDelimiter(delimiter);
  if (encoding !== undefined) checkEncoding(encoding);
  return defaultCountry === undefined ? null : checkCountry(defaultCountry);
}

/**
 * How a file is read:
 *
 * - *named*: by the mapping that `--mapping` or the feed names.
 * - *generic*: by the names of its columns. *preset*: recognised as a known export.
 * - *draft*: by nothing yet; the mapping is a proposal.
 * - *empty*: it has no columns.
 */
export type MapLayout =
  | { readonly kind: 'named' | 'preset'; readonly name: string; readonly title: string | null }
  | { readonly kind: 'generic' | 'draft' | 'empty' };

/** What a file is recognised as. */
export interface KnownLayout {
  readonly mapping: Mapping | null;
  readonly layout: MapLayout;
}

export interface FileRead {
  readonly head: Pick<SourceHead, 'format' | 'encoding' | 'delimiter'>;
  /** What of the mapping before it was read by. */
  readonly kept: KeptReading;
  /** Null for JSON. */
  readonly columns: readonly string[] | null;
  readonly facts: FileFacts;
  /** The generic layout, which has seen all rows that were looked at; null where it cannot read the file, or was not asked for. */
  readonly generic: CompiledMapping | null;
  /** Undefined for an unknown layout. */
  readonly recognised: KnownLayout | undefined;
  readonly warnings: readonly Problem[];
  /** Columns without a name that hold values. */
  readonly nameless: readonly NamelessColumn[];
  /** The row at the place that was asked for; of several records of JSON that begin in its line, the first where none is named. */
  readonly found: SourceItem | null;
  /** The line that was asked for, or the last one before it in which a row begins: how many do, and the number of the last of them. */
  readonly nearest: { readonly line: number; readonly count: number; readonly record: number };
  /** Where no row is at the line that was asked for: that it is left out whatever the mapping, as one that holds totals. */
  readonly leftOut: Problem | null;
  /** Whether lines above the header of a table are left out. */
  readonly isBelowOthers: boolean;
  /** The line at which the last row begins; 0 for a file without rows. */
  readonly lastLine: number;
}

/**
 * @param named the mapping that reads the file; undefined: it is recognised.
 * @param place to be found; the file is then read up to its line.
 * @param before the mapping that another is to take the place of: what it says of the sheet and the encoding still holds, where the file is so.
 * @param context with which the generic layout would read the file.
 */
export async function readForMap(
  path: string,
  options: MapReadOptions,
  named: Pick<KnownLayout, 'mapping'> | undefined,
  place: ShownPlace | null = null,
  before: Mapping | null = null,
  context: MappingContext | null = null,
): Promise<FileRead> {
  await requireThere(path, basename(path));
  const readBy = async (kept: KeptReading): Promise<FileRead> => {
    const source = await openAny(path, options, named, { kept, before });
    try {
      const { columns } = source.head;
      const generic = context === null || named !== undefined ? null : genericLayout(columns, context);
      return { ...(await readAll(source, basename(path), named, place, generic)), generic, kept };
    } finally {
      await source.close();
    }
  };
  return before === null || named !== undefined ? readBy({}) : readKeeping(readBy, before, options);
}

/** Rows at each end of a file by which it is recognised: the footer of a report may tell. */
const firstRowsMax = 500;
const lastRowsMax = 20;

async function readAll(
  source: OpenSource,
  file: string,
  named: Pick<KnownLayout, 'mapping'> | undefined,
  place: ShownPlace | null,
  generic: CompiledMapping | null,
): Promise<Omit<FileRead, 'kept' | 'generic'>> {
  const line = place?.line ?? null;
  const { columns, format, encoding, delimiter } = source.head;
  const hasHeader = columns === null || columns.some((name) => name.trim() !== '');
  const collector = collectFacts(hasHeader ? columns : [], keyRank);
  let found: SourceItem | null = null;
  let nearest: FileRead['nearest'] = { line: 0, count: 0, record: 0 };
  let lastLine = 0;
  let isWanted = true;
  const first: Row[] = [];
  const last: Row[] = [];
  // Ends with the file, or once enough is known.
  for await (const slice of source.slices()) {
    for (const item of slice) {
      if (line !== null && item.row.line <= line) {
        const { line: begin, record } = item.row;
        const count = begin > nearest.line ? 1 : nearest.count + 1;
        if (count === 1) found = null;
        if (place?.record === undefined ? count === 1 : record === place.record) found = item;
        nearest = { line: begin, count, record };
      }
      lastLine = item.row.line;
      if (item.type === 'row' || item.row.kind === 'cells') (first.length < firstRowsMax ? first : last).push(item.row);
      if (!isWanted) continue;
      if (item.type === 'row') {
        generic?.see(item.row);
        isWanted = collector.see(item.row);
      } else collector.seeUnreadable(item);
    }
    last.splice(0, Math.max(0, last.length - lastRowsMax));
    if (line === null ? !isWanted : lastLine > line) break;
  }
  const facts = collector.facts(!isWanted);
  return {
    head: { format, encoding, delimiter },
    columns,
    facts,
    recognised:
      named === undefined && line === null
        ? recognised({ ...source.head, sample: [...first, ...last] }, await loadPresets(), file)
        : undefined,
    // The tail is valid once the file was read to its end.
    warnings: isWanted && line === null ? source.tail().warnings : [],
    nameless: (line === null && source.tail().nameless) || [],
    found: line !== null && holdsLine(found, line, nearest.count) ? found : null,
    nearest,
    leftOut: source.tail().warnings.find((one) => one.line === line && leftOutCodes.has(one.code)) ?? null,
    isBelowOthers: source.tail().warnings.some(({ code }) => code === 'preambleLine'),
    lastLine,
  };
}

/** Null for a table that lacks what the layout needs. */
function genericLayout(columns: readonly string[] | null, context: MappingContext): CompiledMapping | null {
  try {
    return compileMapping(null, { columns }, context);
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return null;
    throw error;
  }
}

/** The header that an import by this mapping finds in the file; null for JSON. */
export async function headerByMapping(
  path: string,
  options: MapReadOptions,
  mapping: Mapping,
): Promise<readonly string[] | null> {
  const source = await openAny(path, options, { mapping });
  await source.close();
  return source.head.columns;
}

/** Of warnings on a line that is no row (`src/sources/read-table.ts`). */
const leftOutCodes: ReadonlySet<string> = new Set([
  ...['totalLine', 'ruleLine', 'copyEnd', 'headerRepeated', 'preambleLine'],
]);

/** A row of a table may have line breaks in its cells. Where a JSON record ends is not known; of several in one line, all but the last end there. */
function holdsLine(item: SourceItem | null, line: number, count: number): boolean {
  if (item === null) return false;
  if (item.row.kind !== 'cells') return item.row.line === line || count === 1;
  const breaks = item.row.cells.reduce((sum, cell) => sum + cell.split(/\r\n|\r|\n/).length - 1, 0);
  return item.row.line + breaks >= line;
}

/** @throws PatchbayError `file` `layoutAmbiguous`. */
function recognised(head: FileHead, presets: readonly Mapping[], file: string): KnownLayout | undefined {
  const found = recognise(head, presets);
  switch (found.kind) {
    case 'generic':
      return { mapping: null, layout: { kind: 'generic' } };
    case 'preset': {
      const { name, title = null } = found.mapping;
      return { mapping: found.mapping, layout: { kind: 'preset', name, title } };
    }
    case 'ambiguous': {
      const names = found.mappings.map(({ name }) => name);
      const message = `${file} could be ${found.mappings.map(presetWords).join(' or ')}; nothing is guessed`;
      const hint = `Say which it is with ${names.map((name) => `--mapping ${name}`).join(' or ')}.`;
      throw new PatchbayError('file', 'layoutAmbiguous', message, { facts: { file, presets: names.join(', ') }, hint });
    }
    case 'unknown':
      return undefined;
    default:
      return unreachable(found);
  }
}

/** By the header of the mapping or of a known layout; else by the line that is probably the header, of another sheet where the first has none. */
async function openAny(
  path: string,
  options: MapReadOptions,
  named: Pick<KnownLayout, 'mapping'> | undefined,
  { kept, before }: { readonly kept: KeptReading; readonly before: Mapping | null } = { kept: {}, before: null },
): Promise<OpenSource> {
  const reading = fileReadingOf(named === undefined ? kept : named.mapping, options);
  const open = (header: HeaderRule | null): Promise<OpenSource> =>
    openSource(path, {
      name: basename(path),
      header,
      ...reading,
    });
  if (named !== undefined) return open(headerRule(named.mapping));
  // Where its sheet has another name, it is the one with the key, as in an import.
  const isMoved = before?.sheet !== undefined && kept.sheet === undefined && options.sheet === undefined;
  const byKey = isMoved ? headerRule(before) : null;
  const moved = byKey === null ? null : await orNull(open(byKey));
  if (moved !== null) return moved;
  const presets = await loadPresets();
  const rule = { ...likelyHeader, isHeader: isKnownHeader(presets), isKey: isKnownKey(presets) };
  const known = await orNull(open(rule));
  if (known !== null) return known;
  const first = await open(firstOrLikelyHeader);
  const names = first.head.columns?.filter((name) => name.trim() !== '') ?? null;
  if (names === null || names.length > 1) return first;
  const likely = await orNull(open(likelyHeader));
  if (likely === null) return first;
  await first.close();
  return likely;
}

async function orNull(opening: Promise<OpenSource>): Promise<OpenSource | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof PatchbayError && error.code === 'keyColumnMissing') return null;
    throw error;
  }
}
