/**
 * Redrive: dead letters are retried as a run of their own (`docs/rules.md`, "Dead letters").
 *
 * A letter keeps its identity and its history. Its rows carry the sequence of the run that rejected them, so that an older row
 * never overwrites a newer file. They are taken as they were mapped before, else, or with `--remap`, mapped again.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PatchbayError } from '#src/errors.ts';
import { findMapping } from '#src/feeds/feeds.ts';
import type { NewAct } from '#src/ledger/acts.ts';
import type { DeadLetter, LettersOfFeed } from '#src/ledger/letters.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { type NewRun, noOptions, type RunRecord } from '#src/ledger/runs.ts';
import { mappingVersion, versionOf } from '#src/mapping/compile-mapping.ts';
import { loadPresets } from '#src/mapping/load-mapping.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { policiesOf } from '#src/mapping/policies-of.ts';
import type { StageItem } from '#src/runs/compare.ts';
import type { SubmitParts } from '#src/runs/enter-run.ts';
import { columnsLetLack } from '#src/runs/feed-history.ts';
import { distinctNames, isMisshapen } from '#src/runs/fix/fix-file.ts';
import { misshapenAgain, readRepaired, unchosenAgain } from '#src/runs/fix/fix-judge.ts';
import { mappingOfOtherHost } from '#src/runs/mapping-elsewhere.ts';
import { presetsFor } from '#src/runs/open-file.ts';
import { partsAgain } from '#src/runs/part-letters.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { type RowSupply, readingOf, rowMapper, type SupplyParts } from '#src/runs/supply.ts';
import { textAlone } from '#src/sources/json-item.ts';
import type { Row } from '#src/sources/row.ts';

export interface RedriveChoice extends LettersOfFeed {
  /** Map the source cells again with the current mapping, also where a mapped record exists. */
  readonly remap: boolean;
  /** Requests per second for these runs alone; null: as many as the key allows. */
  readonly rate?: number | null;
}

/** How many open letters fit, by feed and by the run that met them last. */
export async function openByFeed(
  { deadLetters }: Pick<Ledger, 'deadLetters'>,
  { remap: _, rate: _rate, feed, ...choice }: RedriveChoice,
): ReturnType<Ledger['deadLetters']['openByRun']> {
  const open = await deadLetters.openByRun(choice);
  return open.filter((one) => feed === undefined || one.feed === feed);
}

/** How the rows of a run are read, as its record has it. */
type Reading = Pick<RunRecord, 'mapping' | 'options' | 'sourceLabel'>;

/**
 * Enters one run per feed for the chosen open letters, and one per mapping where they were read with several. Safe beside a
 * running import: letters that are already being retried are not taken twice.
 * @param act of the person who asks.
 * @param onEntered called run by run: where a later one ends it with an error, those that were entered are known.
 * @throws PatchbayError `usage` `noDeadLetters` if no open letter fits; `mappingGone`, `mappingElsewhere` under `remap`.
 */
export async function redrive(
  parts: SubmitParts,
  asked: RedriveChoice,
  act?: NewAct,
  onEntered: (run: RunRecord) => void = () => undefined,
): Promise<readonly RunRecord[]> {
  const { ledger } = parts;
  const { remap, rate = null, feed: _, ...choice } = asked;
  const open = await openByFeed(ledger, asked);
  const runs: RunRecord[] = [];
  for (const [feed, ofFeed] of Map.groupBy(open, (one) => one.feed)) {
    const metBy = ofFeed.map(({ runId }) => runId);
    for (const alike of await byReading(parts, feed, metBy, remap)) {
      const chosen = { ...choice, metBy: alike.metBy };
      const reading = { ...alike.reading, options: { ...alike.reading.options, rate } };
      const run = await ledger.deadLetters.enterRedrive(newRedrive(parts, feed, reading), chosen, act);
      // Another redrive has taken them.
      if (run === null) continue;
      parts.log.info({ run: run.id, feed, from: run.fileName }, 'redrive entered');
      runs.push(run);
      onEntered(run);
    }
  }
  if (runs.length > 0) return runs;
  throw noDeadLetters();
}

