/**
 * Where the rows of a run come from, and the mapping that reads them: the supply of a checked-out file. A redrive has a
 * supply of its own (`src/dead-letters/redrive.ts`).
 */
import type { Problem } from '#src/contacts/outcome.ts';
import { usualPolicies } from '#src/contacts/policies.ts';
import { PatchbayError } from '#src/errors.ts';
import type { Feeds } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { sourceLabelOf } from '#src/ledger/rules/feeds.ts';
import type { FileShape, RunRecord } from '#src/ledger/runs.ts';
import { type CompiledMapping, compileMapping } from '#src/mapping/compile-mapping.ts';
import { createRowFilter, type RowFilter } from '#src/mapping/conditions.ts';
import { namelessIgnored, noteOf } from '#src/mapping/file-findings.ts';
import type { BoundColumn, MappingContext } from '#src/mapping/layout.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { keyColumns, recognise } from '#src/mapping/recognise.ts';
import { keyOfMapped, mapCells } from '#src/mapping/row.ts';
import type { RecordLook } from '#src/sources/format-reader.ts';
import { knownWrappers } from '#src/sources/json-wrapper.ts';
import type { OpenSource } from '#src/sources/open-source.ts';
import { seedOf } from '#src/sources/record-hash.ts';
import { listNames, type Row, type SourceItem } from '#src/sources/row.ts';
import type { CustomFieldDefinition } from '#src/wire/contact.ts';
import type { Workspace } from '#src/workspace/port.ts';
import type { StageItem } from './compare.ts';
import { columnsBefore, columnsLacked, columnsOfFixFile, isWithoutHeader, lostColumns } from './feed-history.ts';
import { createFixRows, type FixRows, type FixRowsWith, isColumnOfTexts, withKeyColumns } from './fix/fix-rows.ts';
import { withMappingElsewhere } from './mapping-elsewhere.ts';
import { type OpenedFile, openRunFile, presetsFor } from './open-file.ts';

/** Where the rows of a run come from. */
export interface RowSupply {
  readonly shape: FileShape;
  /** That of the run, or what its file was recognised as. */
  readonly mapping: Mapping | null;
  readonly compiled: CompiledMapping;
  /** What decides, besides its text, what a record is; null where rows are not known by the text of their records. */
  readonly meaning: string | null;
  /** @param look knows records that need not be read; it is asked only where `meaning` is not null. */
  items(look: RecordLook | null): AsyncIterable<readonly StageItem[]>;
  /** The same rows once more, those in these lines at least. */
  itemsAgain(lines: ReadonlySet<number>): AsyncIterable<readonly StageItem[]>;
  /** Throws a PatchbayError `file` for what all rows lack; known after the last row. */
  refuseLacking(): void;
  /** Sentences worth a note, complete after the last row. */
  notes(): readonly string[];
  /** Warnings about the file as a whole, complete after the last row. */
  warnings(): readonly Problem[];
  close(): Promise<void>;
}

export type OpenSupply = (run: RunRecord) => Promise<RowSupply>;

/** Defaults of the configuration, for rows whose run and mapping say nothing else. */
export interface ReadingDefaults {
  readonly defaultCountry: string | null;
  readonly onBlank: 'keep' | 'clear';
}

/** What supplies are opened with. */
export interface SupplyParts extends ReadingDefaults {
  readonly ledger: Ledger;
  readonly feeds: Feeds;
  readonly workspace: Workspace;
}

/**
 * @throws PatchbayError `file` where the file cannot be read as a whole; `auth`, `unreachable` where the workspace has to be
 *   asked for its custom fields.
 */
