/**
 * Audits, over the records of the desk. The keys of a run stand once, whichever audits look at them, by the run's sequence, at the
 * position that the row had among the staged ones; a record of kind `touched` says that they are all there.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { invariant } from '#src/errors.ts';
import type { AuditFinding, AuditLedger, AuditRecord } from '#src/ledger/audits.ts';
import { doubtKinds, type KeyHistoryEntry, type KeyHistoryKind } from '#src/ledger/contacts.ts';
import {
  type AuditGroup,
  auditsAfter,
  groupOf,
  type KeptAudit,
  keptAudit,
  newStanding,
  type PlacedFinding,
  scopeOnDemand,
  stepped,
  touchesOf,
  touchFactsOf,
  withRequests,
} from '#src/ledger/rules/audits.ts';
import { finalRunStates } from '#src/ledger/runs.ts';
import type { RunPlace } from '#src/ledger/tables/runs.ts';
import type { Store, Tables, TouchedRow } from '#src/ledger/tables.ts';
import { allMax, type Entry, inTransactions, recordsOf, sliceMax } from './records.ts';

type Desk = Pick<Tables, 'desk'>;

/** That the touched keys of a run are kept. */
interface KeptKeys {
  readonly runId: string;
  readonly runSequence: number;
  readonly keyCount: number;
  /** When an audit was entered last that looks at them. */
  readonly enteredAtMs: number;
  /** They are being forgotten: some are not there any more. */
  readonly isGoing: boolean;
}

interface KeptFinding extends AuditFinding {
  readonly auditId: string;
  readonly ordinal: number;
}

const auditsIn = recordsOf<KeptAudit>('audit', (audit) => ({
  ...{ id: audit.id, owner: audit.runId, state: groupOf(audit), atMs: audit.finishedAtMs ?? audit.dueAtMs },
}));
const findingsIn = recordsOf<KeptFinding>('finding', ({ auditId, kind, ordinal }) => ({
  ...{ id: `${auditId} ${kind} ${ordinal}`, owner: auditId, state: kind, atMs: null },
}));
const keptKeysIn = recordsOf<KeptKeys>('touched', ({ runId, isGoing, enteredAtMs }) => ({
  ...{ id: runId, owner: null, state: isGoing ? 'going' : 'kept', atMs: enteredAtMs },
}));

/** Audits whose runs are looked at together. */
const dueAtOnce = 50;
/** Keys that are looked through together for those of a run. */
const keysAtOnce = 2_000;

