/**
 * Files that wait to be read, and name a person who is forgotten (`docs/rules.md`, "Forgetting a person"): those of runs that have not
 * begun, and those that lie in an import folder. They stay as they are, since they may be being written, or be known by their content: when they
 * are read the person's rows are skipped, and their archive is without them.
 */

import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { emptyIfMissing, PatchbayError } from '#src/errors.ts';
import { type Feeds, feedNameOf } from '#src/feeds/feeds.ts';
import { eachRun } from '#src/ledger/paged-lists.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { mainFeed } from '#src/ledger/rules/feeds.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { fileReadingOf } from '#src/mapping/file-reading.ts';
import { headerRule, isKnownHeader, isKnownKey } from '#src/mapping/recognise.ts';
import { presetsFor } from '#src/runs/open-file.ts';
import { isOfHost } from '#src/runs/stop-run.ts';
import type { ReadAs } from '#src/runs/supply.ts';
import type { HeaderRule } from '#src/sources/format-reader.ts';
import { type OpenSource, openSource } from '#src/sources/open-source.ts';
import type { PersonMarks } from './erase-entries.ts';
import { rowJudge } from './erase-files.ts';
import { holdsText } from './file-bytes.ts';

export interface WaitingFile {
  readonly path: string;
  /** The run that is to read it; null where it was not taken yet. */
  readonly run: string | null;
  /** `unknown`: it cannot be read as rows, so that it is not known whether the person is in it. */
  readonly names: 'person' | 'unknown';
}

interface WaitingParts {
  readonly ledger: Pick<Ledger, 'runs'>;
  readonly feeds: Pick<Feeds, 'get'>;
  /** Import folders from which files are taken. */
  readonly watched: readonly string[];
  readonly host: string | null;
}

/** Those that name the person, or may. @throws the system's errors. */
export async function waitingFilesOf(parts: WaitingParts, person: PersonMarks): Promise<readonly WaitingFile[]> {
  const { ledger, watched, host } = parts;
  const found: WaitingFile[] = [];
  const look = async (path: string, name: string, run: string | null, as: ReadAs): Promise<void> => {
    const names = await namesPerson(path, name, as, person);
    if (names !== null) found.push({ path, run, names });
  };
  for await (const run of eachRun(ledger.runs, { states: ['queued'] }))
    if (run.claimedPath !== '' && isOfHost(run, host)) await look(run.claimedPath, run.fileName, run.id, run);
  for (const folder of watched) {
    for (const { path, feed } of await filesToTake(folder)) {
      const as = await readAsFileOf(parts.feeds, feed);
      await look(path, basename(path), null, as);
    }
  }
  return found;
}

interface FileToTake {
  readonly path: string;
  readonly feed: string;
}

/** Those in the folder itself belong to the feed `main`, those in a folder of it to the feed of that name. */
async function filesToTake(importFolder: string): Promise<readonly FileToTake[]> {
  const found: FileToTake[] = [];
  const list = async (folder: string, feed: string): Promise<readonly string[]> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(emptyIfMissing);
    const shown = entries.filter(({ name }) => !/^[._]/.test(name));
    found.push(...shown.flatMap((one) => (one.isFile() ? [{ path: join(folder, one.name), feed }] : [])));
    return shown.flatMap((one) => (one.isDirectory() ? [one.name] : []));
  };
  for (const name of await list(importFolder, mainFeed)) await list(join(importFolder, name), feedNameOf(name));
  return found;
}

async function readAsFileOf(feeds: Pick<Feeds, 'get'>, feed: string): Promise<ReadAs> {
  try {
    const { mapping, source, recognise } = await feeds.get(feed);
    return { feed, mapping, sourceLabel: source, options: { ...noOptions, recognise } };
  } catch (error) {
    // Its mapping cannot be read now, or its name cannot be a feed: the texts of the person tell.
    if (error instanceof PatchbayError) return { feed, mapping: null, sourceLabel: null, options: noOptions };
    throw error;
  }
}

/** Which line is the header of a table, and which object a contact by itself, is decided as in a run. */
async function openAsImport(path: string, name: string, as: ReadAs): Promise<OpenSource> {
  const options = { name, mayBeCut: false, ...fileReadingOf(as.mapping, as.options) };
  try {
    return await openSource(path, { ...options, header: await headerOf(as) });
  } catch (error) {
    if (!(error instanceof PatchbayError) || error.code !== 'keyColumnMissing') throw error;
    // The import will refuse it. The person may be in it all the same.
    return await openSource(path, options);
  }
}

async function headerOf(as: ReadAs): Promise<HeaderRule | null> {
  if (as.mapping !== null || !as.options.recognise) return headerRule(as.mapping);
  const presets = await presetsFor(as);
  return { isHeader: isKnownHeader(presets), isKey: isKnownKey(presets), wanted: 'known header', hint: '' };
}

/** Null where the person is not in it. */
async function namesPerson(
  path: string,
  name: string,
  as: ReadAs,
  person: PersonMarks,
): Promise<WaitingFile['names'] | null> {
  try {
    const source = await openAsImport(path, name, as);
    try {
      const isTheirs = await rowJudge(as, person);
      for await (const slice of source.slices())
        if (slice.some(({ row, type }) => isTheirs(row, type === 'broken'))) return 'person';
      return null;
    } finally {
      await source.close();
    }
  } catch (error) {
    if (!(error instanceof PatchbayError)) throw error;
    // It was taken meanwhile; or no text opens it, since its name is not UTF-8.
    if (error.code === 'fileMissing') return name.includes('\ufffd') ? 'unknown' : null;
    return (await holdsText(path, person.texts)) ? 'person' : 'unknown';
  }
}
