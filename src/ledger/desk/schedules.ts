/** Schedules and their ticks, over the records of the desk. */
import { PatchbayError } from '#src/errors.ts';
import type { NewAct } from '#src/ledger/acts.ts';
import {
  begun,
  ended,
  endOfInterrupted,
  forgettableTicks,
  mayBegin,
  newTickOf,
  released,
  tickGroup,
} from '#src/ledger/rules/ticks.ts';
import { type ScheduleLedger, type ScheduleRecord, type TickRecord, ticksKeptMax } from '#src/ledger/schedules.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { enterAct } from './acts.ts';
import { allMax, inTransactions, recordsOf, sliceMax } from './records.ts';

export const schedulesIn = recordsOf<ScheduleRecord>('schedule', ({ name }) => ({
  ...{ id: name, owner: null, state: '', atMs: null },
}));
const ticksIn = recordsOf<TickRecord>('tick', (tick) => ({
  ...{ id: tick.id, owner: tick.schedule, state: tickGroup(tick), atMs: tick.endedAtMs },
}));

export function schedulesOver(store: Store): ScheduleLedger {
  const { reads } = store;
  const workingTick = async (
    { get }: { readonly get: (id: string) => Promise<TickRecord | null> },
    id: string,
    attempts: number | undefined,
  ): Promise<TickRecord | null> => {
    const tick = await get(id);
    return tick?.state === 'working' && tick.attempts === (attempts ?? tick.attempts) ? tick : null;
  };
  /** Changes the schedule where it is there and `change` says how; durable. @returns whether it was changed. */
  const changed = (
    name: string,
    change: (known: ScheduleRecord) => ScheduleRecord | null,
    act?: NewAct,
  ): Promise<boolean> =>
    store.transact(async (tables) => {
      const schedules = schedulesIn(tables);
      const known = await schedules.get(name);
      const next = known === null ? null : change(known);
      if (next === null) return false;
      await schedules.put(next);
      await enterAct(tables, act, { schedule: name });
      return true;
    }, 'durable');

  return {
    list: async () => {
      const entries = await schedulesIn(reads).list({ order: 'id', limit: allMax });
      return entries.map(({ document }) => document);
    },

    get: (name) => schedulesIn(reads).get(name),

    put: (schedule) =>
      store.transact(async (tables) => {
        const schedules = schedulesIn(tables);
        const { name, work, rule, dueAtMs } = schedule;
        const entered = { pausedAtMs: null, pauseReason: null, resumedAtMs: null, createdAtMs: schedule.createdAtMs };
        await schedules.put({ ...((await schedules.get(name)) ?? entered), name, work, rule, dueAtMs });
      }, 'durable'),

    remove: async (name) => {
      await store.transact(async (tables) => schedulesIn(tables).remove(name));
      await inTransactions(store, async (tables) => {
        const old = await ticksIn(tables).list({ owner: name, order: 'oldest', limit: sliceMax });
        const count = await ticksIn(tables).remove(...old.map(({ id }) => id));
        return { count, isLast: old.length < sliceMax };
      });
    },

    advance: (name, fromMs, toMs, newTick, skipped) =>
      store.transact(async (tables) => {
        const schedule = await schedulesIn(tables).get(name);
        if (schedule?.dueAtMs !== fromMs || schedule.pausedAtMs !== null) return false;
        await schedulesIn(tables).put({ ...schedule, dueAtMs: toMs });
        const tick = newTickOf(newTick, schedule.work);
        await ticksIn(tables).put(skipped === null ? tick : ended(tick, skipped.atMs, skipped.end));
        if (skipped !== null) await forgetOld(tables, name);
        return true;
      }, 'durable'),

    request: (newTick, act) =>
      store.transact(async (tables) => {
        const ticks = ticksIn(tables);
        const name = newTick.schedule;
        const waiting = await ticks.list({ owner: name, state: 'waiting', order: 'oldest', limit: allMax });
        const known = waiting.find(({ document }) => document.user === newTick.user);
        if (known !== undefined) return known.document;
        const schedule = await schedulesIn(tables).get(name);
        if (schedule === null) throw noSuchSchedule(name);
        const tick = newTickOf(newTick, schedule.work);
        await ticks.put(tick);
        await enterAct(tables, act, { schedule: name, facts: { tick: tick.id } });
        return tick;
      }, 'durable'),

    setPaused: (name, pausedAtMs, dueAtMs, reason = null, act) =>
      changed(name, (known) => ({ ...known, pausedAtMs, dueAtMs, pauseReason: reason }), act),

    resume: (name, atMs, dueAtMs, act) =>
      changed(name, (known) => ({ ...known, pausedAtMs: null, pauseReason: null, resumedAtMs: atMs, dueAtMs }), act),

    setDue: (name, fromMs, toMs) =>
      changed(name, (known) => (known.dueAtMs === fromMs ? { ...known, dueAtMs: toMs } : null)),

    tick: (id) => ticksIn(reads).get(id),

    ticks: async (owner, limit) => {
      const entries = await ticksIn(reads).list({ owner, order: 'newest', limit });
      return entries.map(({ document }) => document);
    },

    lastEnded: async (owner, outcomes) => {
      const newest = outcomes.map((state) => ticksIn(reads).list({ owner, state, order: 'newest', limit: 1 }));
      const entries = (await Promise.all(newest)).flat().sort((a, b) => b.number - a.number);
      return entries[0]?.document ?? null;
    },

    openTicks: () => openTicks(reads),

    begin: (id, atMs) =>
      store.transact(async (tables) => {
        const tick = await ticksIn(tables).get(id);
        if (tick === null || !mayBegin(id, await openTicks(tables, tick.schedule))) return null;
        const working = begun(tick, atMs);
        await ticksIn(tables).put(working);
        return working;
      }),

    end: (id, atMs, end, attempts) =>
      store.transact(async (tables) => {
        const tick = await workingTick(ticksIn(tables), id, attempts);
        if (tick === null) return false;
        await ticksIn(tables).put(ended(tick, atMs, end));
        await forgetOld(tables, tick.schedule);
        return true;
      }, 'durable'),

    release: (id, attempts) =>
      store.transact(async (tables) => {
        const tick = await workingTick(ticksIn(tables), id, attempts);
        if (tick !== null) await ticksIn(tables).put(released(tick));
        return tick !== null;
      }),

    reopen: async (atMs, attemptsMax, underWay) => {
      const left = async (tables: Tables): Promise<readonly TickRecord[]> => {
        const open = await openTicks(tables);
        return open.filter(({ id, state }) => state === 'working' && !underWay.has(id));
      };
      // Called at each sweep: nothing is written where there is nothing to do.
      if ((await left(reads)).length === 0) return 0;
      return store.transact(async (tables) => {
        const ticks = await left(tables);
        const next = ticks.map((tick): TickRecord => {
          const end = endOfInterrupted(tick, attemptsMax);
          return end === null ? { ...tick, state: 'waiting' } : ended(tick, atMs, end);
        });
        await ticksIn(tables).put(...next);
        return next.length;
      }, 'durable');
    },
  };
}

