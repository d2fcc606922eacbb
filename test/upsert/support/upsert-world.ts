/**
 * A real service on loopback, a real ledger in a file, and the upsert between them, driven batch by batch.
 *
 * A *run* here is a list of desired contacts, staged as a file would be. Time is moved on to the next due batch, so
 * horizons cost nothing. `expectSound` checks what must hold whatever happened.
 */
import { expect, onTestFinished } from 'vitest';
import { type DesiredContact, fingerprint } from '#src/contacts/desired.ts';
import type { LeaseResult } from '#src/ledger/contacts.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import {
  noOptions,
  pendingCount,
  type RunCounts,
  type RunOptions,
  type RunRecord,
  zeroCounts,
} from '#src/ledger/runs.ts';
import type { RowLink, RunEvent } from '#src/ledger/staging.ts';
import { type Logger, silentLogger } from '#src/log.ts';
import type { Mapping } from '#src/mapping/mapping-schema.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { createWriteHealth, type UpsertLimits, type UpsertParts, type WriteHealth } from '#src/upsert/chunk.ts';
import { type BatchEnd, processBatch } from '#src/upsert/process-batch.ts';
import { type Contact, contactListEnvelope } from '#src/wire/contact.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import { openTempLedger } from '#test/ledger/support/temp-ledger.ts';
import { startTestService, type TestService, type TestServiceOptions, testKey } from '#test/service/test-service.ts';
import { defaultLimits } from './default-limits.ts';
import { type MovedClock, movedClock } from './moved-clock.ts';

export interface WorldOptions extends Pick<TestServiceOptions, 'patchMode' | 'faults'> {
  readonly log?: Logger;
  readonly limits?: Partial<UpsertLimits>;
  /** Whether writes get through at all; by default what this process saw. */
  readonly writeHealth?: WriteHealth;
}

export interface StageOptions {
  readonly feed?: string;
  readonly rowsPerBatch?: number;
  readonly options?: Partial<RunOptions>;
  /** Only its policies matter: the contacts are mapped already. */
  readonly mapping?: Mapping;
  /** By key: what the workspace was found to hold of new keys. */
  readonly links?: Readonly<Record<string, RowLink>>;
}

