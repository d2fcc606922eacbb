/**
 * The real parts of one story: service on loopback, ledger in a file, import folders, two workers, and between them a
 * queue that may lose, repeat and reorder.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { batchCatalog, runCatalog } from '#jobs/index.ts';
import { scalarNames } from '#src/contacts/desired.ts';
import type { FieldPolicy } from '#src/contacts/policies.ts';
import type { Feeds } from '#src/feeds/feeds.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { isFinal, type RunRecord } from '#src/ledger/runs.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { silentLogger } from '#src/log.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import { jobsToDo } from '#src/queue/dispatcher.ts';
import { createPauseGate } from '#src/rate/rate-gate.ts';
import { takeFile } from '#src/runs/enter-run.ts';
import { claimedFolderOf, type RunFolders } from '#src/runs/run-files.ts';
import { startService } from '#src/service/start-service.ts';
import type { UpsertLimits } from '#src/upsert/chunk.ts';
import { type Contact, contactListEnvelope } from '#src/wire/contact.ts';
import type { Breakers } from '#src/workspace/classify.ts';
import { createHttpWorkspace } from '#src/workspace/http-workspace.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { plainFeeds } from '#test/feeds/support/test-feeds.ts';
import { serviceDefaults } from '#test/support/service-defaults.ts';
import { defaultLimits } from '#test/upsert/support/default-limits.ts';
import { type Chronicle, takeChronicle } from './chronicle.ts';
import { columnsOf, type Feed, feeds, policedField, type Story } from './commands.ts';
import { type CreateWatch, watchCreates } from './create-watch.ts';
import { type Desk, openDesk } from './desk.ts';
import type { Moment } from './life.ts';
import { looseQueue, type QueuedJob } from './loose-queue.ts';
import { type MovedTime, movedTime } from './moved-time.ts';
import { createModelWorker, listenedBreakers, type ModelWorker, type WorkerTell } from './worker.ts';

/** D and V of `docs/rules.md`; the faults of the commands stay within them. */
export const limits: UpsertLimits = {
  ...defaultLimits,
  // Guards have tests of their own: here they never say no.
  applyingOf: () => ({ adoptionsMax: 1, adoptionsFloor: 1_000, refusalsMax: 1_000 }),
};

