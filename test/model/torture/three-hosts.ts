/**
 * Three hosts, each an engine with a data folder of its own, on one PostgreSQL and one Redis: two overlapping files are dropped at two of them,
 * while hosts are killed and stay away for a while, are frozen for longer than a lead lasts, PostgreSQL crashes, and Redis is killed and
 * flushed. In the end: one contact a key, the newer file's fields, every row accounted for by the host of its file.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { unreachable } from '#src/errors.ts';
import { finalRunStates } from '#src/ledger/runs.ts';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import { type Chance, createChance } from './chance.ts';
import type { Ground } from './ground.ts';
import { auditAll, judge, type Verdict } from './judge.ts';
import type { SeenLetter, SeenRun } from './ledger-view.ts';
import { csvOf, type Person } from './people.ts';
import { flushAt, freezeProcess } from './queue-disturbance.ts';
import { filesOf } from './random-plan.ts';

export interface ThreeHostsOptions {
  readonly seed: number;
  /** Of both files together. */
  readonly rows: number;
  readonly kills: number;
  /** How often each of the others: a frozen host, a crash of PostgreSQL, a killed Redis, a flush. */
  readonly disturbances: number;
  /** After so long the work must have ended. */
  readonly patienceMs: number;
}

export interface ThreeHostsResult extends Verdict {
  readonly kills: number;
  readonly freezes: number;
  readonly crashes: number;
  readonly restarts: number;
  readonly flushes: number;
}

type Action =
  | { readonly kind: 'kill'; readonly host: number; readonly awayMs: number }
  | { readonly kind: 'freeze'; readonly host: number; readonly forMs: number }
  | { readonly kind: 'crash' | 'restart'; readonly awayMs: number }
  | { readonly kind: 'flush' };

interface Host {
  readonly data: string;
  process: PatchbayProcess;
  /** It is away until it is started again. */
  isAway: boolean;
}

const hostCount = 3;
/** Longer than a host may be silent (15 s), so that files of others overtake its own. */
const longAwayMs = 20_000;
/** Longer than the lead lasts (5 s), shorter than its takeover. */
const longFreezeMs = 9_000;
const lookEveryMs = 100;
/** Where nothing is written for so long, the next action does not wait for more writes. */
const stuckMs = 5_000;

export async function runThreeHosts(ground: Ground, options: ThreeHostsOptions): Promise<ThreeHostsResult> {
  const chance = createChance(options.seed);
  const files = filesOf(options.rows, chance);
  const actions = actionsOf(options, chance);
  const start = (data: string): PatchbayProcess => ground.start(['start', '--json'], data);
  const folders = Array.from({ length: hostCount }, (_, index) => join(ground.folder, `h${index + 1}`));
  const hosts: Host[] = [];
  for (const data of folders) {
    const process = start(data);
    await process.firstLine();
    hosts.push({ data, process, isAway: false });
  }
  const stage = { ground, hosts, start, violations: [], deadlineMs: performance.now() + options.patienceMs };
  const done = await play(stage, files, actions, chance);
  await waitFor(stage, async () => isOver(await runsOf(ground)));
  const runs = await runsOf(ground);
  const problems: string[] = [...stage.violations];
  if (!isOver(runs)) problems.push(`not ended in time: ${runs.map(({ state }) => state)}`);
  // The audits of both runs are asked for while the engines run: any host answers.
  const view = { runs: () => runs, openLetters: () => letters };
  const letters = await lettersOf(ground);
  problems.push(...(await auditAll({ ground, view }, folders[2] ?? '')));
  for (const { process } of hosts) {
    process.signal('SIGTERM');
    const { code, stdout, stderr } = await process.ended();
    const told = `${stdout}${stderr}`.slice(-600).trim();
    if (code !== 143 && !wasTurnedAway(told)) problems.push(`a host ended with ${code} on SIGTERM: ${told}`);
  }
  const verdict = await judge({ ground, view }, folders, files);
  return { ...verdict, ...done, violations: [...problems, ...verdict.violations] };
}

function actionsOf({ kills, disturbances }: ThreeHostsOptions, chance: Chance): readonly Action[] {
  const host = (): number => chance.between(0, hostCount - 1);
  const times = (count: number, make: (index: number) => Action): Action[] =>
    Array.from({ length: count }, (_, index) => make(index));
  return chance.shuffled([
    ...times(kills, (index) => ({
      kind: 'kill',
      host: host(),
      awayMs: index % 3 === 0 ? longAwayMs : chance.between(0, 3_000),
    })),
    ...times(disturbances, (index) => ({
      kind: 'freeze',
      host: host(),
      forMs: index % 2 === 0 ? longFreezeMs : chance.between(500, 4_000),
    })),
    ...times(disturbances, () => ({ kind: 'crash', awayMs: chance.between(0, 4_000) })),
    ...times(disturbances, () => ({ kind: 'restart', awayMs: chance.between(0, 4_000) })),
    ...times(disturbances, () => ({ kind: 'flush' })),
  ]);
}

interface Stage {
  readonly ground: Ground;
  readonly hosts: readonly Host[];
  readonly start: (data: string) => PatchbayProcess;
  readonly violations: string[];
  readonly deadlineMs: number;
}