/** In the order of their entry. */
async function openTicks(tables: Pick<Tables, 'desk'>, schedule?: string): Promise<readonly TickRecord[]> {
  const owner = schedule === undefined ? {} : { owner: schedule };
  const lists = (['waiting', 'working'] as const).map((state) =>
    ticksIn(tables).list({ ...owner, state, order: 'oldest', limit: allMax }),
  );
  const entries = (await Promise.all(lists)).flat();
  return entries.sort((a, b) => a.number - b.number).map(({ document }) => document);
}

async function forgetOld(tables: Tables, owner: string): Promise<void> {
  const ticks = ticksIn(tables);
  const open = (await openTicks(tables, owner)).length;
  const excess = (await ticks.count({ owner })) - open - ticksKeptMax;
  if (excess <= 0) return;
  const oldest = await ticks.list({ owner, order: 'oldest', limit: Math.min(excess, sliceMax) + open });
  const [newestRun] = await ticks.list({ owner, state: 'run', order: 'newest', limit: 1 });
  const endedOnes = oldest.filter(({ document }) => document.state === 'ended').slice(0, excess);
  await ticks.remove(
    ...forgettableTicks(
      endedOnes.map(({ id }) => id),
      newestRun?.id ?? null,
    ),
  );
}

function noSuchSchedule(name: string): PatchbayError {
  return new PatchbayError('usage', 'noSuchSchedule', `there is no schedule ${name}`, { facts: { schedule: name } });
}