/** `usage` `noDeadLetters`. */
export function noDeadLetters(message = 'no open dead letter fits this choice'): PatchbayError {
  return new PatchbayError('usage', 'noDeadLetters', message, { hint: 'List open dead letters: patchbay dead ls' });
}

/**
 * Enters a run that maps the letter anew from a row that a person corrected, with the mapping as it is now. Row, run and act are entered
 * together.
 * @returns null where the letter is not open any more.
 */
export async function redriveEdited(
  parts: SubmitParts,
  { id, feed, runId }: Pick<DeadLetter, 'id' | 'feed' | 'runId'>,
  row: Row,
  act: NewAct,
): Promise<RunRecord | null> {
  const { options, ...reading } = await readingNow(parts, feed, runId);
  const run = newRedrive(parts, feed, { ...reading, options: { ...options, edited: true } });
  const choice = { ids: [id], metBy: [runId], edited: { id, row } };
  const entered = await parts.ledger.deadLetters.enterRedrive(run, choice, act);
  if (entered !== null) parts.log.info({ run: entered.id, feed, from: entered.fileName }, 'redrive entered');
  return entered;
}

interface ReadAlike {
  readonly reading: Reading;
  /** The runs that rejected the rows. */
  readonly metBy: readonly string[];
}

/** Rows that must be mapped are mapped as in the run that rejected them, or with the current mapping under `remap`. */
async function byReading(
  parts: SubmitParts,
  feed: string,
  metBy: readonly string[],
  remap: boolean,
): Promise<readonly ReadAlike[]> {
  const found: { readonly runId: string; readonly reading: Reading }[] = [];
  for (const runId of metBy) {
    found.push({ runId, reading: remap ? await readingNow(parts, feed, runId) : await readingOfRun(parts, runId) });
  }
  return [...Map.groupBy(found, ({ reading }) => JSON.stringify(reading)).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ reading: first.reading, metBy: [first, ...others].map(({ runId }) => runId) }],
  );
}

/**
 * The mapping that a person named for the file, as it is now; else that of the feed; without one, the preset by which the file was
 * recognised. What a person said of the file when it was imported still holds: its country, and what its blank cells do.
 * @throws PatchbayError `usage` `mappingGone`, `mappingElsewhere`, and what `findMapping` throws.
 */
async function readingNow({ feeds, ledger, host }: SubmitParts, feed: string, runId: string): Promise<Reading> {
  const met = await ledger.runs.get(runId);
  const { defaultCountry, onBlank, mappingNamed } = met?.options ?? noOptions;
  const options = { ...noOptions, remap: true, defaultCountry, onBlank, mappingNamed };
  const { mapping, ownSource, recognise } = await feeds.get(feed);
  if (met !== null && mappingNamed !== null)
    return {
      mapping: await mappingAgain(met, mappingNamed),
      sourceLabel: ownSource,
      options: { ...options, recognise: false },
    };
  const elsewhere = met !== null && mapping === null && recognise ? await mappingOfOtherHost(ledger, met, host) : null;
  if (elsewhere !== null) {
    const hint = `${elsewhere.hint} Or type the command on that host.`;
    throw new PatchbayError('usage', 'mappingElsewhere', elsewhere.message, { hint });
  }
  const used = recognise ? (met?.mapping ?? null) : null;
  const preset =
    used?.recognise === undefined ? undefined : (await loadPresets()).find(({ name }) => name === used.name);
  return { mapping: mapping ?? preset ?? null, sourceLabel: ownSource, options: { ...options, recognise } };
}

