/**
 * How a file would be read, without a run: by a mapping that is named, by what it is recognised as, or by a mapping that is
 * proposed; and what would become of its first rows. Reads the file and nothing else: needs no service and writes nothing.
 */
import { basename, resolve } from 'node:path';
import type { Config } from '#src/config/schema.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { type Feeds, findMapping } from '#src/feeds/feeds.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import { createRowFilter } from '#src/mapping/conditions.ts';
import { isIgnoredHeader, normaliseHeader } from '#src/mapping/header.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { MappingContext } from '#src/mapping/mapping-settings.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { type FileFacts, suggestHeader } from '#src/mapping/propose/column-facts.ts';
import { draftText } from '#src/mapping/propose/draft-text.ts';
import type { ProposedColumn } from '#src/mapping/propose/proposal.ts';
import { proposeMapping } from '#src/mapping/propose/propose.ts';
import { columnUses } from '#src/mapping/show/entries.ts';
import { type ExplainedRow, explainRow } from '#src/mapping/show/explain-row.ts';
import { type Preview, previewRows } from '#src/mapping/show/preview.ts';
import type { Row } from '#src/sources/row.ts';
import { checkOptions, type MapLayout, type MapReadOptions, readForMap } from './read-for-map.ts';

export type { ProposedColumn } from '#src/mapping/propose/proposal.ts';
export type { ContactView } from '#src/mapping/show/contact-view.ts';
export type { ExplainedRow } from '#src/mapping/show/explain-row.ts';
export type { CountedProblem, Preview } from '#src/mapping/show/preview.ts';

export interface MapParts {
  readonly config: Pick<Config, 'mapping'>;
  readonly feeds: Feeds;
}

export interface MapOptions extends MapReadOptions {
  readonly feed?: string;
  /** The name of a mapping, or a file: instead of what the feed has or the file is recognised as. */
  readonly mapping?: string;
  /** As if the feed had no mapping: a new one is wanted. */
  readonly fresh?: boolean;
}

export interface MapResult {
  readonly file: string;
  readonly format: string;
  readonly encoding: string;
  readonly delimiter: string | null;
  /** The rows that were read; the file has more if `isPartial`. */
  readonly rows: number;
  readonly isPartial: boolean;
  readonly layout: MapLayout;
  readonly columns: readonly ProposedColumn[];
  /** Null where nothing could be tried. */
  readonly preview: Preview | null;
  /** What a person should know: sentences. */
  readonly remarks: readonly string[];
  /** What was noticed while the file was read. */
  readonly warnings: readonly Problem[];
  /** Null in the generic layout, and for an empty file. */
  readonly mapping: Mapping | null;
  /** The text of a draft; null for any other mapping, whose text is its file. */
  readonly draft: string | null;
}

/**
 * @throws PatchbayError `file`: what importing the file would throw, `headerMissing` for a table without a header; `usage` for a
 *   feed, a mapping or an option that is not one.
 */
export async function mapFile(parts: MapParts, path: string, options: MapOptions): Promise<MapResult> {
  const country = checkOptions(options);
  const named = await namedMapping(parts, options);
  const read = await readForMap(resolve(path), options, named);
  const { facts, head } = read;
  const shape = {
    file: basename(path),
    ...head,
    rows: facts.rows,
    isPartial: facts.isPartial,
    warnings: read.warnings,
  };
  if (facts.columns.length === 0) return { ...shape, ...nothing, layout: { kind: 'empty' } };
  const chosen = named ?? read.recognised;
  if (chosen !== undefined) {
    const context = contextOf(parts, chosen.mapping, country);
    const compiled = compileMapping(chosen.mapping, { columns: read.columns }, context);
    const { kept, notes } = keptRows(chosen.mapping, read.columns, facts);
    const preview = previewRows(compiled, kept);
    const columns = columnsBy(chosen.mapping, facts, compiled);
    const remarks = [...remarksOn(compiled), ...notes];
    return { ...shape, layout: chosen.layout, columns, preview, remarks, mapping: chosen.mapping, draft: null };
  }
  refuseWithoutHeader(read.columns, facts, shape.file);
  const stem = basename(path).replace(/(?:\.[a-z0-9]{1,6}){1,2}$/i, '');
  const feed = options.feed === undefined || options.feed === mainFeed ? null : options.feed;
  const proposal = proposeMapping(facts, { fileName: stem, feed, country, sheet: options.sheet ?? null });
  const draft = draftText(proposal, { file: shape.file, rows: facts.rows });
  const mapping = parseMapping(draft, `the proposal for ${shape.file}`);
  const tried = tryDraft(mapping, read.columns, facts, contextOf(parts, mapping, null));
  const remarks = [...proposal.remarks, ...tried.remarks];
  return {
    ...shape,
    layout: { kind: 'draft' },
    columns: proposal.columns,
    preview: tried.preview,
    remarks,
    mapping,
    draft,
  };
}

const nothing = {
  columns: [],
  preview: null,
  remarks: ['the file contains no rows'],
  mapping: null,
  draft: null,
} as const;

