/**
 * Makes a plan: of a file, or of the staged rows of a run that a guard has stopped. It reads from the service, at the allowed rate,
 * and writes nothing to it; in the ledger it leaves the plan and nothing else (`docs/plans.md`, "Plans").
 */
import { createHash } from 'node:crypto';
import type { Clock } from '#src/clock.ts';
import type { FieldName } from '#src/contacts/desired.ts';
import { type PlannedContact, waitingContact } from '#src/contacts/planned.ts';
import { unreachable } from '#src/errors.ts';
import { findUndoThatDeleted } from '#src/journal/changes.ts';
import { type PlanLedger, type PlanRecord, planContactsMax } from '#src/ledger/plans.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { skipSentences } from '#src/ledger/rules/events.ts';
import { goneSentence } from '#src/ledger/rules/gone.ts';
import { type DriftCounts, pendingCount, type RunReason, type RunRecord, zeroCounts } from '#src/ledger/runs.ts';
import { eventsPerRunMax, type RunDeadRow, type RunEvent, type StagedRecord } from '#src/ledger/staging.ts';
import { deletionNote } from '#src/runs/deletion-note.ts';
import { staysGone } from '#src/runs/import-flags.ts';
import { type ProblemLine, problemLines, problemPages } from '#src/runs/report.ts';
import { newRunId } from '#src/runs/run-files.ts';
import { noRowHas } from '#src/runs/selection.ts';
import { adoptionStop } from '#src/upsert/applying-guards.ts';
import { keysPerChunk, type UpsertParts } from '#src/upsert/chunk.ts';
import { type PlannedRecord, planStagedPages } from '#src/upsert/plan-records.ts';
import type { RequestKind } from '#src/workspace/port.ts';
import {
  type GroupCounts,
  isWorthShowing,
  noCounts,
  noGroups,
  type PlanCounts,
  totalsOf,
  withContact,
  withRecord,
} from './plan-totals.ts';
import { openSpool, type Spool } from './spool.ts';

export interface PlanParts {
  /** Where plans are kept; the ledger itself, never a draft. */
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly upsert: UpsertParts;
  /** Of the key, over all processes; null: no limit. */
  readonly requestsPerSecond: number | null;
  readonly serviceName: string;
  /** For drafts, and for what is too long for memory; below the data folder. */
  readonly draftsFolder: string;
}

/** What is planned: a run, in a ledger or in a draft of it, and how the plan is kept. */
export interface PlanTask {
  readonly run: RunRecord;
  /** Which holds the run. */
  readonly ledger: Ledger;
  /** Keys to plan; null: all. A plan of some contacts is not kept. */
  readonly only: ReadonlySet<string> | null;
  /** Of these, those whose rows are unchanged. Absent of a stopped run, which no longer tells: a key of which nothing waits is noted there. */
  readonly unchangedKeys?: ReadonlySet<string>;
  readonly kept: Pick<PlanRecord, 'runId' | 'undoes' | 'path' | 'reading' | 'mappingNamed'>;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PlanProgress) => void;
  /** Told before the plan waits for reads that show what was written a moment ago, and for how long. */
  readonly onWait?: (ms: number) => void;
}

export interface PlanProgress {
  readonly done: number;
  readonly total: number;
}

/** Its lists are read as they are shown, and as often as they are shown; they are gone once it is disposed of. */
export interface MadePlan extends AsyncDisposable {
  readonly plan: PlanRecord;
  /** Whether it can be carried out by its id. */
  readonly isKept: boolean;
  /** Those in which something is written or held, in the order of the file. Reading throws the reason of the plan's signal. */
  readonly contacts: AsyncIterable<PlannedContact>;
  /** How many there are in all, and of each group. */
  readonly contactCount: number;
  readonly groupCounts: GroupCounts;
  /** Rejected rows, one line for each problem. */
  readonly problems: AsyncIterable<ProblemLine>;
  readonly problemCount: number;
  /** What was skipped and warned of, and what drifted; at most `eventsPerRunMax` of the file, and as many of the service. */
  readonly outcomes: readonly RunEvent[];
  /** Whether these are all of them. */
  readonly areOutcomesAll: boolean;
  readonly notes: readonly string[];
  /** With `--verify` and `--repair`: how many contacts people changed, deleted or doubled. Null: it was not looked for. */
  readonly drift: DriftCounts | null;
  /** People whom a full file lacks; null where that was not looked for, and of a plan for chosen people. They are among the outcomes. */
  readonly missing: { readonly count: number; readonly new: number } | null;
  /** Rows of which nothing can be said now: they are being written, or, `unread` of them, their reads fail. */
  readonly unsure: number;
  readonly unread: number;
  /** Requests that making it took. */
  readonly sent: Readonly<Partial<Record<RequestKind, number>>>;
}

