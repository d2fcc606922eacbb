/**
 * What leaves the ledger in time, so that nothing in it grows for ever (`docs/operations.md`, "How long data is kept").
 *
 * Everything that has ended leaves a slice at a time, each a transaction of its own with turns of the event loop between them. A sweep
 * that was interrupted begins again and finds less to do.
 */
import { forgetActs } from '#src/ledger/desk/acts.ts';
import { dropAudits, forgetAudits } from '#src/ledger/desk/audits.ts';
import { forgetDeliveries } from '#src/ledger/desk/deliveries.ts';
import { forgetPlans } from '#src/ledger/desk/plans.ts';
import { inTransactions } from '#src/ledger/desk/records.ts';
import { forgetTaken } from '#src/ledger/desk/takes.ts';
import type { KeptLonger } from '#src/ledger/port.ts';
import { acceptedStates, historyKind } from '#src/ledger/rules/feeds.ts';
import { finalRunStates, type RunRecord } from '#src/ledger/runs.ts';
import type { RunPart } from '#src/ledger/tables/runs.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { forgetLetters } from './letters.ts';
import { rowsPerSlice } from './runs.ts';

/** Deletes up to `limit` rows that ended before the instant. @returns how many: fewer than `limit` where none is left. */
type ForgetSlice = (tables: Tables, beforeMs: number, limit: number) => Promise<number>;

const history: ForgetSlice = ({ keys }, beforeMs, limit) => keys.forget({ past: 'history', beforeMs }, limit);
const journal: ForgetSlice = ({ keys }, beforeMs, limit) => keys.forget({ past: 'journal', beforeMs }, limit);

/** Rows of journal and histories lie where their keys do, and each takes several pages of the file with it. */
const pastRowsPerSlice = 500;

/** Ends where nothing is left: each turn deletes as many rows as it may, or is the last. */
async function deleteAll(
  store: Store,
  slice: (tables: Tables) => Promise<number>,
  limit = rowsPerSlice,
): Promise<void> {
  const counted = async (tables: Tables) => {
    const count = await slice(tables);
    return { count, isLast: count < limit };
  };
  await inTransactions(store, counted);
}

/** Deletes what ended longer ago than it is kept (`Ledger.forget`). */
export async function forgetEnded(store: Store, nowMs: number, keepMs: number, longer: KeptLonger = {}): Promise<void> {
  const { signal, ...kept } = longer;
  try {
    await forgetAll(signal === undefined ? store : cutBy(store, signal), nowMs, keepMs, kept);
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error;
  }
}

/** Once the signal has fired, the next transaction throws its reason. */
function cutBy({ reads, transact }: Store, signal: AbortSignal): Store {
  return {
    reads,
    transact: async (work, durability) => {
      signal.throwIfAborted();
      return await transact(work, durability);
    },
  };
}

async function forgetAll(
  store: Store,
  nowMs: number,
  keepMs: number,
  { journalMs, historyMs }: Omit<KeptLonger, 'signal'>,
): Promise<void> {
  const forget = (slice: ForgetSlice, keptMs: number) =>
    deleteAll(store, (tables) => slice(tables, nowMs - keptMs, pastRowsPerSlice), pastRowsPerSlice);
  await forgetLetters(store, nowMs - keepMs);
  await forgetDeliveries(store, nowMs - keepMs);
  await forgetTaken(store, nowMs, keepMs);
  await forgetAudits(store, nowMs - keepMs);
  await forgetPlans(store, nowMs - keepMs);
  await forget(history, keepMs);
  if (journalMs !== undefined) await forget(journal, journalMs);
  if (historyMs === undefined) return;
  await forgetActs(store, nowMs - historyMs);
  await forgetRuns(store, nowMs - historyMs);
}

const runsAtOnce = 100;

/**
 * Records of runs that ended before the instant. One stays as long as something refers to it: it is the last that its feed
 * accepted, or that looked for contacts without an externalId; a letter of it is open; or the journal names it. What has not
 * ended stays, stopped runs with it.
 */
async function forgetRuns(store: Store, beforeMs: number): Promise<void> {
  let afterSequence = 0;
  // Ends behind the last run, or at the first that is younger: each turn goes on behind the runs of the one before.
  for (;;) {
    const runs = await store.reads.runs.findRuns({ states: finalRunStates, afterSequence }, runsAtOnce, true);
    const old = runs.filter(({ createdAtMs }) => createdAtMs < beforeMs);
    for (const run of old) {
      if (run.finishedAtMs !== null && run.finishedAtMs < beforeMs) await forgetRun(store, run);
    }
    if (old.length < runsAtOnce) return;
    afterSequence = old.at(-1)?.sequence ?? Number.MAX_SAFE_INTEGER;
  }
}

/** The run's end has deleted these; an older version may have left some. */
const parts = [
  'rows',
  'batches',
  'events',
  'headers',
  'unchanged',
  'answered',
  'withheld',
  'overtaken',
  'met',
  'missing',
  'deadRows',
] as const satisfies readonly RunPart[];

async function forgetRun(store: Store, run: RunRecord): Promise<void> {
  const { sequence } = run;
  if (await isReferred(store.reads, run)) return;
  for (const part of parts) {
    await deleteAll(store, ({ runs }) => runs.deletePart(sequence, part, rowsPerSlice));
  }
  if (!(await dropAudits(store, run.id))) return;
  await store.transact(async (tables) => {
    if (!(await isReferred(tables, run))) await tables.runs.deletePart(sequence, 'run', 1);
  });
}

async function isReferred({ runs, letters, keys }: Tables, { id, feed, sequence }: RunRecord): Promise<boolean> {
  const accepted = { feed, kind: historyKind, states: acceptedStates } as const;
  for (const applies of ['rows', 'allRows'] as const) {
    const [last] = await runs.findRuns({ ...accepted, applies }, 1);
    if (last?.sequence === sequence) return true;
  }
  const [looked] = await runs.findRuns({ feed, states: finalRunStates, hasLook: true }, 1);
  if (looked?.sequence === sequence) return true;
  const open = await letters.counts('run', { states: ['open', 'redriven'], runId: id });
  if (open.length > 0) return true;
  return (await keys.journalPage({ runId: id, limit: 1 })).length > 0;
}