async function mappingAgain({ fileName }: RunRecord, place: string): Promise<Mapping | null> {
  try {
    return await findMapping(place);
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.code !== 'mappingNotFound') throw error;
    const message = `the mapping ${place}, which was named when ${fileName} was imported, is not there any more`;
    throw new PatchbayError('usage', 'mappingGone', message, {
      hint: 'Put it back, or correct the row in the fix-file of its run and drop that in.',
    });
  }
}

async function readingOfRun({ ledger }: SubmitParts, runId: string): Promise<Reading> {
  const met = await ledger.runs.get(runId);
  if (met === null) return { mapping: null, sourceLabel: null, options: noOptions };
  const { defaultCountry, onBlank, mappingNamed } = met.options;
  const options = { ...noOptions, defaultCountry, onBlank, mappingNamed };
  return { mapping: met.mapping, sourceLabel: met.sourceLabel, options };
}

function newRedrive(
  { clock, folders, host }: SubmitParts,
  feed: string,
  reading: Reading,
): Omit<NewRun, 'kind' | 'fileName'> {
  const createdAtMs = clock.nowMs();
  const id = newRunId(createdAtMs);
  return {
    id,
    feed,
    claimedPath: '',
    host,
    importFolder: folders.importFolders[0] ?? '',
    // Equal to no content.
    sha256: createHash('sha256').update(id).digest('hex'),
    bytes: 0,
    ...reading,
    createdAtMs,
  };
}

const lettersPerPage = 250;

export async function openRedriveSupply(parts: SupplyParts, run: RunRecord): Promise<RowSupply> {
  await parts.ledger.deadLetters.takeLetters(run.id);
  const { mapping, context: reading } = readingOf(run, parts);
  const { columns, anyObject, needsMapping, metBy } = await surveyOf(parts, run);
  const mayLack = await columnsLetLack(parts.ledger, run, metBy);
  const context = { ...reading, mayLack };
  const notes = await changedMappingNotes(parts, run, metBy);
  const definitions = needsMapping ? await parts.workspace.listCustomFields() : null;
  const presets = needsMapping ? await presetsFor(run) : [];
  const mapRow = rowMapper(mapping, { ...context, customFields: definitions }, presets);
  const items = async function* (): AsyncGenerator<readonly StageItem[]> {
    for await (const letters of pagesOf(parts, run)) {
      const ofParts = await partsAgain(parts.ledger, run, letters);
      yield letters.flatMap((letter) => ofParts.get(letter.id) ?? itemOf(run, letter));
    }
  };
  return {
    mapping: run.mapping,
    shape: {
      format: anyObject ? 'ndjson' : 'csv',
      columns,
      delimiter: ',',
      lacked: mayLack,
    },
    compiled: {
      name: 'redrive',
      version: versionOf({ redrive: run.id }),
      duplicateKeys: 'lastWins',
      policies: policiesOf(mapping),
      mappedColumns: [],
      readings: [],
      unmappedColumns: [],
      leftOut: [],
      remarks: [],
      notes: [],
      see: () => undefined,
      mustSee: () => false,
      refuseLacking: () => undefined,
      usesCustomFields: definitions !== null,
      mapRow,
    },
    meaning: null,
    items,
    itemsAgain: items,
    refuseLacking: () => undefined,
    notes: () => notes,
    warnings: () => [],
    close: async () => undefined,
  };
}

/**
 * Oldest first: if a key has several letters, the row that was rejected last wins. Letters that an interrupted reading of this
 * run has opened again still belong to it.
 */
async function* pagesOf(
  { ledger }: Pick<SupplyParts, 'ledger'>,
  run: RunRecord,
): AsyncGenerator<readonly DeadLetter[]> {
  let after: DeadLetter | null = null;
  // Ends with the first short page: each goes on where the one before ended.
  for (;;) {
    const page: readonly DeadLetter[] = await ledger.deadLetters.lettersOf(run.id, after, lettersPerPage);
    yield page;
    if (page.length < lettersPerPage) return;
    after = page.at(-1) ?? after;
    await nextTurn();
  }
}

