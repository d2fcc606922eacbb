/** `patchbay map [FILE]`: how a file would be read; a mapping proposed, saved, tested, explained. Sends nothing. */

import { isAbsolute, relative } from 'node:path';
import { ledgerPlace } from '#src/app.ts';
import { type GlobalOptions, loadCliConfig } from '#src/cli/open-home.ts';
import { createOutput, type Output, printable } from '#src/cli/output.ts';
import { shorten } from '#src/cli/present-values.ts';
import { type DataFolders, dataFolders } from '#src/config/data-folders.ts';
import type { Config } from '#src/config/schema.ts';
import { hintsOnce, type Problem } from '#src/contacts/outcome.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { PatchbayError } from '#src/errors.ts';
import { createFeeds, type Feeds, findMapping, findMappingText } from '#src/feeds/feeds.ts';
import { hasLedger } from '#src/ledger/place.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import {
  type ContactView,
  type CountedProblem,
  type ExplainedRow,
  explainLine,
  type FixtureResult,
  type MapOptions,
  type MapResult,
  mapFile,
  noMappingProposed,
  type Preview,
  type ProposedColumn,
  testMapping,
} from '#src/operations/map-file.ts';
import { type SavedMapping, saveMapping, withReading } from '#src/operations/save-mapping.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { runOfCheckedOut, takingFoldersIn } from '#src/runs/run-files.ts';
import { operands, shellWord } from '#src/shell-words.ts';
import { placeText, type ShownPlace } from '#src/sources/row.ts';

interface MapCommandOptions extends GlobalOptions, MapOptions {
  readonly save?: boolean;
  readonly force?: boolean;
  readonly test?: boolean;
  readonly explain?: ShownPlace;
}

interface MapParts {
  readonly config: Config;
  readonly folders: DataFolders;
  readonly feeds: Feeds;
  readonly isSandbox: boolean;
}

export async function map(options: MapCommandOptions, file: string | undefined): Promise<number> {
  requireSense(options, file);
  const output = createOutput(options);
  const parts = await openParts(options);
  if (options.test === true) return await test(parts, output, options, file);
  if (file === undefined) return await showMapping(parts, output, options);
  if (options.explain !== undefined) {
    const row = await explainLine(parts, file, options.explain, options);
    if (output.json) output.document({ ...withoutValues(output, row), exitCode: exitCodes.done });
    else for (const line of presentExplained(output, row)) output.line(line);
    return exitCodes.done;
  }
  const result = await mapFile(parts, file, { ...options, fresh: options.save === true });
  const saved = options.save === true ? await save(parts, options, result) : null;
  const isKnown = result.stop !== null && saved === null && (await isKnownFeed(parts, options));
  const next = nextCommand({ ...parts, isKnown }, options, file, result, saved);
  if (output.json) {
    const remarks = [...new Set([...result.remarks, ...(saved?.changes ?? [])])];
    const { file: path = null, replaced = null } = saved ?? {};
    const document = { ...withoutValues(output, { ...result, remarks }), saved: path, replaced, next };
    output.document({ ...document, exitCode: exitCodes.done });
    return exitCodes.done;
  }
  // What was saved is the result; the proposal was there to look at.
  const isShown = saved === null || !output.quiet;
  if (isShown) for (const line of presentMap(output, result)) output.line(line);
  for (const line of savedLines(saved, isShown ? result.remarks : [])) output.line(line);
  if (next !== null) output.line(output.paste(`next: ${next}`));
  return exitCodes.done;
}

/** @throws PatchbayError `usage`: `mapNeedsFile`, `mapOptionsClash`, `stdinNotRead`. */
function requireSense(
  { save: isSaved, test: isTested, explain, mapping, feed }: MapCommandOptions,
  file: string | undefined,
): void {
  const chosen = [isSaved === true, isTested === true, explain !== undefined].filter(Boolean);
  if (chosen.length > 1) {
    throw new PatchbayError('usage', 'mapOptionsClash', '--save, --test and --explain exclude one another', {
      hint: 'Use one of them at a time.',
    });
  }
  if (file === '-') {
    throw new PatchbayError(
      'usage',
      'stdinNotRead',
      'map reads its file more than once, which standard input does not allow',
      {
        hint: 'Write it to a file first, then name the file.',
      },
    );
  }
  const isNamed = mapping !== undefined || (isTested === true && feed !== undefined);
  if (file === undefined && (!isNamed || explain !== undefined)) {
    throw new PatchbayError('usage', 'mapNeedsFile', 'the file to look at is missing', {
      hint: 'Name an export: patchbay map FILE. Or show a preset: patchbay map --mapping hubspot',
    });
  }
}

