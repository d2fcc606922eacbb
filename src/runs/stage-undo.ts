/**
 * Stages an undo: a run that takes back what another run wrote, from the journal (`docs/plans.md`, "Undo"). Like any other run it is
 * read to its end first, then the guards decide, and nothing is sent before.
 *
 * Its rows say nothing of a file: what the feed knows of the keys stays as it is.
 */
import { createHash } from 'node:crypto';
import { fingerprint, type UndoOrder } from '#src/contacts/desired.ts';
import { PatchbayError } from '#src/errors.ts';
import { contentsBefore, undoOrderOf, type WrittenContact, writtenContacts } from '#src/journal/undo-records.ts';
import { counted, figureFacts, guardCode, percent } from '#src/ledger/rules/approval.ts';
import { skipSentences } from '#src/ledger/rules/events.ts';
import type { RunReason, RunRecord } from '#src/ledger/runs.ts';
import type { NewStagedRecord, RunEvent } from '#src/ledger/staging.ts';
import { approveCommand, guardReason } from './guard-reason.ts';
import { checkGuards, checkLook, type GuardVerdict, noOthersValues, noTally } from './guards.ts';
import type { LeaveParts } from './leave-staging.ts';
import { lookAtNewKeys } from './look/look.ts';
import { writeSlice } from './slice-ledger.ts';
import { stopRun } from './stop-run.ts';

/** What undos are staged with. */
export interface UndoParts extends LeaveParts {
  readonly rowsPerBatch: number;
}

/** What an undo would do, for its guards. */
interface UndoTally {
  readonly changed: number;
  readonly deleted: number;
  /** Deleted before, and made again. */
  readonly made: number;
  /** Values that are cleared or removed. */
  readonly cleared: number;
}

/** Moves the run to `applying`, `stopped` or `failed`. @throws the signal's reason: the run stays in `staging`. */
export async function stageUndo(parts: UndoParts, run: RunRecord, signal: AbortSignal): Promise<void> {
  const { ledger, clock, log, rowsPerBatch } = parts;
  if (!(await ledger.runs.beginStaging(run.id, clock.nowMs()))) return;
  const { undoes, deleteCreated } = run.options;
  if (undoes === null) throw new PatchbayError('bug', 'undoWithoutRun', 'an undo names the run that it undoes');
  /** The positions of rows whose contacts the run deleted. */
  const again: number[] = [];
  let tally: UndoTally = { changed: 0, deleted: 0, made: 0, cleared: 0 };
  let count = 0;
  let [linked, owners] = [0, 0];
  for await (const contacts of writtenContacts(ledger.contacts, undoes)) {
    signal.throwIfAborted();
    const records: NewStagedRecord[] = [];
    const made: number[] = [];
    const events: RunEvent[] = [];
    for (const contact of contacts) {
      count += 1;
      const order = undoOrderOf(contact, deleteCreated);
      if (order === null) events.push(leftAlone(contact));
      else {
        if (order.makes === true) made.push(records.length);
        records.push(recordOf(run, contact.key, { ...order, runId: undoes }));
        tally = withOrder(tally, order);
        if (order.unwritten !== undefined) owners += 1;
      }
      if (contact.isLinked) linked += 1;
    }
    const counts = { rows: contacts.length, skipped: events.length };
    const slice = { runId: run.id, feed: run.feed, rowsPerBatch, records, dead: [], events, counts };
    const { state, first } = await ledger.runs.stage({ ...slice, atMs: clock.nowMs() });
    again.push(...made.map((index) => first + index));
    if (state !== 'staging') {
      if (state === 'cancelling' || state === 'cancelled')
        await ledger.runs.skipPending(run.id, 'cancelled', clock.nowMs());
      return;
    }
  }
  const notes = [
    ...(count === 0
      ? [`the journal has no write of run ${undoes}: it wrote nothing, or longer ago than data.keepJournal`]
      : []),
    ...(linked > 0 ? [keptLinks(linked, undoes)] : []),
    ...(owners > 0 ? [ownersBefore(owners, undoes)] : []),
  ];
  await ledger.runs.record(run.id, { shape: { format: 'ndjson', columns: null, delimiter: null }, notes });
  const current = (await ledger.runs.get(run.id)) ?? run;
  const { adopt } = parts.feeds.rulesOf(run.feed);
  const found = await lookAtNewKeys(parts, current, { creates: 0, again, isFull: false, adopt }, signal);
  // The run was cancelled while the workspace was listed.
  if (found === null) return;
  await writeSlice(parts, run, { events: found.events });
  await ledger.runs.record(run.id, { notes: found.notes, ...(found.look === null ? {} : { look: found.look }) });
  const knownKeys = await ledger.runs.knownKeyCount(run.feed);
  const guards = verdictsOn(parts, current, tally, knownKeys);
  const unlinked = checkLook(found, current, adopt);
  if (unlinked.length + guards.length > 0) {
    const verdicts = [...unlinked, ...guards];
    const { serviceName } = parts;
    const reason =
      unlinked.length > 0 ? guardReason(verdicts, current, serviceName) : undoReason(verdicts, current, serviceName);
    if (await stopRun(parts, current, 'staging', reason))
      log.warn({ run: run.id, feed: run.feed, guards: verdicts.map(({ guard }) => guard) }, 'run stopped by a guard');
    return;
  }
  const goesOn = await ledger.runs.move(run.id, ['staging'], 'applying', { atMs: clock.nowMs(), reason: null });
  // Else it was cancelled.
  if (goesOn) log.info({ run: run.id, feed: run.feed, undoes, ...tally }, 'run staged');
}

