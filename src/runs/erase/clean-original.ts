/**
 * The file of a run is kept without the rows of people who were forgotten, whatever became of the run (`docs/rules.md`, "Forgetting a
 * person"). Before it is archived, so that a crash leaves none of them there; done again it finds what is left.
 */
import { PatchbayError, unreachable } from '#src/errors.ts';
import type { ForgottenPeople } from '#src/ledger/forgetting.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { Logger } from '#src/log.ts';
import { eraseForgottenRows } from './erase-files.ts';
import { type Cleaned, cleanUnreadable } from './unreadable-files.ts';

interface CleanParts {
  readonly ledger: Pick<Ledger, 'forgetting' | 'runs'>;
  readonly log: Logger;
}

/** @returns the run with a note on what was done, where its rows do not tell it. @throws the system's errors. */
export async function cleanOriginal({ ledger, log }: CleanParts, run: RunRecord): Promise<RunRecord> {
  const people = run.claimedPath === '' ? null : await ledger.forgetting.forgottenPeople();
  if (people === null || !mayHold(run, people)) return run;
  const cleaned = await clean(run, people);
  if (cleaned.kind === 'clean') return run;
  log.info({ run: run.id, feed: run.feed, ...cleaned }, 'file searched for people who were forgotten');
  const note = noteOf(cleaned, run);
  if (note === null) return run;
  await ledger.runs.record(run.id, { notes: [note] });
  return { ...run, notes: (await ledger.runs.get(run.id))?.notes ?? run.notes };
}

/** Staging tells how many rows it has skipped. It does not see rows that the mapping leaves out, and people who were forgotten since. */
function mayHold({ shape, mapping }: RunRecord, people: ForgottenPeople): boolean {
  const told = shape?.forgotten;
  const leavesOut = mapping?.skipRows !== undefined || mapping?.keepRows !== undefined;
  return told === undefined || told.rows > 0 || told.people < people.count || leavesOut;
}

type CleanedRows = Cleaned | { readonly kind: 'rows'; readonly rows: number };

async function clean(run: RunRecord, people: ForgottenPeople): Promise<CleanedRows> {
  try {
    const rows = await eraseForgottenRows(run, people);
    if (rows === null) return { kind: 'deleted' };
    return rows === 0 ? { kind: 'clean', byMapping: true } : { kind: 'rows', rows };
  } catch (error) {
    // It never was readable, or it was exchanged or has disappeared since: its run must end all the same.
    if (!(error instanceof PatchbayError)) throw error;
    return cleanUnreadable(run, people);
  }
}

/** Null where a note on its rows tells it. */
function noteOf(cleaned: Exclude<CleanedRows, { readonly kind: 'clean' }>, { shape }: RunRecord): string | null {
  switch (cleaned.kind) {
    case 'rows': {
      if ((shape?.forgotten?.rows ?? 0) > 0) return null;
      return `${cleaned.rows === 1 ? '1 row' : `${cleaned.rows} rows`} of forgotten people taken out of the file`;
    }
    case 'cut': {
      const lines = cleaned.lines === 1 ? '1 line that names' : `${cleaned.lines} lines that name`;
      return `${lines} forgotten people ${cleaned.lines === 1 ? 'was' : 'were'} taken out of the file`;
    }
    case 'deleted':
      return 'the file is not kept: it names forgotten people, and cannot be cut by lines';
    case 'unknown':
      return 'the file is kept as it came: it could not be searched for forgotten people';
    default:
      return unreachable(cleaned);
  }
}
