/** The dead letters of the ledger, over any database. Whatever runs over many of them goes in slices. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewAct } from '#src/ledger/acts.ts';
import { enterAct } from '#src/ledger/desk/acts.ts';
import type { DeadLetter, DeadLetterFilter, DeadLetterLedger, LettersOfFeed } from '#src/ledger/letters.ts';
import { fitsFilter, inListOrder, settledStates, unsettledStates } from '#src/ledger/rules/letters.ts';
import type { LetterFacts } from '#src/ledger/tables/letters.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { closeUnchanged, lettersPerSlice } from './dead-rows.ts';
import { enterRedrive, giveBackEnded, lettersOf, takeLetters } from './redrives.ts';

export function lettersOver(store: Store): DeadLetterLedger {
  const { letters } = store.reads;
  return {
    list: async (filter) => {
      const found = filter.ids === undefined ? await listed(store, filter) : await listedOf(store, filter.ids, filter);
      return readInOrder(store, found);
    },

    summaries: (filter) => listed(store, filter),

    get: async (id) => (await letters.read([id])).at(0) ?? null,

    ofKey: async (feed, key) => {
      const found = await letters.facts({ by: 'key', feed, keys: [key] });
      return readInOrder(store, found.toSorted(inListOrder));
    },

    counts: async (which) => {
      const counts = await letters.counts('reason', which);
      return counts.map(({ class: reasonClass, code, field, letters: count }) => {
        return { class: reasonClass, code, field, count };
      });
    },

    groups: async (limit) => {
      const counts = (await letters.counts('reason', { states: ['open'] })).slice(0, limit);
      const found = await letters.facts({ by: 'reason', reasons: counts });
      const examples = await letters.read(found.map(({ id }) => id));
      return counts.flatMap(({ class: reasonClass, code, field, letters: count }) => {
        const isOne = (one: DeadLetter) => one.class === reasonClass && one.code === code && one.field === field;
        const example = examples.find(isOne);
        return example === undefined ? [] : [{ class: reasonClass, code, field, count, example }];
      });
    },

    openByRun: async ({ ids, ...choice }) => {
      if (ids === undefined) {
        const counts = await letters.counts('run', { states: ['open'], ...choice });
        return counts.map(({ feed, runId, letters: count }) => ({ feed, runId, count }));
      }
      const open = await listedOf(store, ids, { ...choice, states: ['open'], limit: ids.length });
      const inOrder = open.toSorted((a, b) => a.sequence - b.sequence);
      const ofRuns = Map.groupBy(inOrder, ({ feed, runId }) => JSON.stringify([feed, runId]));
      return [...ofRuns.values()].flatMap((met) => {
        const [first] = met;
        return first === undefined ? [] : [{ feed: first.feed, runId: first.runId, count: met.length }];
      });
    },

    revision: () => letters.revision(),
    enterRedrive: (run, choice, act) => enterRedrive(store, run, choice, act),
    drop: (choice, act) => dropLetters(store, choice, act),
    takeLetters: (runId) => takeLetters(store, runId),
    lettersOf: (runId, after, limit) => lettersOf(store, runId, after, limit),
    giveBackEnded: () => giveBackEnded(store),
    closeUnchanged: (runId) => closeUnchanged(store, runId),
    unmetCount: (runId) => eachUnmet((after) => unmetOf(store.reads, runId, after)),
    closeUnmet: (runId) => closeUnmet(store, runId),
  };
}

type Given = Omit<DeadLetterFilter, 'ids'>;

/** Each part of the list is in order: both are merged. */
async function listed(store: Store, filter: Given): Promise<readonly LetterFacts[]> {
  const { states, after, limit, code, runId, feed } = filter;
  const given = {
    ...(code === undefined ? {} : { code }),
    ...(runId === undefined ? {} : { runId }),
    ...(feed === undefined ? {} : { feed }),
  };
  const parts: (readonly LetterFacts[])[] = [];
  for (const [settled, ofPart] of [
    [false, unsettledStates],
    [true, settledStates],
  ] as const) {
    const wanted = ofPart.filter((state) => (states ?? ofPart).includes(state));
    if (wanted.length === 0) continue;
    const ofStates = wanted.length === ofPart.length ? {} : { states: wanted };
    parts.push(await readPart(store, { by: 'list', settled, ...ofStates, ...given }, after ?? null, limit));
  }
  const [first = [], second] = parts;
  return second === undefined ? first : [...first, ...second].toSorted(inListOrder).slice(0, limit);
}

type ListPart = Omit<Extract<Parameters<Store['reads']['letters']['facts']>[0], { by: 'list' }>, 'after' | 'limit'>;

