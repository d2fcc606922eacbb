/**
 * The staged rows of the ledger, over whichever database: how a slice of a file goes in, how its rows are taken in batches, put
 * off and ended, and how they are counted.
 *
 * What walks over all rows of a run goes in slices, by position.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { invariant } from '#src/errors.ts';
import { cancelledEvent, cancelledInDoubt, eventsThatFit, isOfCancelling } from '#src/ledger/rules/events.ts';
import { atHand, contactRecord, type KeyAtHand, leaseFacts, noWrites } from '#src/ledger/rules/key-rows.ts';
import { isAtWork } from '#src/ledger/rules/lease.ts';
import { batchesOf, deadWithdrawn, stagedRow, storedRows } from '#src/ledger/rules/staging.ts';
import type { CountDelta } from '#src/ledger/runs.ts';
import {
  type LinkCode,
  linkCodes,
  type NewKey,
  type StagedRecord,
  type StagedSlice,
  type StagingLedger,
} from '#src/ledger/staging.ts';
import type { RowState, RunPlace } from '#src/ledger/tables/runs.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { speakFor, unchangedKind } from './confirmed.ts';
import { closeLettersOfRows, enterDeadRows } from './dead-rows.ts';
import { rowsPerSlice } from './runs.ts';

type RowLedger = Pick<
  StagingLedger,
  | 'stage'
  | 'stagedAt'
  | 'stagedPage'
  | 'confirm'
  | 'confirmedSince'
  | 'newKeys'
  | 'linkRows'
  | 'nextBatches'
  | 'batch'
  | 'pendingRecords'
  | 'pendingCount'
  | 'defer'
  | 'releaseBatch'
  | 'skipPending'
  | 'isWriting'
  | 'skippedInDoubt'
  | 'countEnds'
  | 'events'
  | 'deadRows'
  | 'deadByCode'
>;

export function stagedRowsOver(store: Store): RowLedger {
  const { reads, transact } = store;
  /** Walks over the rows of a run, in the order of its file. Ends behind its last position. */
  async function* slices(
    runId: string,
  ): AsyncGenerator<{ readonly place: RunPlace; readonly rows: readonly RowState[] }> {
    const place = await reads.runs.place(runId);
    if (place === null) return;
    for (let first = 1; first <= place.lastPosition; first += rowsPerSlice) {
      const last = Math.min(place.lastPosition, first + rowsPerSlice - 1);
      yield { place, rows: await reads.runs.rowStates(place.sequence, { first, last }) };
      await nextTurn();
    }
  }

  const recordsAt = async (
    { runs }: Pick<Tables, 'runs'>,
    place: RunPlace,
    positions: readonly number[],
  ): Promise<readonly StagedRecord[]> => {
    if (positions.length === 0) return [];
    const headers = await runs.headers(place.sequence);
    return (await runs.pendingRows(place.sequence, positions)).map((row) => stagedRow(place, headers, row));
  };

  return {
    stage: (slice) =>
      transact(async (tables) => {
        const { runs } = tables;
        const place = await runs.place(slice.runId);
        invariant(place !== null, 'the run of a slice is there', { run: slice.runId });
        const { sequence } = place;
        // What gives way goes first: a new record of the same key must not end with it.
        const ends = new Map((slice.withdrawnRows ?? []).map(({ position, end }) => [position, end]));
        const content = await recordsAt(tables, place, [...ends.keys()]);
        await runs.changeRows(
          sequence,
          [...ends.keys()].map((position) => ({ position, outcome: 'withdrawn' })),
        );
        const withdrawnDead = content.flatMap((record) => {
          return deadWithdrawn(record, ends.get(record.position) ?? { kind: 'skipped' }) ?? [];
        });
        if (slice.records.length > 0) {
          const known = await runs.headers(sequence);
          const stored = storedRows(slice.records, place.lastPosition, known);
          await runs.insertRows(sequence, { ...stored, batches: batchesOf(stored.rows, slice.rowsPerBatch) });
        }
        await refresh(tables, slice.feed, slice.refreshed ?? []);
        await speakFor(tables, slice.feed, slice.spoken ?? []);
        const rejected = [...withdrawnDead, ...slice.dead].map((dead) => ({ dead }));
        const deadNew = await enterDeadRows(tables, place, rejected, slice);
        await closeLettersOfRows(
          tables,
          place.id,
          (slice.answered ?? []).map((id) => ({ id, sequence })),
        );
        await runs.insertEvents(sequence, eventsThatFit(slice.events, place.lastEvent));
        await runs.changeRun(sequence, {}, { ...slice.counts, deadNew });
        return { first: place.lastPosition + 1, state: place.state };
      }),

    stagedAt: async (runId, positions) => {
      const place = await reads.runs.place(runId);
      return place === null ? [] : recordsAt(reads, place, positions);
    },

    stagedPage: async (runId, afterPosition, limit) => {
      const place = await reads.runs.place(runId);
      if (place === null || afterPosition >= place.lastPosition) return { records: [], next: null };
      const last = Math.min(place.lastPosition, afterPosition + limit);
      const positions = Array.from({ length: last - afterPosition }, (_, index) => afterPosition + 1 + index);
      return { records: await recordsAt(reads, place, positions), next: last < place.lastPosition ? last : null };
    },

    confirm: (runId, { unchanged, met, missing = null }) =>
      transact(async ({ runs }) => {
        const one = await runs.place(runId);
        if (one?.state !== 'staging') return;
        await runs.putBitmap(one.sequence, unchangedKind(one), unchanged);
        await runs.putBitmap(one.sequence, 'met', met);
        if (missing !== null) await runs.putBitmap(one.sequence, 'missing', missing);
      }),

    confirmedSince: (feed, sequence) => reads.runs.bitmaps(feed, 'unchanged', sequence + 1, Number.MAX_SAFE_INTEGER),

    newKeys: async (runId, afterPosition, limit) => {
      const place = await reads.runs.place(runId);
      const found: NewKey[] = [];
      let after = afterPosition;
      // Ends with enough rows, or behind the last position.
      while (place !== null && found.length < limit && after < place.lastPosition) {
        const span = { first: after + 1, last: after + limit };
        const waiting = (await reads.runs.rowStates(place.sequence, span)).filter(({ outcome }) => outcome === null);
        const keys = waiting.map(({ key }) => key);
        const codes = await newKeys(reads, place.feed, keys);
        const fresh = waiting.flatMap(({ position, key }) => {
          const unlinked = codes.get(key);
          return unlinked === undefined ? [] : [{ position, key, unlinked }];
        });
        found.push(...fresh.slice(0, limit - found.length));
        after = found.length < limit ? span.last : (found.at(-1)?.position ?? span.last);
        if (found.length < limit) await nextTurn();
      }
      return found;
    },

    linkRows: async (runId, links) => {
      for (let first = 0; first < links.length; first += rowsPerSlice) {
        await transact(async ({ runs }) => {
          const place = await runs.place(runId);
          if (place !== null) await runs.changeRows(place.sequence, links.slice(first, first + rowsPerSlice));
        });
        await nextTurn();
      }
    },

    nextBatches: (nowMs, limit) => reads.runs.nextBatches(nowMs, limit),

    batch: async (runId, batch) => {
      const place = await reads.runs.place(runId);
      const found = place === null ? null : await reads.runs.batch(place.sequence, batch);
      if (found === null || found.isDone) return null;
      return { runId, batch, generation: found.generation, dueAtMs: found.dueAtMs };
    },

    pendingRecords: async (runId, batch, nowMs, limit) => {
      const place = await reads.runs.place(runId);
      const span = place === null ? null : await reads.runs.batch(place.sequence, batch);
      if (place === null || span === null) return [];
      const due = await reads.runs.rowStates(place.sequence, span, { untilMs: nowMs, limit });
      const order = new Map(due.map(({ position }, index) => [position, index]));
      const records = await recordsAt(reads, place, [...order.keys()]);
      return records.toSorted((one, two) => (order.get(one.position) ?? 0) - (order.get(two.position) ?? 0));
    },

    pendingCount: async (runId) => (await reads.runs.place(runId))?.pending ?? 0,

    defer: (runId, records) =>
      transact(async ({ runs }) => {
        const place = await runs.place(runId);
        if (place === null) return;
        const changes = records.map(({ position, notBeforeMs, burnAttempt }) => {
          return { position, notBeforeMs, attempts: burnAttempt ? 1 : 0 };
        });
        await runs.changeRows(place.sequence, changes);
      }),

    releaseBatch: (runId, batch, generation, notBeforeMs) =>
      transact(async ({ runs }) => {
        const place = await runs.place(runId);
        const span = place === null ? null : await runs.batch(place.sequence, batch);
        if (place === null || span === null) return true;
        const [next] = await runs.rowStates(place.sequence, span, { untilMs: Number.MAX_SAFE_INTEGER, limit: 1 });
        const isDone = next === undefined;
        const dueAtMs = Math.max(notBeforeMs, next?.notBeforeMs ?? 0);
        await runs.changeBatch(place.sequence, batch, { isDone, dueAtMs, generation });
        return isDone;
      }),

    skipPending: async (runId) => {
      let skipped = 0;
      let cancelled = 0;
      const doubted = await keysInDoubt(reads, runId);
      for await (const { place, rows } of slices(runId)) {
        cancelled += rows.filter(({ outcome }) => outcome === 'cancelled').length;
        const pending = rows.filter(({ outcome }) => outcome === null);
        if (pending.length === 0) continue;
        const inDoubt = pending.filter(({ key }) => doubted.has(key)).map(({ position }) => position);
        skipped += await transact(async (tables) => {
          const { runs } = tables;
          if (inDoubt.length > 0) {
            const events = (await recordsAt(tables, place, inDoubt)).map(({ key, line }) =>
              cancelledInDoubt(key, line),
            );
            const lastEvent = (await runs.place(runId))?.lastEvent ?? place.lastEvent;
            await runs.insertEvents(place.sequence, eventsThatFit(events, lastEvent));
          }
          const changes = pending.map(({ position }) => ({ position, outcome: 'cancelled' as const }));
          const ended = await runs.changeRows(place.sequence, changes);
          await runs.changeRun(place.sequence, {}, { skipped: ended });
          return ended;
        });
      }
      await transact(async ({ runs }) => {
        const place = await runs.place(runId);
        if (place === null || skipped + cancelled === 0) return;
        const [last] = await runs.events(place.sequence, place.lastEvent - 1, 1);
        // What an interrupted cancelling has skipped is reported once, by the process that ends it.
        const isTold = last !== undefined && isOfCancelling(last);
        const told = isTold ? skipped : skipped + cancelled;
        if (told > 0) await runs.insertEvents(place.sequence, eventsThatFit([cancelledEvent(told)], place.lastEvent));
      });
      return skipped;
    },

    isWriting: async (runId, moment) => {
      const doubted = [...(await keysInDoubt(reads, runId)).values()];
      return doubted.some((rows) => isAtWork(moment, leaseFacts(rows, '', 0)));
    },

    skippedInDoubt: async (runId) => {
      const doubted = await keysInDoubt(reads, runId);
      if (doubted.size === 0) return 0;
      let count = 0;
      for await (const { rows } of slices(runId)) {
        const left = rows.filter(({ outcome }) => outcome === null || outcome === 'cancelled');
        count += left.filter(({ key }) => doubted.has(key)).length;
      }
      return count;
    },

    countEnds: async (runId) => {
      const counts = new Map<string, number>();
      for await (const { rows } of slices(runId)) {
        for (const { outcome } of rows) if (outcome !== null) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      }
      const delta: CountDelta = {
        created: counts.get('created') ?? 0,
        updated: counts.get('updated') ?? 0,
        unchanged: counts.get('unchanged') ?? 0,
        skipped: (counts.get('skipped') ?? 0) + (counts.get('cancelled') ?? 0),
        dead: counts.get('dead') ?? 0,
      };
      return delta;
    },

    events: async (runId, afterOrdinal, limit) => {
      const place = await reads.runs.place(runId);
      return place === null ? [] : reads.runs.events(place.sequence, afterOrdinal, limit);
    },

    deadRows: async (runId, afterOrdinal, limit) => {
      const place = await reads.runs.place(runId);
      return place === null ? [] : reads.letters.deadRows(place.sequence, afterOrdinal, limit);
    },

    deadByCode: async (runId) => {
      const place = await reads.runs.place(runId);
      return place === null ? [] : reads.letters.deadCounts(place.sequence);
    },
  };
}