/** Opens no ledger: nothing of what is asked is in it. */
async function openParts(options: GlobalOptions): Promise<MapParts> {
  const { config } = await loadCliConfig(options);
  const isReal = config.service.baseUrl !== null || (await hasLedger(ledgerPlace(config, 'real')));
  const isSandbox = options.sandbox === true || !isReal;
  const folders = dataFolders(config, isSandbox ? 'sandbox' : 'real');
  return { config, folders, feeds: createFeeds(config, folders.importFolders), isSandbox };
}

/** The text of a mapping, or of the preset that a file was recognised as. */
async function save(
  parts: MapParts,
  options: MapCommandOptions,
  { draft, layout, file }: MapResult,
): Promise<SavedMapping> {
  if (draft !== null) return saveMapping(parts, draft, options);
  if (layout.kind === 'draft') throw noMappingProposed(file);
  const name = options.mapping ?? ('name' in layout ? layout.name : null);
  if (name !== null) return saveMapping(parts, withReading(await findMappingText(name), options), options);
  const isEmpty = layout.kind === 'empty';
  const message = isEmpty
    ? `${file} has no columns to map`
    : `${file} needs no mapping: its columns have the names that Patchbay knows`;
  throw new PatchbayError('usage', 'mappingNotNeeded', message, {
    hint: isEmpty
      ? 'Name a file with a header.'
      : 'Import it as it is. To start from a mapping with every key, use --mapping generic.',
  });
}

/** @param said notes that were printed. */
function savedLines(saved: SavedMapping | null, said: readonly string[] = []): readonly string[] {
  if (saved === null) return [];
  const { replaced, changes } = saved;
  return [
    savedLine(saved),
    ...(replaced === null ? [] : [`kept: ${shownPath(replaced)} (the mapping that was there)`]),
    ...changes.filter((note) => !said.includes(note)).map((note) => `note: ${printable(note)}`),
  ];
}

function savedLine({ file, feed }: SavedMapping): string {
  const path = shownPath(file);
  return feed === null
    ? `saved: ${path} (for files that are dropped, name it in the config file: mapping.file: ${path})`
    : `saved: ${path} (files of feed ${feed} are read by it from now on)`;
}

/**
 * Whether files may have gone into the feed, and have decided what stops the first one: its folder is made for that. Where a database does not
 * say, an import will.
 */
async function isKnownFeed({ config, feeds, isSandbox }: MapParts, { feed }: MapCommandOptions): Promise<boolean> {
  if (!feeds.exists(feed ?? mainFeed)) return false;
  try {
    return await hasLedger(ledgerPlace(config, isSandbox ? 'sandbox' : 'real'));
  } catch (error) {
    if (error instanceof PatchbayError) return true;
    throw error;
  }
}

/**
 * The one command to type next; null where there is nothing to import, an import would refuse the file, or the first one of a feed would stop
 * until the mapping is edited. What lets the first file of a feed pass is remembered: those that follow go in.
 */
