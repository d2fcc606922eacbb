/**
 * The whole story of a run (`runs show`): when and by what it came to be, how it was read, what was approved, every contact that it
 * changed with its values before and after, and all that was warned of, held, skipped or rejected.
 *
 * What it changed comes from the journal, so that a write that landed unseen and was found later is there, too; from the report
 * where the journal keeps it no longer.
 */
import { access } from 'node:fs/promises';
import { isoInstant } from '#src/clock.ts';
import { type ContactChange, changePages, changeWithoutValues } from '#src/journal/changes.ts';
import { changesPath } from '#src/journal/changes-file.ts';
import { originOf, type RunRecord } from '#src/ledger/runs.ts';
import { readReport } from '#src/runs/report.ts';
import { type RunDetail, type RunHome, readRun, wholeRunDocument } from './runs.ts';

/**
 * `report`: the first ones alone are known, from the report. `none`: it counts contacts, and no write of its own: they were as it wanted
 * them. `gone`: it changed contacts, and what it changed is kept no longer.
 */
export type ChangesKnown = 'all' | 'report' | 'none' | 'gone';

export interface RunStory extends RunDetail {
  readonly changesKnown: ChangesKnown;
  /** The path of `<run>.changes.csv`; null where there is none. */
  readonly changesFile: string | null;
}

/** All that its report has; a run at work may have more rejected rows than are read. */
const storyLimits = {
  problemsMax: Number.POSITIVE_INFINITY,
  liveRowsMax: 10_000,
  liveOutcomesMax: 10_000,
  reportBytesMax: Number.POSITIVE_INFINITY,
};

export async function readStory(home: RunHome, run: RunRecord): Promise<RunStory> {
  const path = changesPath(home.runFolders.reports, run.id);
  const hasFile = await access(path).then(
    () => true,
    () => false,
  );
  const detail = await readRun(home, run, null, storyLimits);
  return { ...detail, changesKnown: await changesKnownOf(home, run), changesFile: hasFile ? path : null };
}

async function changesKnownOf(home: RunHome, run: RunRecord): Promise<ChangesKnown> {
  const { created, updated } = run.counts;
  if (created + updated === 0 || (await home.ledger.contacts.journal({ runId: run.id, limit: 1 })).length > 0)
    return 'all';
  const inReport = (await readReport(home.runFolders.reports, run.id))?.changes;
  if (inReport === undefined) return 'gone';
  return inReport.length > 0 ? 'report' : 'none';
}

async function changesInReport({ runFolders }: RunHome, runId: string): Promise<readonly ContactChange[]> {
  return (await readReport(runFolders.reports, runId))?.changes ?? [];
}

/** The writes of the run that are known, page by page, in the order of their entry; at most `limit`. */
export async function* changesOfRun(
  home: RunHome,
  { record, changesKnown }: Pick<RunStory, 'record' | 'changesKnown'>,
  limit: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly ContactChange[]> {
  if (changesKnown === 'all') yield* changePages(home.ledger.contacts, { runId: record.id }, limit);
  if (changesKnown === 'report') yield (await changesInReport(home, record.id)).slice(0, limit);
}

/** `runs show --json` without its changes, which follow page by page under `changes` (`changeDocument`). */
export function storyDocument(story: RunStory, values: boolean): object {
  const { record, notes, problemsKnown, changesKnown, changesFile } = story;
  const { id: _, kind, options, mapping, approvals, look, createdAtMs, startedAtMs, finishedAtMs } = record;
  return {
    ...wholeRunDocument(story, values),
    kind,
    origin: originOf(record),
    path: options.path,
    mapping: mapping === null ? null : { name: mapping.name, recognised: mapping.recognise !== undefined },
    receivedAt: isoInstant(createdAtMs),
    startedAt: startedAtMs === null ? null : isoInstant(startedAtMs),
    finishedAt: finishedAtMs === null ? null : isoInstant(finishedAtMs),
    acceptReason: options.acceptReason,
    approvals: approvals.map(({ atMs, reason, figures, choice }) => {
      return { at: isoInstant(atMs), reason, figures, choice: choice ?? null };
    }),
    look,
    notes,
    problemsComplete: problemsKnown === 'all',
    changesKnown,
    changesFile,
  };
}

/** One of `changes` in `runs show --json`. */
export function changeDocument(change: ContactChange, values: boolean): object {
  return values ? change : changeWithoutValues(change);
}