interface Survey {
  /** Of all letters, in order: the fix-file of a redrive has them all. */
  readonly columns: readonly string[];
  readonly anyObject: boolean;
  readonly needsMapping: boolean;
  /** The runs that rejected the rows last. */
  readonly metBy: ReadonlySet<string>;
}

/** What must be known before the first row is read. */
async function surveyOf(parts: SupplyParts, run: RunRecord): Promise<Survey> {
  const columns = new Map<string, string>();
  let anyObject = false;
  let needsMapping = run.options.remap;
  const metBy = new Set<string>();
  for await (const letters of pagesOf(parts, run)) {
    for (const { row, desired, runId } of letters) {
      metBy.add(runId);
      if (row?.kind === 'cells')
        for (const [index, name] of distinctNames(row.columns).entries()) columns.set(name, row.columns[index] ?? '');
      anyObject ||= row?.kind === 'object';
      needsMapping ||= desired === null;
    }
  }
  return { columns: [...columns.values()], anyObject, needsMapping, metBy };
}

/** A mapping that was named for the file may have been edited: then the rows are not read as when they were rejected. */
async function changedMappingNotes(
  { ledger }: Pick<SupplyParts, 'ledger'>,
  { mapping, options }: RunRecord,
  metBy: ReadonlySet<string>,
): Promise<readonly string[]> {
  if (options.mappingNamed === null) return [];
  const today = mappingVersion(mapping);
  const otherwise: string[] = [];
  for (const id of metBy) {
    const met = await ledger.runs.get(id);
    if (met !== null && mappingVersion(met.mapping) !== today) otherwise.push(id);
  }
  if (otherwise.length === 0) return [];
  const runs = `run ${otherwise[0]}${otherwise.length === 1 ? '' : ` and ${otherwise.length - 1} more`}`;
  const since = `the mapping ${options.mappingNamed} has changed since ${runs} rejected these rows`;
  return [`${since}: they are mapped anew with it as it is now`];
}

function itemOf(run: RunRecord, letter: DeadLetter): readonly StageItem[] {
  const { row, desired, sequence } = letter;
  if (row === null) return [];
  const problem = conflictAgain(run, letter);
  const key = letter.key === null ? {} : { key: letter.key };
  if (problem !== null) return [{ kind: 'broken', row, problem, letterId: letter.id, ...key }];
  if (desired !== null && !run.options.remap) return [{ kind: 'desired', row, desired, sequence, letterId: letter.id }];
  const text = run.options.edited ? textAlone(row) : null;
  if (text !== null) {
    const repaired = readRepaired(row, text, letter);
    return repaired.problem === null
      ? [{ kind: 'row', row: repaired.row, sequence, letterId: letter.id }]
      : [{ kind: 'broken', row: repaired.row, problem: repaired.problem, letterId: letter.id }];
  }
  // It was misshapen and still is: there is nothing that a mapping could read.
  if (isMisshapen(letter.code) && !(run.options.edited && isInShape(row))) {
    return [{ kind: 'broken', row, problem: misshapenAgain(letter, row, row.line), letterId: letter.id }];
  }
  return [{ kind: 'row', row, sequence, letterId: letter.id }];
}

/** Each cell has a column, and each column a cell. */
function isInShape(row: Row): boolean {
  return row.kind === 'object' || row.cells.length === row.columns.length;
}

/** Null where a person has corrected the row. */
function conflictAgain({ mapping, options }: RunRecord, letter: DeadLetter): DeadLetter['problems'][number] | null {
  if (options.edited) return null;
  const hint = `The letter holds the last of these rows. Keep one of them in the original file and import that again; or, to correct the letter: patchbay dead edit ${letter.id} --set COLUMN=VALUE`;
  return unchosenAgain(letter, letter.line, mapping?.duplicateKeys, hint);
}