/** Undefined: neither a person nor the feed names a mapping. */
async function namedMapping(
  { feeds }: MapParts,
  { feed = mainFeed, mapping, fresh = false }: MapOptions,
): Promise<{ readonly mapping: Mapping | null; readonly layout: MapLayout } | undefined> {
  if (mapping !== undefined) {
    const found = await findMapping(mapping);
    return { mapping: found, layout: layoutOf(found) };
  }
  if (fresh) return undefined;
  const own = (await feeds.get(feed)).mapping;
  return own === null ? undefined : { mapping: own, layout: layoutOf(own) };
}

function layoutOf(mapping: Mapping | null): MapLayout {
  return mapping === null ? { kind: 'generic' } : { kind: 'named', name: mapping.name, title: mapping.title ?? null };
}

function contextOf({ config }: MapParts, mapping: Mapping | null, country: string | null): MappingContext {
  return {
    sourceLabel: null,
    customFields: null,
    defaultCountry: country ?? (mapping?.defaultCountry === undefined ? config.mapping.defaultCountry : null),
    onBlank: mapping === null ? config.mapping.onBlank : null,
  };
}

/** What a mapping makes of the columns; in JSON, of the members of the records that were read. */
function columnsBy(mapping: Mapping | null, facts: FileFacts, compiled: CompiledMapping): readonly ProposedColumn[] {
  for (const row of facts.sample) compiled.see(row);
  const uses = columnUses(
    mapping,
    facts.columns.map(({ name }) => name),
  );
  const left = new Set(compiled.leftOut.map(({ column }) => column));
  const ignored = new Set((mapping?.ignore ?? []).map(normaliseHeader));
  return facts.columns.map(({ name, values }, index): ProposedColumn => {
    const targets = uses[index] ?? [];
    const isMapped = targets.length > 0;
    const reason = left.has(name)
      ? 'its name suggests contact data: it stops the first file'
      : ignored.has(normaliseHeader(name))
        ? 'ignored by the mapping'
        : 'not in the mapping';
    return {
      column: name,
      target: isMapped ? targets.join(' and ') : null,
      example: values[0] ?? null,
      confidence: isMapped ? 'certain' : null,
      reason: isMapped ? '' : isIgnoredHeader(name) ? 'it has no name' : reason,
    };
  });
}

/** The sample without the rows that the mapping leaves out. */
function keptRows(
  mapping: Mapping | null,
  columns: readonly string[] | null,
  { sample }: FileFacts,
): { readonly kept: readonly Row[]; readonly notes: readonly string[] } {
  const filter = createRowFilter(mapping, columns);
  return { kept: sample.filter((row) => !filter.skips({ type: 'row', row })), notes: filter.notes() };
}

function remarksOn({ readings, notes }: CompiledMapping): readonly string[] {
  return [
    ...(readings.length === 0 ? [] : [`read as: ${readings.join(', ')}`]),
    ...notes.map(({ line, message }) => `line ${line}: ${message}`),
  ];
}

/** A draft that maps nothing is still shown: a person completes it. */
function tryDraft(
  mapping: Mapping,
  columns: readonly string[] | null,
  { sample }: FileFacts,
  context: MappingContext,
): Pick<MapResult, 'preview' | 'remarks'> {
  try {
    return { preview: previewRows(compileMapping(mapping, { columns }, context), sample), remarks: [] };
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
    return { preview: null, remarks: [error.message] };
  }
}

/** @throws PatchbayError `file` `headerMissing`. */
function refuseWithoutHeader(columns: readonly string[] | null, { columns: facts }: FileFacts, file: string): void {
  const suggestion = columns === null ? null : suggestHeader(columns, facts);
  if (suggestion === null) return;
  const message = `${file} has no header: its first line holds values (${suggestion.found.join(', ')}), not names of columns`;
  throw new PatchbayError('file', 'headerMissing', message, {
    facts: { file, columnCount: columns?.length ?? 0 },
    hint: `Add a line with the names of the columns above it, such as: ${suggestion.header.join(',')}`,
  });
}

/**
 * One row, cell by cell.
 * @param line a physical line of the file: the row that begins there, or that it is part of.
 * @throws PatchbayError as `mapFile`; `usage` `lineNotFound`.
 */
export async function explainLine(
  parts: MapParts,
  path: string,
  line: number,
  options: MapOptions,
): Promise<ExplainedRow> {
  const country = checkOptions(options);
  const named = await namedMapping(parts, options);
  const result = named === undefined ? await mapFile(parts, path, options) : null;
  const mapping = named === undefined ? (result?.mapping ?? null) : named.mapping;
  const { found, lastLine } = await readForMap(resolve(path), options, named, line);
  if (found === null) {
    throw new PatchbayError('usage', 'lineNotFound', `${basename(path)} has no row at line ${line}`, {
      facts: { line, lastLine },
      hint: lastLine === 0 ? 'The file has no rows.' : `The last row begins at line ${lastLine}.`,
    });
  }
  if (found.type === 'broken') {
    const { row, problem } = found;
    return { line: row.line, entries: [], unused: [], contact: null, problems: [problem], warnings: [] };
  }
  return explainRow(
    mapping,
    found.row,
    contextOf(parts, mapping, mapping === null || result?.draft == null ? country : null),
  );
}
