/** `patchbay map [FILE]`: how a file would be read; a mapping proposed, saved, tested, explained. Sends nothing. */
import { existsSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { type DataFolders, dataFolders } from '#src/config/data-folders.ts';
import type { Config } from '#src/config/schema.ts';
import { PatchbayError } from '#src/errors.ts';
import { createFeeds, type Feeds, findMapping, findMappingText } from '#src/feeds/feeds.ts';
import { explainLine, type MapOptions, type MapResult, mapFile } from '#src/operations/map-file.ts';
import { type SavedMapping, saveMapping } from '#src/operations/save-mapping.ts';
import { testMapping } from '#src/operations/test-mapping.ts';
import { exitCodes } from '#src/runs/exit-code.ts';
import { type GlobalOptions, loadCliConfig } from '../open-home.ts';
import { createOutput, type Output, shellWord } from '../output.ts';
import { presentExplained, presentFixtures, presentMap } from '../present-map.ts';

interface MapCommandOptions extends GlobalOptions, MapOptions {
  readonly save?: boolean;
  readonly force?: boolean;
  readonly test?: boolean;
  readonly explain?: number;
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
  const next = nextCommand(parts, options, file, result, saved);
  if (output.json) {
    const document = { ...withoutValues(output, result), saved: saved?.file ?? null, next };
    output.document({ ...document, exitCode: exitCodes.done });
    return exitCodes.done;
  }
  // What was saved is the result; the proposal was there to look at.
  if (saved === null || !output.quiet) for (const line of presentMap(output, result)) output.line(line);
  if (saved !== null) output.line(savedLine(saved));
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
  const isReal = config.service.baseUrl !== null || existsSync(dataFolders(config, 'real').ledgerFile);
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
  const name = options.mapping ?? ('name' in layout ? layout.name : null);
  if (name !== null) return saveMapping(parts, await findMappingText(name), options);
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

function savedLine({ file, feed }: SavedMapping): string {
  const path = shownPath(file);
  return feed === null
    ? `saved: ${path} (for files that are dropped, name it in the config file: mapping.file: ${path})`
    : `saved: ${path} (files of feed ${feed} are read by it from now on)`;
}

/** The one command to type next; null where there is nothing to import. */
function nextCommand(
  { isSandbox }: MapParts,
  options: MapCommandOptions,
  file: string,
  { layout, draft }: MapResult,
  saved: SavedMapping | null,
): string | null {
  if (layout.kind === 'empty') return null;
  const word = shellWord(file);
  const feed = options.feed === undefined ? '' : ` --feed ${shellWord(options.feed)}`;
  const sandbox = isSandbox ? ' --sandbox' : '';
  const reading = [
    ...(options.delimiter === undefined ? [] : [` --delimiter ${shellWord(options.delimiter)}`]),
    ...(options.encoding === undefined ? [] : [` --encoding ${shellWord(options.encoding)}`]),
  ].join('');
  const country = options.defaultCountry === undefined ? '' : ` --default-country ${options.defaultCountry}`;
  if (draft !== null && saved === null)
    return `patchbay map${options.sandbox === true ? ' --sandbox' : ''}${feed}${reading}${country}${sheetFlag(options)} --save ${word}`;
  const named = saved === null ? options.mapping : saved.feed === null ? shownPath(saved.file) : undefined;
  const mapping = named === undefined ? '' : ` --mapping ${shellWord(named)}`;
  const ofFile = draft === null ? country : '';
  return `patchbay import${sandbox}${feed}${mapping}${reading}${ofFile} ${word}`;
}

function sheetFlag({ sheet }: MapCommandOptions): string {
  return sheet === undefined ? '' : ` --sheet ${shellWord(sheet)}`;
}

/** `--mapping NAME` without a file: the text of the mapping, to read or to redirect; with `--save` a copy. */
async function showMapping(parts: MapParts, output: Output, options: MapCommandOptions): Promise<number> {
  const text = await findMappingText(options.mapping ?? 'generic');
  const saved = options.save === true ? await saveMapping(parts, text, options) : null;
  if (output.json)
    output.document({
      mapping: await findMapping(options.mapping ?? 'generic'),
      text,
      saved: saved?.file ?? null,
      exitCode: 0,
    });
  else output.line(saved === null ? text.trimEnd() : savedLine(saved));
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
  return JSON.parse(JSON.stringify(document, (key, value: unknown) => (hidden.has(key) ? null : value)));
}

/** Relative where the file is below the current folder. */
function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}
