/**
 * The world of one schedule: two workers that run the real core, the ledger and the service between them, and time.
 *
 * Terms: an *effect* is a call of a worker that touches what is shared. It happens as a whole, when its worker is *current*;
 * the effects of the other worker are *parked*. Before each effect the schedule may depart from the plain course
 * (`choices.ts`): the other worker goes first, this one dies, time moves on, somebody else acts. A worker that died is
 * replaced by a new process; what it still does is never heard of.
 *
 * Invariant: everything that happens follows from the scenario and the schedule. Real time, real chance and real input
 * and output have no part in it.
 */
import { PatchbayError } from '#src/errors.ts';
import { processBatch } from '#src/upsert/process-batch.ts';
import { type Beginning, happens } from './beginning.ts';
import type { Choices } from './choices.ts';
import { type DepartureKind, departureWords } from './departure.ts';
import { memoryLedger } from './ledger-in-memory.ts';
import { createModelService } from './model-service.ts';
import { laterMoments, type Time } from './model-time.ts';
import { createWorker } from './model-worker.ts';
import { batchName, nextMomentMs, takeableBatch, waitingBatches } from './queue.ts';
import type { Scenario } from './scenario.ts';
import { limitsOf, realLimits, type Seams } from './seams.ts';
import type { Parked, Stage, Worker } from './stage.ts';
import type { Violation, ViolationKind } from './violation.ts';

export interface World extends Stage {
  /** Processes that died. */
  readonly dead: ReadonlySet<string>;
  /** Plays the schedule to its end. Null where nothing was violated on the way. */
  play(): Promise<Violation | null>;
  /** The first violation so far. */
  violation(): Violation | null;
}

export interface WorldOptions {
  readonly scenario: Scenario;
  readonly beginning: Beginning;
  readonly choices: Choices;
  readonly seams: Seams;
  /** Looks for these only; null: for all. */
  readonly lookFor: readonly ViolationKind[] | null;
  /** Departs in these ways only; null: in all. */
  readonly only: readonly DepartureKind[] | null;
  /** Takes what happens, in words. */
  readonly trace: TraceLine[] | null;
}

export interface TraceLine {
  /** Since the beginning. */
  readonly atMs: number;
  readonly words: string;
  readonly isDeparture: boolean;
}

/** No schedule needs as many; one that does never ends. */
const effectsMax = 3_000;
/** After an error that concerns all rows the queue waits so long. */
const restMs = 5_000;
const wallJumpMs = 3_600_000;

interface Option {
  readonly kind: DepartureKind | 'goOn';
  /** Of a switch. */
  readonly to?: Worker;
  /** Of a departure of time. */
  readonly toMs?: number;
}
const goOn: Option = { kind: 'goOn' };

