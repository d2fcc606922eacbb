/** `patchbay map [FILE]`: how a file would be read; a mapping proposed, saved, tested, explained. Sends nothing. */

import { isAbsolute, relative } from 'node:path';
import { ledgerPlace } from '#src/app.ts';
import { type GlobalOptions, loadCliConfig } from '#src/cli/open-home.ts';
import { createOutput, type Output, printable } from '#src/cli/output.ts';
import { presentExplained, presentFixtures, presentMap } from '#src/cli/present-map.ts';
import { type DataFolders, dataFolders } from '#src/config/data-folders.ts';
import type { Config } from '#src/config/schema.ts';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { PatchbayError } from '#src/errors.ts';
import { createFeeds, type Feeds, findMapping, findMappingText } from '#src/feeds/feeds.ts';
import { hasLedger } from '#src/ledger/place.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import {
  explainLine,
  type MapOptions,
  type MapResult,
  mapFile,
  noMappingProposed,
  testMapping,
} from '#src/operations/map-file.ts';
import { type SavedMapping, saveMapping, withReading } from '#src/operations/save-mapping.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { runOfCheckedOut, takingFoldersIn } from '#src/runs/run-files.ts';
import { operands, shellWord } from '#src/shell-words.ts';
import type { ShownPlace } from '#src/sources/row.ts';

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
