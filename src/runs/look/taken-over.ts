/**
 * Contacts that would become another person's: two people share a number, and the key of the row of one of them is made of it, as that of the
 * other was in an earlier file (`docs/rules.md`, "Two people under one key"). Keys that are ids are believed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasKeyOfValue, isAnother } from '#src/contacts/called.ts';
import { type DesiredScalars, partOf } from '#src/contacts/desired.ts';
import type { Ledger } from '#src/ledger/port.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type RunEvent, type StagedRecord } from '#src/ledger/staging.ts';
import { mayBeDerived } from './derived-keys.ts';
import { nameOf } from './match-contacts.ts';
import { shownRow } from './new-keys.ts';

export interface TakenOver {
  readonly count: number;
  /** Changed rows whose key is made of an e-mail address or a number of theirs, and that their feed knows. */
  readonly base: number;
  readonly events: readonly RunEvent[];
}

const nothing: TakenOver = { count: 0, base: 0, events: [] };
const rowsPerPage = 500;

/** Compares the names of changed rows with those that the feed said before. @throws the signal's reason. */
export async function findTakenOver(
  { runs }: Pick<Ledger, 'runs'>,
  run: RunRecord,
  signal: AbortSignal,
): Promise<TakenOver> {
  if (run.kind !== 'file' || !mayBeDerived(run.mapping)) return nothing;
  const isDerived = ({ line, desired }: StagedRecord): boolean =>
    line > 0 && partOf(desired) === null && hasKeyOfValue(desired);
  let [count, base] = [0, 0];
  const events: RunEvent[] = [];
  for (let next: number | null = 0; next !== null; await nextTurn()) {
    signal.throwIfAborted();
    const page: Awaited<ReturnType<typeof runs.stagedPage>> = await runs.stagedPage(run.id, next, rowsPerPage);
    next = page.next;
    const rows = page.records.filter(isDerived);
    const before = await runs.saidOf(
      run.feed,
      rows.map(({ key }) => key),
    );
    for (const row of rows) {
      const said = before.get(row.key)?.said.scalars;
      if (said === undefined) continue;
      base += 1;
      if (!isAnother(said, row.desired.scalars)) continue;
      count += 1;
      if (events.length < eventsPerRunMax) events.push(takenEvent(row, said));
    }
  }
  return { count, base, events };
}

function takenEvent(row: StagedRecord, said: DesiredScalars): RunEvent {
  const { line, key, name } = shownRow(row);
  const message = 'the key of this row was that of another person before';
  return { kind: 'match', line, key, code: 'matchOther', field: null, message, file: name, app: nameOf(said) };
}
