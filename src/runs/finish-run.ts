/**
 * The end of a run: the totals must add up, then fix-file, changes, report and archive are written, and only then is it done. What
 * follows from its end for others, such as who is missing, comes after that: it may be cancelled until it is done.
 *
 * Every step can be repeated: after a crash in the middle, all of them are done again (`tidyFinished` those behind the end).
 */
import { writeFile } from 'node:fs/promises';
import { archiveFolders } from '#src/config/data-folders.ts';
import { PatchbayError } from '#src/errors.ts';
import { writeChangesFile } from '#src/journal/changes-file.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { olderDecision } from '#src/ledger/rules/events.ts';
import { acceptedStates } from '#src/ledger/rules/feeds.ts';
import { notesWith } from '#src/ledger/rules/runs.ts';
import {
  type CountDelta,
  pendingCount,
  type RunCounts,
  type RunReason,
  type RunRecord,
  type RunState,
} from '#src/ledger/runs.ts';
import { eventsPerRunMax } from '#src/ledger/staging.ts';
import { archiveFile } from '#src/sources/check-out.ts';
import { inStep } from '#src/steps.ts';
import { type Facts, inWork, publishFact, rowOutcomes } from '#src/telemetry.ts';
import { storing } from '#src/whole-file.ts';
import { deletionNote } from './deletion-note.ts';
import { cleanOriginal } from './erase/clean-original.ts';
import { removeVainFolder } from './feed-folder.ts';
import { isWholeDelta, isWholeFile } from './feed-history.ts';
import { writeFixFile } from './fix/fix-file.ts';
import { staysGone } from './import-flags.ts';
import { eventPages, noteOn, type RunSummary, writeReport } from './report.ts';
import { failedFileOf } from './run-files.ts';
import { removeStoppedNote, type StopParts } from './stop-run.ts';

/** What runs are ended with. */
export interface FinishParts extends StopParts {
  /** After this time what was sent has landed and is visible in lists; then the run is audited. */
  readonly auditAfterMs: number;
}

/**
 * Finishes a run whose rows all have an outcome; does nothing for any other.
 * @returns whether the run is finished now: not where it was cancelled meanwhile.
 * @throws the system's errors (disk full…): the run stays as it is and is finished later.
 */
export async function finishRun(parts: FinishParts, runId: string): Promise<boolean> {
  const { ledger, log } = parts;
  const atMs = parts.clock.nowMs();
  const run = await ledger.runs.get(runId);
  if (run?.state !== 'applying' || (await ledger.runs.pendingCount(runId)) > 0) return false;
  const flaw = accountingFlaw(run.counts, await ledger.runs.countEnds(run.id));
  if (flaw !== null) {
    log.error({ run: run.id, ...flaw.facts }, 'run does not add up');
    const { code, message, hint, facts } = flaw;
    return (await endRun(parts, { ...run, reason: { code, message, hint, facts } }, 'failed', atMs)) !== null;
  }
  const state = run.counts.dead > 0 ? 'doneWithDead' : 'done';
  const told = [
    ...(await lettersToClose(parts, run)),
    ...(await olderRows(parts, run)),
    ...(await goneContacts(parts, run)),
    ...(await deletedContacts(parts, run)),
  ];
  const summary = await endRun(parts, { ...run, notes: notesWith(run.notes, told) }, state, atMs);
  if (summary === null) return false;
  const { rows, created, updated, unchanged, skipped, dead, seconds } = summary;
  log.info({ run: run.id, feed: run.feed, rows, created, updated, unchanged, skipped, dead, seconds }, 'run finished');
  return true;
}

/** Ends a run in `staging` whose file could not be read as a whole: it goes to `_failed`, with the run's reason beside it. @returns as `finishRun`. */
export async function finishFailed(parts: FinishParts, run: RunRecord, atMs: number): Promise<boolean> {
  return (await endRun(parts, run, 'failed', atMs)) !== null;
}