/** Page by page, so that a long list holds up no other work. */
async function readPart(
  { reads }: Store,
  part: ListPart,
  from: Pick<LetterFacts, 'id' | 'line' | 'lastAtMs'> | null,
  limit: number,
): Promise<readonly LetterFacts[]> {
  const found: LetterFacts[] = [];
  // Ends with the first short page, or with the limit.
  for (let after = from; found.length < limit; after = found.at(-1) ?? null) {
    const pageMax = Math.min(lettersPerSlice, limit - found.length);
    const page = await reads.letters.facts({ ...part, after, limit: pageMax });
    found.push(...page);
    if (page.length < pageMax) break;
    await nextTurn();
  }
  return found;
}

async function listedOf(store: Store, ids: readonly string[], filter: Given): Promise<readonly LetterFacts[]> {
  const found = await readInParts(ids, (slice) => store.reads.letters.facts({ by: 'id', ids: slice }));
  return found
    .filter((letter) => fitsFilter(filter, letter))
    .toSorted(inListOrder)
    .slice(0, filter.limit);
}

async function readInOrder(store: Store, found: readonly LetterFacts[]): Promise<readonly DeadLetter[]> {
  const ids = found.map(({ id }) => id);
  const letters = await readInParts(ids, (slice) => store.reads.letters.read(slice));
  const byId = new Map(letters.map((letter) => [letter.id, letter]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

async function readInParts<Found>(
  ids: readonly string[],
  read: (slice: readonly string[]) => Promise<readonly Found[]>,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (let start = 0; start < ids.length; start += lettersPerSlice) {
    if (start > 0) await nextTurn();
    found.push(...(await read(ids.slice(start, start + lettersPerSlice))));
  }
  return found;
}

/** Letters without a key that a run has not met, slice by slice. @returns how many there were. */
async function eachUnmet(slice: (after: LetterFacts | null) => Promise<readonly LetterFacts[]>): Promise<number> {
  let count = 0;
  let after: LetterFacts | null = null;
  // Ends with the first short slice.
  for (let isLeft = true; isLeft; await nextTurn()) {
    const unmet = await slice(after);
    count += unmet.length;
    after = unmet.at(-1) ?? null;
    isLeft = unmet.length === lettersPerSlice;
  }
  return count;
}

async function unmetOf(
  { runs, letters }: Tables,
  runId: string,
  after: LetterFacts | null,
): Promise<readonly LetterFacts[]> {
  const place = await runs.place(runId);
  if (place === null) return [];
  const { feed, sequence: beforeSequence } = place;
  return letters.facts({ by: 'keyless', feed, beforeSequence, after, limit: lettersPerSlice });
}

function closeUnmet({ transact }: Store, runId: string): Promise<number> {
  return eachUnmet((after) =>
    transact(async (tables) => {
      const unmet = await unmetOf(tables, runId, after);
      const ids = unmet.map(({ id }) => id);
      await tables.letters.change(ids, { state: 'closed', redriveRunId: null });
      return unmet;
    }),
  );
}

/** Those that are being tried again stay. Letters that come meanwhile are not waited for. */
async function dropLetters(store: Store, { ids, ...choice }: LettersOfFeed, act: NewAct): Promise<number> {
  const { code, runId, feed } = choice;
  let dropped = 0;
  const drop = async (next: (tables: Tables) => Promise<readonly LetterFacts[]>): Promise<number> => {
    const count = await store.transact(async (tables) => {
      const open = (await next(tables)).filter((letter) => letter.state === 'open' && fitsFilter(choice, letter));
      const named = open.map(({ id }) => id);
      await tables.letters.change(named, { state: 'dropped', redriveRunId: null });
      const facts = { letters: named.length, code: code ?? null };
      if (named.length > 0) await enterAct(tables, act, { run: runId ?? null, feed: feed ?? null, facts });
      return named.length;
    }, 'durable');
    dropped += count;
    return count;
  };
  if (ids !== undefined) {
    for (let start = 0; start < ids.length; start += lettersPerSlice) {
      const slice = ids.slice(start, start + lettersPerSlice);
      await drop(({ letters }) => letters.facts({ by: 'id', ids: slice }));
      await nextTurn();
    }
    return dropped;
  }
  const [{ letters: openMax } = { letters: 0 }] = await store.reads.letters.counts('all', { states: ['open'] });
  const page = {
    by: 'list',
    settled: false,
    states: ['open'],
    ...choice,
    after: null,
    limit: lettersPerSlice,
  } as const;
  // Ends with the first short slice, since what was dropped leaves the list; or with as many as there were at the beginning.
  while (dropped < openMax && (await drop(({ letters }) => letters.facts(page))) === lettersPerSlice) await nextTurn();
  return dropped;
}

/** Deletes letters that were closed or dropped and met last before that instant. */
export async function forgetLetters({ transact }: Store, beforeMs: number): Promise<void> {
  // Ends with the first short slice: each deletes what it found.
  while ((await transact(({ letters }) => letters.forget(beforeMs, lettersPerSlice))) === lettersPerSlice)
    await nextTurn();
}

/** How many are not settled. */
export async function unsettledCount({ reads }: Store): Promise<number> {
  const [all] = await reads.letters.counts('all', { states: unsettledStates });
  return all?.letters ?? 0;
}