/**
 * The caller disposes of the plan.
 * @throws PatchbayError as reads do (`workspace/port.ts`); as `openSpool`; the signal's reason. Nothing is kept then.
 */
export async function makePlan(parts: PlanParts, task: PlanTask): Promise<MadePlan> {
  const { clock, ledger, serviceName, draftsFolder } = parts;
  const { run, signal, only } = task;
  const createdAtMs = clock.nowMs();
  const id = newRunId(createdAtMs);
  const sent = new Map<RequestKind, number>();
  const onRequest = (kind: RequestKind): void => void sent.set(kind, (sent.get(kind) ?? 0) + 1);
  await using opened = new AsyncDisposableStack();
  const contacts = opened.use(await openSpool<PlannedContact>(draftsFolder, signal));
  const problems = opened.use(await openSpool<ProblemLine>(draftsFolder, signal));
  // With `--verify` nothing would be written: there is nothing to carry out.
  const gathered = gatherer(ledger, id, only === null && !run.options.verify, { contacts, problems });
  await ledger.plans.begin(id, createdAtMs);
  let isKept = false;
  try {
    const isChosen = choiceOf(task);
    /** Of the chosen keys, those of which there is something to tell. */
    const found = new Set<string | null>();
    let dead = 0;
    const linesOf = (row: RunDeadRow): readonly ProblemLine[] => {
      if (!isChosen(row.key)) return [];
      dead += 1;
      if (only !== null) found.add(row.key);
      return problemLines(row);
    };
    for await (const page of problemPages(task.ledger.runs, run.id, linesOf)) await problems.add(page);
    const all = await task.ledger.runs.events(run.id, 0, eventsPerRunMax);
    /** What waits in the contacts of unchanged rows. */
    const waiting = new Set(all.flatMap(({ kind, key }) => (kind === 'held' ? (key ?? []) : [])));
    for await (const records of plannedPages(parts, task, onRequest)) {
      for (const one of records) {
        gathered.add(one);
        // A row that was read once more tells itself what waits; a repair, only what drifted.
        if (one.record.desired.repairs !== true) waiting.delete(one.record.key);
        if (only !== null) found.add(one.record.key);
      }
      await gathered.enter();
    }
    // What is said of no contact is said of the file.
    const events = all.filter(({ kind, key }) => isChosen(key) || (key === null && kind !== 'held'));
    for (const { key } of only === null ? [] : events) found.add(key);
    const isUntold = (key: string): boolean => !found.has(key);
    const isWaiting = ({ key }: RunEvent): boolean => key !== null && waiting.has(key);
    const held = await heldContacts(task.ledger, run.feed, events.filter(isWaiting));
    await contacts.add(held);
    signal.throwIfAborted();
    const { counts } = gathered;
    const { onGoneOf } = parts.upsert.limits;
    const deletions = await deletionNote(task.ledger, run, counts.deleted, onGoneOf(run.feed));
    const unchanged = [...(task.unchangedKeys ?? [])].filter(isUntold).length;
    const untold = task.unchangedKeys === undefined ? [...(only ?? [])].filter(isUntold) : [];
    const pace = { requestsPerSecond: parts.requestsPerSecond, keysPerLookUp: keysPerChunk(parts.upsert.limits) };
    const plan: PlanRecord = {
      id,
      feed: run.feed,
      ...task.kept,
      fileName: run.fileName,
      sha256: run.sha256,
      service: serviceName,
      totals: totalsOf(counts, stagedOf(task, counts, { dead, held, unchanged }), pace),
      stop: stopOf(parts, run, counts),
      checksum: gathered.checksum(),
      createdAtMs,
    };
    if (gathered.isWhole()) {
      await ledger.plans.keep(plan);
      isKept = true;
    }
    const spools = opened.move();
    return {
      plan,
      isKept,
      contacts,
      contactCount: contacts.count,
      groupCounts: held.reduce(withContact, gathered.groups),
      problems,
      problemCount: problems.count,
      outcomes: [
        ...events.filter(({ kind }) => kind !== 'held').map(({ ordinal: _, ...one }) => one),
        ...gathered.skipped,
      ],
      areOutcomesAll: [events, gathered.skipped].every(({ length }) => length < eventsPerRunMax),
      notes: [
        ...run.notes,
        ...goneNotes(run, gathered.goneCount),
        ...deletions,
        ...noRowHas(untold, 'row of this run that waits or was rejected'),
      ],
      drift: run.shape?.drift ?? null,
      missing: only === null ? (run.shape?.missing ?? null) : null,
      unsure: counts.unsure,
      unread: counts.unread,
      sent: Object.fromEntries(sent),
      [Symbol.asyncDispose]: () => spools.disposeAsync(),
    };
  } finally {
    if (!isKept) await ledger.plans.remove(id);
  }
}

