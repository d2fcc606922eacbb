/** Carries out the ends of leased records in SQLite; what they change is decided by `rules/settle.ts`. */
import { type EndChanges, type SettleFacts, settleRecord } from '#src/ledger/rules/settle.ts';
import type { CountName, RunKind } from '#src/ledger/runs.ts';
import type { RunEvent, SettledRecord, SettleRequest } from '#src/ledger/staging.ts';
import { type Database, textOrNull } from './database.ts';
import { addKeyEvent, changeContact, keyEvents, moveSaid, type SaidPlace, writeSaid } from './keys.ts';
import { closeLetter, closeLettersOf, enterDeadRow, placeOfDeath } from './letters.ts';
import { addCounts, addEvents } from './runs.ts';

/** For use inside a transaction. @returns how many records got their outcome. */
export function settleRecords(db: Database, request: SettleRequest): number {
  const counts = new Map<CountName, number>();
  const events: RunEvent[] = [];
  let written = 0;
  for (const record of request.records) {
    const { key } = record;
    const { contact, history, moved, said, end } = settleRecord(request, record, factsOf(db, request, record));
    if (contact !== null) changeContact(db, key, contact);
    for (const event of history) addKeyEvent(db, event);
    for (const one of moved) moveSaid(db, key, one, request.atMs);
    if (said !== null) writeSaid(db, placeOf(request, record), said);
    if (end === null) continue;
    written += 1;
    events.push(...end.events);
    const delta = { ...end.counts, deadNew: writeEnd(db, request, record, end) ? 1 : 0 };
    for (const [name, by] of Object.entries(delta)) {
      // The names of a delta are counts.
      counts.set(name as CountName, (counts.get(name as CountName) ?? 0) + by);
    }
  }
  addEvents(db, request.runId, events);
  addCounts(db, request.runId, Object.fromEntries(counts));
  return written;
}

function factsOf(
  db: Database,
  { runId, owner }: SettleRequest,
  { key, position, afterDoubt }: SettledRecord,
): SettleFacts {
  const contact = db.get('SELECT owner, contact_id, intent_run FROM contacts WHERE key = ?', key);
  const staged = db.get(
    `SELECT line, letter_id, fingerprint, sent, runs.kind AS run_kind FROM runs
     JOIN staged ON place = runs.sequence * 8388608 + ?2 AND outcome IS NULL WHERE runs.id = ?1`,
    runId,
    position,
  );
  return {
    holdsLease: contact?.owner === owner,
    pending:
      staged === null
        ? null
        : {
            line: Number(staged.line),
            fingerprint: String(staged.fingerprint),
            letterId: textOrNull(staged.letter_id),
            sent: staged.sent === 1,
            runKind: String(staged.run_kind) as RunKind,
          },
    boundTo: textOrNull(contact?.contact_id),
    intentRun: textOrNull(contact?.intent_run),
    doubtRuns:
      afterDoubt === undefined
        ? []
        : keyEvents(db, key).flatMap((event) => (event.kind === 'doubt' ? [event.runId] : [])),
  };
}

/** @returns whether a letter is new with this run. */
function writeEnd(
  db: Database,
  request: SettleRequest,
  { key, position, sequence }: SettledRecord,
  end: EndChanges,
): boolean {
  const { runId, feed } = request;
  const place = '(SELECT sequence * 8388608 + ? FROM runs WHERE id = ?)';
  db.run(`UPDATE staged SET outcome = ? WHERE place = ${place}`, end.outcome, position, runId);
  db.run('UPDATE runs SET pending = pending - 1 WHERE id = ?', runId);
  if (end.closesLettersOfKey) closeLettersOf(db, feed, [key]);
  if (end.closesLetter !== null) closeLetter(db, end.closesLetter);
  if (end.forgetsRow) {
    db.run('UPDATE said SET row_hash = NULL, fingerprint = NULL WHERE feed = ? AND key = ?', feed, key);
  }
  if (end.tried !== null) db.run('UPDATE said SET tried = ? WHERE feed = ? AND key = ?', end.tried, feed, key);
  if (end.dead === null) return false;
  const { row, isPart } = end.dead;
  return enterDeadRow(db, { ...placeOfDeath(db, request), sequence, isPart }, row);
}

function placeOf({ feed, runId, atMs }: SettleRequest, { key, line, sequence }: SettledRecord): SaidPlace {
  return { feed, key, runId, line, sequence, atMs };
}
