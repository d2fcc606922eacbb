/**
 * Dead letters as files that can be imported again: fix-files of letters from whichever runs. A fix-file is read by one mapping and
 * belongs to one feed, so the letters of each feed and mapping have a file of their own.
 */
import { join } from 'node:path';
import type { LettersOfFeed } from '#src/ledger/letters.ts';
import { letterPages } from '#src/ledger/paged-lists.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { FileShape, RunRecord } from '#src/ledger/runs.ts';
import { distinctNames, type FixRow, writeFixRows } from '#src/runs/fix/fix-file.ts';
import { safeFileName } from '#src/sources/file-name.ts';

export interface ExportedFile {
  /** Absolute where the folder is. */
  readonly file: string;
  readonly feed: string;
  readonly letters: number;
}

interface ExportLedger {
  readonly deadLetters: Pick<Ledger['deadLetters'], 'list' | 'openByRun'>;
  readonly runs: Pick<Ledger['runs'], 'get'>;
}

/**
 * Writes a file of open letters for each feed and mapping; none where no letter fits. Letters that hold no row have nothing to be written.
 * @param prefix of the names of the files: a run's id, so that they are deleted when they are old.
 * @throws the system's errors.
 */
export async function exportLetters(
  ledger: ExportLedger,
  choice: LettersOfFeed,
  { folder, prefix }: { readonly folder: string; readonly prefix: string },
): Promise<readonly ExportedFile[]> {
  const nameOf = createFileNames();
  const files: ExportedFile[] = [];
  for (const group of await groupsOf(ledger, choice)) {
    const rows = () => rowsOf(ledger, choice, group);
    const { shape, letters } = await surveyOf(rows());
    if (letters === 0) continue;
    const file = join(folder, `${prefix}__${nameOf(group, `.${shape.format}`)}`);
    await writeFixRows(file, shape, rows);
    files.push({ file, feed: group.feed, letters });
  }
  return files;
}

/** How rows are read, as far as a fix-file takes it from the run that its first letter names (`src/runs/choose-feed.ts`). */
interface Reading {
  readonly feed: string;
  /** Null: the generic layout. */
  readonly mapping: string | null;
  /** Where a person named it: two files may hold mappings of one name. */
  readonly mappingNamed: string | null;
  readonly defaultCountry: string | null;
  readonly onBlank: string | null;
}

/** What the letters of one file have in common. */
interface Group extends Reading {
  /** That met the letters last; the newest first. */
  readonly runIds: readonly string[];
}

async function groupsOf({ deadLetters, runs }: ExportLedger, { feed: of, ...choice }: LettersOfFeed): Promise<Group[]> {
  const groups = new Map<string, Reading & { runIds: string[] }>();
  for (const { feed, runId } of (await deadLetters.openByRun(choice)).toReversed()) {
    if (of !== undefined && feed !== of) continue;
    const reading = readingOf(feed, await runs.get(runId));
    const identity = JSON.stringify(reading);
    const group = groups.get(identity) ?? { ...reading, runIds: [] };
    groups.set(identity, group);
    group.runIds.push(runId);
  }
  return [...groups.values()];
}

function readingOf(feed: string, run: RunRecord | null): Reading {
  const { mappingNamed = null, defaultCountry = null, onBlank = null } = run?.options ?? {};
  const mapping = run?.mapping?.name ?? null;
  return { feed, mapping, mappingNamed: mapping === null ? null : mappingNamed, defaultCountry, onBlank };
}

/** A name says what people need to tell the files apart. Two files never have the same, also where case makes no difference. */
function createFileNames(): (group: Reading, ending: string) => string {
  const given = new Set<string>();
  return ({ feed, mapping, defaultCountry, onBlank }, ending) => {
    const words = [feed, mapping === feed ? null : mapping, defaultCountry, onBlank].filter((word) => word !== null);
    // Ends with the first number that is free. It comes first, since the end of a long name is cut.
    for (let count = 1; ; count += 1) {
      const stem = ['dead-letters', ...(count === 1 ? [] : [count]), ...words].join('-');
      const name = safeFileName(`${stem}${ending}`);
      if (given.has(name.toLowerCase())) continue;
      given.add(name.toLowerCase());
      return name;
    }
  };
}

async function surveyOf(rows: AsyncIterable<FixRow>): Promise<{ readonly shape: FileShape; readonly letters: number }> {
  const columns = new Map<string, string>();
  let [letters, anyObject] = [0, false];
  for await (const { row } of rows) {
    letters += 1;
    anyObject ||= row?.kind === 'object';
    if (row?.kind !== 'cells') continue;
    for (const [index, column] of distinctNames(row.columns).entries()) columns.set(column, row.columns[index] ?? '');
  }
  return {
    shape: { format: anyObject ? 'ndjson' : 'csv', columns: [...columns.values()], delimiter: ',' },
    letters,
  };
}

/** Run by run. */
async function* rowsOf(
  { deadLetters }: ExportLedger,
  choice: LettersOfFeed,
  { feed, runIds }: Group,
): AsyncGenerator<FixRow> {
  for (const runId of runIds) {
    const open = { ...choice, feed, runId, states: ['open'], limit: Number.POSITIVE_INFINITY } as const;
    for await (const page of letterPages(deadLetters, open))
      for (const { id, row, line, key, code, problems } of page)
        if (row !== null) yield { letterId: id, row, line, key, code, problems };
  }
}
