/** The dead letters of the ledger, over any database. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeadLetter, DeadLetterFilter, DeadLetterLedger } from './letters.ts';
import { inListOrder, settledStates, unsettledStates } from './rules/letters.ts';
import type { LetterFacts } from './tables/letters.ts';
import type { Store } from './tables.ts';

/** Letters that one read or one transaction takes. */
const lettersPerSlice = 500;

export function lettersOver(
  store: Store,
): Pick<DeadLetterLedger, 'list' | 'get' | 'groups' | 'openByRun' | 'lettersOf'> {
  const { letters } = store.reads;
  return {
    list: (filter) => listLetters(store, filter),

    get: async (id) => (await letters.read([id])).at(0) ?? null,

    groups: async (limit) => {
      const counts = (await letters.counts('reason', { states: ['open'] })).slice(0, limit);
      const examples = await letters.examples(counts);
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
      const open = (await factsOf(store, ids)).filter(
        ({ state, code, runId }) =>
          state === 'open' && code === (choice.code ?? code) && runId === (choice.runId ?? runId),
      );
      const inOrder = open.toSorted((a, b) => a.sequence - b.sequence);
      const ofRuns = Map.groupBy(inOrder, ({ feed, runId }) => JSON.stringify([feed, runId]));
      return [...ofRuns.values()].flatMap((met) => {
        const [first] = met;
        return first === undefined ? [] : [{ feed: first.feed, runId: first.runId, count: met.length }];
      });
    },

    lettersOf: async (runId, after, limit) => {
      if (!(await letters.redrives()).some((redrive) => redrive.runId === runId)) return [];
      const taken = await letters.facts({ by: 'redrive', runId, after, limit });
      const whole = new Map((await letters.read(taken.map(({ id }) => id))).map((letter) => [letter.id, letter]));
      return taken.flatMap(({ id }) => whole.get(id) ?? []);
    },
  };
}

/** Each part of the list is in order: both are merged. */
async function listLetters(store: Store, filter: DeadLetterFilter): Promise<readonly DeadLetter[]> {
  const { ids, states, code, runId, feed, after, limit } = filter;
  if (ids !== undefined) {
    const found: DeadLetter[] = [];
    for (let start = 0; start < ids.length; start += lettersPerSlice) {
      found.push(...(await store.reads.letters.read(ids.slice(start, start + lettersPerSlice))));
    }
    return found
      .filter((one) => (states ?? [one.state]).includes(one.state) && one.code === (code ?? one.code))
      .filter((one) => one.runId === (runId ?? one.runId) && one.feed === (feed ?? one.feed))
      .filter((one) => after === undefined || inListOrder(after, one) < 0)
      .toSorted(inListOrder)
      .slice(0, limit);
  }
  const given = {
    ...(code === undefined ? {} : { code }),
    ...(runId === undefined ? {} : { runId }),
    ...(feed === undefined ? {} : { feed }),
  };
  const parts: DeadLetter[][] = [];
  for (const [settled, ofPart] of [
    [false, unsettledStates],
    [true, settledStates],
  ] as const) {
    const wanted = ofPart.filter((state) => (states ?? ofPart).includes(state));
    if (wanted.length === 0) continue;
    const ofStates = wanted.length === ofPart.length ? {} : { states: wanted };
    parts.push(await readPart(store, { settled, ...ofStates, ...given }, after ?? null, limit));
  }
  const [first = [], second] = parts;
  return second === undefined ? first : [...first, ...second].toSorted(inListOrder).slice(0, limit);
}

/** Page by page, so that a long list holds nobody up. */
async function readPart(
  { reads }: Store,
  part: Omit<Parameters<Store['reads']['letters']['page']>[0], 'after' | 'limit'>,
  from: DeadLetterFilter['after'] | null,
  limit: number,
): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  let after = from ?? null;
  // Ends with the first short page, or with the limit.
  while (found.length < limit) {
    const pageMax = Math.min(lettersPerSlice, limit - found.length);
    const page = await reads.letters.page({ ...part, after, limit: pageMax });
    found.push(...page);
    if (page.length < pageMax) break;
    after = page.at(-1) ?? after;
    await nextTurn();
  }
  return found;
}

async function factsOf({ reads }: Store, ids: readonly string[]): Promise<readonly LetterFacts[]> {
  const found: LetterFacts[] = [];
  for (let start = 0; start < ids.length; start += lettersPerSlice) {
    found.push(...(await reads.letters.facts({ by: 'id', ids: ids.slice(start, start + lettersPerSlice) })));
  }
  return found;
}