function nextCommand(
  { config, isSandbox, isKnown }: Pick<MapParts, 'config' | 'isSandbox'> & { readonly isKnown: boolean },
  options: MapCommandOptions,
  file: string,
  { layout, draft, stop, hasMore, isRefused, misfit }: MapResult,
  saved: SavedMapping | null,
): string | null {
  // What stops an import is mapped by the mapping that is made, or added to the copy of a preset.
  const isStopped = stop !== null && (isRefused || !isKnown);
  const isMade = draft !== null || (isStopped && !isRefused && (hasMore || layout.kind === 'preset'));
  const isDraftToSave = isMade && saved === null;
  // The generic layout needs no mapping, but the feed has one.
  if (misfit !== null && layout.kind === 'generic') return null;
  if (layout.kind === 'empty' || ((isRefused || isStopped) && !isDraftToSave)) return null;
  const word = operands(file);
  const restaged = isDraftToSave ? null : restageCommand(config, file);
  if (restaged !== null) return restaged;
  const feed = options.feed === undefined ? '' : ` --feed ${shellWord(options.feed)}`;
  const sandbox = isSandbox ? ' --sandbox' : '';
  // What was saved says it already.
  const reading = [
    ...(saved !== null || options.delimiter === undefined ? [] : [` --delimiter ${shellWord(options.delimiter)}`]),
    ...(saved !== null || options.encoding === undefined ? [] : [` --encoding ${shellWord(options.encoding)}`]),
  ].join('');
  const country = options.defaultCountry === undefined ? '' : ` --default-country ${options.defaultCountry}`;
  if (isDraftToSave)
    return `patchbay map${options.sandbox === true ? ' --sandbox' : ''}${feed}${reading}${country}${sheetFlag(options)} --save${misfit === null ? '' : ' --force'} ${word}`;
  const named = saved === null ? options.mapping : saved.feed === null ? shownPath(saved.file) : undefined;
  const mapping = named === undefined ? '' : ` --mapping ${shellWord(named)}`;
  const ofFile = draft === null ? country : '';
  return `patchbay import${sandbox}${feed}${mapping}${reading}${ofFile} ${word}`;
}

/** A file that Patchbay has taken is read anew by its run. Null for any other. */
function restageCommand(config: Config, file: string): string | null {
  for (const mode of ['real', 'sandbox'] as const) {
    const { claimed, importFolders } = dataFolders(config, mode);
    const run = runOfCheckedOut([claimed, ...importFolders.map(takingFoldersIn)], file);
    if (run !== null) return `patchbay runs restage${mode === 'sandbox' ? ' --sandbox' : ''} ${run}`;
  }
  return null;
}

function sheetFlag({ sheet }: MapCommandOptions): string {
  return sheet === undefined ? '' : ` --sheet ${shellWord(sheet)}`;
}

/** `--mapping NAME` without a file: the text of the mapping, to read or to redirect; with `--save` a copy. */
async function showMapping(parts: MapParts, output: Output, options: MapCommandOptions): Promise<number> {
  const text = await findMappingText(options.mapping ?? 'generic');
  const saved = options.save === true ? await saveMapping(parts, withReading(text, options), options) : null;
  if (output.json)
    output.document({
      mapping: await findMapping(options.mapping ?? 'generic'),
      text,
      saved: saved?.file ?? null,
      replaced: saved?.replaced ?? null,
      remarks: saved?.changes ?? [],
      exitCode: 0,
    });
  else for (const line of saved === null ? [text.trimEnd()] : savedLines(saved)) output.line(line);
  return exitCodes.done;
}

/** `--test`: 3 where a fixture fails. */
async function test(
  parts: MapParts,
  output: Output,
  options: MapCommandOptions,
  file: string | undefined,
): Promise<number> {
  const tested = await testMapping(parts, options, file);
  const exitCode = tested.ok ? exitCodes.done : exitCodes.dead;
  if (output.json) output.document({ ...tested, exitCode });
  else for (const line of presentFixtures(tested.mapping, tested.fixtures)) output.line(line);
  return exitCode;
}

/** With `--no-values`, neither examples nor contacts nor cells. */
function withoutValues(output: Output, document: object): object {
  if (output.values) return document;
  const hidden: ReadonlySet<string> = new Set([
    'example',
    'contact',
    'contacts',
    'raw',
    'result',
    'value',
    'cells',
    'steps',
  ]);
  return JSON.parse(
    JSON.stringify(document, (key, value: unknown) => {
      if (hidden.has(key)) return null;
      return key === 'hint' && typeof value === 'string' ? withoutQuotedCells(value) : value;
    }),
  );
}

/** Relative where the file is below the current folder. */
function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

// What `patchbay map` prints: how the columns of a file are read, the first contacts, one row cell by cell, fixtures that fail.

/** More columns are counted; `--json` has them all. */
const mappedShownMax = 100;
const leftOutShownMax = 30;
const exampleCharsMax = 32;

function presentMap(output: Output, result: MapResult): readonly string[] {
  return [
    `${printable(result.file)}: ${describeFile(result)}`,
    ...(result.misfit === null ? [] : [`the mapping of the feed does not fit: ${printable(result.misfit)}`]),
    `${layoutLine(result)}`,
    ...columnLines(output, result),
    ...policyLine(result),
    ...(result.preview === null ? [] : previewLines(output, result.preview, result.stop !== null)),
    ...(result.stop === null ? [] : [printable(result.stop)]),
    ...result.remarks.map((remark) => `note: ${printable(remark)}`),
    ...warningNotes(output, result.warnings),
  ];
}