export async function openFileSupply(parts: SupplyParts, run: RunRecord): Promise<RowSupply> {
  const { ledger, feeds, workspace } = parts;
  const opened = await openRunFile(run).catch(async (error: unknown) => {
    throw await withMappingElsewhere(ledger, run, error);
  });
  try {
    const read = { ...run, mapping: opened.mapping };
    const isFix = run.kind === 'fixFile';
    const before = isFix ? noColumns : await columnsBefore(ledger, feeds, read);
    const mayLack = isFix ? await columnsOfFixFile(ledger, read) : [...before.mapped, ...before.lacked];
    const { mapping, context: reading } = readingOf(read, parts);
    const file = isFix ? { ...opened, columns: withKeyColumns(opened.columns, keyColumns(mapping)) } : opened;
    const context = { ...reading, mayLack };
    const compile = (columns: readonly string[] | null) => compileFor(columns, mapping, context, workspace);
    const { compiled, definitions } = await (isFix ? compileFix(file.columns, compile) : compile(file.columns));
    const skip = () => createRowFilter(run.kind === 'file' ? mapping : null, file.columns);
    if (!isFix) {
      const asRead = itemAsRead(run.sequence);
      const supply = supplyOf(run, file, compiled, skip, {
        items: async (slice) => slice.map(asRead),
        notes: () => [],
      });
      return { ...supply, shape: { ...supply.shape, ...columnsLacked(before, file.columns, mapping) } };
    }
    // Rows of a fix-file may come from files with different headers.
    const presets = await presetsFor({ ...run, mapping });
    const mapper = () => rowMapper(mapping, { ...context, customFields: definitions }, presets);
    const { cells: _, ...others } = compiled;
    const fixRows = createFixRows(ledger, run, {
      keyColumns: keyColumns(mapping),
      keyOf: keyReader(mapper()),
      duplicateKeys: compiled.duplicateKeys,
      isWorkbook: file.source.head.format === 'xlsx',
      refuseLost: lostRefusal(mapping, context),
    });
    const supply = supplyOf(run, file, { ...others, mapRow: mapper() }, skip, fixRows);
    return { ...supply, shape: { ...supply.shape, lacked: mayLack } };
  } catch (error) {
    await opened.source.close();
    throw error;
  }
}

const noColumns = { mapped: [], lacked: [] } as const;

interface Compiled {
  readonly compiled: CompiledMapping;
  /** The workspace's custom fields; null where they were not needed. */
  readonly definitions: readonly CustomFieldDefinition[] | null;
}

/** @param columns null for JSON. */
async function compileFor(
  columns: readonly string[] | null,
  mapping: Mapping | null,
  context: MappingContext,
  workspace: Workspace,
): Promise<Compiled> {
  if (isWithoutHeader(columns)) return { compiled: nothingToMap, definitions: null };
  const compiled = compileMapping(mapping, { columns }, context);
  if (!compiled.usesCustomFields) return { compiled, definitions: null };
  const definitions = await workspace.listCustomFields();
  return { compiled: compileMapping(mapping, { columns }, { ...context, customFields: definitions }), definitions };
}

/** A table that a fix-file of JSON was saved as lacks the columns that none of its records has: what lacks in any other shows with its rows. */
async function compileFix(
  columns: readonly string[] | null,
  compile: (columns: readonly string[] | null) => Promise<Compiled>,
): Promise<Compiled> {
  try {
    return await compile(columns);
  } catch (error) {
    if (error instanceof PatchbayError && error.kind === 'file') return compile(null);
    throw error;
  }
}

/** The refusal of rows of a fix-file that have lost a column which a file of their feed was let lack. Of each header it is looked at once. */
function lostRefusal(mapping: Mapping | null, context: MappingContext): FixRowsWith['refuseLost'] {
  const { mayLack = [] } = context;
  const passed = new Set<string>();
  return (row, stored) => {
    const lost = lostColumns(mayLack, row, stored);
    if (lost.length === 0 || row.kind !== 'cells' || mapping === null) return;
    const { columns } = row;
    const header = JSON.stringify([columns, lost]);
    if (passed.has(header)) return;
    compileMapping(mapping, { columns }, { ...context, mayLack: mayLack.filter((column) => !lost.includes(column)) });
    passed.add(header);
  };
}

/** An empty file has no header to map: it holds no rows, which is no error (`docs/bad-inputs.md`, CSV). */
const nothingToMap: CompiledMapping = {
  name: 'none',
  version: 'none',
  duplicateKeys: 'dead',
  policies: usualPolicies,
  mappedColumns: [],
  readings: [],
  unmappedColumns: [],
  leftOut: [],
  remarks: [],
  notes: [],
  see: () => undefined,
  mustSee: () => false,
  refuseLacking: () => undefined,
  usesCustomFields: false,
  mapRow: () => {
    throw new PatchbayError('bug', 'rowWithoutHeader', 'a file without a header gives no rows');
  },
};

/** What the rows of a file become, and what is to be noted of them. */
type ToItems = Pick<FixRows, 'items' | 'notes'>;

