/**
 * How redrives take their letters and give them back, over any database (`docs/rules.md`, "Dead letters").
 *
 * A redrive is entered at once, with what it chooses, and takes its letters in slices: the process that entered it begins, and the reading
 * of its rows goes on where that was interrupted. No other redrive is entered for the feed before it has taken them all, so that a
 * letter is being tried again from the moment the redrive is there. When its run has ended, what it has not settled is open
 * again, in slices too; the entry in `redrives` stays until then, and shows what a crash left to be done.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { invariant, PatchbayError } from '#src/errors.ts';
import type { NewAct } from '#src/ledger/acts.ts';
import { enterAct } from '#src/ledger/desk/acts.ts';
import type { DeadLetterLedger, EditedLetter, LetterChoice } from '#src/ledger/letters.ts';
import { redriveName, takenBy } from '#src/ledger/rules/letters.ts';
import { isFinal, type NewRun, type RunRecord } from '#src/ledger/runs.ts';
import type { RedriveRecord } from '#src/ledger/tables/letters.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { lettersPerSlice } from './dead-rows.ts';

type RedriveChoice = LetterChoice & { readonly metBy: readonly string[]; readonly edited?: EditedLetter };

/** Redrives of one feed that a caller is waiting for, one after the other. */
const othersMax = 100;

export async function enterRedrive(
  store: Store,
  run: Omit<NewRun, 'kind' | 'fileName'>,
  choice: RedriveChoice,
  act?: NewAct,
): Promise<RunRecord | null> {
  const redrive: RedriveRecord = {
    runId: run.id,
    feed: run.feed,
    ids: choice.ids ?? null,
    code: choice.code ?? null,
    metBy: choice.metBy.filter((runId) => runId === (choice.runId ?? runId)),
    after: null,
    isTaking: true,
  };
  for (let others = 0; others < othersMax; others += 1) {
    const entered = await store.transact(async (tables) => {
      const before = (await tables.letters.redrives()).find(({ feed, isTaking }) => feed === run.feed && isTaking);
      if (before !== undefined) return { before };
      if (choice.edited !== undefined && !(await editRow(tables, choice.edited))) return { run: null };
      const { count, firstId } = await openFor(tables, redrive);
      if (count === 0) return { run: null };
      await tables.runs.insertRun({ ...run, kind: 'redrive', fileName: redriveName(count, firstId) });
      await tables.letters.putRedrive(run.id, redrive);
      const [record] = await tables.runs.findRuns({ ids: [run.id] }, 1);
      invariant(record !== undefined, 'a run that was just entered is there');
      await enterAct(tables, act, { run: run.id, feed: run.feed, facts: { letters: count } });
      return { run: record };
    }, 'durable');
    if (entered.before !== undefined) {
      await takeLetters(store, entered.before.runId);
      continue;
    }
    if (entered.run !== null) await takeLetters(store, run.id);
    return entered.run;
  }
  throw new PatchbayError('transient', 'redriveBusy', 'other retries of this feed are being entered', {
    hint: 'Try again.',
  });
}

/** The letter gets the row, and what was made of the one before is forgotten. @returns false where it is not open. */
async function editRow({ letters }: Tables, { id, row }: EditedLetter): Promise<boolean> {
  const [facts] = await letters.facts({ by: 'id', ids: [id] });
  const [letter] = await letters.read([id]);
  if (facts?.state !== 'open' || letter === undefined) return false;
  const { identity, firstRunId, lastAtMs } = facts;
  const kept = { ...letter, identity, firstRunId, redriveRunId: null, atMs: lastAtMs, seenBy: 0 };
  await letters.write([{ ...kept, row, desired: null, answer: null }]);
  return true;
}