function warningNotes({ values, paste }: Output, warnings: readonly Problem[]): readonly string[] {
  const hints = hintsOnce(warnings);
  return warnings.flatMap((warning) => {
    const hint = hints.get(warning);
    const note = `note: ${printable(warning.message)}`;
    return hint === undefined ? [note] : [note, `  ${paste(printable(values ? hint : withoutQuotedCells(hint)))}`];
  });
}

function describeFile({ rows, isPartial, columns, format, delimiter, encoding }: MapResult): string {
  const counted = `${isPartial ? 'more than ' : ''}${rows} ${rows === 1 ? 'row' : 'rows'}`;
  const names = `${columns.length} ${columns.length === 1 ? 'column' : 'columns'}`;
  const shown = delimiter === null ? '' : `, separated by ${delimiter === '\t' ? 'tabs' : delimiter}`;
  return `${counted}, ${names} (${format}, ${encoding}${shown})`;
}

function layoutLine({ layout, preview, stop }: MapResult): string {
  switch (layout.kind) {
    case 'preset':
      return `recognised as ${layout.title ?? layout.name} (preset ${layout.name})`;
    case 'named':
      return `read by mapping ${layout.name}${layout.title === null ? '' : ` (${layout.title})`}`;
    case 'generic':
      return stop !== null || (preview !== null && preview.rows > 0 && preview.rejected === preview.rows)
        ? 'generic layout: it is read by the names of its columns'
        : 'generic layout: it can be imported as it is';
    case 'draft':
      return 'no known layout: this is a proposal';
    default:
      return 'nothing to map';
  }
}

function columnLines(output: Output, { columns, layout }: MapResult): readonly string[] {
  const mapped = columns.filter(({ target }) => target !== null);
  const left = columns.filter(({ target }) => target === null);
  const isDraft = layout.kind === 'draft';
  const head = isDraft ? ['column', 'example', 'becomes', 'sure', 'why'] : ['column', 'example', 'becomes'];
  const rowOf = (one: ProposedColumn): readonly string[] => [
    one.column,
    exampleOf(output, one),
    one.target ?? '',
    ...(isDraft ? [one.confidence ?? '', one.reason] : []),
  ];
  return [
    ...(mapped.length === 0 ? [] : ['', output.table(head, mapped.slice(0, mappedShownMax).map(rowOf))]),
    ...moreLine(mapped.length, mappedShownMax),
    ...(left.length === 0
      ? []
      : [
          '',
          output.table(
            ['left out', 'example', 'why'],
            left.slice(0, leftOutShownMax).map((one) => [one.column, exampleOf(output, one), one.reason]),
          ),
        ]),
    ...moreLine(left.length, leftOutShownMax),
    ...(columns.length === 0 ? [] : ['']),
  ];
}

function policyLine({ policies }: MapResult): readonly string[] {
  const chosen = Object.entries(policies).map(([field, policy]) => `${printable(field)} ${policy}`);
  return chosen.length === 0 ? [] : [`policies: ${chosen.join(', ')}`];
}

function moreLine(count: number, shownMax: number): readonly string[] {
  return count > shownMax ? [`and ${count - shownMax} more (--json lists them all)`] : [];
}

function exampleOf({ values }: Output, { example }: ProposedColumn): string {
  if (example === null || !values) return '';
  const characters = [...example];
  return characters.length <= exampleCharsMax ? example : `${characters.slice(0, exampleCharsMax - 1).join('')}…`;
}

function previewLines(
  output: Output,
  { contacts, rows, rejected, problems, warnings }: Preview,
  isStopped: boolean,
): readonly string[] {
  const first = output.values
    ? contacts.map(({ contact, problems: own, ...place }) =>
        contact === null
          ? `  line ${placeText(place)}: rejected: ${own.map(({ field, message }) => printable(`${field === null ? '' : `${field}: `}${message}`)).join('; ')}`
          : `  line ${placeText(place)}: ${contactLine(contact)}`,
      )
    : [];
  const counted = (list: readonly CountedProblem[], what: string): readonly string[] =>
    list.map(({ count, first: { line, field, message }, record }) =>
      printable(
        `  ${what} (${count} of ${rows}): ${field === null ? '' : `${field}: `}${message}; first at line ${placeText(record === undefined ? { line } : { line, record })}`,
      ),
    );
  return [
    ...(first.length === 0 ? [] : ['the first contacts, as they would be:', ...first]),
    ...(rejected === 0 ? [goodLine(rows, isStopped)] : [badLine(rows, rejected)]),
    ...counted(problems, 'rejected'),
    ...counted(warnings, 'warning'),
  ];
}

