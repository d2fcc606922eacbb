/**
 * What `patchbay map` does. How a file would be read, without a run: by a mapping that is named, by what it is recognised as, or
 * by a mapping that is proposed; what would become of its first rows, and one of them cell by cell. That reads the file and
 * nothing else, needs no service and writes nothing. The fixtures of a mapping are run here, too; `save-mapping.ts` saves one.
 */

import { basename, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '#src/config/schema.ts';
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { type Feeds, findMapping } from '#src/feeds/feeds.ts';
import { counted } from '#src/ledger/rules/approval.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import { createRowFilter } from '#src/mapping/conditions.ts';
import { straysInWords } from '#src/mapping/contradicted-country.ts';
import { namelessIgnored } from '#src/mapping/file-findings.ts';
import type { MappingContext } from '#src/mapping/layout.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { parseMapping } from '#src/mapping/parse-mapping.ts';
import { readCountry } from '#src/mapping/phone-cell.ts';
import { lessThanGeneric, moreNote, moreRead, moreThanGeneric } from '#src/mapping/propose/beyond-generic.ts';
import type { FileFacts } from '#src/mapping/propose/column-facts.ts';
import { suggestHeader } from '#src/mapping/propose/header-line.ts';
import { keyChange } from '#src/mapping/propose/kept-key.ts';
import { changesBetween } from '#src/mapping/propose/kept-settings.ts';
import { draftText, type ProposedColumn } from '#src/mapping/propose/proposal.ts';
import { proposeMapping } from '#src/mapping/propose/propose.ts';
import { columnUses, type ExplainedRow, explainRow } from '#src/mapping/show/explain-row.ts';
import { type FixtureResult, type Preview, previewRows, runFixtures } from '#src/mapping/show/preview.ts';
import { runIdOf } from '#src/runs/run-files.ts';
import { ignoredBy, isIgnoredHeader } from '#src/sources/column-name.ts';
import { placeText, recordOf, type ShownPlace, type SourceItem } from '#src/sources/row.ts';
import { requirePath } from './import.ts';
import { headerTakenAbove, refusalBy, stopBy } from './import-stop.ts';
import {
  checkOptions,
  type FileRead,
  headerByMapping,
  type MapLayout,
  type MapReadOptions,
  readForMap,
} from './read-for-map.ts';

export type { ProposedColumn } from '#src/mapping/propose/proposal.ts';
export type { ExplainedRow } from '#src/mapping/show/explain-row.ts';
export type { ContactView, CountedProblem, FixtureResult, Preview } from '#src/mapping/show/preview.ts';

interface MapParts {
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
  /** The rows that were read, those that would be rejected among them; the file has more if `isPartial`. */
  readonly rows: number;
  readonly isPartial: boolean;
  readonly layout: MapLayout;
  readonly columns: readonly ProposedColumn[];
  /** Null where nothing could be tried. */
  readonly preview: Preview | null;
  /** Who decides, by field or list: what the mapping says beside `shared` and `owned`. */
  readonly policies: Readonly<Record<string, string>>;
  /** Why the mapping of the feed does not read the file, in sentences: a new one is proposed. Null where it does, and where none is there. */
  readonly misfit: string | null;
  /** What a person should know: sentences. */
  readonly remarks: readonly string[];
  /**
   * Why an import would write nothing: what all rows lack, or columns with contact data that nothing maps, which stop the first file of
   * a feed. A sentence, or null.
   */
  readonly stop: string | null;
  /** Whether an import of the file as it is could do nothing else but refuse it: of what all rows lack, or since no mapping was found. */
  readonly isRefused: boolean;
  /** Whether the file is in the generic layout, and a mapping would read more of it. */
  readonly hasMore: boolean;
  /** What was noticed while the file was read. */
  readonly warnings: readonly Problem[];
  /** Null in the generic layout, for an empty file, and where no mapping could be proposed. */
  readonly mapping: Mapping | null;
  /** The text of a draft; null where none could be made, and for any other mapping, whose text is its file. */
  readonly draft: string | null;
}

/**
 * @throws PatchbayError `file`: what importing the file would throw, `headerMissing` for a table without a header; `usage` for a
 *   feed, a mapping or an option that is not one.
 */
export async function mapFile(parts: MapParts, path: string, options: MapOptions): Promise<MapResult> {
  requirePath(path, 'map');
  checkOptions(options);
  const named = await namedMapping(parts, options);
  try {
    return await mapBy(parts, path, options, named ?? 'recognised');
  } catch (error) {
    if (named === undefined || options.mapping !== undefined || !isMisfit(error)) throw error;
    // A preset would have keys of its own.
    const fresh = await mapBy(parts, path, options, 'proposal');
    return { ...fresh, misfit: [`${error.message}.`, ...(error.hint === undefined ? [] : [error.hint])].join(' ') };
  }
}

/** Whether a mapping names columns that the file lacks. */
function isMisfit(error: unknown): error is PatchbayError {
  return error instanceof PatchbayError && (error.code === 'columnMissing' || error.code === 'keyColumnMissing');
}

/** @param by a mapping that is named; `recognised`: what the file is recognised as, or a proposal; `proposal`: that alone. */
async function mapBy(
  parts: MapParts,
  path: string,
  options: MapOptions,
  by: NonNullable<Awaited<ReturnType<typeof namedMapping>>> | 'recognised' | 'proposal',
): Promise<MapResult> {
  const country = checkOptions(options);
  const named = typeof by === 'string' ? undefined : by;
  const feed = options.feed === undefined || options.feed === mainFeed ? null : options.feed;
  const before = await mappingThere(parts, feed);
  const read = await readForMap(resolve(path), options, named, null, before, contextOf(parts, null, country));
  const { facts, head, generic } = read;
  const isGeneric = read.recognised?.layout.kind === 'generic';
  const countries = isGeneric ? (generic?.leftOut ?? []).filter(({ kind }) => kind === 'country') : [];
  const usual = typeof before?.defaultCountry === 'string' ? readCountry(before.defaultCountry) : null;
  const draftOptions: Parameters<typeof proposeMapping>[1] = {
    fileName: (runIdOf(basename(path))?.name ?? basename(path)).replace(/(?:\.[a-z0-9]{1,6}){1,2}$/i, ''),
    feed,
    country: country ?? usual,
    usualCountry: readCountry(parts.config.mapping.defaultCountry ?? ''),
    reading: { ...read.kept, ...options },
    isGeneric,
    contradicting: countries.map(({ column }) => column),
    before,
  };
  const shape = {
    file: basename(path),
    ...head,
    rows: facts.rows + facts.unreadable,
    isPartial: facts.isPartial,
    misfit: null,
    hasMore: false,
  };
  const changesTo = (now: Mapping | null) => (before === null || now === null ? [] : changesBetween(before, now));
  const warningsBy = (mapping: Mapping | null) => [...namelessIgnored(read.nameless, mapping), ...read.warnings];
  if (facts.columns.length === 0) {
    const remarks = [whyNothing(facts)];
    return { ...shape, ...nothing, remarks, layout: { kind: 'empty' }, warnings: read.warnings };
  }
  const chosen = by === 'proposal' ? undefined : (named ?? read.recognised);
  const isKnown = chosen?.layout.kind === 'generic' && named === undefined;
  const more = isKnown ? moreThanGeneric(read, draftOptions) : [];
  const less = more.length === 0 ? [] : lessThanGeneric(read, draftOptions);
  const strays = countries.flatMap(({ column, strays: found }) => (found && straysInWords(column, found)) ?? []);
  if (chosen !== undefined && (more.length === 0 || options.fresh !== true)) {
    const replacing = options.fresh === true ? changesTo(chosen.mapping) : otherKeys(before, chosen.mapping);
    const context = contextOf(parts, chosen.mapping, country);
    const compiled =
      isKnown && generic !== null ? generic : compileMapping(chosen.mapping, { columns: read.columns }, context);
    const { kept, notes } = keptRows(chosen.mapping, read.columns, facts);
    const preview = previewRows(compiled, kept);
    const columns = columnsBy(chosen.mapping, facts, kept, compiled);
    const ofCustom = customFieldsNote(columns, preview);
    const remarks = [...remarksOn(compiled), ...notes, ...ofCustom, ...moreNote(more, less), ...strays, ...replacing];
    const policies = policiesInWords(compiled);
    const refusal = refusalBy(compiled, facts);
    return {
      ...shape,
      layout: chosen.layout,
      columns,
      preview,
      policies,
      remarks,
      stop: refusal ?? stopBy(compiled, chosen.mapping),
      isRefused: refusal !== null,
      hasMore: more.length > 0,
      warnings: warningsBy(chosen.mapping),
      mapping: chosen.mapping,
      draft: null,
    };
  }
  refuseWithoutHeader(read, shape.file);
  const proposal = proposeMapping(facts, draftOptions);
  const draft = draftText(proposal, { file: shape.file, rows: facts.rows });
  const drafted = { ...shape, layout: { kind: 'draft' }, columns: proposal.columns, policies: {} } as const;
  if (draft === null) {
    const warnings = warningsBy(null);
    return {
      ...drafted,
      preview: null,
      remarks: proposal.remarks,
      stop: null,
      isRefused: true,
      warnings,
      mapping: null,
      draft,
    };
  }
  const mapping = parseMapping(draft, `the proposal for ${shape.file}`);
  const tried = tryDraft(mapping, read.columns, facts, contextOf(parts, mapping, null));
  const remarks = [...proposal.remarks, ...tried.remarks, ...customFieldsNote(proposal.columns, tried.preview)];
  const result = {
    ...drafted,
    ...tried,
    remarks: [...remarks, ...moreRead(more, less), ...strays, ...changesTo(mapping)],
    warnings: warningsBy(mapping),
    mapping,
    draft,
  };
  const isFound =
    !read.isBelowOthers || isDeepStrictEqual(await headerByMapping(resolve(path), options, mapping), read.columns);
  return isFound ? result : { ...result, stop: headerTakenAbove(mapping), isRefused: true };
}

/** Of a mapping that a person names for a feed that has one. */
function otherKeys(before: Mapping | null, now: Mapping | null): readonly string[] {
  const change = before === null || now === null ? null : keyChange(before, now);
  return change === null ? [] : [change];
}

function policiesInWords({ policies: { fields, emails, phones } }: CompiledMapping): Readonly<Record<string, string>> {
  const chosen = [...fields, ['emails', emails], ['phones', phones]].filter(
    ([, policy]) => policy !== 'shared' && policy !== 'owned',
  );
  return Object.fromEntries(chosen);
}

const nothing = {
  columns: [],
  preview: null,
  policies: {},
  stop: null,
  isRefused: false,
  mapping: null,
  draft: null,
} as const;

/** Of a file without columns. */
function whyNothing({ rows, unreadable, sample }: FileFacts): string {
  const first = sample.find((item) => item.type === 'broken');
  if (first === undefined) return rows === 0 ? 'the file contains no rows' : 'the records of the file have no members';
  const place = placeText({ line: first.row.line, ...recordOf(first.row) });
  return `${unreadable} of ${counted(rows + unreadable, 'row')} cannot be read: ${first.problem.message}, first at line ${place}. ${first.problem.hint}`;
}

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

/** What a proposal would take the place of: null where the feed has no mapping, or one that cannot be read. */
async function mappingThere({ feeds }: MapParts, feed: string | null): Promise<Mapping | null> {
  if (feed === null) return null;
  try {
    return (await feeds.get(feed)).mapping;
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'usage') return null;
    throw error;
  }
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
function columnsBy(
  mapping: Mapping | null,
  facts: FileFacts,
  kept: readonly SourceItem[],
  compiled: CompiledMapping,
): readonly ProposedColumn[] {
  for (const { type, row } of kept) if (type === 'row') compiled.see(row);
  const uses = columnUses(
    mapping,
    facts.columns.map(({ name }) => name),
  );
  const left = new Map(compiled.leftOut.map(({ column, kind }) => [column, kind]));
  const isIgnored = ignoredBy(mapping ?? {});
  return facts.columns.map(({ name, values }, index): ProposedColumn => {
    const targets = uses[index] ?? [];
    const isMapped = targets.length > 0;
    const reason = left.has(name)
      ? `${left.get(name) === 'country' ? 'it names other countries than the default one' : 'its name suggests contact data'}: it stops the first file`
      : isIgnored(name)
        ? 'ignored by the mapping'
        : mapping === null && /\[0\]\./.test(name)
          ? 'no member of the list is known as its value'
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
): { readonly kept: readonly SourceItem[]; readonly notes: readonly string[] } {
  const filter = createRowFilter(mapping, columns);
  return { kept: sample.filter((item) => !filter.skips(item)), notes: filter.notes() };
}

function remarksOn({ readings, notes }: CompiledMapping): readonly string[] {
  return [
    ...(readings.length === 0 ? [] : [`read as: ${readings.join(', ')}`]),
    ...notes.map(({ line, message }) => `line ${line}: ${message}`),
  ];
}

/** Rows that "can be imported" may have a custom field that the workspace lacks, or that has another type: nothing is asked here. */
function customFieldsNote(columns: readonly ProposedColumn[], preview: Preview | null): readonly string[] {
  const isMapped = columns.some(({ target }) => target?.split(' and ').some((one) => one.startsWith('custom.')));
  const isShown = preview?.contacts.some(({ contact }) => Object.keys(contact?.customFields ?? {}).length > 0);
  return isMapped || isShown === true
    ? [
        'custom fields are not checked here: an import checks them against the workspace, and so does patchbay plan FILE',
      ]
    : [];
}

/** A draft that maps nothing is still shown: a person completes it. */
function tryDraft(
  mapping: Mapping,
  columns: readonly string[] | null,
  facts: FileFacts,
  context: MappingContext,
): Pick<MapResult, 'preview' | 'policies' | 'remarks' | 'stop' | 'isRefused'> {
  try {
    const compiled = compileMapping(mapping, { columns }, context);
    const { kept, notes: remarks } = keptRows(mapping, columns, facts);
    for (const { type, row } of kept) if (type === 'row') compiled.see(row);
    const refusal = refusalBy(compiled, facts);
    const stop = refusal ?? stopBy(compiled, mapping);
    const policies = policiesInWords(compiled);
    const preview = previewRows(compiled, kept);
    return { preview, policies, remarks: [...remarks, ...remarksOn(compiled)], stop, isRefused: refusal !== null };
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.kind !== 'file') throw error;
    return { preview: null, policies: {}, remarks: [error.message], stop: null, isRefused: true };
  }
}

/** @throws PatchbayError `file` `headerMissing`. */
function refuseWithoutHeader({ columns, facts, head: { delimiter } }: FileRead, file: string): void {
  const suggestion = columns === null ? null : suggestHeader(columns, facts.columns);
  if (suggestion === null) return;
  const message = `${file} has no header: its first line holds values (${suggestion.found.join(', ')}), not names of columns`;
  throw new PatchbayError('file', 'headerMissing', message, {
    facts: { file, columnCount: columns?.length ?? 0 },
    hint: headerAdvice(suggestion.header, delimiter),
  });
}

/** @param delimiter null for a workbook. */
function headerAdvice(names: readonly string[], delimiter: string | null): string {
  if (delimiter === null) {
    return `Insert a row above it with the name of each column in its cell, such as: ${names.join(', ')}`;
  }
  // A tab cannot be seen.
  const [shown, how] = delimiter === '\t' ? [',', ', with a tab in place of each comma'] : [delimiter, ''];
  const cells = names.map((name) => (name.includes(shown) ? `"${name}"` : name));
  return `Add a line with the names of the columns above it${how}, such as: ${cells.join(shown)}`;
}

/**
 * One row, cell by cell.
 * @param place a physical line of the file: the row that begins there, or that it is part of; of several records of JSON in one line that
 *   of the number, or the first.
 * @throws PatchbayError as `mapFile`; `usage` `lineNotFound`, `noMappingProposed`.
 */
export async function explainLine(
  parts: MapParts,
  path: string,
  place: ShownPlace,
  options: MapOptions,
): Promise<ExplainedRow> {
  requirePath(path, 'map');
  const country = checkOptions(options);
  const named = await namedMapping(parts, options);
  const result = named === undefined ? await mapFile(parts, path, options) : null;
  if (result?.layout.kind === 'draft' && result.draft === null) throw noMappingProposed(result.file);
  const mapping = named === undefined ? (result?.mapping ?? null) : named.mapping;
  const { line } = place;
  const read = await readForMap(resolve(path), options, named, place);
  const { found, leftOut, lastLine, nearest } = read;
  if (leftOut !== null) {
    return { line, entries: [], unused: [], contact: null, problems: [], warnings: [], skipped: whyOf(leftOut) };
  }
  if (found === null) {
    throw new PatchbayError('usage', 'lineNotFound', `${basename(path)} has no row at line ${placeText(place)}`, {
      facts: { line, lastLine },
      hint: hintOf(read),
    });
  }
  const context = contextOf(parts, mapping, mapping === null || result?.draft == null ? country : null);
  return { ...explainRow(mapping, found, context), ...(nearest.count > 1 ? { record: found.row.record } : {}) };
}

/** What could be asked for instead. */
function hintOf({ lastLine, nearest: { line, count, record } }: Pick<FileRead, 'lastLine' | 'nearest'>): string {
  if (lastLine === 0) return 'The file has no rows.';
  if (count < 2) return `The last row begins at line ${lastLine}.`;
  return `${count} records begin in line ${line}: name one by its number, such as --explain "${placeText({ line, record })}".`;
}

/** `usage`: the layout of a file is unknown, and none of its members can be the key. */
export function noMappingProposed(file: string): PatchbayError {
  const message = `${file}: no mapping can be proposed, since no member is fit to be the key, and none holds a name, an e-mail address or a phone number that one could be made of`;
  return new PatchbayError('usage', 'noMappingProposed', message, {
    facts: { file },
    hint: 'Export the file again with a member that holds an id of each person, or write a mapping by hand: patchbay map --mapping generic shows one with every key.',
  });
}

/** `line 5 is left out: it holds totals` → `it holds totals`. */
function whyOf({ message }: Problem): string {
  return message.slice(message.indexOf(': ') + 2);
}

/** Runs the fixtures of a mapping that a person names, of a feed's, or of the preset that a file is recognised as. */
interface TestedMapping {
  readonly mapping: string;
  readonly fixtures: readonly FixtureResult[];
  readonly ok: boolean;
}

/**
 * @param file a mapping file, or an export; absent: the mapping is named by the options.
 * @throws PatchbayError as `mapFile`.
 */
export async function testMapping(
  parts: MapParts,
  options: MapOptions,
  file: string | undefined,
): Promise<TestedMapping> {
  const mapping = await mappingToTest(parts, options, file);
  const fixtures = mapping === null ? [] : runFixtures(mapping);
  return { mapping: mapping?.name ?? 'generic', fixtures, ok: fixtures.every(({ ok }) => ok) };
}

async function mappingToTest(parts: MapParts, options: MapOptions, file: string | undefined): Promise<Mapping | null> {
  if (file !== undefined) {
    return /\.ya?ml$/i.test(file) ? findMapping(file) : (await mapFile(parts, file, options)).mapping;
  }
  if (options.mapping !== undefined) return findMapping(options.mapping);
  return (await parts.feeds.get(options.feed ?? mainFeed)).mapping;
}
