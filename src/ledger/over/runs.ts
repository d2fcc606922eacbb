/**
 * The runs of the ledger, over whichever database: what of a run is read and written together, by the rules in `rules/`.
 *
 * What a run leaves behind may be a million rows: it is deleted in slices, each a transaction of its own. A process that is
 * interrupted between two of them begins again and finds less to do.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { invariant } from '#src/errors.ts';
import { enterAct } from '#src/ledger/desk/acts.ts';
import { acceptedStates, historyKind, keepsKeys } from '#src/ledger/rules/feeds.ts';
import { approved, moved, notesWith, type RunChange, unread } from '#src/ledger/rules/runs.ts';
import { isFinal, openRunStates, type RunFilter, type RunLedger, type RunRecord } from '#src/ledger/runs.ts';
import type { RunPart, RunWhere } from '#src/ledger/tables/runs.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { findOlderWrites, withholdUnchanged } from './confirmed.ts';
import { giveBack } from './redrives.ts';

/** How many rows one transaction deletes or ends. */
export const rowsPerSlice = 2_000;

/** What an interrupted reading leaves, and what a finished run needs no more. */
const stagedParts = [
  'rows',
  'batches',
  'events',
  'headers',
  'deadRows',
  'missing',
  'answered',
  'withheld',
  'overtaken',
] as const satisfies readonly RunPart[];
const readingParts = [...stagedParts, 'met', 'unchanged'] as const;