function keptLinks(count: number, undoes: string): string {
  const [contacts, keep, their] = count === 1 ? ['contact', 'keeps', 'its'] : ['contacts', 'keep', 'their'];
  return `${count} ${contacts} that run ${undoes} linked ${keep} ${their} externalId`;
}

function ownersBefore(count: number, undoes: string): string {
  return `values of ${counted(count, 'contact')} that run ${undoes} took over without writing them belong to whom they belonged before`;
}

/** It is in no file. */
const nowhere = { line: 0, record: 0 } as const;

function recordOf(run: RunRecord, key: string, undo: UndoOrder): NewStagedRecord {
  const nothing = { scalars: {}, source: null, emails: [], phones: [], customFields: [] };
  const desired = { key, ...(undo.makes === true ? contentsBefore(undo) : nothing), undo };
  const fields = undo.changes.map(({ field, before }) => [field, before] as const);
  return {
    line: nowhere.line,
    sequence: run.sequence,
    key,
    // No row of a file has this hash.
    rowHash: createHash('sha256').update(`undo ${run.id} ${key}`).digest().subarray(0, 16).toString('base64url'),
    fingerprint: fingerprint(desired),
    mappingVersion: 'undo',
    desired,
    row: { kind: 'object', ...nowhere, object: Object.fromEntries([['externalId', key], ...fields]) },
  };
}

function leftAlone({ key, isDeleted }: WrittenContact): RunEvent {
  const code = isDeleted ? 'gone' : 'made';
  const message = isDeleted
    ? 'deleted by the run that is undone, and it is not known what was there'
    : skipSentences.made;
  return { kind: 'skipped', line: nowhere.line, key, code, field: null, message };
}

function withOrder(tally: UndoTally, { deletes, makes, changes, unwritten }: UndoOrder): UndoTally {
  if (deletes) return { ...tally, deleted: tally.deleted + 1 };
  if (makes === true) return { ...tally, made: tally.made + 1 };
  // Nothing is written where values have another owner and no more.
  if (changes.length === 0 && unwritten !== undefined) return tally;
  const cleared = changes.filter(({ before, isLabel }) => before === null && !isLabel).length;
  return { ...tally, changed: tally.changed + 1, cleared: tally.cleared + cleared };
}

/** As for a file: shares of what the feed knows. A contact that is deleted weighs like one that is changed, and has the floor of these. */
function verdictsOn(
  { feeds }: UndoParts,
  { feed, options }: RunRecord,
  { changed, deleted, made, cleared }: UndoTally,
  knownKeys: number,
): readonly GuardVerdict[] {
  const rows = changed + deleted + made;
  const tally = {
    ...noTally,
    rows,
    known: knownKeys,
    shared: knownKeys,
    updates: changed + deleted,
    creates: made,
    clears: cleared,
  };
  return checkGuards({ ...tally, knownKeys, others: noOthersValues }, feeds.rulesOf(feed).guards, options);
}

const undoWords: Readonly<Record<string, string>> = {
  updates: 'it changes or deletes',
  creates: 'it makes again',
  clears: 'it clears or removes values:',
};

/** Whether a guard on a staged undo has stopped it, and none that watches its writes. */
export function isStopOfStagedUndo({ code }: Pick<RunReason, 'code'>): boolean {
  return Object.keys(undoWords).some((guard) => guardCode(guard) === code);
}

function undoReason(verdicts: readonly GuardVerdict[], { id, options }: RunRecord, serviceName: string): RunReason {
  const sentences = verdicts.map(({ guard, count, base, limit }) => {
    const share = percent(base === 0 ? 1 : count / base);
    return `${undoWords[guard] ?? guard} ${count}, and the feed knows ${counted(base, 'contact')} (${share}; your limit is ${percent(limit)}: guards.${guard}Max)`;
  });
  return {
    code: guardCode(verdicts[0]?.guard ?? 'updates'),
    message: `stopped before the first write of the undo of run ${options.undoes}: ${sentences.join('; ')}`,
    hint: `If this is expected, approve the run: ${approveCommand(id, serviceName)}`,
    facts: figureFacts(verdicts),
  };
}
