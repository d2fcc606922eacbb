/**
 * The whole story of a run (`runs show`): when and by what it came to be, how it was read, what was approved, every contact that it
 * changed with its values before and after, and all that was warned of, held, skipped or rejected.
 *
 * What it changed comes from the journal, so that a write that landed unseen and was found later is there, too; from the report
 * where the journal keeps it no longer.
 */
import { access } from 'node:fs/promises';
import type { AuditDocument } from '#src/audits/audit-document.ts';
import { isoInstant } from '#src/clock.ts';
import { type ContactChange, changePages, changeWithoutValues } from '#src/journal/changes.ts';
import { changesPath } from '#src/journal/changes-file.ts';
import type { ActRecord } from '#src/ledger/acts.ts';
import { originOf, type RunRecord } from '#src/ledger/runs.ts';
import type { MadePlan } from '#src/plans/make-plan.ts';
import { readReport } from '#src/runs/report.ts';
import { actDocument, listActs } from './acts.ts';
import { readAudits } from './audits.ts';
import { hasPlan, keptPlanOf, planDocument } from './plan.ts';
import { wholeRunDocument } from './run-document.ts';
import { type ReadLimits, type RunDetail, type RunHome, readRun } from './runs.ts';

/**
 * `report`: the first ones alone are known, from the report. `none`: it counts contacts, and no write of its own: they were as it wanted
 * them. `gone`: it changed contacts, and what it changed is kept no longer.
 */
export type ChangesKnown = 'all' | 'report' | 'none' | 'gone';

export interface RunStory extends RunDetail {
  readonly changesKnown: ChangesKnown;
  /** The path of `<run>.changes.csv`; null where there is none. */
  readonly changesFile: string | null;
  /** Oldest first. */
  readonly acts: readonly ActRecord[];
  readonly audits: readonly AuditDocument[];
}

/** A run has a few: it was brought, approved, cancelled. */
const actsOfRunMax = 100;

/** All that its report has; a run at work may have more rejected rows than are read. */
const storyLimits: ReadLimits = {
  problemsMax: Number.POSITIVE_INFINITY,
  liveRowsMax: 10_000,
  liveOutcomesMax: 10_000,
  reportBytesMax: Number.POSITIVE_INFINITY,
};

export interface StoryOptions {
  /** Whether values may be shown: audits hold keys. */
  readonly values: boolean;
  /** How much is read. */
  readonly limits?: ReadLimits;
}

export async function readStory(
  home: RunHome,
  run: RunRecord,
  { values, limits = storyLimits }: StoryOptions,
): Promise<RunStory> {
  const path = changesPath(home.runFolders.reports, run.id);
  const hasFile = await access(path).then(
    () => true,
    () => false,
  );
  const detail = await readRun(home, run, null, limits);
  return {
    ...detail,
    changesKnown: await changesKnownOf(home, detail),
    changesFile: hasFile ? path : null,
    acts: (await listActs(home, { run: run.id, limit: actsOfRunMax })).toReversed(),
    audits: await readAudits(home, run.id, values),
  };
}

async function changesKnownOf(home: RunHome, { record: run, isReportCut }: RunDetail): Promise<ChangesKnown> {
  const { created, updated } = run.counts;
  if (created + updated === 0 || (await home.ledger.contacts.journal({ runId: run.id, limit: 1 })).length > 0)
    return 'all';
  if (isReportCut) return 'gone';
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

/**
 * `runs show --json`. Its changes, and the lists of its plan, are read as they are written (`src/json/json-pieces.ts`).
 * @param planned what a stopped run would write; null where it is not known.
 * @param limit the most changes, and contacts of the plan.
 */
export function storyDocument(
  home: RunHome,
  story: RunStory,
  planned: MadePlan | null,
  { values, limit = Number.POSITIVE_INFINITY }: { readonly values: boolean; readonly limit?: number },
): object {
  const { record, notes, failedFile, problemsKnown, changesKnown, changesFile, acts, audits } = story;
  const { id: _, kind, options, mapping, approvals, look, createdAtMs, startedAtMs, finishedAtMs } = record;
  return {
    ...wholeRunDocument(story, values),
    kind,
    origin: originOf(record),
    path: options.path,
    failedFile: failedFile?.path ?? null,
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
    plan: planned === null ? null : planDocument(planned, { limit, values }),
    acts: acts.map(actDocument),
    audits,
    changes: changeDocuments(home, story, values, limit),
  };
}

/** Of a larger report its head is read, up to this length, while a page is answered by the process that works. */
export const pageReportBytesMax = 8 * 1024 * 1024;

/** The most changes, and contacts of a plan, in the JSON of a run's page, which scripts read again and again. */
const pageListMax = 1_000;

/**
 * The JSON of a run's page: the beginning of `runs show --json`, and the facts of its reason. Nothing is asked of the service for it, so that
 * the plan of a stopped run is the newest that is kept.
 */
export async function readRunPageDocument(home: RunHome, run: RunRecord, listMax = pageListMax): Promise<object> {
  const options = { values: true, limits: { ...storyLimits, reportBytesMax: pageReportBytesMax } };
  const story = await readStory(home, run, options);
  const planned = hasPlan(run) ? await keptPlanOf(home, run) : null;
  const changes = (await Array.fromAsync(changesOfRun(home, story, listMax + 1))).flat();
  const document = {
    ...storyDocument(home, story, planned, { values: options.values, limit: listMax }),
    changes: changes.slice(0, listMax),
    changesComplete: story.changesKnown !== 'gone' && changes.length <= listMax,
  };
  const { reason } = story.record;
  return reason === null ? document : { ...document, error: reason };
}

async function* changeDocuments(
  home: RunHome,
  story: RunStory,
  values: boolean,
  limit: number,
): AsyncGenerator<object> {
  for await (const page of changesOfRun(home, story, limit)) {
    for (const change of page) yield values ? change : changeWithoutValues(change);
  }
}
