/**
 * Loads a workspace file into the tables of a new store.
 *
 * A section is taken when those that it needs were taken, or are not in the file. Where they come later in the file, it is
 * skipped, and the file is read once more: a dump is read once, a file with its sections in the worst order as many
 * times as it has sections. A pipe can be read only once: there each section must come after those that it needs.
 * Memory holds one record and one chunk of the file.
 */

import type { Readable } from 'node:stream';
import type { Clock } from '#src/clock.ts';
import { unreachable } from '#src/errors.ts';
import { JsonError, type Place } from '#src/json/place.ts';
import { buildStore } from '#src/service/store/build-store.ts';
import type { Store, StoreTables } from '#src/service/store/open-store.ts';
import { createProblems, fileMalformed, type Problems } from './problems.ts';
import { createSectionScanner, refused, type ScannedRecord, type SectionPlan, sectionValue } from './scan-sections.ts';
import { isSectionName, type SectionCounts, type SectionName, sectionNames, sectionNeeds } from './sections.ts';
import { createRecordTaker, type RecordTaker } from './take-records.ts';
import { openWorkspaceSource, type WorkspaceSource } from './workspace-source.ts';

interface LoadedWorkspace {
  readonly ownerUserId: string;
  readonly counts: SectionCounts;
}

/**
 * The tables hold a part after an error, and must be thrown away.
 * @throws PatchbayError `usage`, see `problems.ts`; and the signal's reason when it fires.
 */
async function loadWorkspace(
  source: WorkspaceSource,
  tables: StoreTables,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<LoadedWorkspace> {
  const problems = createProblems(source.name);
  const taker = createRecordTaker(source.name, tables, problems, clock);
  const taken = new Set<SectionName>();
  // What the file holds is known after its first reading.
  let present: ReadonlySet<SectionName> | null = null;
  // Ends: the needs have no cycle, so that each reading takes at least one section that was left.
  do present = await readOnce(source, { taken, present, taker, problems, signal });
  while (present.size > taken.size);
  const loaded = taker.finish();
  problems.throwIfAny();
  return loaded;
}

interface Reading {
  readonly taken: Set<SectionName>;
  /** The sections of the file; null while they are not known. */
  readonly present: ReadonlySet<SectionName> | null;
  readonly taker: RecordTaker;
  readonly problems: Problems;
  readonly signal: AbortSignal | undefined;
}

/** Takes what can be taken; returns the sections that the file has. */
async function readOnce(source: WorkspaceSource, reading: Reading): Promise<ReadonlySet<SectionName>> {
  const { taken, taker, problems, signal } = reading;
  const seen = new Set<SectionName>();
  let section: SectionName = 'workspace';
  const isSettled = (name: SectionName) =>
    taken.has(name) || !(reading.present === null ? source.isRepeatable : reading.present.has(name));
  const onSection = (name: string, place: Place): SectionPlan => {
    section = knownSection(name, seen, place);
    seen.add(section);
    if (!source.isRepeatable) refuseTooLate(section, taken, place);
    const isTaken = !taken.has(section) && sectionNeeds[section].every(isSettled);
    if (isTaken) {
      taken.add(section);
      taker.begin(section);
    }
    return { shape: section === 'workspace' ? 'object' : 'list', taken: isTaken };
  };
  const onRecord = (record: ScannedRecord) => {
    const place = { section, index: record.index, line: record.place.line };
    const found = sectionValue(record);
    switch (found.kind) {
      case 'value':
        return taker.take(found.value, place);
      case 'tooPrecise':
        return problems.add(place, [], `the number ${found.digits} would lose digits; write it as a text`);
      case 'repeated':
        return problems.add(
          place,
          [],
          `the member ${JSON.stringify(found.name.slice(0, 100))} occurs twice in one object`,
        );
      default:
        return unreachable(found);
    }
  };
  const scanner = createSectionScanner({ onSection, onRecord });
  try {
    for await (const chunk of source.chunks(signal)) {
      signal?.throwIfAborted();
      scanner.write(chunk);
    }
    scanner.end();
  } catch (error) {
    throw error instanceof JsonError ? fileMalformed(source.name, error.place, error.message) : error;
  }
  return seen;
}

/** An unknown section would be lost; of a section that occurs twice, it is unclear which one counts. */
function knownSection(name: string, seen: ReadonlySet<SectionName>, place: Place): SectionName {
  if (!isSectionName(name)) {
    const shown = JSON.stringify(name.slice(0, 100));
    throw refused(`${shown} is no section of a workspace; those are ${sectionNames.join(', ')}`, place);
  }
  if (seen.has(name)) throw refused(`the section ${name} occurs twice in the file`, place);
  return name;
}

function refuseTooLate(section: SectionName, taken: ReadonlySet<SectionName>, place: Place): void {
  const early = [...taken].find((name) => sectionNeeds[name].includes(section));
  if (early === undefined) return;
  throw refused(`${section} must come before ${early}, as a pipe can be read only once; or load a file`, place);
}

export interface WorkspaceFileToLoad {
  /** A path, or `-` for `stdin`. */
  readonly file: string;
  readonly stdin: () => Readable;
  /** Ends the loading; nothing is kept. */
  readonly signal?: AbortSignal;
}

/**
 * Opens a new store that is filled from a workspace file. `path` is a file that is not there yet, or `:memory:`.
 * @throws PatchbayError `usage` `storeNotNew`, `storeNotWritten`, and those of `problems.ts`; the signal's reason when it
 * fires; and what `beforePublish` throws, see `buildStore`.
 */
export async function openLoadedStore(
  path: string,
  { file, stdin, signal }: WorkspaceFileToLoad,
  clock: Clock,
  beforePublish: () => Promise<void>,
): Promise<{ readonly store: Store; readonly loaded: SectionCounts }> {
  const source = await openWorkspaceSource(file, stdin);
  const fill = (tables: StoreTables) => loadWorkspace(source, tables, { clock, signal });
  const { store, filled } = await buildStore(path, fill, beforePublish);
  return { store, loaded: filled.counts };
}