export function runsOver(store: Store): RunLedger {
  const { reads, transact } = store;
  const runOf = async ({ runs }: Pick<Tables, 'runs'>, id: string): Promise<RunRecord | null> =>
    (await runs.findRuns({ ids: [id] }, 1))[0] ?? null;

  const accepted = (feed: string, beforeSequence: number, applies: 'rows' | 'allRows'): RunWhere => {
    return { feed, kind: historyKind, states: acceptedStates, beforeSequence, applies };
  };

  /** Ends when nothing is left: each turn deletes rows, or is the last. @returns whether it was allowed to the end. */
  const emptied = async (
    id: string,
    parts: readonly RunPart[],
    isAllowed: (run: RunRecord) => boolean,
  ): Promise<boolean> => {
    for (const part of parts) {
      for (let isLeft = true; isLeft; await nextTurn()) {
        const deleted = await transact(async (tables) => {
          const run = await runOf(tables, id);
          if (run === null || !isAllowed(run)) return null;
          return tables.runs.deletePart(run.sequence, part, rowsPerSlice);
        });
        if (deleted === null) return false;
        isLeft = deleted >= rowsPerSlice;
      }
    }
    return true;
  };

  return {
    create: (run, act, replaced) =>
      transact(async (tables) => {
        const old = replaced === undefined ? null : await runOf(tables, replaced.id);
        const ended = moved(old, ['stopped'], 'cancelling', {
          atMs: run.createdAtMs,
          reason: replaced?.reason ?? null,
        });
        if (old !== null && ended !== null) await tables.runs.changeRun(old.sequence, ended);
        await tables.runs.insertRun(run);
        const created = await runOf(tables, run.id);
        invariant(created !== null, 'a run that was just entered is there');
        await enterAct(tables, act, { run: run.id, feed: run.feed });
        return created;
      }, 'durable'),

    get: (id) => runOf(reads, id),

    list: ({ limit, oldestFirst, ...where }: RunFilter) => reads.runs.findRuns(where, limit, oldestFirst),

    count: (where) => reads.runs.countRuns(where),

    lastAccepted: async (feed, beforeSequence, { sha256, applies = 'rows' } = {}) => {
      const where = accepted(feed, beforeSequence, applies);
      const [run] = await reads.runs.findRuns({ ...where, ...(sha256 === undefined ? {} : { sha256 }) }, 1);
      if (run === undefined) return null;
      // Without a content it is the newest of all.
      if (sha256 === undefined) return { run, newerCount: 0 };
      const newer = { ...where, afterSequence: run.sequence };
      return { run, newerCount: await reads.runs.countRuns(newer) };
    },

    lastLook: async (feed) => {
      const states = ['applying', ...acceptedStates] as const;
      return (await reads.runs.findRuns({ feed, states, hasLook: true }, 1))[0]?.look ?? null;
    },

    keyPrefixes: (limit) => reads.runs.keyPrefixes(limit),
    nextQueued: (limit, of) =>
      reads.runs.findRuns(
        of === undefined ? { isFirstInLine: true } : { isFirstInLine: { away: of.away }, hosts: of.hosts },
        limit,
        true,
      ),

    move: async (id, from, to, change) => {
      const isMoved = await transact(
        async (tables) => {
          const run = await runOf(tables, id);
          const changed = moved(run, from, to, change);
          if (run === null || changed === null) return false;
          // What was approved was approved of the rows as they were read before.
          const anew = change.reading === undefined ? {} : { ...change.reading, approvals: [] };
          const noted = change.notes === undefined ? {} : { notes: notesWith(run.notes, change.notes) };
          await tables.runs.changeRun(run.sequence, { ...changed, ...anew, ...noted });
          await withholdUnchanged(tables, run, to);
          await enterAct(tables, change.act, { run: id, feed: run.feed });
          return true;
        },
        isFinal(to) ? 'durable' : 'quick',
      );
      if (isMoved && isFinal(to)) await giveBack(store, id);
      return isMoved;
    },

    beginStaging: async (id, atMs) => {
      // A late redelivery must not throw away what a run at work still has to write.
      const mayBegin = ({ state }: RunRecord) => state === 'queued' || state === 'staging';
      if (!(await emptied(id, readingParts, mayBegin))) return false;
      return transact(async (tables) => {
        const run = await runOf(tables, id);
        if (run === null || !mayBegin(run)) return false;
        const begun: RunChange = { ...unread, startedAtMs: run.startedAtMs ?? atMs };
        await tables.runs.changeRun(run.sequence, begun, {}, true);
        return true;
      });
    },

    record: (id, { notes, counts, requests, ...facts }) =>
      transact(async (tables) => {
        const run = await runOf(tables, id);
        if (run === null) return;
        const noted = notes === undefined ? {} : { notes: notesWith(run.notes, notes) };
        await tables.runs.changeRun(run.sequence, { ...facts, ...noted }, { ...counts, ...requests });
      }),

    olderWrites: async (id) => {
      const run = await runOf(reads, id);
      return run?.state === 'stopped' ? findOlderWrites(reads, run) : null;
    },

    approve: (id, approval, act) =>
      transact(async (tables) => {
        const run = await runOf(tables, id);
        const changed = approved(run, approval);
        if (run === null || changed === null || (await findOlderWrites(tables, run)) !== null) return false;
        await tables.runs.changeRun(run.sequence, changed);
        await withholdUnchanged(tables, run, 'applying');
        await enterAct(tables, act, { run: id, feed: run.feed, facts: { checksum: approval.checksum } });
        return true;
      }, 'durable'),

    prune: async (id) => {
      const run = await runOf(reads, id);
      invariant(run !== null && isFinal(run.state), 'only a finished run is pruned', { run: id });
      const isEnded = ({ state }: RunRecord) => isFinal(state);
      const [last] = await reads.runs.findRuns(accepted(run.feed, Number.MAX_SAFE_INTEGER, 'allRows'), 1);
      const keeps = keepsKeys(run, last?.id ?? null);
      await emptied(id, [...stagedParts, ...(keeps ? [] : (['met'] as const))], isEnded);
      // At most one run of a feed that has ended keeps its keys.
      const [before] = keeps ? await reads.runs.findRuns(accepted(run.feed, run.sequence, 'allRows'), 1) : [];
      if (before !== undefined) await emptied(before.id, ['met'], isEnded);
      // What runs found unchanged matters to older rows that wait; that of the last whole file, to those of fix-files as well.
      const [waiting] = await reads.runs.findRuns({ feed: run.feed, states: openRunStates }, 1, true);
      const beforeSequence = waiting?.sequence ?? Number.MAX_SAFE_INTEGER;
      await transact(async ({ runs }) => {
        for (const { sequence } of await runs.bitmaps(run.feed, 'unchanged', 1, beforeSequence - 1)) {
          if (sequence !== last?.sequence) await runs.deletePart(sequence, 'unchanged', 1);
        }
        await runs.changeRun(run.sequence, { isPruned: true });
      });
    },
  };
}
