/**
 * The beginning of a scenario: its past played plainly by the real core, one thing a minute, and then its files staged. It is
 * made once, and every schedule starts from it.
 */
import type { DesiredContact } from '#src/contacts/desired.ts';
import { noOptions } from '#src/ledger/runs.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import { hash } from '#test/contracts/support/build.ts';
import type { KeyEvent } from '../commands/chronicle.ts';
import type { Row } from '../commands/model.ts';
import { pictureOf } from '../commands/picture.ts';
import { type Contents, memoryLedger } from './ledger-in-memory.ts';
import { createModelService, noContents, type ServiceContents } from './model-service.ts';
import { beginMs, type Time } from './model-time.ts';
import { createWorker } from './model-worker.ts';
import { waitingBatches } from './queue.ts';
import type { Cells, FileOf, OutsideEvent, Scenario } from './scenario.ts';
import { limitsOf, noSeams, realLimits } from './seams.ts';
import type { Stage, Worker } from './stage.ts';

export interface Beginning {
  readonly ledger: Contents;
  readonly service: ServiceContents;
  readonly events: ReadonlyMap<string, readonly KeyEvent[]>;
  /** All runs, and those of them that are at work. */
  readonly runIds: readonly string[];
  readonly atWork: readonly string[];
  readonly atMs: number;
}

const stepMs = 60_000;
/** A row in doubt is put off a few times. */
const roundsMax = 10;
const made = new Map<string, Promise<Beginning>>();
let nothing: Contents | null = null;

/** Of this thread's ledger: no other schedule may be at play. */
export function beginningOf(scenario: Scenario): Promise<Beginning> {
  let beginning = made.get(scenario.name);
  if (beginning === undefined) {
    beginning = make(scenario);
    made.set(scenario.name, beginning);
  }
  return beginning;
}

async function make(scenario: Scenario): Promise<Beginning> {
  const memory = memoryLedger();
  nothing ??= memory.contents();
  memory.restore(nothing);
  const time: Time = { nowMs: beginMs, bootAtMs: 0, boot: 1, wallAheadMs: 0 };
  let losesAnswers = false;
  const { patchMode } = scenario;
  const { visibilityLagMs } = realLimits;
  const nowMs = (): number => time.nowMs;
  const service = createModelService({ unique: false, patchMode, visibilityLagMs, nowMs, beginning: noContents });
  const events = new Map<string, readonly KeyEvent[]>();
  const past = { ...scenario, outageWrites: 0, unique: false };
  const stage = plainStage({ scenario: past, ledger: memory, service, time, events }, () => losesAnswers);
  const worker = plainWorker(stage);
  const runIds: string[] = [];
  const atWork: string[] = [];
  for (const step of scenario.past) {
    time.nowMs += stepMs;
    if ('event' in step) {
      happens(stage, step.event);
      continue;
    }
    losesAnswers = step.lost ?? false;
    const id = await enter(stage, step.file);
    runIds.push(id);
    if (losesAnswers) {
      await processBatch(worker.parts(), { runId: id, batch: 1, generation: 0 }, new AbortController().signal);
      atWork.push(id);
    } else await playOne(stage, worker, id);
  }
  time.nowMs += stepMs;
  for (const file of scenario.files) {
    const id = await enter(stage, file);
    runIds.push(id);
    atWork.push(id);
  }
  return {
    ledger: memory.contents(),
    service: service.contents(),
    events: new Map(events),
    runIds,
    atWork,
    atMs: time.nowMs,
  };
}

/** Everything happens at once, and nothing departs from the plain course. */
function plainStage(
  world: Pick<Stage, 'scenario' | 'ledger' | 'service' | 'time' | 'events'>,
  losesAnswers: () => boolean = () => false,
): Stage {
  return {
    ...world,
    flights: new Set(),
    doubts: new Map(),
    lastWrites: new Map(),
    writeCount: 0,
    ledgerFailed: false,
    effect: async (_worker, _kind, _name, work) => {
      world.time.nowMs += 1;
      return work();
    },
    chooseFate: (kinds) => (losesAnswers() ? (kinds.find((kind) => kind === 'answerLost') ?? null) : null),
    violate: (kind, message) => {
      throw new Error(`the plain course of ${world.scenario.name} is wrong (${kind}): ${message}`);
    },
  };
}

/** No other process lives. */
const plainWorker = (stage: Stage) =>
  createWorker(stage, { slot: 0, name: 'w0.0', limits: limitsOf(stage.scenario), seams: noSeams, isDead: () => true });