/** How many open letters it will take, and the first of them where it is the only one. */
async function openFor(
  { letters }: Tables,
  redrive: RedriveRecord,
): Promise<{ readonly count: number; readonly firstId: string }> {
  const { ids, feed, code, metBy } = redrive;
  if (ids !== null) {
    const fitting = (await letters.facts({ by: 'id', ids })).filter(takenBy(redrive));
    return { count: fitting.length, firstId: fitting[0]?.id ?? '' };
  }
  const ofCode = code === null ? {} : { code };
  const met = new Set(metBy);
  const counts = (await letters.counts('run', { states: ['open'], ...ofCode })).filter(
    (one) => one.feed === feed && met.has(one.runId),
  );
  const count = counts.reduce((sum, one) => sum + one.letters, 0);
  const [{ runId } = { runId: '' }] = counts;
  const page = { by: 'list', settled: false, states: ['open'], ...ofCode, runId, feed, after: null, limit: 1 } as const;
  const [first] = count === 1 ? await letters.facts(page) : [];
  return { count, firstId: first?.id ?? '' };
}

/** Ends what `enterRedrive` began, whichever process did; at once where nothing is left to be taken. */
export async function takeLetters(store: Store, runId: string): Promise<void> {
  // Ends with the last open letter: each turn takes the next ones in the order they were met.
  while (await store.transact((tables) => takeNext(tables, runId))) await nextTurn();
}

/** @returns whether more may be left. */
async function takeNext(tables: Tables, runId: string): Promise<boolean> {
  const { letters, runs } = tables;
  const redrive = (await letters.redrives()).find((one) => one.runId === runId);
  if (redrive?.isTaking !== true) return false;
  const place = await runs.place(runId);
  if (place === null || isFinal(place.state)) return false;
  const { feed, ids, after } = redrive;
  const next =
    ids === null
      ? await letters.facts({ by: 'met', feed, states: ['open'], after, limit: lettersPerSlice })
      : await letters.facts({ by: 'id', ids: ids.slice(0, lettersPerSlice) });
  const taken = next.filter(takenBy(redrive)).map(({ id }) => id);
  await letters.change(taken, { state: 'redriven', redriveRunId: runId, attemptsBy: 1 });
  const isTaking = ids === null ? next.length === lettersPerSlice : ids.length > lettersPerSlice;
  await letters.putRedrive(runId, {
    ...redrive,
    ids: ids?.slice(lettersPerSlice) ?? null,
    after: ids === null ? (next.at(-1) ?? after) : null,
    isTaking,
  });
  return isTaking;
}

/** What a redrive that has ended, or is not there any more, took and has not settled is open again. */
export async function giveBack(store: Store, runId: string): Promise<void> {
  // Ends when nothing is left: each turn takes letters off the redrive.
  while (await store.transact((tables) => giveBackNext(tables, runId))) await nextTurn();
}

async function giveBackNext({ letters, runs }: Tables, runId: string): Promise<boolean> {
  if (!(await letters.redrives()).some((redrive) => redrive.runId === runId)) return false;
  const place = await runs.place(runId);
  if (place !== null && !isFinal(place.state)) return false;
  const next = await letters.facts({ by: 'redrive', runId, after: null, limit: lettersPerSlice });
  await letters.change(
    next.map(({ id }) => id),
    { state: 'open', redriveRunId: null },
  );
  if (next.length === lettersPerSlice) return true;
  await letters.putRedrive(runId, null);
  return false;
}

/** Completes what a crash left undone after the end of redrives. */
export async function giveBackEnded(store: Store): Promise<void> {
  for (const { runId } of await store.reads.letters.redrives()) await giveBack(store, runId);
}

/** In the order they were met. */
export async function lettersOf(
  { reads: { letters } }: Store,
  ...[runId, after, limit]: Parameters<DeadLetterLedger['lettersOf']>
): ReturnType<DeadLetterLedger['lettersOf']> {
  if (!(await letters.redrives()).some((redrive) => redrive.runId === runId)) return [];
  const taken = await letters.facts({ by: 'redrive', runId, after, limit });
  const whole = new Map((await letters.read(taken.map(({ id }) => id))).map((letter) => [letter.id, letter]));
  return taken.flatMap(({ id }) => whole.get(id) ?? []);
}