export interface World {
  readonly ledger: Ledger;
  readonly time: MovedTime;
  readonly creates: CreateWatch;
  readonly chronicle: Chronicle;
  readonly folders: RunFolders;
  readonly desk: Desk;
  drop(feed: Feed, text: string): Promise<RunRecord>;
  isAway(feed: Feed): boolean;
  /** The feed goes, or comes. Nothing is at work. */
  move(feed: Feed, isAway: boolean): void;
  /** Waits for the end of a run that the desk has entered. */
  follow(run: RunRecord): void;
  faults(specs: readonly string[]): Promise<void>;
  /** What a person does in the app: no fault meets it. */
  byHand(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<void>;
  /** Lets somebody else do something before that effect of the worker. */
  interrupt(worker: 0 | 1, effect: number, work: () => Promise<void>): void;
  /** Of the whole workspace. */
  contacts(): Promise<readonly Contact[]>;
  crash(worker: 0 | 1, effect: number, moment: Moment, noticed: boolean): void;
  pause(): Promise<void>;
  resume(): Promise<void>;
  advance(ms: number): Promise<void>;
  flush(): void;
  reorder(by: number): void;
  /** The last job is delivered once more. */
  redeliver(): void;
  /** One job, by that worker; by both at once where it is given to both. Answers whether there was one. */
  work(by: 0 | 1 | 'both'): Promise<boolean>;
  /** Everything is worked to its end, whatever was put off. */
  finish(): Promise<void>;
  /** Whether an owner's process is known to be dead. */
  isDead(owner: string): boolean;
  readonly unnoticedDeaths: () => number;
  /** Whether every file was worked to its end. */
  readonly isAtRest: () => boolean;
  close(): Promise<void>;
}

/** More than any story needs; work that never ends shows here. */
const roundsMax = 2_000;
const jobsMax = 100;

export interface WorldOptions extends Pick<Story, 'patchMode' | 'policy'> {
  /** Told of each effect of each worker; null where nobody listens. */
  readonly tell: WorkerTell | null;
  /** A way to new connections to one new ledger; one in a file unless given. */
  readonly newLedger?: NewLedger | undefined;
}

/** Makes a ledger. @returns what opens a connection to it. @param folder of the world, which removes it. */
export type NewLedger = (folder: string) => () => Promise<Ledger>;

const inFile: NewLedger = (folder) => async () => openSqliteLedger(join(folder, 'ledger.sqlite'));

export async function openWorld({ patchMode, policy, tell, newLedger = inFile }: WorldOptions): Promise<World> {
  const time = movedTime();
  const clock = time.ofWorkers;
  const service = await startService({
    ...serviceDefaults,
    patchMode,
    control: true,
    clock: time.ofService,
  });
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-commands-'));
  const inbox = join(folder, 'import');
  const folders: RunFolders = {
    claimed: join(folder, 'claimed'),
    handedOver: join(folder, 'handed-over'),
    drafts: join(folder, 'drafts'),
    reports: join(folder, 'reports'),
    importFolders: [inbox],
  };
  for (const feed of feeds) await mkdir(feed === 'main' ? inbox : join(inbox, feed), { recursive: true });
  for (const feed of feeds)
    await mkdir(claimedFolderOf(folders.claimed, feed === 'main' ? null : feed), { recursive: true });
  const openLedger = newLedger(folder);
  const ledger = await openLedger();
  const away = new Set<string>();
  const moving: UpsertLimits = { ...limits, ownsItems: (feed) => !away.has(feed) };
  const creates = watchCreates(clock, limits);
  const queue = looseQueue();
  const dead = new Set<string>();
  const log = silentLogger();
  let unnoticedDeaths = 0;
  let pausedByHand = false;
  let specsInForce: readonly string[] = [];
  let fileCount = 0;
  const atWork = new Set<string>();
  const submit = { ledger, clock, log, folders, feeds: feedsWith(policy), host: null, entering: new Set<string>() };

  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(service.origin + path, {
      method,
      headers: { authorization: serviceDefaults.apiKeys[0], 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const setFaults = async (specs: readonly string[]): Promise<void> => {
    await call('POST', '/__control', { faults: specs });
  };
  let undisturbedCount = 0;
  /** What the service does for a person or for the referee fails for nobody; several may be at it at once. */
  const undisturbed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    undisturbedCount += 1;
    if (specsInForce.length > 0) await setFaults([]);
    try {
      return await work();
    } finally {
      undisturbedCount -= 1;
      if (specsInForce.length > 0 && undisturbedCount === 0) await setFaults(specsInForce);
    }
  };
  const contacts = (): Promise<readonly Contact[]> => undisturbed(() => allContacts(call));
  const { readAgeMaxMs } = limits;
  const truth = async (key: string): Promise<Contact | null> => {
    const own = (await contacts()).filter((contact) => contact.externalId === key);
    return own.length === 1 ? (own[0] ?? null) : null;
  };
  const claimOf = async (key: string) => (await ledger.contacts.get([key])).get(key)?.claim ?? null;
  const chronicle = takeChronicle({ clock, readAgeMaxMs, truth, claimOf });

  const connections = [await openLedger(), await openLedger()] as const;
  const workspaces: Workspace[] = [];
  const newWorkspace = (breakers?: Breakers): Workspace => {
    const workspace = createHttpWorkspace({
      baseUrl: service.origin,
      readApiKey: () => serviceDefaults.apiKeys[0],
      rateGate: createPauseGate(clock),
      ...(breakers === undefined ? {} : { breakers }),
      clock,
      random: () => 0,
      log,
    });
    workspaces.push(workspace);
    return workspace;
  };
  let processCount = 0;
  const born: ModelWorker[] = [];
  const bear = (slot: 0 | 1): ModelWorker => {
    const breakers = listenedBreakers(clock);
    const workspace = newWorkspace(breakers.breakers);
    processCount += 1;
    const around = { ledger: connections[slot], workspace: chronicle.watched(creates.watched(workspace)), breakers };
    const worker = createModelWorker(`host/boot/${processCount}`, {
      ...around,
      clock,
      folders,
      limits: moving,
      dead,
      tell,
    });
    born.push(worker);
    return worker;
  };
  const workers: [ModelWorker, ModelWorker] = [bear(0), bear(1)];
  const noticed: [boolean, boolean] = [true, true];

  /** A process that ended is replaced by another one. */
  const revive = async (): Promise<void> => {
    for (const slot of [0, 1] as const) {
      if (!workers[slot].life.isOver()) continue;
      if (noticed[slot]) dead.add(workers[slot].name);
      else unnoticedDeaths += 1;
      workers[slot] = bear(slot);
      if (slot === 0) await workers[slot].start();
      if (pausedByHand) await setPause();
    }
  };
  const setPause = (): Promise<void> =>
    ledger.setPause({ code: 'unreachable', message: 'paused by hand', sinceMs: clock.nowMs() });
  const dispatch = async (): Promise<void> =>
    queue.add(await jobsToDo(ledger, await ledger.nowMs(clock), jobsMax), clock.nowMs());
  /** Step by step, so that a commit lands when it is due; a request after it waits for it. */
  const advance = async (ms: number): Promise<void> => {
    let leftMs = ms;
    // Ends: each turn wakes somebody, and who wakes does not wait again.
    for (;;) {
      const stepMs = time.untilNextWakeMs();
      if (stepMs === null || stepMs > leftMs) break;
      time.advance(stepMs);
      leftMs -= stepMs;
      await undisturbed(() => call('GET', '/v1/contacts?maxResults=1'));
    }
    time.advance(leftMs);
  };
  const definitionOf = (job: QueuedJob) => runCatalog.find((one) => one.name === job.name);
  const isForEngine = (job: QueuedJob): boolean => !batchCatalog.some((one) => one.name === job.name);
  /** Who works on a job that is delivered twice at once. A process takes as many of one name as its catalog says. */
  const takersOf = (job: QueuedJob): readonly (0 | 1)[] => {
    if (!isForEngine(job)) return [0, 1];
    return definitionOf(job)?.concurrency === 1 ? [0] : [0, 0];
  };

  const work: World['work'] = async (by) => {
    await revive();
    await advance(5);
    if (!pausedByHand && (await ledger.pause()) !== null) {
      await advance(5_000);
      await workers[0].sweep();
      await revive();
    }
    await dispatch();
    const job = queue.take(clock.nowMs());
    if (job === null) return false;
    const takers = by === 'both' ? takersOf(job) : [isForEngine(job) ? 0 : by];
    await Promise.all(takers.map((slot) => workers[slot].run(job)));
    for (const id of atWork) {
      if (!isFinal((await ledger.runs.get(id))?.state ?? 'queued')) continue;
      atWork.delete(id);
      chronicle.rested(id);
    }
    return true;
  };

  return {
    desk: openDesk({ submit, workspace: newWorkspace(), limits: moving, folder }),
    follow: ({ id }) => void atWork.add(id),
    ledger,
    time,
    creates,
    chronicle,
    folders,
    advance,
    work,
    isDead: (owner) => dead.has(owner.split('#')[0] ?? ''),
    unnoticedDeaths: () => unnoticedDeaths,
    drop: async (feed, text) => {
      fileCount += 1;
      time.advance(1);
      const folder = feed === 'main' ? null : feed;
      const path = join(inbox, folder ?? '', `${feed}-${fileCount}.csv`);
      await writeFile(path, text);
      const run = await takeFile(submit, { importFolder: inbox, folder, path });
      atWork.add(run.id);
      return run;
    },
    isAway: (feed) => away.has(feed),
    move: (feed, isAway) => {
      if (isAway) away.add(feed);
      else away.delete(feed);
      chronicle.moved(feed, isAway);
    },
    faults: async (specs) => {
      specsInForce = specs;
      await setFaults(specs);
    },
    byHand: (method, path, body) => undisturbed(async () => void (await call(method, `/v1/contacts${path}`, body))),
    interrupt: (worker, effect, work) => workers[worker].life.interruptAt(effect, work),
    contacts,
    crash: (worker, effect, moment, isNoticed) => {
      noticed[worker] = isNoticed;
      workers[worker].life.endAt(effect, moment);
    },
    pause: async () => {
      pausedByHand = true;
      await setPause();
    },
    resume: async () => {
      pausedByHand = false;
      await workers[0].sweep();
    },
    flush: queue.flush,
    reorder: queue.reorder,
    redeliver: queue.putBackLast,
    isAtRest: () => atWork.size === 0,
    finish: async () => {
      pausedByHand = false;
      // Ends: nothing is in the way any more, so that every round works a job or goes to the next one that is due.
      for (let round = 0; ; round += 1) {
        if (round > roundsMax) throw new Error(`work does not end: ${await activeRuns(ledger)}`);
        if (await work(round % 2 === 0 ? 0 : 1)) continue;
        if ((await ledger.pause()) !== null) continue;
        const dueAtMs = queue.nextDueAtMs();
        if (dueAtMs !== null) await advance(Math.max(1, dueAtMs - clock.nowMs()));
        else if ((await activeRuns(ledger)) === '') return;
        else throw new Error(`nothing to do, and not at rest: ${await activeRuns(ledger)}`);
      }
    },
    close: async () => {
      for (const worker of born) await worker.bury();
      for (const workspace of workspaces) await workspace.close();
      for (const connection of connections) await connection.close();
      await ledger.close();
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Feeds in the generic layout; with a policy, each with a mapping that reads the same columns alike. */
function feedsWith(policy: FieldPolicy | undefined): Feeds {
  const plain = plainFeeds();
  if (policy === undefined) return plain;
  return {
    ...plain,
    get: async (name) => {
      const feed = feeds.find((one) => one === name) ?? 'main';
      return { ...(await plain.get(name)), mapping: mappingWith(policy, columnsOf[feed]) };
    },
    ofFolder: async (name) => {
      const feed = feeds.find((one) => one === name) ?? 'main';
      return { ...(await plain.ofFolder(name)), mapping: mappingWith(policy, columnsOf[feed]) };
    },
  };
}

function mappingWith(policy: FieldPolicy, columns: readonly string[]): Mapping {
  const scalars = columns.filter((column) => scalarNames.some((name) => name === column));
  const fields = scalars.map((column) => [column, column === policedField ? { column, policy } : column] as const);
  const beginning = (word: string) => columns.filter((column) => column.startsWith(word));
  return mappingSchema.parse({
    name: 'story',
    key: 'externalId',
    fields: Object.fromEntries(fields),
    emails: beginning('email').map((column) => ({ column })),
    phones: beginning('phone').map((column) => ({ column, label: column.replace(/^phone /, '') })),
    customFields: beginning('custom.').map((column) => ({ column, key: column.slice('custom.'.length) })),
  });
}

async function activeRuns(ledger: Ledger): Promise<string> {
  const runs = await ledger.runs.list({
    states: ['queued', 'staging', 'applying', 'cancelling'],
    limit: 100,
    oldestFirst: true,
  });
  return runs.map((run) => `${run.fileName} ${run.state}`).join(', ');
}

async function allContacts(call: (method: string, path: string) => Promise<unknown>): Promise<readonly Contact[]> {
  const all: Contact[] = [];
  let token: string | null = null;
  // Ends with the last page: the service's store is finite.
  do {
    const query: string = token === null ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const page = contactListEnvelope.parse(await call('GET', `/v1/contacts?maxResults=50${query}`));
    all.push(...page.data);
    token = page.nextPageToken;
  } while (token !== null);
  return all;
}