/** Ends with the run's last staged row. */
function plannedPages(
  { upsert }: PlanParts,
  { run, ledger, only, signal, onProgress, onWait = () => undefined }: PlanTask,
  onRequest: (kind: RequestKind) => void,
): AsyncGenerator<readonly PlannedRecord[]> {
  const total = pendingCount(run.counts);
  let done = 0;
  const choose = (records: readonly StagedRecord[]) =>
    only === null ? records : records.filter(({ key }) => only.has(key));
  return planStagedPages({ ...upsert, ledger }, run, choose, { signal, onRequest, onWait }, (rows) => {
    done += rows;
    onProgress({ done, total });
  });
}

/** Whether a key is among those that are asked about. */
function choiceOf({ run, only }: Pick<PlanTask, 'run' | 'only'>): (key: string | null) => boolean {
  const { only: ofRun } = run.options;
  const chosen = only ?? (ofRun.length === 0 ? null : new Set(ofRun));
  return (key) => chosen === null || (key !== null && chosen.has(key));
}

/** What was staged beside the rows that are planned: of the contacts that were chosen, and of no other row. */
function stagedOf(
  { run, only }: Pick<PlanTask, 'run' | 'only'>,
  { created, updated, unchanged, skipped, dead, unsure }: PlanCounts,
  staged: { readonly dead: number; readonly held: readonly PlannedContact[]; readonly unchanged: number },
): Pick<RunRecord, 'counts' | 'look'> {
  const heldFields = staged.held.reduce((sum, { held }) => sum + held.length, 0);
  if (only === null) return run.options.only.length === 0 ? run : { ...run, counts: { ...run.counts, heldFields } };
  const planned = created + updated + unchanged + skipped + dead + unsure;
  const inStep = staged.held.length + staged.unchanged;
  const rows = planned + staged.dead + inStep;
  return { look: null, counts: { ...zeroCounts, rows, unchanged: inStep, dead: staged.dead, heldFields } };
}

interface Gathered {
  readonly counts: PlanCounts;
  readonly groups: GroupCounts;
  readonly skipped: readonly RunEvent[];
  /** Rows of the file that are skipped since their contacts are gone; `skipped` may lack some. */
  readonly goneCount: number;
  add(record: PlannedRecord): void;
  /** Keeps and spools what was added since. */
  enter(): Promise<void>;
  /** Whether all contacts are kept. */
  isWhole(): boolean;
  checksum(): string;
}

interface PlanSpools {
  readonly contacts: Spool<PlannedContact>;
  readonly problems: Spool<ProblemLine>;
}

function gatherer(
  { plans, contacts: known }: Ledger,
  planId: string,
  isToBeKept: boolean,
  spools: PlanSpools,
): Gathered {
  const skipped: RunEvent[] = [];
  let [saidCount, goneCount] = [0, 0];
  const hash = createHash('sha256');
  let counts = noCounts;
  let groups = noGroups;
  let plannedCount = 0;
  let waiting: PlannedContact[] = [];
  let dead: ProblemLine[] = [];
  return {
    get counts() {
      return counts;
    },
    get groups() {
      return groups;
    },
    skipped,
    get goneCount() {
      return goneCount;
    },
    add: (record) => {
      counts = withRecord(counts, record);
      switch (record.is) {
        case 'planned': {
          const { contact } = record;
          hash.update(`${contact.digest} ${contact.key}\n`);
          plannedCount += 1;
          waiting.push(contact);
          if (isWorthShowing(contact)) groups = withContact(groups, contact);
          return;
        }
        case 'ended':
          if (isGone(record)) goneCount += 1;
          noteEnd(record, skipped, dead);
          return;
        case 'unsure':
          return;
        default:
          unreachable(record);
      }
    },
    enter: async () => {
      const [contacts, problems] = [waiting, dead];
      [waiting, dead] = [[], []];
      for (; saidCount < skipped.length; saidCount++) {
        const event = skipped[saidCount] as RunEvent;
        if (event.code === 'gone') skipped[saidCount] = { ...event, message: await whyGone(known, event) };
      }
      await spools.contacts.add(contacts.filter(isWorthShowing));
      await spools.problems.add(problems);
      if (isToBeKept && plannedCount <= planContactsMax) await plans.enter(planId, contacts);
    },
    isWhole: () => isToBeKept && plannedCount <= planContactsMax,
    checksum: () => hash.digest('base64url').slice(0, 22),
  };
}