/** Ends a run that a person cancelled: its file is archived, what was written stays written. @returns as `finishRun`. */
export async function finishCancelled(parts: FinishParts, runId: string): Promise<boolean> {
  const { ledger } = parts;
  const atMs = parts.clock.nowMs();
  const run = await ledger.runs.get(runId);
  if (run?.state !== 'cancelling') return false;
  await ledger.runs.skipPending(run.id, 'cancelled', atMs);
  const counted = (await ledger.runs.get(run.id)) ?? run;
  publishRows(run.feed, { skipped: counted.counts.skipped - run.counts.skipped });
  const reason = withDoubts(run, await ledger.runs.skippedInDoubt(run.id));
  const notes = notesWith(run.notes, await deletedContacts(parts, counted));
  return (await endRun(parts, { ...counted, reason, notes }, 'cancelled', atMs)) !== null;
}

/**
 * Writes the results, moves the run on, and only then does to the ledger what its end means for others.
 * @param run in the state that it leaves, with the reason and the notes that it ends with.
 * @param atMs the end of the run, in its report and in the ledger alike.
 * @returns null where the run has left that state meanwhile: what was written is written again by whatever ends it.
 */
async function endRun(
  parts: FinishParts,
  run: RunRecord,
  state: Facts['runEnded']['state'],
  atMs: number,
): Promise<RunSummary | null> {
  const { id, state: from, reason, notes } = run;
  await parts.ledger.deadLetters.closeUnchanged(id);
  const summary = await inWork('finishing', { run: id }, () => writeResults(parts, run, state, atMs));
  const change = { atMs, reason, notes };
  if (!(await inStep('finishRun', () => parts.ledger.runs.move(id, [from], state, change)))) return null;
  publishEnd(run, state, summary, atMs);
  await settleEnd(parts, { ...run, state });
  await removeVainFolder(parts.ledger.runs, { ...run, state });
  return summary;
}

/**
 * What follows from the end of a run, behind it, so that a run that is cancelled in its last moment leaves none of it. Each may be done
 * twice. At last the run loses what it needs no more, by which it is known that nothing is left to do.
 */
async function settleEnd({ ledger, feeds, log }: TidyParts, run: RunRecord): Promise<void> {
  if ((acceptedStates as readonly RunState[]).includes(run.state)) {
    const closed = isWholeFile(feeds, run) ? await ledger.deadLetters.closeUnmet(run.id) : 0;
    if (closed > 0) log.info({ run: run.id, feed: run.feed, closed }, 'dead letters without a key closed');
    await ledger.missing.enter(run.id);
    if (isWholeDelta(feeds, run)) await ledger.missing.enterBack(run.id);
  }
  await inStep('prune', () => ledger.runs.prune(run.id));
}

/** Rows that are left out although a write of them may have landed are counted, with what becomes of them. */
function withDoubts({ id, feed, reason }: RunRecord, inDoubt: number): RunReason | null {
  if (reason === null || inDoubt === 0) return reason;
  const writes = inDoubt === 1 ? 'write' : 'writes';
  const them = inDoubt === 1 ? 'this contact' : 'these contacts';
  const found = `The next run that looks ${them} up counts what landed. Of a run of feed ${feed}, such as an import of the same file, the undo takes it back; of another feed's run it holds what the file of ${feed} says: import the file with other values then.`;
  const late = `Where an answer still came, it is undone with this run: patchbay runs undo ${id}`;
  return {
    ...reason,
    message: `${reason.message}; ${inDoubt} ${writes} had no answer by then and may have landed`,
    hint: [...(reason.hint === null ? [] : [reason.hint]), found, late].join('\n'),
    facts: { ...reason.facts, inDoubt },
  };
}

/** Of a file whose rows were skipped since their contacts are gone; a repair has told it of all contacts of the file. */
async function goneContacts({ ledger }: FinishParts, run: RunRecord): Promise<readonly string[]> {
  if (run.kind !== 'file' || run.counts.skipped === 0 || run.options.repair) return [];
  let [count, eventCount] = [0, 0];
  for await (const page of eventPages(ledger.runs, run.id)) {
    count += page.filter(({ kind, code, line }) => kind === 'skipped' && code === 'gone' && line > 0).length;
    eventCount += page.length;
  }
  return count === 0 ? [] : [staysGone(run, count, false, eventCount >= eventsPerRunMax)];
}

/** What is really gone: an undo keeps contacts that hold more than it was to take back. */
async function deletedContacts({ ledger, feeds }: FinishParts, run: RunRecord): Promise<readonly string[]> {
  return deletionNote(ledger, run, run.counts.deleted, feeds.rulesOf(run.feed).onGone);
}