export function createWorld({ scenario, beginning, choices, seams, lookFor, only, trace }: WorldOptions): World {
  const isAllowed = (kind: DepartureKind): boolean => only?.includes(kind) ?? true;
  const limits = { ...limitsOf(scenario), ...seams.limits };
  const time: Time = { nowMs: beginning.atMs, bootAtMs: 0, boot: 1, wallAheadMs: 0 };
  const ledger = memoryLedger();
  ledger.restore(beginning.ledger, seams.rules.intentIsDurable);
  const service = createModelService({
    unique: scenario.unique,
    patchMode: scenario.patchMode,
    visibilityLagMs: realLimits.visibilityLagMs,
    nowMs: () => time.nowMs,
    beginning: beginning.service,
  });
  const dead = new Set<string>();
  const workers: Worker[] = [];
  const eventsLeft = [...scenario.events];
  let processCount = 0;
  let effectCount = 0;
  let current: Worker | null = null;
  let violation: Violation | null = null;
  let isOver = false;
  let lastEffect = '';
  let end: () => void = () => undefined;

  const note = (words: string, isDeparture = false): void => {
    trace?.push({ atMs: time.nowMs - beginning.atMs, words, isDeparture });
  };
  const finish = (): void => {
    isOver = true;
    end();
  };

  const stage: Stage = {
    scenario,
    ledger,
    service,
    time,
    events: new Map(beginning.events),
    flights: new Set(),
    doubts: new Map(),
    lastWrites: new Map(),
    writeCount: 0,
    ledgerFailed: false,
    chooseFate: (kinds) => {
      if (choices.exhausted || choices.passes()) return null;
      const allowed = kinds.filter(isAllowed);
      const kind = allowed[choices.choose(allowed.length + 1) - 1] ?? null;
      if (kind !== null) note(`${lastEffect}: ${departureWords[kind]}`, true);
      return kind;
    },
    violate: (kind, message) => {
      const isLookedFor = lookFor?.includes(kind) ?? true;
      // After these two the schedule cannot go on, whatever was looked for.
      const isTheEnd = kind === 'neverEnds' || kind === 'coreFailed';
      if (violation !== null || !(isLookedFor || isTheEnd)) return;
      violation = { kind, message };
      finish();
    },
    effect: <Result>(
      worker: Worker,
      kind: Parked['kind'],
      name: () => string,
      work: () => Result | Promise<Result>,
    ) => {
      // A promise of its own each time: one for all would remember everybody who waits for it.
      if (!worker.isAlive || isOver) return new Promise<Result>(() => undefined);
      const perform = (): Result | Promise<Result> => {
        effectCount += 1;
        if (effectCount > effectsMax) stage.violate('neverEnds', `${effectsMax} effects, and rows are still pending`);
        advance(time.nowMs + 1);
        if (trace !== null) {
          lastEffect = `${worker.name} ${name()}`;
          note(lastEffect);
        }
        return work();
      };
      if (current === worker && choices.exhausted && worker.parked.length === 0) return attempt(perform);
      return new Promise<Result>((resolve, reject) => {
        worker.parked.push({ name, kind, run: () => attempt(perform).then(resolve, reject), fail: reject });
        if (current === worker) runParked(worker, false);
      });
    },
  };

  /** An effect takes some turns of the microtasks, as a transaction does; nothing of the schedule comes between them. */
  let isPerforming = false;
  function perform({ run }: Parked): void {
    isPerforming = true;
    void run().then(() => {
      isPerforming = false;
      if (current !== null) runParked(current, false);
    });
  }

  /** What is on its way to the service lands in its own time. */
  function advance(toMs: number): void {
    // Ends: each round lets the next late write land, and none is added.
    for (let late = service.nextLateMs(); late !== null && late <= toMs; late = service.nextLateMs()) {
      time.nowMs = Math.max(time.nowMs, late);
      service.land(late);
      note('what was on its way lands');
    }
    time.nowMs = Math.max(time.nowMs, toMs);
  }

  /** Performs the effects of the current worker, each after the schedule had its say. */
  function runParked(worker: Worker, isAdmitted: boolean): void {
    let admitted = isAdmitted;
    // Ends: each round takes an effect off the list; the next one waits until it is done.
    while (current === worker && worker.isAlive && !isOver && !isPerforming) {
      const next = worker.parked[0];
      if (next === undefined) return;
      if (!admitted && !admit(worker, next)) return;
      admitted = false;
      worker.parked.shift();
      perform(next);
    }
  }

  /** Lets the schedule depart before an effect. Answers whether the effect happens now. */
  function admit(worker: Worker, { kind, name }: Parked): boolean {
    // Ends: each round uses a departure up.
    while (!choices.exhausted && !choices.passes()) {
      const options = optionsBefore(worker, kind);
      const option = options[choices.choose(options.length)] ?? goOn;
      if (option.kind === 'goOn') return true;
      if (trace !== null) note(`${worker.name}, before ${name()}, ${departureWords[option.kind]}`, true);
      switch (option.kind) {
        case 'switch':
          activate(option.to ?? worker, true);
          return false;
        case 'crash':
          crash(worker);
          proceed();
          return false;
        case 'powerCut':
          cutThePower();
          proceed();
          return false;
        case 'ledgerFails':
          failLedger(worker);
          return false;
        case 'stop':
          worker.stop.abort();
          break;
        case 'outside':
          happen();
          break;
        case 'wallClockJumps':
          time.wallAheadMs += wallJumpMs;
          break;
        default:
          advance(option.toMs ?? 0);
          break;
      }
    }
    return true;
  }

  function optionsBefore(worker: Worker, kind: Parked['kind']): readonly Option[] {
    const options: Option[] = [goOn];
    for (const other of workers) {
      if (other === worker) continue;
      if (other.parked.length > 0 || takeable(other) !== null) options.push({ kind: 'switch', to: other });
    }
    if (kind !== 'read') options.push({ kind: 'crash' }, { kind: 'powerCut' });
    if (kind === 'ledgerWrite') options.push({ kind: 'ledgerFails' });
    if (!worker.stop.signal.aborted) options.push({ kind: 'stop' });
    if (eventsLeft.length > 0) options.push({ kind: 'outside' });
    if (time.wallAheadMs === 0) options.push({ kind: 'wallClockJumps' });
    options.push(...laterMoments(time, ledger, service.nextLateMs()));
    return only === null ? options : options.filter(({ kind }) => kind === 'goOn' || isAllowed(kind));
  }

  function failLedger(worker: Worker): void {
    const failed = worker.parked.shift();
    stage.ledgerFailed = true;
    failed?.fail(new PatchbayError('transient', 'ledgerBusy', 'another process holds the ledger and does not let go'));
    runParked(worker, false);
  }

  function happen(): void {
    const event = eventsLeft.shift();
    if (event === undefined) return;
    advance(time.nowMs + 1);
    note(`${event.words}${happens(stage, event) ? '' : ': there is nothing to do it to'}`);
  }

  function crash(worker: Worker): void {
    worker.isAlive = false;
    dead.add(worker.name);
    for (const flight of stage.flights) {
      if (flight.worker === worker) stage.flights.delete(flight);
    }
    workers[worker.slot] = spawn(worker.slot);
  }

  /** The machine stops and starts again: monotonic time begins anew. */
  function cutThePower(): void {
    ledger.cutPower();
    seams.rules.afterBoot?.(ledger.db);
    time.boot += 1;
    time.bootAtMs = time.nowMs;
    for (const worker of [...workers]) crash(worker);
  }

  function spawn(slot: number): Worker {
    processCount += 1;
    const isDead = (owner: string): boolean => {
      const [name = ''] = owner.split('#');
      return dead.has(name) && (scenario.sameHost || name.startsWith(`w${slot + 1}.`));
    };
    return createWorker(stage, { slot, name: `w${slot + 1}.${processCount}`, limits, seams, isDead });
  }

  const takeable = (worker: Worker) => takeableBatch(ledger, time, scenario.redelivered, worker, workers);

  /** `isAdmitted`: the schedule has had its say about what the worker does next. */
  function activate(worker: Worker, isAdmitted: boolean): void {
    current = worker;
    if (worker.parked.length > 0) {
      runParked(worker, isAdmitted);
      return;
    }
    const batch = takeable(worker);
    if (batch === null) return;
    const name = batchName(batch);
    worker.job = name;
    worker.taken.add(name);
    note(`${worker.name} takes batch ${name}`);
    worker.stop = new AbortController();
    processBatch(worker.parts(), batch, worker.stop.signal).then(
      (how) => jobEnded(worker, how),
      (error: unknown) => jobFailed(worker, name, error),
    );
  }

  function jobEnded(worker: Worker, how: string): void {
    if (!worker.isAlive || isOver) return;
    note(`${worker.name} ends its batch: ${how}`);
    worker.job = null;
    proceed();
  }

  function jobFailed(worker: Worker, name: string, error: unknown): void {
    if (!worker.isAlive || isOver) return;
    if (!(error instanceof PatchbayError) || error.kind === 'bug' || error.kind === 'guard') {
      stage.violate('coreFailed', error instanceof Error ? (error.stack ?? error.message) : String(error));
      return;
    }
    note(`${worker.name} ends its batch: ${error.code}`);
    worker.job = null;
    worker.taken.delete(name);
    worker.restUntilMs = time.nowMs + restMs;
    proceed();
  }

  /** Nobody is current: the next one is, or time moves on until somebody can be. */
  function proceed(): void {
    current = null;
    // Ends: time moves on to a batch that is due, and the work on it costs effects.
    while (!isOver) {
      const ready = workers.filter((one) => one.parked.length > 0 || takeable(one) !== null);
      if (ready.length > 0) {
        // Those that were held up go on first.
        ready.sort((one, two) => two.parked.length - one.parked.length || one.slot - two.slot);
        const isPlain = choices.exhausted || !isAllowed('switch') || choices.passes();
        const next = ready[isPlain ? 0 : choices.choose(ready.length)];
        if (next !== undefined) activate(next, false);
        return;
      }
      if (waitingBatches(ledger, time).batches.length === 0) {
        finish();
        return;
      }
      const nextMs = nextMomentMs(ledger, workers, time);
      if (nextMs === null) stage.violate('neverEnds', 'rows are pending, and nobody takes their batch');
      else advance(nextMs);
    }
  }

  const play = async (): Promise<Violation | null> => {
    workers.push(spawn(0), spawn(1));
    await new Promise<void>((resolve) => {
      end = resolve;
      proceed();
    });
    // What is still on its way lands, and shows.
    advance(Math.max(time.nowMs, service.lastLateMs() ?? 0) + realLimits.visibilityLagMs);
    return violation;
  };

  return Object.assign(stage, { dead, play, violation: () => violation });
}

/** The work's result as a promise, also where it throws. */
function attempt<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
