/** The three parts of the torture, each on a ground of its own, with what its row of the table says. */
import { createChance } from './chance.ts';
import { type Ground, type GroundOptions, longWaits, openGround, type QueueKind } from './ground.ts';
import { randomKillFaults, runRandomKills } from './random-kills.ts';
import { measureRecovery } from './recovery.ts';
import { countSteps, runStepKills } from './step-kills.ts';
import { allKills } from './step-plan.ts';
import type { TableRow } from './table.ts';
import { runThreeHosts } from './three-hosts.ts';

export interface PartOptions {
  readonly seed: number;
  readonly queue: QueueKind;
  readonly patienceMs: number;
}

export interface PartEnd {
  readonly row: TableRow;
  readonly violations: readonly string[];
  /** Where the data folders are kept; null where nothing has to be looked at. */
  readonly kept: string | null;
}

type Outcome = { readonly violations: readonly string[]; readonly row: Partial<TableRow> };

export interface StepsPartOptions extends PartOptions {
  /** Null for all of them. */
  readonly step: string | null;
}

/** Every step, at both moments: the first occurrence and a later one. */
export function stepsPart(options: StepsPartOptions): Promise<PartEnd> {
  const { seed, step } = options;
  const deadlineMs = performance.now() + options.patienceMs;
  return onGround(step ?? 'every step', options, { faults: [], requestsPerSecond: 500 }, async (ground) => {
    const chance = createChance(seed);
    // In another order with each seed: where time is short, each of them has its turn one day.
    const all = chance.shuffled(allKills(await countSteps(ground), chance));
    const kills = all.filter((kill) => step === null || kill.step === step);
    const { violations, notReached, leftOut, ...counts } = await runStepKills(ground, kills, deadlineMs);
    const remarks = [
      ...(notReached.length === 0 ? [] : [`not reached a second time: ${notReached.join(', ')}`]),
      ...(leftOut === 0 ? [] : [`no time for ${leftOut} kills`]),
    ].join('; ');
    return { violations, row: { rows: counts.rows, kills: counts.kills, remarks } };
  });
}

export interface RandomPartOptions extends PartOptions {
  readonly rows: number;
  readonly kills: number;
}

/** Engine and two workers under faults. */
export function randomPart(options: RandomPartOptions): Promise<PartEnd> {
  const { seed, rows, kills, patienceMs } = options;
  return onGround('random', options, { faults: randomKillFaults, requestsPerSecond: 100 }, async (ground) => {
    const disturbances = Math.ceil(kills / 10);
    const result = await runRandomKills(ground, {
      seed,
      rows,
      kills,
      patienceMs,
      flushes: disturbances,
      restarts: Math.ceil(kills / 20),
      freezes: disturbances,
      freezeMsMax: 4_000,
      workerCount: 2,
      audits: true,
    });
    const { flushes, restarts, freezes, requests, duplicates, lost, deadRows, longestGapMs } = result;
    const remarks = `${deadRows} dead rows; longest silence ${inSeconds(longestGapMs)} s`;
    const row = { rows, kills: result.kills, flushes, restarts, freezes, requests, duplicates, remarks };
    return { violations: result.violations, row: { ...row, 'lost rows': lost } };
  });
}

/** Three hosts on one ledger in PostgreSQL and one Redis. */
export function hostsPart(options: RandomPartOptions): Promise<PartEnd> {
  const { seed, rows, kills, patienceMs } = options;
  const conditions = { faults: randomKillFaults, requestsPerSecond: 100, sharesLedger: true };
  return onGround('three hosts', options, conditions, async (ground) => {
    const disturbances = Math.ceil(kills / 5);
    const result = await runThreeHosts(ground, { seed, rows, kills, disturbances, patienceMs });
    const { crashes, freezes, flushes, restarts, requests, duplicates, lost, deadRows, longestGapMs } = result;
    const remarks = `PostgreSQL crashed ${crashes} times; ${deadRows} dead rows; longest silence ${inSeconds(longestGapMs)} s`;
    const row = { rows, kills: result.kills, flushes, restarts, freezes, requests, duplicates, remarks };
    return { violations: result.violations, row: { ...row, 'lost rows': lost } };
  });
}

const recoveryKills = 8;
const recoveryRequestsPerSecond = 60;
/** The work must outlast the kills. */
const recoveryRows = recoveryKills * recoveryRequestsPerSecond * 6;

/** How soon the work goes on after a kill; a slow rate, so that there is always work on its way. */
export function recoveryPart(options: PartOptions): Promise<PartEnd> {
  const conditions = { faults: ['*:latency=50ms'], requestsPerSecond: recoveryRequestsPerSecond };
  return onGround('recovery', options, conditions, async (ground) => {
    const { seed, patienceMs } = options;
    const rows = recoveryRows;
    const result = await measureRecovery(ground, { seed, rows, kills: recoveryKills, workerCount: 2, patienceMs });
    const { kills, violations } = result;
    for (const { role, heldCount, otherMs, heldMs } of kills) {
      process.stderr.write(`  killed ${role}: other keys ${otherMs} ms, its ${heldCount} keys ${heldMs} ms\n`);
    }
    const held = kills.reduce((sum, { heldCount }) => sum + heldCount, 0);
    const others = spread(kills.flatMap(({ otherMs }) => otherMs ?? []));
    const own = spread(kills.flatMap(({ heldMs }) => heldMs ?? []));
    const remarks = `other keys after ${others} s; ${held} keys in flight after ${own} s`;
    return { violations, row: { rows, kills: kills.length, remarks } };
  });
}

function spread(figuresMs: readonly number[]): string {
  if (figuresMs.length === 0) return '–';
  const sorted = figuresMs.toSorted((a, b) => a - b);
  return `${inSeconds(sorted[0] ?? 0)} to ${inSeconds(sorted.at(-1) ?? 0)}`;
}

function inSeconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

async function onGround(
  part: string,
  { seed, queue }: PartOptions,
  conditions: Pick<GroundOptions, 'faults' | 'requestsPerSecond' | 'sharesLedger'>,
  work: (ground: Ground) => Promise<Outcome>,
): Promise<PartEnd> {
  const startedMs = performance.now();
  const ground = await openGround({ ...conditions, seed, queue, waits: longWaits });
  let outcome: Outcome;
  try {
    outcome = await work(ground);
  } catch (error) {
    // A proof that cannot be carried out is no proof.
    outcome = { violations: [`the part broke off: ${error instanceof Error ? error.message : error}`], row: {} };
  }
  const requests = ground.service.requestCount();
  const duplicates = ground.service.writes.filter((write) => write.kind === 'taken').length;
  const { violations } = outcome;
  await ground.close(violations.length > 0);
  const empty = { rows: 0, kills: 0, flushes: 0, restarts: 0, freezes: 0, 'lost rows': 0, remarks: '' };
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  return {
    row: { ...empty, requests, duplicates, ...outcome.row, part, queue, seed, seconds },
    violations,
    kept: violations.length > 0 ? ground.folder : null,
  };
}
