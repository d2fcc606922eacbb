/** Deliveries, and what was last told of each feed, over the records of the desk. */
import {
  type DeliveryFailure,
  type DeliveryKind,
  type DeliveryLedger,
  type DeliveryRecord,
  type KnownFeedCondition,
  type NewDelivery,
  waitingMax,
} from '#src/ledger/deliveries.ts';
import {
  again,
  broughtForward,
  type DeliveryGroup,
  dead,
  entered,
  groupOf,
  groupsOf,
  type KeptDelivery,
  tooMany,
  tooManyWait,
  tried,
  waitsAs,
} from '#src/ledger/rules/deliveries.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { enterAct } from './acts.ts';
import { feedStandings } from './feed-standings.ts';
import { allMax, type Entry, inTransactions, recordsOf, sliceMax } from './records.ts';

/** Ended ones beyond this many are forgotten, whatever their age. */
const endedMax = 50_000;

const deliveriesIn = recordsOf<KeptDelivery>('delivery', (delivery) => ({
  ...{ id: delivery.id, owner: delivery.feed, state: groupOf(delivery) },
  atMs: delivery.state === 'waiting' ? delivery.dueAtMs : delivery.endedAtMs,
}));
const conditionsIn = recordsOf<KnownFeedCondition>('condition', ({ feed }) => ({
  ...{ id: feed, owner: null, state: '', atMs: null },
}));

export function deliveriesOver(store: Store): DeliveryLedger {
  const { reads } = store;
  return {
    get: async (id) => {
      const delivery = await deliveriesIn(reads).get(id);
      return delivery === null ? null : told(delivery);
    },

    nextDue: async (untilMs, limit) => {
      const notices = await dueNotices(reads, untilMs, limit);
      const left = limit - notices.length;
      const changes = await deliveriesIn(reads).list({ state: waitsAs.change, untilMs, order: 'due', limit: left });
      return [...notices, ...changes].map(({ document }) => told(document));
    },

    list: async ({ states, after: afterId, limit }) => {
      const after = afterId === undefined ? undefined : await deliveriesIn(reads).entry(afterId);
      if (after === null) return [];
      const groups = states.flatMap(groupsOf);
      const lists = groups.map((state) => deliveriesIn(reads).list({ state, order: 'newest', after, limit }));
      const newest = (await Promise.all(lists)).flat().sort((a, b) => b.number - a.number);
      return newest.slice(0, limit).map(({ document }) => told(document));
    },

    tried: (id, atMs, end) =>
      store.transact(async (tables) => {
        const known = await deliveriesIn(tables).get(id);
        if (known?.state === 'waiting') await deliveriesIn(tables).put(tried(known, atMs, end));
      }),

    // Ends: each slice leaves fewer that are due before then.
    putOff: async (untilMs) => {
      for (const state of groupsOf('waiting')) {
        await inTransactions(store, async (tables) => {
          const filter = { state, untilMs: untilMs - 1, order: 'due', limit: sliceMax } as const;
          const due = await deliveriesIn(tables).list(filter);
          await deliveriesIn(tables).put(...due.map(({ document }) => ({ ...document, dueAtMs: untilMs })));
          return { count: due.length, isLast: due.length < sliceMax };
        });
      }
    },

    expire: async (beforeMs, atMs, why) => {
      let expired = 0;
      for (const state of groupsOf('waiting')) {
        let after: Entry<KeptDelivery> | undefined;
        // Ends: each slice begins behind the one before it.
        expired += await inTransactions(store, async (tables) => {
          const page = await deliveriesIn(tables).list({ state, order: 'oldest', after, limit: sliceMax });
          after = page.at(-1);
          const old = page.filter(({ document }) => document.waitsSinceMs < beforeMs);
          await deliveriesIn(tables).put(...old.map(({ document }) => dead(document, atMs, why)));
          return { count: old.length, isLast: page.length < sliceMax };
        });
      }
      return expired;
    },

    // Ends: each slice begins behind the one before it.
    bringForward: async (isTo, nowMs) => {
      let brought = 0;
      for (const state of groupsOf('waiting')) {
        let after: Pick<Entry<KeptDelivery>, 'number' | 'id' | 'atMs'> = lastDue(nowMs);
        // Mostly none has failed: then nothing waits for the ledger.
        if ((await deliveriesIn(reads).list({ state, order: 'due', after, limit: 1 })).length === 0) continue;
        brought += await inTransactions(store, async (tables) => {
          const page = await deliveriesIn(tables).list({ state, order: 'due', after, limit: sliceMax });
          after = page.at(-1) ?? after;
          const waiting = page.map(({ document }) => document).filter(({ feed }) => isTo(feed));
          const sooner = waiting.flatMap((one) => broughtForward(one, nowMs) ?? []);
          await deliveriesIn(tables).put(...sooner);
          return { count: sooner.length, isLast: page.length < sliceMax };
        });
      }
      return brought;
    },

    retry: (id, atMs, act) =>
      store.transact(async (tables) => {
        const found = await deliveriesIn(tables).entry(id);
        const open = found === null ? [] : await toTryAgain(tables, found);
        if (open.length === 0) return false;
        await deliveriesIn(tables).put(...open.map((one) => again(one, atMs)));
        await enterAct(tables, act, { facts: { notice: id } });
        return true;
      }),

    drop: async (ids, act) => {
      let dropped = 0;
      for (let start = 0; start < ids.length; start += sliceMax) {
        dropped += await store.transact(async (tables) => {
          const known = await deliveriesIn(tables).many(ids.slice(start, start + sliceMax));
          const open = [...known.values()].filter(({ state }) => state === 'dead');
          await deliveriesIn(tables).put(...open.map((one) => ({ ...one, state: 'dropped' as const })));
          if (open.length > 0) await enterAct(tables, act, { facts: { notices: open.length } });
          return open.length;
        }, 'durable');
      }
      return dropped;
    },

    conditions: async () => {
      const entries = await conditionsIn(reads).list({ order: 'id', limit: allMax });
      return entries.map(({ document }) => document);
    },

    setCondition: (condition, deliveries) =>
      store.transact(async (tables) => {
        const known = await conditionsIn(tables).get(condition.feed);
        await conditionsIn(tables).put({ ...condition, knownSinceMs: known?.knownSinceMs ?? condition.sinceMs });
        await enterDeliveries(tables, deliveries);
      }, 'durable'),

    forgetCondition: async (feed) => {
      await store.transact((tables) => conditionsIn(tables).remove(feed));
    },

    standings: (away) => feedStandings(reads, away),
  };
}

