/** The rows of a claimed file, with the mapping that reads them. */
import type { Problem } from '#src/contacts/outcome.ts';
import { PatchbayError } from '#src/errors.ts';
import { sourceLabelOf } from '#src/ledger/rules/feeds.ts';
import type { FileShape, RunRecord } from '#src/ledger/runs.ts';
import { type CompiledMapping, compileMapping, requiredColumns } from '#src/mapping/compile-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import type { MappingContext } from '#src/mapping/target.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import type { SourceItem } from '#src/sources/row.ts';
import type { CustomFieldDefinition } from '#src/wire/contact.ts';
import type { StageItem } from './compare.ts';
import { runBefore } from './feed-history.ts';
import { fixFileReading, originalColumns } from './fix-file.ts';
import { createFixRows } from './fix-rows.ts';
import type { RunParts } from './parts.ts';

/** Where the rows of a run come from. */
export interface RowSupply {
  readonly shape: FileShape;
  readonly compiled: CompiledMapping;
  items(): AsyncIterable<readonly StageItem[]>;
  /** The same rows once more, for the few whose cells were not kept. */
  itemsAgain(): AsyncIterable<readonly StageItem[]>;
  /** @throws PatchbayError `file`: what the rows lack all together. Known after the last row. */
  refuseLacking(): void;
  /** Sentences worth a note, complete after the last row. */
  notes(): readonly string[];
  /** Warnings about the file as a whole, complete after the last row. */
  warnings(): readonly Problem[];
  close(): Promise<void>;
}

export type OpenSupply = (run: RunRecord) => Promise<RowSupply>;

/**
 * @throws PatchbayError `file` where the file cannot be read as a whole; `auth`, `unreachable` where the workspace's
 *   custom fields had to be asked for.
 */