function supplyOf(
  run: RunRecord,
  file: OpenedFile,
  compiled: CompiledMapping,
  rowFilter: () => RowFilter,
  toItems: ToItems,
): RowSupply {
  const { source, columns, mapping } = file;
  const { format, delimiter } = source.head;
  const filter = rowFilter();
  const unused = watchUnused(compiled, columns);
  const isNoted = (column: string): boolean => run.kind === 'file' || !isColumnOfTexts(column);
  const again: OpenSource[] = [];
  return {
    shape: { format, columns, delimiter, mapped: compiled.mappedColumns },
    mapping,
    compiled,
    // The rows of a fix-file are judged beside their letters.
    meaning: run.kind === 'file' ? source.meaning : null,
    items: (look) => itemsOf(source, [compiled, unused], filter, toItems, look),
    itemsAgain: async function* (lines) {
      const second = await file.again();
      again.push(second);
      yield* itemsOf(second, [compiled], rowFilter(), toItems, onlyLines(lines));
    },
    // A fix-file holds some rows of a file that was judged as a whole before.
    refuseLacking: () => (run.kind === 'file' ? compiled.refuseLacking() : undefined),
    notes: () => [...notesOf(file, compiled, unused.list().filter(isNoted), filter), ...toItems.notes()],
    warnings: () => [...compiled.notes, ...warningsOf(file)],
    close: async () => {
      for (const one of [source, ...again]) await one.close();
    },
  };
}

type Watcher = Pick<CompiledMapping, 'see' | 'mustSee'>;

async function* itemsOf(
  source: OpenSource,
  watchers: readonly Watcher[],
  filter: RowFilter,
  toItems: ToItems,
  look: RecordLook | null,
): AsyncGenerator<readonly StageItem[]> {
  for await (const slice of source.slices(look === null ? null : withWatchers(look, watchers))) {
    const kept = slice.filter((item) => !filter.skips(item));
    for (const { row, type } of kept) if (type === 'row') for (const watcher of watchers) watcher.see(row);
    yield await toItems.items(kept);
  }
}

/** What is known is read all the same while a watcher has to see it. */
function withWatchers({ find, ...look }: RecordLook, watchers: readonly Watcher[]): RecordLook {
  const mustSee = (): boolean => watchers.some((watcher) => watcher.mustSee());
  return { ...look, find: (hash, line) => (mustSee() ? -1 : find(hash, line)) };
}

/** Takes all other lines for known. */
function onlyLines(lines: ReadonlySet<number>): RecordLook {
  return { seed: seedOf(''), find: (_, line) => (lines.has(line) ? -1 : 0), meet: () => undefined };
}

/** Columns that nothing maps; of a table, those that are filled in some row. Complete after the last row. */
function watchUnused(compiled: CompiledMapping, columns: readonly string[] | null) {
  const unmapped = new Set(compiled.unmappedColumns);
  const filled = new Set<number>();
  let open = (columns ?? []).flatMap((name, index) => (unmapped.has(name) ? [index] : []));
  return {
    see: (row: Row): void => {
      if (open.length === 0 || row.kind !== 'cells') return;
      const met = open.filter((index) => (row.cells[index] ?? '').trim() !== '');
      if (met.length === 0) return;
      for (const index of met) filled.add(index);
      open = open.filter((index) => !filled.has(index));
    },
    mustSee: () => open.length > 0,
    list: () => (columns === null ? compiled.unmappedColumns : columns.filter((_, index) => filled.has(index))),
  };
}

function itemAsRead(sequence: number): (item: SourceItem) => StageItem {
  return (item) => {
    if (item.type === 'broken') return { kind: 'broken', row: item.row, problem: item.problem };
    const { type: _, ...row } = item;
    return { kind: 'row', sequence, ...row };
  };
}

function warningsOf({ source, mapping }: OpenedFile): readonly Problem[] {
  const { warnings, nameless = [] } = source.tail();
  return [...namelessIgnored(nameless, mapping), ...warnings];
}

function notesOf(
  file: OpenedFile,
  compiled: CompiledMapping,
  unused: readonly string[],
  filter: RowFilter,
): readonly string[] {
  const { source, recognisedAs } = file;
  const { blankLineCount, recordCount } = source.tail();
  const { wrapper = null } = source.head;
  const warnings = warningsOf(file);
  return [
    ...(recognisedAs === null ? [] : [recognisedAs]),
    ...(wrapper === null || knownWrappers.has(wrapper) ? [] : [`the records are the list ${listNames([wrapper])}`]),
    ...(recordCount === 0 && warnings.length === 0 ? ['the file contains no rows'] : []),
    ...readingNotes(compiled.readings),
    ...(unused.length > 0 ? [`ignored columns (not in the mapping): ${unused.join(', ')}`] : []),
    ...(blankLineCount > 0
      ? [`${blankLineCount} blank ${blankLineCount === 1 ? 'line was' : 'lines were'} skipped`]
      : []),
    ...compiled.remarks,
    ...filter.notes(),
    ...compiled.notes.map(noteOf),
    ...warnings.map(({ message }) => message),
  ];
}

