/** Acts of people, over the records of the desk. */
import { randomBytes } from 'node:crypto';
import type { ActLedger, ActRecord, NewAct } from '#src/ledger/acts.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { inTransactions, recordsOf, sliceMax } from './records.ts';

type KeptAct = Omit<ActRecord, 'number'>;

/** All are of one state: there is nothing that an act waits for. */
export const doneState = 'done';

export const actsIn = recordsOf<KeptAct>('act', ({ id, run, atMs }) => ({ id, owner: run, state: doneState, atMs }));

/** Enters an act; for use inside the transaction of what it did. Without one nothing: the engine does the same things by itself. */
export async function enterAct(
  tables: Pick<Tables, 'desk'>,
  act: NewAct | null | undefined,
  about: Partial<Pick<ActRecord, 'run' | 'feed' | 'schedule' | 'facts'>>,
): Promise<void> {
  if (act === null || act === undefined) return;
  await actsIn(tables).put(keptAct(act, about));
}

/** With an id of its own. */
function keptAct(act: NewAct, about: Partial<Pick<ActRecord, 'run' | 'feed' | 'schedule' | 'facts'>>): KeptAct {
  const { run = null, feed = null, schedule = null, facts = {} } = about;
  const id = `a${randomBytes(6).toString('hex')}`;
  return { id, ...act, run, feed, schedule, facts: { ...act.facts, ...facts } };
}

/** A row of the table of records, for a database that is no ledger yet: a copy tells by it who made it. */
export function actRow(act: NewAct, number: number): Readonly<Record<string, string | number | null>> {
  const document = keptAct(act, {});
  const { id, atMs } = document;
  return { number, kind: 'act', id, owner: null, state: doneState, at: atMs, document: JSON.stringify(document) };
}

export function actsOver({ reads }: Store): ActLedger {
  return {
    list: async ({ runId, after, limit }) => {
      const which = runId === undefined ? { state: doneState } : { owner: runId };
      const entries = await actsIn(reads).list({ ...which, order: 'newest', after, limit });
      return entries.map(({ number, document }) => ({ ...document, number }));
    },
  };
}

/** Those of before that instant, in slices. */
export async function forgetActs(store: Store, beforeMs: number): Promise<number> {
  return inTransactions(store, async (tables) => {
    const old = await actsIn(tables).list({ state: doneState, untilMs: beforeMs - 1, order: 'due', limit: sliceMax });
    const count = await actsIn(tables).remove(...old.map(({ id }) => id));
    return { count, isLast: old.length < sliceMax };
  });
}