/** A full file that no longer contains a row without a key closes its letter once the run has ended; the run says so in its notes. */
async function lettersToClose({ ledger, feeds }: FinishParts, run: RunRecord): Promise<readonly string[]> {
  const count = isWholeFile(feeds, run) ? await ledger.deadLetters.unmetCount(run.id) : 0;
  if (count === 0) return [];
  const [letters, their] = count === 1 ? ['letter', 'its row'] : ['letters', 'their rows'];
  return [`closed ${count} dead ${letters} without a key: the file does not hold ${their} any more`];
}

/** A person wanted these very rows written, or decided so: the notes say why nothing came of some. */
async function olderRows({ ledger }: FinishParts, run: RunRecord): Promise<readonly string[]> {
  const words = wordsOfOlder(run);
  if ((words === null && run.kind !== 'held') || run.counts.skipped === 0) return [];
  let [count, line, decisions] = [0, 0, 0];
  for await (const events of eventPages(ledger.runs, run.id)) {
    const older = events.filter(({ kind, code }) => kind === 'skipped' && code === 'superseded');
    const rows = older.filter(({ message }) => message !== olderDecision);
    line ||= rows[0]?.line ?? 0;
    count += rows.length;
    decisions += older.length - rows.length;
  }
  return [
    ...(words === null || count === 0 ? [] : [`${olderRowsText(count, line)} since ${words.since}. ${words.next}.`]),
    ...(decisions === 0 ? [] : [olderDecisionsText(decisions, run.kind !== 'held')]),
  ];
}

function olderRowsText(count: number, line: number): string {
  const [rows, their] = count === 1 ? ['row was', 'its contact'] : ['rows were', 'their contacts'];
  const place = line === 0 ? '' : `, the first in line ${line}`;
  return `${count} ${rows} skipped (superseded)${place}: a later file has set ${their}`;
}

/** The fields are held no longer, so that a row may write them. @param hasLetter of a decision that was tried again. */
function olderDecisionsText(count: number, hasLetter: boolean): string {
  const [were, their] =
    count === 1
      ? ['decision about held fields was', 'its contact']
      : ['decisions about held fields were', 'their contacts'];
  const [closes, drop] = hasLetter ? [', and closes the dead letter', ', and drop the dead letter'] : ['', ''];
  const what = `${count} ${were} skipped (superseded): a later file has set ${their} since`;
  return `${what}. The next row of the feed that names these fields writes them${closes}; or set them in the workspace${drop}.`;
}

/** Since when, and what to do about them. Null of a run that a person did not ask for row by row, nor approve. */
function wordsOfOlder({ kind, approvals }: RunRecord): { readonly since: string; readonly next: string } | null {
  const again = 'To write such rows all the same,';
  switch (kind) {
    case 'fixFile': {
      const next = `${again} put them into a new file of their feed, without the column _id and those behind it`;
      return { since: 'the fix-file was written', next };
    }
    case 'redrive':
      return { since: 'they were rejected', next: `${again} put them into a new file of their feed` };
    case 'file':
      if (approvals.length === 0) return null;
      return { since: 'this one was read', next: `${again} import the file again` };
    default:
      return null;
  }
}

/**
 * All that a run's end needs before the ledger calls it ended: results and audits. The keys to audit are known from the
 * staged rows, which are deleted after the end.
 */
async function writeResults(parts: FinishParts, run: RunRecord, state: RunState, atMs: number): Promise<RunSummary> {
  const { ledger, clock, auditAfterMs } = parts;
  const ended: RunRecord = { ...(await cleanOriginal(parts, run)), state, finishedAtMs: atMs };
  const fixFile = run.counts.dead > 0 ? await writeFixFile(ledger.runs, run) : null;
  const changesFile = await writeChangesFile(ledger.contacts, parts.reports, run.id);
  const summary = await inStep('writeReport', () => writeReport(parts, ended, { fixFile, changesFile }, atMs));
  if (run.claimedPath !== '') {
    const note = await noteOn(parts, ended, summary);
    await inStep('archive', () => archive(run, state, note));
  }
  await removeStoppedNote(run);
  await enterAudits(ledger, run.id, atMs, (await ledger.nowMs(clock)) + auditAfterMs);
  return summary;
}

/** The second audit looks again at what was in doubt: later than anything that may still land. */
const secondAuditAfterMs = 600_000;