/** As of a run that has ended; a repair has told it of all contacts of the file. */
function goneNotes(run: RunRecord, count: number): readonly string[] {
  return count === 0 || run.kind !== 'file' || run.options.repair ? [] : [staysGone(run, count, false)];
}

async function whyGone(contacts: Ledger['contacts'], { key, message }: RunEvent): Promise<string> {
  if (key === null) return message;
  const contactId = (await contacts.get([key])).get(key)?.contactId ?? null;
  return goneSentence(await findUndoThatDeleted(contacts, key, contactId));
}

function isGone({ record, end }: Extract<PlannedRecord, { readonly is: 'ended' }>): boolean {
  return end.outcome === 'skipped' && end.reason === 'gone' && record.line > 0;
}

function noteEnd(
  { record, end }: Extract<PlannedRecord, { readonly is: 'ended' }>,
  skipped: RunEvent[],
  dead: ProblemLine[],
): void {
  const { line, key } = record;
  if (end.outcome === 'skipped') {
    if (skipped.length >= eventsPerRunMax) return;
    const message = skipSentences[end.reason];
    skipped.push({ kind: 'skipped', line, key, code: end.reason, field: null, message });
    return;
  }
  dead.push(...problemLines(end.dead));
}

/** As many keys as the ledger is asked for at once. */
const keysAtOnce = 500;

/** Fields of unchanged rows that wait for a person already. */
async function heldContacts(
  { contacts }: Pick<Ledger, 'contacts'>,
  feed: string,
  events: readonly RunEvent[],
): Promise<readonly PlannedContact[]> {
  const held = [...Map.groupBy(events, ({ kind, key }) => (kind === 'held' ? key : null))].flatMap(([key, fields]) =>
    key === null ? [] : [{ key, fields }],
  );
  const planned: PlannedContact[] = [];
  for (let from = 0; from < held.length; from += keysAtOnce) {
    const some = held.slice(from, from + keysAtOnce);
    const records = await contacts.get(some.map(({ key }) => key));
    for (const { key, fields } of some) {
      const { saids = [], seen = null, contactId = null } = records.get(key) ?? {};
      const said = saids.find((one) => one.feed === feed)?.said ?? null;
      const values = fields.map(({ field, file = null, app = null }) => {
        // Names of held fields come from the ledger, which keeps them as they are.
        return { field: field as FieldName, ours: file, theirs: app };
      });
      planned.push(waitingContact({ key, line: fields[0]?.line ?? 0 }, values, { said, seen, contactId }));
    }
  }
  return planned;
}

/** A guard that stops the staged run, or one that would stop it while it is applied. */
function stopOf({ upsert }: PlanParts, run: RunRecord, { unknown, ...counts }: PlanCounts): RunReason | null {
  if (run.state === 'stopped') return run.reason;
  const lookedUp = counts.created + counts.updated + counts.unchanged + counts.skipped + counts.dead;
  const stop = adoptionStop(upsert.limits, { ...run, counts: { lookedUp, foundUnknown: unknown } });
  if (stop === null) return null;
  const { code, message, hint = null, facts } = stop;
  return { code, message, hint, facts };
}

/** A plan as it was kept, with its contacts, to be shown again. The run itself says what was rejected, skipped and warned of. */
export async function readKeptPlan(plans: Pick<PlanLedger, 'contacts'>, plan: PlanRecord): Promise<MadePlan> {
  const contacts = { [Symbol.asyncIterator]: () => contactsWorthShowing(plans, plan.id) };
  let [contactCount, groupCounts] = [0, noGroups];
  for await (const contact of contacts) {
    contactCount += 1;
    groupCounts = withContact(groupCounts, contact);
  }
  const elsewhere = {
    problems: nothing,
    problemCount: 0,
    outcomes: [],
    areOutcomesAll: true,
    notes: [],
    drift: null,
    missing: null,
    ...{ unsure: 0, unread: 0, sent: {} },
  };
  const [isKept, close] = [true, async () => undefined];
  return { plan, isKept, contacts, contactCount, groupCounts, ...elsewhere, [Symbol.asyncDispose]: close };
}

const nothing: AsyncIterable<never> = { [Symbol.asyncIterator]: async function* () {} };

async function* contactsWorthShowing(
  plans: Pick<PlanLedger, 'contacts'>,
  planId: string,
): AsyncGenerator<PlannedContact> {
  for await (const contact of plans.contacts(planId)) if (isWorthShowing(contact)) yield contact;
}