/** Behind all that is due by then, in the order in which deliveries are due. */
function lastDue(nowMs: number): Pick<Entry<KeptDelivery>, 'number' | 'id' | 'atMs'> {
  return { number: Number.MAX_SAFE_INTEGER, id: '', atMs: nowMs };
}

/** What is tried again with it: of a notice that waits also those before it, without which its turn does not come. */
async function toTryAgain(
  tables: Pick<Tables, 'desk'>,
  { document, number }: Entry<KeptDelivery>,
): Promise<readonly KeptDelivery[]> {
  if (document.state === 'dead') return [document];
  if (document.state !== 'waiting') return [];
  const state = groupOf(document);
  const line = { owner: document.feed, state, order: 'oldest', limit: waitingMax } as const;
  const before = state === waitsAs.notice ? await deliveriesIn(tables).list(line) : [];
  const waiting = [...before.filter((one) => one.number < number).map((one) => one.document), document];
  return waiting.filter(({ dueAtMs }) => dueAtMs > 0);
}

/** Notices of a feed arrive in order: each waits for the one before it. Ends with enough of them, or behind the last that is due. */
async function dueNotices(
  tables: Pick<Tables, 'desk'>,
  untilMs: number,
  limit: number,
): Promise<readonly Entry<KeptDelivery>[]> {
  const deliveries = deliveriesIn(tables);
  const state = waitsAs.notice;
  const heads = new Map<string, number | undefined>();
  const found: Entry<KeptDelivery>[] = [];
  for (let after: Entry<KeptDelivery> | undefined; ; ) {
    const due = await deliveries.list({ state, untilMs, order: 'due', after, limit: sliceMax });
    for (const entry of due) {
      const { feed } = entry.document;
      if (!heads.has(feed)) {
        const [head] = await deliveries.list({ owner: feed, state, order: 'oldest', limit: 1 });
        heads.set(feed, head?.number);
      }
      if (heads.get(feed) === entry.number) found.push(entry);
      if (found.length === limit) return found;
    }
    after = due.at(-1);
    if (due.length < sliceMax) return found;
  }
}

/**
 * Enters notices; for use inside the transaction that writes what they report. An id that is there already is
 * left as it is. Where more than `waitingMax` wait, the oldest die: changes first.
 */
export async function enterDeliveries(tables: Tables, given: readonly NewDelivery[]): Promise<void> {
  if (given.length === 0) return;
  const deliveries = deliveriesIn(tables);
  const known = await deliveries.many(given.map(({ id }) => id));
  await deliveries.put(...given.filter(({ id }) => !known.has(id)).map(entered));
  const countOf = (kind: DeliveryKind): Promise<number> => deliveries.count({ state: waitsAs[kind] });
  const excess = tooMany({ notice: await countOf('notice'), change: await countOf('change') });
  const atMs = Math.max(...given.map((one) => one.atMs));
  for (const kind of ['change', 'notice'] as const) await give(waitsAs[kind], excess[kind], atMs, tooManyWait);

  async function give(state: DeliveryGroup, limit: number, endedMs: number, why: DeliveryFailure): Promise<void> {
    const oldest = limit === 0 ? [] : await deliveries.list({ state, order: 'oldest', limit });
    await deliveries.put(...oldest.map(({ document }) => dead(document, endedMs, why)));
  }
}

export async function deliveryCount(tables: Pick<Tables, 'desk'>, state: DeliveryRecord['state']): Promise<number> {
  const counts = groupsOf(state).map((group) => deliveriesIn(tables).count({ state: group }));
  return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0);
}

/** Those that ended before then, and the oldest of those that are too many, in slices. */
export async function forgetDeliveries(store: Store, beforeMs: number): Promise<number> {
  let forgotten = 0;
  for (const state of ['delivered', 'dead', 'dropped'] as const) {
    forgotten += await inTransactions(store, async (tables) => {
      const deliveries = deliveriesIn(tables);
      const excess = (await deliveries.count({ state })) - endedMax;
      const oldest = await deliveries.list({ state, order: 'due', limit: sliceMax });
      const old = oldest.filter(({ atMs }, index) => index < excess || (atMs ?? 0) < beforeMs);
      const count = await deliveries.remove(...old.map(({ id }) => id));
      return { count, isLast: old.length < sliceMax };
    });
  }
  return forgotten;
}

function told(kept: KeptDelivery): DeliveryRecord {
  const { waitsSinceMs: _since, notBeforeMs: _asked, broughtForwardMs: _brought, ...delivery } = kept;
  return delivery;
}
