/**
 * A ledger that was restored from a backup may hold a run as one whose file is still to be read, although it has ended since. Its file is in
 * an archive then, and its report says what it came to. The file is read again from there, and that report is kept beside the new one.
 */
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchbayError, systemCodeOf } from '#src/errors.ts';
import { changesPath } from '#src/journal/changes-file.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { isFinal, type RunRecord, type RunState } from '#src/ledger/runs.ts';
import type { Logger } from '#src/log.ts';
import { hashFile, putBack } from '#src/sources/check-out.ts';
import { readReport, reportPath } from './report.ts';
import { doneFileOf, failedFileOf, type RunFolders, runOfCheckedOut, takingFoldersIn } from './run-files.ts';
import { isOfHost, type StopParts } from './stop-run.ts';

interface ReadBeforeParts {
  readonly ledger: Pick<Ledger, 'runs'>;
  readonly log: Logger;
  readonly folders: RunFolders;
}

/**
 * To be called before the file of the run is opened. Puts it back where the run has it; nothing where it is there. May be done twice.
 * @param run as it was before it began to be staged: one with a reason was failing when its process died.
 * @throws PatchbayError `file` `endedBefore`: the file is not kept, or a person has cancelled the run then; the system's errors.
 */
export async function resumeRestored(parts: ReadBeforeParts, run: RunRecord): Promise<void> {
  const { folders } = parts;
  if (run.reason !== null || !isOfFolders(folders, run.claimedPath)) return;
  const earlier = await endBefore(folders.reports, run.id);
  const isLost = await isAway(run.claimedPath);
  if (!isLost && earlier === null) return;
  const archived = await archivedFile(run);
  if (isLost && archived === null && earlier === null) return;
  // Another process may have ended the run since it began to be staged here: a report of another end than `failed` is written only after that.
  const now = await parts.ledger.runs.get(run.id);
  if (now?.state !== 'staging' || now.reason !== null) return;
  const ended = earlier === null ? null : await keepReport(folders.reports, run.id, earlier);
  if (isLost && (archived === null || ended?.state === 'cancelled')) throw endedBefore(run, ended, archived);
  // Also in place of the same file that a person has brought: beside one in the archive would be a note that is not true any more.
  if (archived !== null) {
    await putBack(archived.path, run.claimedPath);
    await rm(archived.note, { force: true });
    parts.log.warn({ run: run.id, feed: run.feed }, 'file of a run that had ended by a newer ledger is read again');
    if (ended === null) await noteOf(parts, run, 'its file was taken from the archive');
  }
  if (ended !== null) await noteOf(parts, run, `what became of it then is in ${ended.path}`);
}

/**
 * A person, or a schedule, brings the content of a run again that has not ended: its own file, if that is lost before it was read to its end.
 * @param path of a copy of that content, which is gone afterwards.
 */
export async function bringAgain(
  { ledger, folders, host }: Pick<ReadBeforeParts, 'ledger' | 'folders'> & Pick<StopParts, 'host'>,
  run: RunRecord,
  path: string,
): Promise<void> {
  // In this order: a run that ends meanwhile has another state, or a reason, before its file leaves its place.
  const isOwn = isOfHost(run, host) && isOfFolders(folders, run.claimedPath);
  const isLost = isOwn && (await isAway(run.claimedPath));
  const now = isLost ? await ledger.runs.get(run.id) : null;
  const isUnread = now?.reason === null && (now.state === 'queued' || now.state === 'staging');
  if (isUnread) await putBack(path, run.claimedPath);
  else await rm(path, { force: true });
}

interface EndedRun {
  readonly state: RunState;
  /** Of its report. */
  readonly path: string;
}

/** Whether the file of a run belongs to this data folder: the ledger of a copied one still names the files of its original. */
function isOfFolders({ claimed, handedOver, importFolders }: RunFolders, path: string): boolean {
  return runOfCheckedOut([claimed, handedOver, ...importFolders.map(takingFoldersIn)], path) !== null;
}

/** The end that a report tells, and whether it is kept already; null where no report tells one. */
interface EndBefore {
  readonly state: RunState;
  readonly isKept: boolean;
}

/** What the run wrote first says more than what it found done. */
async function endBefore(reports: string, id: string): Promise<EndBefore | null> {
  const kept = await stateIn(reports, `${id}${earlierEnding}`);
  if (kept !== null) return { state: kept, isKept: true };
  const state = await stateIn(reports, id);
  return state === null ? null : { state, isKept: false };
}

/** Moves the report, so that the next one does not take its place. */
async function keepReport(reports: string, id: string, { state, isKept }: EndBefore): Promise<EndedRun> {
  const path = join(reports, `${id}${earlierEnding}.json`);
  if (!isKept) {
    await rename(changesPath(reports, id), changesPath(reports, `${id}${earlierEnding}`)).catch(unlessMissing);
    await rename(reportPath(reports, id), path);
  }
  return { state, path };
}

/** Of the names of such reports, behind the id of the run. */
const earlierEnding = '.earlier';

/** The end that a report tells; null where there is no report, for one of a run that was stopped, and of one that failed: it had read nothing. */
async function stateIn(reports: string, name: string): Promise<RunState | null> {
  const state = (await readReport(reports, name))?.state as RunState | undefined;
  return state !== undefined && state !== 'failed' && isFinal(state) ? state : null;
}

interface ArchivedFile {
  readonly path: string;
  readonly note: string;
}

/** The archived file with the very content of the run; null where there is none, as where rows of forgotten people were taken out of it. */
async function archivedFile(run: RunRecord): Promise<ArchivedFile | null> {
  const done = doneFileOf(run);
  for (const one of [{ path: done, note: `${done}.txt` }, failedFileOf(run)])
    if ((await hashFile(one.path).catch(() => null)) === run.sha256) return one;
  return null;
}

async function isAway(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessMissing)) === null;
}

function unlessMissing(error: unknown): null {
  if (systemCodeOf(error) === 'ENOENT') return null;
  throw error;
}

const restored = 'the ledger was restored to a moment before this file had been read to its end';

async function noteOf({ ledger }: ReadBeforeParts, { id }: RunRecord, what: string): Promise<void> {
  await ledger.runs.record(id, { notes: [`${restored}: ${what}`] });
}

function endedBefore(
  { fileName, id }: RunRecord,
  ended: EndedRun | null,
  archived: ArchivedFile | null,
): PatchbayError {
  const then =
    ended?.state === 'cancelled'
      ? 'its run was cancelled then'
      : 'its run ended then, and the file is not kept as it came';
  const again = archived === null ? 'import the file again' : `drop the file in again: ${archived.path}`;
  const report = ended === null ? '' : ` What became of it then is in ${ended.path}.`;
  return new PatchbayError('file', 'endedBefore', `${fileName} is not read: ${restored}; ${then}`, {
    facts: { file: fileName, run: id },
    hint: `If its contacts are to be written, ${again}.${report}`,
  });
}