/** Works a run to its end, however often its row is put off. */
async function playOne(stage: Stage, worker: Worker, runId: string): Promise<void> {
  const { ledger, clock } = worker.parts();
  for (let round = 0; round < roundsMax; round += 1) {
    const { batches } = waitingBatches(stage.ledger, stage.time);
    const batch = batches.find((one) => one.runId === runId);
    if (batch === undefined) break;
    await processBatch(worker.parts(), batch, new AbortController().signal);
    stage.time.nowMs += stepMs;
  }
  await ledger.runs.move(runId, ['applying'], 'done', { atMs: clock.nowMs() });
  notesRest(stage, runId);
}

/** The run has ended, for every key. */
export function notesRest(stage: Stage, runId: string): void {
  for (const key of stage.events.keys()) noteEvent(stage, key, { kind: 'rest', runId });
}

/** Reads a file when all is done. @returns its run. */
export async function playEpilogue(world: Stage, file: FileOf): Promise<string> {
  world.time.nowMs += 2 * stepMs;
  const stage = plainStage({ ...world, scenario: { ...world.scenario, outageWrites: 0 } });
  const id = await enter(stage, file);
  await playOne(stage, plainWorker(stage), id);
  return id;
}

/** Somebody else does something. Answers false where there is nothing to do it to. */
export function happens(stage: Stage, { key, happen }: OutsideEvent): boolean {
  const picture = () => {
    const [contact] = stage.service.contactsOf(key);
    return contact === undefined ? new Map<string, string>() : pictureOf(contact);
  };
  const from = picture();
  if (!happen(stage.service)) return false;
  const isGone = from.size > 0 && stage.service.contactsOf(key).length === 0;
  noteEvent(stage, key, isGone ? { kind: 'gone' } : { kind: 'edit', from, to: picture() });
  return true;
}

export function noteEvent({ events }: Stage, key: string, event: KeyEvent): void {
  events.set(key, [...(events.get(key) ?? []), event]);
}

async function enter(stage: Stage, { feed, rows }: FileOf): Promise<string> {
  const ledger = stage.ledger.open();
  const number = [...stage.events.values()].flat().filter(({ kind }) => kind === 'row').length + 1;
  const id = `run${number}`;
  const file = { fileName: `${id}.csv`, claimedPath: '', importFolder: '', sha256: id, bytes: 1 };
  const run = {
    ...file,
    id,
    feed,
    kind: 'file',
    options: noOptions,
    mapping: null,
    createdAtMs: stage.time.nowMs,
  } as const;
  const { sequence } = await ledger.runs.create(run);
  await ledger.runs.beginStaging(id, stage.time.nowMs);
  const records = Object.entries(rows).map(([key, cells], index) => {
    const line = index + 2;
    const row: Row = { runId: id, sequence, feed, line, cells };
    noteEvent(stage, key, { kind: 'row', row });
    const said = `${feed} ${key} ${JSON.stringify(cells)}`;
    const source = { kind: 'cells', line, record: index + 1, columns: ['id'], cells: [key] } as const;
    const place = { line, sequence, key, rowHash: hash(said), fingerprint: hash(said), mappingVersion: 'm1' };
    return { ...place, desired: desiredOf(key, cells), row: source };
  });
  const nothingElse = { dead: [], events: [] };
  const counts = { rows: records.length };
  await ledger.runs.stage({
    runId: id,
    feed,
    rowsPerBatch: 20,
    records,
    counts,
    atMs: stage.time.nowMs,
    ...nothingElse,
  });
  const links = records.flatMap(({ key }, index) => {
    const contactId = stage.scenario.links?.[key];
    if (contactId === undefined || stage.service.get(contactId) === null) return [];
    return [{ position: index + 1, link: { kind: 'contact', contactId, isDecided: true } as const }];
  });
  await ledger.runs.linkRows(id, links);
  await ledger.runs.move(id, ['staging'], 'applying', { atMs: stage.time.nowMs });
  return id;
}

function desiredOf(key: string, cells: Cells): DesiredContact {
  const slots = (kind: string) =>
    Object.entries(cells)
      .filter(([column]) => column.startsWith(kind))
      .map(([column, value]) => ({ slot: column, items: value === '' ? [] : [{ label: column, value }] }));
  const scalars = Object.entries(cells)
    .filter(([column]) => ['firstName', 'lastName', 'company', 'role'].includes(column))
    .map(([column, value]) => [column, value === '' ? null : value] as const);
  const customFields = Object.entries(cells)
    .filter(([column]) => column.startsWith('custom.'))
    .map(([column, value]) => ({ key: column.slice('custom.'.length), value: value === '' ? null : value }));
  const lists = { emails: slots('email'), phones: slots('phone') };
  return { key, scalars: Object.fromEntries(scalars), source: null, ...lists, customFields };
}
