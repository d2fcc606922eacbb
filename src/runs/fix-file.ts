/**
 * The fix-file: a run's dead rows with their original columns, in the original's form, and what to do about each. It
 * can be dropped in again as it is (`rules.md`, "Dead letters").
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { archiveFolders } from '#src/config/archive-folders.ts';
import type { FileShape, RunRecord } from '#src/ledger/run-record.ts';
import type { RunDeadRow, StagingLedger } from '#src/ledger/staging-ledger.ts';
import { writeCsvFile } from '#src/sources/csv-writer.ts';
import type { JsonValue, Row } from '#src/sources/row.ts';
import { safeFileName } from '#src/sources/safe-file-name.ts';
import { fixFileColumns } from './fix-columns.ts';

const rowsPerPage = 500;

/** Where the fix-file of a run lies, if it has one. */
export function fixFilePath(run: RunRecord): string {
  const extension = run.shape?.format === 'csv' || run.shape === null ? '.csv' : '.ndjson';
  const stem = parse(run.fileName.replace(/\.gz$/i, '')).name;
  return join(archiveFolders(run.importFolder).fix, `${run.id}__${safeFileName(`${stem}${extension}`)}`);
}

/** Writes the dead rows of the run; the file appears complete or not at all. Throws the system's errors. */
export async function writeFixFile(staging: StagingLedger, run: RunRecord): Promise<string> {
  const path = fixFilePath(run);
  const shape: FileShape = run.shape ?? { format: 'csv', columns: [], delimiter: ',' };
  if (shape.format === 'csv') {
    const original = (shape.columns ?? []).filter((column) => !(fixFileColumns as readonly string[]).includes(column));
    await writeCsvFile(path, {
      columns: [...original, ...fixFileColumns],
      delimiter: shape.delimiter ?? ',',
      rows: csvRows(staging, run, original),
    });
  } else {
    await writeLines(path, staging, run);
  }
  return path;
}

async function* deadRowsOf(staging: StagingLedger, run: RunRecord): AsyncGenerator<RunDeadRow> {
  let after = 0;
  // Ends with the first short page: ordinals only grow, and a finished run gets no new ones.
  for (;;) {
    const page = await staging.deadRows(run.id, after, rowsPerPage);
    yield* page;
    if (page.length < rowsPerPage) return;
    after = page.at(-1)?.ordinal ?? after;
  }
}

async function* csvRows(
  staging: StagingLedger,
  run: RunRecord,
  original: readonly string[],
): AsyncGenerator<readonly string[]> {
  for await (const dead of deadRowsOf(staging, run)) {
    const { row } = dead;
    const cells = original.map((column) =>
      row?.kind === 'cells' ? (row.cells[row.columns.indexOf(column)] ?? '') : '',
    );
    yield [...cells, dead.letterId, `${dead.line}`, dead.code, hintsOf(dead)];
  }
}

async function writeLines(path: string, staging: StagingLedger, run: RunRecord): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(path), `.${randomUUID()}.part`);
  try {
    await using file = await open(temporary, 'wx', 0o600);
    for await (const dead of deadRowsOf(staging, run)) {
      const object = dead.row === null ? {} : objectOf(dead.row);
      const line = { ...object, _id: dead.letterId, _line: dead.line, _code: dead.code, _hint: hintsOf(dead) };
      await file.write(`${JSON.stringify(line)}\n`);
    }
    await file.sync();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A redrive may hold rows of CSV and of JSON: both find their way back. */
function objectOf(row: Row): Readonly<Record<string, JsonValue>> {
  if (row.kind === 'object') return row.object;
  return Object.fromEntries(row.columns.map((column, index) => [column, row.cells[index] ?? '']));
}

/** All that is wrong with the row, for the person who mends it. */
function hintsOf(dead: RunDeadRow): string {
  return dead.problems
    .map(({ field, message, hint }) => `${field === null ? '' : `${field}: `}${message}. ${hint}`)
    .join(' | ');
}