export interface UpsertWorld {
  readonly service: TestService;
  readonly ledger: Ledger;
  readonly ledgerFile: string;
  readonly clock: MovedClock;
  readonly parts: UpsertParts;
  /** Another worker process: its own connections to ledger and service, on the same clock. */
  anotherWorker(): Promise<UpsertParts>;
  /** Replaces the faults in force. */
  faults(...specs: readonly string[]): Promise<void>;
  /** A run that waits to be written. */
  stage(contacts: readonly DesiredContact[], options?: StageOptions): Promise<RunRecord>;
  /** Each batch that is due now, once. */
  workOnce(run: RunRecord, worker?: UpsertParts): Promise<readonly BatchEnd[]>;
  /** Until nothing is pending, through all deferrals; then the run is done. */
  finish(run: RunRecord): Promise<RunRecord>;
  /** Stages and finishes. */
  load(contacts: readonly DesiredContact[], options?: StageOptions): Promise<RunRecord>;
  countsOf(run: RunRecord): Promise<RunCounts>;
  eventsOf(run: RunRecord): Promise<readonly RunEvent[]>;
  /** All contacts of the service, as the service tells them. */
  contacts(): Promise<readonly Contact[]>;
  /** The one contact of that key. */
  contactOf(key: string): Promise<Contact>;
  /** What a person does in the app: no worker is involved. */
  byHand(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Contact>;
  /** One contact per key, counts that add up and agree with the records, and no lease left. */
  expectSound(): Promise<void>;
}

/** More than any test needs; a run that never ends shows here. */
const roundsMax = 60;
const startGuardMs = 10_000;

export async function openUpsertWorld(options: WorldOptions = {}): Promise<UpsertWorld> {
  const { patchMode = 'merge', faults = [] } = options;
  const service = await startTestService({ patchMode, faults, control: true });
  const opened = await openTempLedger();
  onTestFinished(() => opened.close());
  const { ledger } = opened;
  const clock = movedClock();
  const runs: RunRecord[] = [];
  const keys = new Set<string>();

  const contacts = async (): Promise<readonly Contact[]> => {
    const all: Contact[] = [];
    let token: string | null = null;
    // Ends with the last page: the service's store is finite.
    do {
      const query: string = token === null ? '' : `&pageToken=${encodeURIComponent(token)}`;
      const page = contactListEnvelope.parse((await service.call('GET', `/v1/contacts?maxResults=50${query}`)).body);
      all.push(...page.data);
      token = page.nextPageToken;
    } while (token !== null);
    return all;
  };
  const countsOf = async (run: RunRecord): Promise<RunCounts> => (await ledger.runs.get(run.id))?.counts ?? zeroCounts;
  const parts = upsertParts(service, ledger, clock, options);

  const workOnce = async (run: RunRecord, worker = parts): Promise<readonly BatchEnd[]> => {
    const now = await ledger.nowMs(clock);
    const batches = await ledger.runs.nextBatches(now, 1_000);
    const ends: BatchEnd[] = [];
    for (const batch of batches) {
      if (batch.runId !== run.id || batch.dueAtMs > now) continue;
      ends.push(await processBatch(worker, batch, new AbortController().signal));
    }
    return ends;
  };
  const finish = async (run: RunRecord): Promise<RunRecord> => {
    for (let round = 0; (await ledger.runs.pendingCount(run.id)) > 0; round += 1) {
      if (round > roundsMax) throw new Error(`the run still has pending rows after ${roundsMax} rounds`);
      const nowMs = await ledger.nowMs(clock);
      const batches = (await ledger.runs.nextBatches(nowMs, 1_000)).filter((one) => one.runId === run.id);
      const dueAtMs = Math.min(...batches.map((batch) => batch.dueAtMs));
      clock.advance(Math.max(0, dueAtMs - nowMs));
      await workOnce(run);
    }
    const state = (await countsOf(run)).dead > 0 ? 'doneWithDead' : 'done';
    await ledger.runs.move(run.id, ['applying'], state, { atMs: clock.nowMs() });
    return (await ledger.runs.get(run.id)) ?? run;
  };
  const stage = async (
    wanted: readonly DesiredContact[],
    { feed, rowsPerBatch = 20, options = {}, links = {}, mapping }: StageOptions = {},
  ) => {
    for (const { key } of wanted) keys.add(key);
    const run = await stageRun(
      ledger,
      clock,
      {
        id: `run-${runs.length + 1}`,
        feed: feed ?? 'main',
        rowsPerBatch,
        options: { ...noOptions, ...options },
        mapping: mapping ?? null,
      },
      wanted,
      links,
    );
    runs.push(run);
    return run;
  };

  return {
    service,
    ledger,
    ledgerFile: opened.file,
    clock,
    parts,
    anotherWorker: async () => upsertParts(service, await opened.reopen(), clock, options),
    faults: async (...specs) => {
      expect((await service.call('POST', '/__control', { faults: specs })).status).toBe(200);
    },
    stage,
    workOnce,
    finish,
    load: async (wanted, stageOptions) => finish(await stage(wanted, stageOptions)),
    countsOf,
    eventsOf: (run) => ledger.runs.events(run.id, 0, 1_000),
    contacts,
    contactOf: async (key) => {
      const [contact, ...others] = (await contacts()).filter((one) => one.externalId === key);
      if (contact === undefined || others.length > 0) throw new Error(`${key}: none, or more than one`);
      return contact;
    },
    byHand: async (method, path, body) => {
      const answer = await service.call(method, path, body);
      expect(answer.status).toBeLessThan(300);
      return answer.body?.data;
    },
    expectSound: async () => {
      await expectOneContactEach(await contacts());
      for (const run of runs) await expectSoundCounts(ledger, run);
      await expectNoLease(ledger, clock, [...keys]);
    },
  };
}

function upsertParts(service: TestService, ledger: Ledger, clock: MovedClock, options: WorldOptions): UpsertParts {
  const log = options.log ?? silentLogger();
  const workspace = createHttpWorkspace({
    baseUrl: service.origin,
    readApiKey: () => testKey,
    rateGate: createPauseGate(clock),
    clock,
    // Repeated reads do not wait.
    random: () => 0,
    log,
    timeouts: { writeStartMs: startGuardMs },
  });
  onTestFinished(() => workspace.close());
  return {
    ledger,
    workspace,
    clock,
    log,
    identity: identifyProcess(clock.bootId),
    writeHealth: options.writeHealth ?? createWriteHealth(clock),
    limits: {
      ...defaultLimits,
      // Wide, since time is moved on by hand: no test depends on how fast the machine is.
      startGuardMs,
      readAgeMaxMs: 10_000,
      visibilityLagMs: 0,
      ...options.limits,
    },
  };
}

async function stageRun(
  ledger: Ledger,
  clock: MovedClock,
  {
    id,
    feed,
    rowsPerBatch,
    options,
    mapping,
  }: { id: string; feed: string; rowsPerBatch: number; options: RunOptions; mapping: Mapping | null },
  wanted: readonly DesiredContact[],
  links: NonNullable<StageOptions['links']>,
): Promise<RunRecord> {
  const atMs = clock.nowMs();
  const file = { fileName: `${id}.csv`, claimedPath: '', importFolder: '', sha256: id, bytes: 1 };
  const run = await ledger.runs.create({
    ...file,
    id,
    feed,
    kind: 'file',
    options,
    mapping,
    createdAtMs: atMs,
  });
  await ledger.runs.beginStaging(id, atMs);
  const records = wanted.map((desired, index) => ({
    line: index + 2,
    sequence: run.sequence,
    key: desired.key,
    rowHash: fingerprint(desired),
    fingerprint: fingerprint(desired),
    mappingVersion: 'mapping-1',
    desired,
    row: { kind: 'cells', line: index + 2, record: index + 1, columns: ['id'], cells: [desired.key] } as const,
  }));
  const nothingElse = { dead: [], events: [] };
  const counts = { rows: records.length };
  await ledger.runs.stage({ runId: id, feed, rowsPerBatch, records, counts, atMs, ...nothingElse });
  const linked = records.flatMap(({ key }, index) => {
    const link = links[key];
    return link === undefined ? [] : [{ position: index + 1, link }];
  });
  await ledger.runs.linkRows(id, linked);
  await ledger.runs.move(id, ['staging'], 'applying', { atMs });
  return (await ledger.runs.get(id)) ?? run;
}

async function expectOneContactEach(contacts: readonly Contact[]): Promise<void> {
  const keys = contacts.flatMap(({ externalId }) => (externalId === null ? [] : [externalId]));
  expect(keys.toSorted()).toEqual([...new Set(keys)].toSorted());
}

async function expectSoundCounts(ledger: Ledger, run: RunRecord): Promise<void> {
  const counts = (await ledger.runs.get(run.id))?.counts ?? zeroCounts;
  const { created, updated, unchanged, skipped, dead } = counts;
  expect(await ledger.runs.countEnds(run.id)).toEqual({ created, updated, unchanged, skipped, dead });
  expect(pendingCount(counts)).toBe(await ledger.runs.pendingCount(run.id));
}

/** A stranger can have every key, as soon as its horizon has passed: nobody holds it. */
async function expectNoLease(ledger: Ledger, clock: MovedClock, keys: readonly string[]): Promise<void> {
  const owner = 'elsewhere/0/0/0#audit';
  const answers: ReadonlyMap<string, LeaseResult> = await ledger.contacts.lease({
    feed: 'main',
    keys: keys.map((key) => ({ key, sequence: Number.MAX_SAFE_INTEGER })),
    owner,
    leaseMs: 1,
    nowMs: await ledger.nowMs(clock),
    isOwnerDead: () => false,
  });
  await ledger.contacts.release(owner, keys);
  expect([...answers].filter(([, answer]) => answer.kind === 'held')).toEqual([]);
}