/** What the run touched is looked at again (`docs/rules.md`, "One contact per key", step 7), also where the run was cancelled. */
async function enterAudits(ledger: Ledger, runId: string, atMs: number, firstDueAtMs: number): Promise<void> {
  const secondDueAtMs = firstDueAtMs + secondAuditAfterMs;
  await inStep('enterAudits', () => ledger.audits.enter({ runId, atMs, firstDueAtMs, secondDueAtMs }));
}

async function archive(run: RunRecord, state: RunState, note: string): Promise<void> {
  const folders = archiveFolders(run.importFolder);
  const failed = state === 'failed';
  const folder = failed ? folders.failed : folders.done;
  const path = await archiveOrMissing(run, folder);
  // A file that failed and is not kept leaves its reason all the same.
  const notePath = failed ? failedFileOf(run).note : path && `${path}.txt`;
  if (notePath !== null) await storing(folder, () => writeFile(notePath, note, { mode: 0o600 }));
}

/** A checked-out file that has disappeared must not keep its run from ending: its rows are accounted for. */
async function archiveOrMissing(run: RunRecord, folder: string): Promise<string | null> {
  try {
    return await archiveFile(run.claimedPath, folder, run.id, run.fileName);
  } catch (error) {
    if (error instanceof PatchbayError && error.code === 'fileMissing') return null;
    throw error;
  }
}

/** One call ends after this many runs: the next one goes on. */
const tidiedRunsMax = 20;

/** What is completed after the end of runs. */
type TidyParts = Pick<FinishParts, 'ledger' | 'feeds' | 'log'>;

/**
 * Completes what a crash left undone after the end of runs: what follows from it, and letters that they took are open again.
 * @param feed of that feed alone. A file is not read before it is compared with what earlier ones left.
 */
export async function tidyFinished(parts: TidyParts, feed?: string): Promise<void> {
  const { ledger } = parts;
  await ledger.deadLetters.giveBackEnded();
  const of = feed === undefined ? {} : { feed };
  // Of two files of a feed the later one says who is missing.
  const ended = await ledger.runs.list({ unpruned: true, ...of, limit: tidiedRunsMax, oldestFirst: true });
  for (const run of ended) await settleEnd(parts, run);
}

/** rows = created + updated + unchanged + skipped + rejected, and the records say the same as the counts. */
function accountingFlaw(counts: RunCounts, ends: CountDelta): PatchbayError | null {
  const agrees =
    pendingCount(counts) === 0 &&
    (ends.created ?? 0) === counts.created &&
    (ends.updated ?? 0) === counts.updated &&
    (ends.unchanged ?? 0) <= counts.unchanged &&
    (ends.skipped ?? 0) <= counts.skipped &&
    (ends.dead ?? 0) <= counts.dead;
  if (agrees) return null;
  const { rows, created, updated, unchanged, skipped, dead } = counts;
  return new PatchbayError('bug', 'accountingBroken', 'the outcomes of the run do not add up to its rows', {
    facts: {
      rows,
      created,
      updated,
      unchanged,
      skipped,
      dead,
      recordsCreated: ends.created ?? 0,
      recordsUpdated: ends.updated ?? 0,
    },
    hint: 'Import the file again: contacts that are already right stay as they are. Please report this bug with the run report.',
  });
}

type Outcomes = Facts['rows']['outcomes'];

/** What the rows of a run have become so far. Zeroes if there is no such run. */
export async function outcomesOf({ runs }: Pick<Ledger, 'runs'>, runId: string): Promise<Outcomes> {
  const counts = (await runs.get(runId))?.counts;
  return Object.fromEntries(rowOutcomes.map((outcome) => [outcome, counts?.[outcome] ?? 0]));
}

/** For observers (`src/telemetry.ts`): rows that got an outcome. */
export function publishRows(feed: string, outcomes: Outcomes): void {
  publishFact('rows', { feed, outcomes });
}

function publishEnd(
  { id, feed, startedAtMs, counts, reason }: RunRecord,
  state: Facts['runEnded']['state'],
  { seconds }: Pick<RunSummary, 'seconds'>,
  endedAtMs: number,
): void {
  const began = startedAtMs ?? endedAtMs;
  const code = reason?.code ?? null;
  publishFact('runEnded', {
    run: id,
    feed,
    state,
    code,
    startedAtMs: began,
    endedAtMs,
    seconds,
    rowCount: counts.rows,
  });
}
