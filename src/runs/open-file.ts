/**
 * Opens the file of a run and says how it is read: by the mapping that its run names, or else by what it is recognised as
 * (`src/mapping/recognise.ts`).
 */

import { fileError, PatchbayError } from '#src/errors.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { originOf, type RunRecord } from '#src/ledger/runs.ts';
import { type FileReading, fileReadingOf } from '#src/mapping/file-reading.ts';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import {
  type FileHead,
  headerRule,
  isGeneric,
  isKnownHeader,
  isKnownKey,
  needsEnd,
  presetWords,
  recognise,
} from '#src/mapping/recognise.ts';
import { operands, shellWord } from '#src/shell-words.ts';
import type { HeaderRule, RecordLook } from '#src/sources/format-reader.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import { listNames, type Row, type SourceItem } from '#src/sources/row.ts';
import { originalColumns, readingOfFixFile } from './fix/fix-file.ts';
import { failedFileOf } from './run-files.ts';

/** How the file of a run is read. */
export interface OpenedFile {
  readonly source: OpenSource;
  /** Its header; of a fix-file, the original's. Null for JSON. */
  readonly columns: readonly string[] | null;
  /** Null: the generic layout. */
  readonly mapping: Mapping | null;
  /** A sentence about a layout that was recognised; null where nothing had to be. */
  readonly recognisedAs: string | null;
  /** For a second reading, which the caller closes, too. */
  again(): Promise<OpenSource>;
}

/**
 * The caller closes its source.
 * @throws PatchbayError `file`: what `openSource` throws; `keyColumnMissing`, `layoutAmbiguous` where nothing says how to read
 *   the file.
 */
export async function openRunFile(run: RunRecord, readPresets = loadPresets): Promise<OpenedFile> {
  if (run.mapping === null && run.options.recognise)
    return (await openGeneric(run)) ?? openRecognised(run, await readPresets());
  const again = () => open(run, headerRule(run.mapping));
  const source = await again();
  return { source, columns: columnsOf(run, source), mapping: run.mapping, recognisedAs: null, again };
}

/**
 * Most files are in the generic layout, and for these the presets are not read: that takes longer than a small file.
 * @returns null where the presets must be asked, also for what is wrong with the file.
 */
async function openGeneric(run: RunRecord): Promise<OpenedFile | null> {
  const again = () => open(run, headerRule(null));
  const source = await again().catch((error: unknown) => {
    if (error instanceof PatchbayError && error.kind === 'file') return null;
    throw error;
  });
  if (source === null) return null;
  try {
    const columns = columnsOf(run, source);
    const file = { source, columns, mapping: null, recognisedAs: null, again };
    // A line above the header may be that of a preset.
    const isFirstLine = !source.tail().warnings.some(({ code }) => code === 'preambleLine');
    if (columns !== null && isFirstLine && isGeneric({ columns, sample: [] })) return file;
    if (columns === null) {
      const { sample, whole } = await peek(source);
      if (isGeneric({ columns, sample })) return { ...file, source: whole };
    }
  } catch (error) {
    await source.close();
    if (error instanceof PatchbayError && error.kind === 'file') return null;
    throw error;
  }
  await source.close();
  return null;
}

async function openRecognised(run: RunRecord, presets: readonly Mapping[]): Promise<OpenedFile> {
  const again = () => open(run, knownHeader(run, presets));
  const source = await again();
  try {
    const columns = columnsOf(run, source);
    const { sample, whole } = await peek(source);
    const mapping = await recogniseRun(run, { ...source.head, columns, sample }, presets, again);
    const recognisedAs = mapping === null ? null : `recognised as ${presetWords(mapping)}`;
    return { source: whole, columns, mapping, recognisedAs, again };
  } catch (error) {
    await source.close();
    throw error;
  }
}

function columnsOf({ kind }: RunRecord, { head }: OpenSource): readonly string[] | null {
  return kind === 'fixFile' ? originalColumns(head.columns) : head.columns;
}

/** The presets that the file of a run may be recognised as; none where its run names the mapping, or the generic layout. */
export async function presetsFor({
  mapping,
  options,
}: Pick<RunRecord, 'mapping' | 'options'>): Promise<readonly Mapping[]> {
  return mapping === null && options.recognise ? loadPresets() : [];
}

/** What is said of the file itself; its mapping says nothing of a fix-file (`readingOfFixFile`). */
export function readingOfRun({ kind, mapping, options }: Pick<RunRecord, 'kind' | 'mapping' | 'options'>): FileReading {
  return fileReadingOf(kind === 'fixFile' ? null : mapping, options);
}

function open(run: RunRecord, header: HeaderRule | null): Promise<OpenSource> {
  const { claimedPath, fileName: name, kind, options } = run;
  const comesByItself = originOf(run) !== 'command';
  const reading = kind === 'fixFile' ? readingOfFixFile(options) : { header, ...readingOfRun(run), comesByItself };
  return openSource(claimedPath, { name, ...reading });
}