/** The example of a whole name is invented: notes hold no values of the file. */
function readingNotes(readings: readonly string[]): readonly string[] {
  if (readings.length === 0) return [];
  const whole = readings.find((reading) => reading.endsWith(' → firstName and lastName'));
  const column = JSON.stringify(whole?.slice(0, whole.lastIndexOf(' → ')));
  return [
    `read as: ${readings.join(', ')}`,
    ...(whole === undefined
      ? []
      : [
          `the column ${column} is split into first and last name: "Ada van Dyke" and "van Dyke, Ada" become "Ada" and "van Dyke". To keep it whole, map it: fields: { firstName: ${column} }`,
        ]),
  ];
}

/** How a run's rows are read: its mapping, and what the mapping does not say. The same for a file and for a redrive. */
interface Reading {
  readonly mapping: Mapping | null;
  /** Without the custom fields of the workspace. */
  readonly context: MappingContext;
}

/** What decides how rows are read. */
export type ReadAs = Pick<RunRecord, 'feed' | 'mapping' | 'options' | 'sourceLabel'>;

export function readingOf(run: ReadAs, { defaultCountry, onBlank }: ReadingDefaults): Reading {
  const { mapping, options } = run;
  return {
    mapping: withoutLabel(run),
    context: {
      sourceLabel: sourceLabelOf(run),
      customFields: null,
      defaultCountry: options.defaultCountry ?? (namesCountry(mapping) ? null : defaultCountry),
      onBlank: options.onBlank ?? (mapping === null ? onBlank : null),
    },
  };
}

/** Whether the mapping says which country numbers without a country code belong to; a column alone leaves it open. */
export function namesCountry(mapping: Mapping | null): boolean {
  const choice = mapping?.defaultCountry;
  return typeof choice === 'object' ? choice.default !== undefined : choice !== undefined;
}

/**
 * Maps rows of several files with different headers: the mapping is compiled once for each header.
 * @param presets without a mapping, what a header may be recognised as.
 * @returns a function that throws what `compileMapping` throws.
 */
export function rowMapper(
  mapping: Mapping | null,
  context: MappingContext,
  presets: readonly Mapping[] = [],
): CompiledMapping['mapRow'] {
  const compiledFor = compiledByHeader(mapping, context, presets);
  return (row) => compiledFor(row).mapRow(row);
}

/**
 * Reads nothing but the keys of such rows, as mapping them does: of cells a twentieth of the work.
 * @returns a function that throws what `compileMapping` throws; null where a row has no key that can be read.
 */
export function rowKeyReader(
  mapping: Mapping | null,
  context: MappingContext,
  presets: readonly Mapping[],
): (row: Row) => string | null {
  const compiledFor = compiledByHeader(mapping, context, presets);
  const keysOf = new Map<CompiledMapping, readonly BoundColumn[]>();
  return (row) => {
    const compiled = compiledFor(row);
    const { cells } = compiled;
    if (row.kind !== 'cells' || cells === undefined) return keyOfMapped(compiled.mapRow(row));
    const bound = keysOf.get(compiled) ?? cells.bound.filter(({ target }) => target.kind === 'key');
    keysOf.set(compiled, bound);
    return keyOfMapped(mapCells(row, bound, cells.settings));
  };
}

function compiledByHeader(
  mapping: Mapping | null,
  context: MappingContext,
  presets: readonly Mapping[],
): (row: Row) => CompiledMapping {
  const byHeader = new Map<string, CompiledMapping>();
  return (row) => {
    const columns = row.kind === 'cells' ? row.columns : null;
    const header = JSON.stringify(columns);
    const earlier = byHeader.get(header);
    if (earlier !== undefined) return earlier;
    const compiled = compileMapping(mapping ?? presetOf(row, presets), { columns }, context);
    byHeader.set(header, compiled);
    return compiled;
  };
}

/** The key of a row; null where it has none that can be read, or today's mapping does not fit its header. */
function keyReader(mapRow: CompiledMapping['mapRow']): (row: Row) => string | null {
  return (row) => {
    try {
      return keyOfMapped(mapRow(row));
    } catch (error) {
      if (error instanceof PatchbayError && error.kind === 'file') return null;
      throw error;
    }
  };
}

function presetOf(row: Row, presets: readonly Mapping[]): Mapping | null {
  const columns = row.kind === 'cells' ? row.columns : null;
  const found = recognise({ columns, format: '', sample: [row] }, presets);
  return found.kind === 'preset' ? found.mapping : null;
}

/** A label of the configuration wins over the mapping's own. */
function withoutLabel({ mapping, sourceLabel }: ReadAs): Mapping | null {
  if (mapping?.source === undefined || sourceLabel === null) return mapping;
  const { source: _, ...rest } = mapping;
  return rest;
}