export function auditsOver(store: Store): AuditLedger {
  const { reads } = store;
  const changed = (id: string, change: (audit: KeptAudit) => KeptAudit): Promise<void> =>
    store.transact(async (tables) => {
      const audit = await auditsIn(tables).get(id);
      if (audit !== null) await auditsIn(tables).put(change(audit));
    });

  return {
    enter: async (entry) => {
      if ((await allOf(reads, entry.runId)).some(({ kind }) => kind === 'first')) return;
      const place = await placeOf(reads, entry.runId);
      const { keyCount, doubtCount } = await keepTouched(store, place);
      await store.transact(async (tables) => {
        if ((await allOf(tables, entry.runId)).some(({ kind }) => kind === 'first')) return;
        const audits = auditsAfter(entry, keyCount, doubtCount).map((audit) => keptAudit(newId(), place, audit));
        await auditsIn(tables).put(...audits);
        await noteKept(tables, place, keyCount, entry.atMs);
      });
    },

    demand: async ({ runId, atMs, dueAtMs }) => {
      const place = await placeOf(reads, runId);
      const before = await allOf(reads, runId);
      const asked = before.find((audit) => groupOf(audit) === 'asked');
      if (asked !== undefined) return told(asked);
      const kept = await keptCount(store, runId);
      const first = before.find(({ kind }) => kind === 'first');
      const wasGathered = before.some(({ scope }) => scope === 'settled');
      const scope = scopeOnDemand(first?.keyCount ?? null, wasGathered, kept);
      const keyCount = scope === 'settled' && kept === 0 ? await keepSettled(store, place) : kept;
      return store.transact(async (tables) => {
        const meanwhile = (await allOf(tables, runId)).find((audit) => groupOf(audit) === 'asked');
        if (meanwhile !== undefined) return told(meanwhile);
        const audit = keptAudit(newId(), place, { kind: 'demand', scope, atMs, dueAtMs, keyCount, done: false });
        await auditsIn(tables).put(audit);
        await noteKept(tables, place, keyCount, atMs);
        return told(audit);
      });
    },

    get: async (id) => {
      const audit = await auditsIn(reads).get(id);
      return audit === null ? null : told(audit);
    },

    ofRun: async (runId) => (await allOf(reads, runId)).map(told),

    nextDue: async (untilMs, limit) => {
      const due: AuditRecord[] = [];
      for (const state of ['asked', 'waiting'] as const) {
        due.push(...(await dueIn(reads, state, untilMs, limit - due.length)));
      }
      return due;
    },

    keysAfter: async (id, position, limit) => {
      const audit = await auditsIn(reads).get(id);
      if (audit === null) return [];
      const rows = await reads.desk.touched(audit.runSequence, position, limit, audit.kind === 'second');
      return rows.map(({ position: at, key }) => ({ position: at, key }));
    },

    advance: (id, step) =>
      store.transact(async (tables) => {
        const known = await auditsIn(tables).get(id);
        if (known === null) return false;
        // Requests were sent, regardless of who was first.
        const audit = withRequests(known, step.requests);
        const next = stepped(audit, step);
        await auditsIn(tables).put(next?.audit ?? audit);
        await findingsIn(tables).put(...(await withWhatIsKnown(tables, id, next?.kept ?? [])));
        return next !== null;
      }),

    addRequests: (id, requests) => changed(id, (audit) => withRequests(audit, requests)),

    finish: (id, atMs) =>
      store.transact(async (tables) => {
        const audit = await auditsIn(tables).get(id);
        if (audit?.state !== 'waiting') return false;
        await auditsIn(tables).put({ ...audit, state: 'done', finishedAtMs: atMs });
        await auditsIn(tables).put(...newStanding(await allOf(tables, audit.runId)));
        return true;
      }, 'durable'),

    findings: async (owner, kind, limit) => {
      const found = await findingsIn(reads).list({ owner, state: kind, order: 'oldest', limit });
      return found.map(({ document: { auditId: _audit, ordinal: _ordinal, ...finding } }) => finding);
    },

    standing: async (limit) => {
      const standing = await auditsIn(reads).list({ state: 'standing', order: 'newest', limit });
      return standing.map(({ document }) => told(document));
    },
  };
}

/** With what the ledger knows of their keys. */
async function withWhatIsKnown(
  { keys, runs }: Tables,
  auditId: string,
  placed: readonly PlacedFinding[],
): Promise<readonly KeptFinding[]> {
  const sought = placed.map(({ finding }) => finding.key);
  const rows = await keys.read(sought, []);
  const history = Map.groupBy(await keys.history(sought), ({ key }) => key);
  const found: KeptFinding[] = [];
  for (const { finding, ordinal } of placed) {
    const contact = rows.get(finding.key)?.contact ?? null;
    const bound = contact?.boundRun ?? null;
    const [run] = bound === null ? [] : await runs.findRuns({ afterSequence: bound - 1, beforeSequence: bound + 1 }, 1);
    found.push({
      ...{ auditId, ordinal, ...finding, boundTo: contact?.contactId ?? null, boundRun: run?.id ?? null },
      ...{ boundAtMs: contact?.boundAtMs ?? null, history: history.get(finding.key) ?? [] },
    });
  }
  return found;
}

/** How many wait. */
export async function waitingAudits(tables: Desk): Promise<number> {
  return (await auditsIn(tables).count({ state: 'asked' })) + (await auditsIn(tables).count({ state: 'waiting' }));
}