/** Keys with a write of the run that is on its way, or of which no answer came. They are few: those that work is under way on. */
async function keysInDoubt({ keys }: Pick<Tables, 'keys'>, runId: string): Promise<ReadonlyMap<string, KeyAtHand>> {
  const writing = (await keys.inFlight({ isWriting: true })).map(({ key }) => key);
  if (writing.length === 0) return new Map();
  const doubted = new Map<string, KeyAtHand>();
  for (const [key, rows] of await keys.read(writing, [])) {
    const one = atHand(key, rows);
    const { intentRun, claim } = contactRecord(one);
    if (intentRun === runId || claim?.runId === runId) doubted.set(key, one);
  }
  return doubted;
}

/** What the feed knows of these keys has a new row hash from now on; keys that it does not know stay unknown. */
async function refresh(
  { keys }: Tables,
  feed: string,
  refreshed: NonNullable<StagedSlice['refreshed']>,
): Promise<void> {
  if (refreshed.length === 0) return;
  const rows = await keys.read(
    refreshed.map(({ key }) => key),
    [feed],
  );
  const known = refreshed.flatMap(({ key, rowHash }) => {
    return (rows.get(key)?.known ?? []).map((one) => ({ ...one, rowHash }));
  });
  if (known.length > 0) await keys.write({ ...noWrites, known });
}

/** Keys that are bound to no contact, and as what their rows were rejected before and still wait. */
async function newKeys(
  { keys: tables, letters }: Tables,
  feed: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly LinkCode[]>> {
  if (keys.length === 0) return new Map();
  const rows = await tables.read(keys, []);
  const unbound = keys.filter((key) => (rows.get(key)?.contact?.contactId ?? null) === null);
  const codes = new Map<string, readonly LinkCode[]>(unbound.map((key) => [key, []]));
  for (const { key, code } of await letters.facts({ by: 'key', feed, keys: unbound })) {
    const linkCode = linkCodes.find((one) => one === code);
    if (key !== null && linkCode !== undefined) codes.set(key, [...(codes.get(key) ?? []), linkCode]);
  }
  return codes;
}