type Done = Omit<ThreeHostsResult, keyof Verdict>;

/** The first file at the first host, the second at another one; the actions at their number of writes. */
async function play(
  stage: Stage,
  { first, second }: { readonly first: readonly Person[]; readonly second: readonly Person[] },
  actions: readonly Action[],
  chance: Chance,
): Promise<Done> {
  const { ground, hosts } = stage;
  const done = { kills: 0, freezes: 0, crashes: 0, restarts: 0, flushes: 0 };
  const back: Promise<void>[] = [];
  drop(hosts[0]?.data ?? '', 'first.csv', first);
  await waitFor(stage, async () => (await runsOf(ground)).length > 0);
  const rows = first.length + second.length;
  const secondAt = Math.floor((rows * chance.between(5, 30)) / 100);
  let dropped = false;
  for (const [index, action] of actions.entries()) {
    const moment = Math.floor((rows * 0.9 * (index + chance.between(0, 99) / 100)) / actions.length);
    await waitForWrites(stage, dropped ? moment : Math.min(moment, secondAt));
    if (!dropped && moment >= secondAt) {
      drop(hosts[1]?.data ?? '', 'second.csv', second);
      dropped = true;
    }
    back.push(...(await act(stage, action, done)));
  }
  if (!dropped) drop(hosts[1]?.data ?? '', 'second.csv', second);
  await Promise.all(back);
  return done;
}

/** @returns what comes back by itself later: a host that was killed. */
async function act({ ground, hosts, start }: Stage, action: Action, done: { -readonly [Name in keyof Done]: number }) {
  switch (action.kind) {
    case 'kill': {
      const host = hosts[action.host];
      if (host === undefined || host.isAway) return [];
      host.isAway = true;
      await host.process.kill();
      done.kills += 1;
      const comeBack = async (): Promise<void> => {
        await sleep(action.awayMs);
        host.process = start(host.data);
        host.isAway = false;
      };
      return [comeBack()];
    }
    case 'freeze': {
      const host = hosts[action.host];
      if (host?.isAway === false && host.process.running && (await freezeProcess(host.process.pid, action.forMs)))
        done.freezes += 1;
      return [];
    }
    case 'crash':
      await ground.postgres?.stop('crash');
      await sleep(action.awayMs);
      await ground.postgres?.startAgain();
      done.crashes += 1;
      return [];
    case 'restart':
      await ground.redis?.kill();
      await sleep(action.awayMs);
      await ground.redis?.startAgain();
      done.restarts += 1;
      return [];
    case 'flush':
      if (ground.redis !== null && (await flushAt({ url: ground.redis.url }))) done.flushes += 1;
      return [];
    default:
      return unreachable(action);
  }
}

/** As a program does that writes exports: complete at once. */
function drop(data: string, name: string, people: readonly Person[]): void {
  const folder = join(data, 'import');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.part`), csvOf(people));
  renameSync(join(folder, `${name}.part`), join(folder, name));
}

/** Ends with the answer, or with the patience. Hosts that ended by themselves are started again, as a service manager does. */
async function waitFor(stage: Stage, isThere: () => Promise<boolean>): Promise<void> {
  while (!(await isThere()) && performance.now() < stage.deadlineMs) {
    await sleep(lookEveryMs);
    for (const host of stage.hosts) {
      if (host.isAway || host.process.running) continue;
      const { stdout, stderr } = host.process;
      const told = `${stdout}${stderr}`.slice(-600).trim();
      host.process = stage.start(host.data);
      if (wasTurnedAway(told)) continue;
      stage.violations.push(`a host ended by itself: ${told}`);
    }
  }
}

/** A host that was started while PostgreSQL or Redis was away says so and ends. */
const wasTurnedAway = (told: string): boolean =>
  /"(ledger\w+|commitUnanswered|queueUnreachable|otherQueue)"/.test(told);

async function waitForWrites(stage: Stage, count: number): Promise<void> {
  const { writes } = stage.ground.service;
  let known = writes.length;
  let knownAtMs = performance.now();
  await waitFor(stage, async () => {
    if (writes.length > known) {
      known = writes.length;
      knownAtMs = performance.now();
    }
    return writes.length >= count || performance.now() > knownAtMs + stuckMs;
  });
}

function isOver(runs: readonly SeenRun[]): boolean {
  return runs.length === 2 && runs.every((run) => run.isFinal);
}

/** None while PostgreSQL is away. */
async function queried({ postgres }: Ground, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: postgres?.url(), connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } catch {
    return [];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function runsOf(ground: Ground): Promise<readonly SeenRun[]> {
  return (await queried(ground, 'SELECT id, file_name, state FROM patchbay.runs ORDER BY sequence')).map((row) => ({
    id: `${row.id}`,
    fileName: `${row.file_name}`,
    state: `${row.state}`,
    isFinal: (finalRunStates as readonly string[]).includes(`${row.state}`),
  }));
}

async function lettersOf(ground: Ground): Promise<readonly SeenLetter[]> {
  const rows = await queried(ground, "SELECT key, class, code FROM patchbay.letters WHERE state <> 'closed'");
  return rows.map((row) => ({
    key: row.key === null ? null : `${row.key}`,
    class: `${row.class}`,
    code: `${row.code}`,
  }));
}