/** In slices: keys of runs that ended before then and no audit looks at or was entered since, and findings from before then. */
export async function forgetAudits(store: Store, beforeMs: number): Promise<void> {
  for (const state of ['going', 'kept']) {
    const filter = { state, untilMs: beforeMs - 1, order: 'due' } as const;
    await eachOf(
      (after) => keptKeysIn(store.reads).list({ ...filter, after, limit: dueAtOnce }),
      async (kept: KeptKeys) => {
        const isGoing = await store.transact(async (tables) => {
          const [run] = await tables.runs.findRuns({ ids: [kept.runId] }, 1);
          const audits = await allOf(tables, kept.runId);
          const isNeeded = audits.some((audit) => audit.state === 'waiting' || audit.enteredAtMs >= beforeMs);
          if (isNeeded || (run !== undefined && (run.finishedAtMs ?? beforeMs) >= beforeMs)) return false;
          await keptKeysIn(tables).put({ ...kept, isGoing: true });
          return true;
        });
        if (isGoing) await dropKeys(store, kept.runId);
      },
    );
  }
  for (const state of ['standing', 'found']) {
    const filter = { state, untilMs: beforeMs - 1, order: 'due' } as const;
    await eachOf(
      (after) => auditsIn(store.reads).list({ ...filter, after, limit: dueAtOnce }),
      async (audit: KeptAudit) => {
        if (audit.hasFindings) await dropFindings(store, audit.id);
      },
    );
  }
}

/** All that is known of the audits of a run. @returns false, and nothing is deleted, where one waits. */
export async function dropAudits(store: Store, runId: string): Promise<boolean> {
  const audits = await allOf(store.reads, runId);
  if (audits.some(({ state }) => state === 'waiting')) return false;
  for (const { id } of audits) await dropFindings(store, id);
  await store.transact(async (tables) => {
    const kept = await keptKeysIn(tables).get(runId);
    if (kept !== null) await keptKeysIn(tables).put({ ...kept, isGoing: true });
  });
  await dropKeys(store, runId);
  await store.transact((tables) => auditsIn(tables).remove(...audits.map(({ id }) => id)));
  return true;
}

/** Ends: each page begins behind the one before it. */
async function eachOf<Document>(
  pageAfter: (after: Entry<Document> | undefined) => Promise<readonly Entry<Document>[]>,
  work: (document: Document) => Promise<void>,
): Promise<void> {
  let page = await pageAfter(undefined);
  while (page.length > 0) {
    for (const { document } of page) await work(document);
    await setImmediate();
    page = await pageAfter(page.at(-1));
  }
}

/** Deletes the keys of a run that are being forgotten, until they are gone, or another process has done it. */
async function dropKeys(store: Store, runId: string): Promise<void> {
  await inTransactions(store, async (tables) => {
    const kept = await keptKeysIn(tables).get(runId);
    if (kept === null || !kept.isGoing) return { count: 0, isLast: true };
    const count = await tables.runs.deletePart(kept.runSequence, 'touched', sliceMax);
    const isLast = count < sliceMax;
    if (isLast) await keptKeysIn(tables).remove(runId);
    return { count, isLast };
  });
}

async function dropFindings(store: Store, auditId: string): Promise<void> {
  await inTransactions(store, async (tables) => {
    const old = await findingsIn(tables).list({ owner: auditId, order: 'oldest', limit: sliceMax });
    const count = await findingsIn(tables).remove(...old.map(({ id }) => id));
    const isLast = count < sliceMax;
    const audit = isLast ? await auditsIn(tables).get(auditId) : null;
    if (audit !== null) await auditsIn(tables).put({ ...audit, hasFindings: false });
    return { count, isLast };
  });
}

/** How many touched keys of the run are kept. Where they are being forgotten, that is done to the end: 0. */
async function keptCount(store: Store, runId: string): Promise<number> {
  const kept = await keptKeysIn(store.reads).get(runId);
  if (kept?.isGoing) await dropKeys(store, runId);
  return kept === null || kept.isGoing ? 0 : kept.keyCount;
}