function badLine(rows: number, rejected: number): string {
  return rows === 1 ? 'the row would be rejected:' : `of the first ${rows} rows, ${rejected} would be rejected:`;
}

function goodLine(rows: number, isStopped: boolean): string {
  if (isStopped) return rows === 1 ? 'the row is not rejected' : `of the first ${rows} rows, none would be rejected`;
  return rows === 1 ? 'the row can be imported' : `of the first ${rows} rows, all can be imported`;
}

/** `crm-17  Ada Lovelace, Engine AG, Programmer  ada@example.com (work)  +1415… (mobile)` */
export function contactLine(contact: ContactView): string {
  const {
    externalId,
    firstName,
    lastName,
    company,
    role,
    sourceUrl,
    emails = [],
    phones = [],
    customFields = {},
  } = contact;
  const name = [firstName, lastName].filter((part) => part != null).join(' ');
  const about = [name, company, role].filter((part) => part != null && part !== '').join(', ');
  const items = [...emails, ...phones].map(({ name: label, value }) => `${value} (${label})`);
  const custom = Object.entries(customFields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return [externalId, about, ...items, sourceUrl ?? '', ...custom]
    .filter((part) => part !== '')
    .map(printable)
    .join('  ');
}

/** A cell, and what is made of it: longer ones would make all lines of the table as long. */
const explainedCharsMax = 120;
const contactCharsMax = 1_000;

export function presentExplained(output: Output, row: ExplainedRow): readonly string[] {
  const shown = (text: string | null): string =>
    text === null ? '' : output.values ? shorten(text, explainedCharsMax) : '…';
  const inWords = (problem: Problem): string => problemInWords(problem, output);
  const lines = row.entries.map(({ target, cells, steps, result, problems }) => [
    cells.map(({ column }) => column).join(', '),
    cells.map(({ raw }) => shown(raw)).join(', '),
    steps.map(({ step, result: after }) => `${step} → ${shown(after)}`).join('; '),
    target,
    problems.length > 0 ? problems.map(inWords).join('; ') : result === null ? 'nothing said' : shown(result),
  ]);
  return [
    `line ${placeText(row)}`,
    ...(lines.length === 0 ? [] : [output.table(['column', 'cell', 'steps', 'becomes', 'result'], lines)]),
    ...(row.unused.length === 0
      ? []
      : [
          '',
          output.table(
            ['left out', 'cell'],
            row.unused.map(({ column, raw }) => [column, shown(raw)]),
          ),
        ]),
    '',
    ...(row.skipped === undefined ? [] : [`left out, as in an import: ${printable(row.skipped)}`]),
    ...(row.contact === null
      ? []
      : [`contact: ${output.values ? shorten(contactLine(row.contact), contactCharsMax) : row.contact.externalId}`]),
    ...row.problems.map((problem) => `rejected: ${inWords(problem)}`),
    ...row.warnings.map((warning) => `warning: ${inWords(warning)}`),
  ];
}

function problemInWords({ field, message, hint }: Problem, { values }: Output): string {
  return printable(`${field === null ? '' : `${field}: `}${message}. ${values ? hint : withoutQuotedCells(hint)}`);
}

function presentFixtures(name: string, results: readonly FixtureResult[]): readonly string[] {
  if (results.length === 0) return [`${name}: no fixtures`];
  const failed = results.filter(({ ok }) => !ok);
  return [
    ...failed.flatMap(({ number, differences }) => [
      `${name}: fixture ${number} fails`,
      ...differences.flatMap(({ what, expected, found }) => [
        `  ${what}`,
        `  - expected: ${printable(expected)}`,
        `  + found:    ${printable(found)}`,
      ]),
    ]),
    `${name}: ${results.length - failed.length} of ${results.length} ${results.length === 1 ? 'fixture passes' : 'fixtures pass'}`,
  ];
}