export async function openFileSupply(parts: RunParts, run: RunRecord): Promise<RowSupply> {
  const { mapping, context: reading } = readingOf(run, parts);
  // A guard asks after columns that the file before had: it must be able to, and a person to let the file pass.
  const mayLack = (await runBefore(parts, run))?.shape?.mapped ?? [];
  const source = await open(run, mapping);
  try {
    const isFixFile = run.kind === 'fixFile';
    const toItems = isFixFile ? createFixRows(parts.ledger, run, requiredColumns(mapping)) : itemsAsRead(run.sequence);
    const columns = isFixFile ? originalColumns(source.head.columns) : source.head.columns;
    const given = { run, mapping, source, columns, toItems };
    if (columns?.every((column) => column.trim() === '')) return supplyOf({ ...given, compiled: nothingToMap });
    const shape = { columns };
    const context = { ...reading, mayLack };
    let compiled = compileMapping(mapping, shape, context);
    let definitions: readonly CustomFieldDefinition[] | null = null;
    if (compiled.usesCustomFields) {
      definitions = await parts.workspace.listCustomFields();
      compiled = compileMapping(mapping, shape, { ...context, customFields: definitions });
    }
    // Rows of a fix-file may have come under several headers.
    if (isFixFile) compiled = { ...compiled, mapRow: rowMapper(mapping, { ...context, customFields: definitions }) };
    return supplyOf({ ...given, compiled });
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** An empty file has no header to map: it holds no rows, and that is no error (`bad-inputs.md`, CSV). */
const nothingToMap: CompiledMapping = {
  name: 'none',
  version: 'none',
  duplicateKeys: 'dead',
  mappedColumns: [],
  unmappedColumns: [],
  leftOut: [],
  notes: [],
  see: () => undefined,
  refuseLacking: () => undefined,
  usesCustomFields: false,
  mapRow: () => {
    throw new PatchbayError('bug', 'rowWithoutHeader', 'a file without a header gives no rows');
  },
};

function open(run: RunRecord, mapping: Mapping | null): Promise<OpenSource> {
  return openSource(run.claimedPath, {
    name: run.fileName,
    ...(run.kind === 'fixFile' ? fixFileReading : { requiredColumn: requiredColumns(mapping) }),
    ...(run.options.delimiter === null ? {} : { delimiter: run.options.delimiter }),
    ...(run.options.encoding === null ? {} : { encoding: run.options.encoding }),
  });
}

interface SupplyParts {
  readonly run: RunRecord;
  readonly mapping: Mapping | null;
  readonly source: OpenSource;
  /** Of the original, where the file is a fix-file. */
  readonly columns: readonly string[] | null;
  readonly compiled: CompiledMapping;
  readonly toItems: ItemMaker;
}

type ItemMaker = (batch: readonly SourceItem[]) => Promise<readonly StageItem[]>;

function supplyOf({ run, mapping, source, columns, compiled, toItems }: SupplyParts): RowSupply {
  const { format, delimiter } = source.head;
  const again: OpenSource[] = [];
  return {
    shape: { format, columns, delimiter, mapped: compiled.mappedColumns },
    compiled,
    items: () => itemsOf(source, compiled, toItems),
    itemsAgain: async function* () {
      const second = await open(run, mapping);
      again.push(second);
      yield* itemsOf(second, compiled, toItems);
    },
    // A fix-file holds some rows of a file that was judged as a whole before.
    refuseLacking: () => (run.kind === 'file' ? compiled.refuseLacking() : undefined),
    notes: () => notesOf(source, compiled),
    warnings: () => [...compiled.notes, ...source.tail().warnings],
    close: async () => {
      for (const one of [source, ...again]) await one.close();
    },
  };
}

async function* itemsOf(
  source: OpenSource,
  compiled: CompiledMapping,
  toItems: ItemMaker,
): AsyncGenerator<readonly StageItem[]> {
  for await (const slice of source.slices()) {
    for (const item of slice) if (item.type === 'row') compiled.see(item.row);
    yield await toItems(slice);
  }
}

function itemsAsRead(sequence: number): ItemMaker {
  return async (batch) =>
    batch.map(
      (item): StageItem =>
        item.type === 'row'
          ? { kind: 'row', row: item.row, sequence }
          : { kind: 'broken', row: item.row, problem: item.problem },
    );
}

function notesOf(source: OpenSource, compiled: CompiledMapping): readonly string[] {
  const { warnings, blankLineCount, recordCount } = source.tail();
  const unmapped = compiled.unmappedColumns;
  return [
    ...(recordCount === 0 && warnings.length === 0 ? ['the file holds no rows'] : []),
    ...(unmapped.length > 0 ? [`ignored columns (not in the mapping): ${unmapped.join(', ')}`] : []),
    ...(blankLineCount > 0
      ? [`${blankLineCount} blank ${blankLineCount === 1 ? 'line was' : 'lines were'} skipped`]
      : []),
    ...compiled.notes.map(({ line, message }) => `line ${line}: ${message}`),
    ...warnings.map(({ message }) => message),
  ];
}

/** With what a run's rows are read: its mapping, and what is known outside of it. The same for a file and for a redrive. */
interface Reading {
  readonly mapping: Mapping | null;
  /** Without the custom fields of the workspace. */
  readonly context: MappingContext;
}

export function readingOf(run: RunRecord, { defaultCountry, onBlank }: RunParts): Reading {
  const { mapping, options } = run;
  return {
    mapping: withoutLabel(run),
    context: {
      sourceLabel: sourceLabelOf(run),
      customFields: null,
      defaultCountry: options.defaultCountry ?? (mapping?.defaultCountry === undefined ? defaultCountry : null),
      onBlank: options.onBlank ?? (mapping === null ? onBlank : null),
    },
  };
}

/**
 * Maps rows of several files, each under its own header: the mapping is compiled once for each.
 * What it returns throws what `compileMapping` throws.
 */
export function rowMapper(mapping: Mapping | null, context: MappingContext): CompiledMapping['mapRow'] {
  const compiledByHeader = new Map<string, CompiledMapping>();
  return (row) => {
    const columns = row.kind === 'cells' ? row.columns : null;
    const header = JSON.stringify(columns);
    const known = compiledByHeader.get(header);
    if (known !== undefined) return known.mapRow(row);
    const compiled = compileMapping(mapping, { columns }, context);
    compiledByHeader.set(header, compiled);
    return compiled.mapRow(row);
  };
}

/** A label of the configuration wins over the mapping's own. */
function withoutLabel({ mapping, sourceLabel }: RunRecord): Mapping | null {
  if (mapping?.source === undefined || sourceLabel === null) return mapping;
  const { source: _, ...rest } = mapping;
  return rest;
}

/** What staging takes in: rows as read, or dead letters that are tried again. */