async function noteKept(
  tables: Tables,
  { id, sequence }: RunPlace,
  keyCount: number,
  enteredAtMs: number,
): Promise<void> {
  if (keyCount === 0) return;
  await keptKeysIn(tables).put({ runId: id, runSequence: sequence, keyCount, enteredAtMs, isGoing: false });
}

/** Keeps what `touchesOf` says of the staged rows, before they are forgotten. Ends behind the last row. */
async function keepTouched(
  { reads, transact }: Store,
  run: RunPlace,
): Promise<{ readonly keyCount: number; readonly doubtCount: number }> {
  let keyCount = 0;
  let doubtCount = 0;
  for (let first = 1; first <= run.lastPosition; first += sliceMax) {
    const rows = await reads.runs.rowStates(run.sequence, { first, last: first + sliceMax - 1 });
    const keys = rows.map(({ key }) => key);
    const known = await reads.keys.read(keys, []);
    const doubted = new Set(
      (await reads.keys.history(keys)).filter((one) => one.runId === run.id && isDoubt(one)).map(({ key }) => key),
    );
    // While a run is being cancelled a worker may still hold some of its keys.
    const facts = rows.map((row) => touchFactsOf(run, row, known.get(row.key), doubted.has(row.key)));
    const touches: readonly TouchedRow[] = touchesOf(facts, run.state === 'cancelling');
    if (touches.length > 0) await transact(({ desk }) => desk.putTouched(run.sequence, touches));
    keyCount += touches.length;
    doubtCount += touches.filter(({ inDoubt }) => inDoubt).length;
    await setImmediate();
  }
  return { keyCount, doubtCount };
}

/** What is still known of a run whose keys were forgotten. Ends behind the last key. @returns how many there are. */
async function keepSettled({ reads, transact }: Store, run: RunPlace): Promise<number> {
  let count = 0;
  for (let after: number | null = 0; after !== null; await setImmediate()) {
    const { keys, next } = await reads.keys.settledBy(run.feed, run.sequence, after, keysAtOnce);
    const first = count + 1;
    const rows = keys.map((key, index) => ({ position: first + index, key, inDoubt: false }));
    if (rows.length > 0) await transact(({ desk }) => desk.putTouched(run.sequence, rows));
    count += rows.length;
    after = next;
  }
  return count;
}

function isDoubt({ kind }: KeyHistoryEntry): boolean {
  return (doubtKinds as readonly KeyHistoryKind[]).includes(kind);
}

/** Those of finished runs. Ends with enough of them, or behind the last that is due. */
async function dueIn(
  tables: Tables,
  state: AuditGroup,
  untilMs: number,
  limit: number,
): Promise<readonly AuditRecord[]> {
  const due: AuditRecord[] = [];
  let after: Entry<KeptAudit> | undefined;
  while (due.length < limit) {
    const page = await auditsIn(tables).list({ state, untilMs, order: 'due', after, limit: dueAtOnce });
    const ids = [...new Set(page.map(({ document }) => document.runId))];
    const ended = await tables.runs.findRuns({ ids, states: finalRunStates }, ids.length);
    const finished = new Set(ended.map(({ id }) => id));
    due.push(...page.filter(({ document }) => finished.has(document.runId)).map(({ document }) => told(document)));
    if (page.length < dueAtOnce) break;
    after = page.at(-1);
  }
  return due.slice(0, limit);
}

/** In the order of their entry. */
async function allOf(tables: Desk, owner: string): Promise<readonly KeptAudit[]> {
  return (await auditsIn(tables).list({ owner, order: 'oldest', limit: allMax })).map(({ document }) => document);
}

async function placeOf({ runs }: Pick<Tables, 'runs'>, runId: string): Promise<RunPlace> {
  const place = await runs.place(runId);
  invariant(place !== null, 'the run of an audit is there', { run: runId });
  return place;
}

function newId(): string {
  return `a${randomUUID().replaceAll('-', '').slice(0, 12)}`;
}

function told({ runSequence: _run, stands: _stands, hasFindings: _found, ...audit }: KeptAudit): AuditRecord {
  return audit;
}