function knownHeader(run: RunRecord, presets: readonly Mapping[]): HeaderRule {
  const wanted = 'column externalId and no header of a known export';
  return { isHeader: isKnownHeader(presets), isKey: isKnownKey(presets), wanted, hint: whatToType(run) };
}

/** @returns null for the generic layout. */
async function recogniseRun(
  run: RunRecord,
  head: FileHead,
  presets: readonly Mapping[],
  again: () => Promise<OpenSource>,
): Promise<Mapping | null> {
  const isEmpty = head.columns === null ? head.sample.length === 0 : head.columns.every((name) => name.trim() === '');
  if (isEmpty) return null;
  const first = recognise(head, presets);
  const found =
    first.kind === 'unknown' && needsEnd(head, presets)
      ? recognise({ ...head, sample: [...head.sample, ...(await lastRows(await again()))] }, presets)
      : first;
  switch (found.kind) {
    case 'generic':
      return null;
    case 'preset':
      return withoutFixtures(found.mapping);
    case 'ambiguous':
      throw ambiguous(run, found.mappings);
    case 'unknown':
      // The rows of a fix-file may have been rejected because they lack what is looked for.
      if (run.kind === 'fixFile') return null;
      throw unknown(run, head);
  }
}

/** The run's record holds the mapping that was used; its fixtures are of no use there. */
function withoutFixtures({ fixtures: _, ...mapping }: Mapping): Mapping {
  return mapping;
}

interface Peeked {
  readonly sample: readonly Row[];
  /** The source, from its beginning. */
  readonly whole: OpenSource;
}

/** The first slice of a source, which can then still be read as a whole. */
async function peek(source: OpenSource): Promise<Peeked> {
  const late: { look: RecordLook | null } = { look: null };
  const slices = source.slices(lateLook(late))[Symbol.asyncIterator]();
  const first = await slices.next();
  const whole = async function* (look: RecordLook | null = null): AsyncGenerator<readonly SourceItem[]> {
    late.look = look;
    try {
      // Ends with the slices of the source.
      for (let next = first; next.done !== true; next = await slices.next()) yield next.value;
    } finally {
      await slices.return?.();
    }
  };
  const sample = first.done === true ? [] : first.value.flatMap(rowToLookAt);
  return { sample, whole: { ...source, slices: whole } };
}

/** What is known of the mapping, and so of its rows, only after the first slice was read. */
function lateLook(late: { readonly look: RecordLook | null }): RecordLook {
  return {
    get seed() {
      return late.look?.seed ?? noSeed;
    },
    find: (hash, line) => late.look?.find(hash, line) ?? -1,
    meet: (place, line) => late.look?.meet(place, line),
  };
}

const noSeed = { a: 0, b: 0, c: 0, d: 0 };

/** A line that is no JSON has no members; a line of a table that cannot be read may be a footer. */
function rowToLookAt({ row, type }: SourceItem): readonly Row[] {
  return type === 'row' || row.kind === 'cells' ? [row] : [];
}

/** Enough for the footer of a report. */
const lastRowsMax = 20;

async function lastRows(source: OpenSource): Promise<readonly Row[]> {
  let last: readonly Row[] = [];
  try {
    for await (const slice of source.slices()) last = [...last, ...slice.flatMap(rowToLookAt)].slice(-lastRowsMax);
  } finally {
    await source.close();
  }
  return last;
}

const presetsNamedMax = 5;

function ambiguous(run: RunRecord, mappings: readonly Mapping[]): PatchbayError {
  const names = mappings.map(({ name }) => name);
  const words = mappings.slice(0, presetsNamedMax).map(presetWords).join(' or ');
  const message = `${run.fileName} could be ${words}; nothing is guessed`;
  const choices = names.map((name) => `--mapping ${name}`).join(' or ');
  const hint = `Say which it is with ${choices}, or with feeds.NAME.mapping in the configuration.`;
  return fileError('layoutAmbiguous', message, { file: run.fileName, presets: names.join(', ') }, hint);
}

const namesMax = 500;

function unknown(run: RunRecord, { columns, sample }: FileHead): PatchbayError {
  const { fileName: file } = run;
  const named =
    columns === null
      ? [...new Set(sample.flatMap((row) => (row.kind === 'object' ? Object.keys(row.object) : [])))].slice(0, namesMax)
      : columns.filter((name) => name.trim() !== '');
  const what =
    columns === null
      ? 'record with externalId and no records of a known export'
      : 'column externalId and no header of a known export';
  const message = `${file}: no ${what}; found: ${listNames(named)}`;
  return fileError('keyColumnMissing', message, { file, columnCount: named.length }, whatToType(run));
}

/** One sentence with a command that works as it stands: the path is where the file is now, or will be in a moment. */
function whatToType(run: RunRecord): string {
  const path = run.options.path ?? failedFileOf(run).path;
  const feed = run.feed === mainFeed ? '' : ` --feed ${shellWord(run.feed)}`;
  return `To see what its columns could be, and to write a mapping for it, type: patchbay map${feed} ${operands(path)}`;
}
