/**
 * Rules on the events of a run: what a report says about it beyond its rejected rows. Pure.
 *
 * An event holds personal data: never for a log.
 */
import type { ContactPart } from '#src/contacts/desired.ts';
import type { HeldField, SkipReason } from '#src/contacts/outcome.ts';
import { changesPerRunMax, eventsPerRunMax, type RecordEnd, type RunEvent } from '#src/ledger/staging.ts';

/** The events of a record's end. `line` is the physical line of its row. @param part what it is about; absent of a whole row. */
export function eventsOf(end: RecordEnd, key: string, line: number, part?: ContactPart): readonly RunEvent[] {
  const isUndo = part?.startsWith('undo ') === true;
  const isDecision = part?.startsWith('held ') === true;
  switch (end.outcome) {
    case 'dead':
      return [];
    case 'skipped': {
      const message = isDecision && end.reason === 'superseded' ? olderDecision : skipSentences[end.reason];
      return [{ kind: 'skipped', line, key, code: end.reason, field: null, message }];
    }
    default:
      return [
        ...changedEvents(end.changedFields ?? [], end.outcome, key, line),
        ...end.heldFields.map((held) => (isUndo ? stayingEvent(key, line, held) : heldEvent(key, line, held))),
        ...end.warnings.map(
          ({ field, code, message }): RunEvent => ({ kind: 'warning', line, key, code, field, message }),
        ),
      ];
  }
}

/** A field that waits for a person, with both of its values. */
export function heldEvent(
  key: string,
  line: number,
  { field, ours, theirs }: Pick<HeldField, 'field' | 'ours' | 'theirs'>,
): RunEvent {
  const message = "the file and the app differ: kept the app's value";
  return { kind: 'held', line, key, code: 'held', field, message, file: ours, app: theirs };
}

/** Of an undo: a value that stays, with the reason. `file`: the value from before the run. */
function stayingEvent(key: string, line: number, held: HeldField): RunEvent {
  const event = heldEvent(key, line, held);
  if (held.namedBy !== undefined)
    return { ...event, code: 'otherFeedNames', message: `the file of feed ${held.namedBy} names it, too` };
  return { ...event, code: 'changedSince', message: 'changed since the run that was undone' };
}

function changedEvents(fields: readonly string[], code: string, key: string, line: number): readonly RunEvent[] {
  if (fields.length === 0) return [];
  const message = `${fields.length} ${fields.length === 1 ? 'field was' : 'fields were'} written`;
  return [{ kind: 'changed', line, key, code, field: null, fields, message }];
}

/** Why rows are skipped, for people: of one row, and behind the number of several. */
export const skipSentences: Readonly<Record<SkipReason, string>> = {
  duplicate: 'the file contains the same row twice',
  superseded: 'already set by a later file',
  gone: 'deleted in the workspace, or no longer there under its externalId, and not created again by this run',
  moved: 'changed, or deleted, after the plan was made',
  notSelected: 'not selected',
  made: 'created by the run that is being undone; deleted only with --delete-created',
  cancelled: 'the run was cancelled',
  ignored: 'the mapping says to leave such rows alone (ignoreRejected)',
};

/** Of a decision about held fields that is superseded: the later file need not say anything of them. */
export const olderDecision = 'decided before a later file that has set its contact';

/** The one event for all rows that a run left pending when it was cancelled. */
export function cancelledEvent(skipped: number): RunEvent {
  const message = `${skipped} ${skipped === 1 ? 'row was' : 'rows were'} left out: the run was cancelled`;
  return { kind: 'skipped', line: 0, key: null, code: 'cancelled', field: null, message };
}

/** Of a row whose write had no answer when its run was cancelled. */
export function cancelledInDoubt(key: string, line: number): RunEvent {
  const message =
    'its write had no answer when the run was cancelled, and may have landed: the next run that looks this contact up counts it';
  return { kind: 'skipped', line, key, code: 'cancelled', field: null, message };
}

export function isOfCancelling({ kind, line, code }: RunEvent): boolean {
  return kind === 'skipped' && line === 0 && code === 'cancelled';
}

/**
 * Those of the events that a run still has room for, each with its ordinal. Counts are not bounded.
 * @param lastOrdinal of the events that the run has already; 0 where it has none.
 */
export function eventsThatFit(
  events: readonly RunEvent[],
  lastOrdinal: number,
): readonly { readonly ordinal: number; readonly event: RunEvent }[] {
  const fitting: { ordinal: number; event: RunEvent }[] = [];
  for (const event of events) {
    const ordinal = lastOrdinal + fitting.length + 1;
    if (ordinal > eventsPerRunMax) break;
    if ((event.kind === 'changed' || event.kind === 'match') && ordinal > changesPerRunMax) continue;
    fitting.push({ ordinal, event });
  }
  return fitting;
}
