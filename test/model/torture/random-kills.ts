/**
 * Two overlapping files are imported by an engine and its workers under faults, while processes are killed at random
 * moments and the queue is flushed, restarted and frozen. In the end: one contact a key, the newer file's fields, every
 * row accounted for.
 *
 * A moment is a number of writes at the service, so that the kills spread over the rows however fast they are worked
 * off; where nothing is written for a while the next one comes early.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unreachable } from '#src/errors.ts';
import { type Chance, createChance } from './chance.ts';
import { type Crew, startCrew } from './crew.ts';
import type { Ground } from './ground.ts';
import { auditAll, judge, type Scene, type TwoFiles, type Verdict } from './judge.ts';
import { type LedgerView, viewLedger } from './ledger-view.ts';
import { csvOf, type Person } from './people.ts';
import { disturbanceOf, freezeProcess, type QueueDisturbance } from './queue-disturbance.ts';
import { type Action, type ActionCounts, actionsOf, filesOf } from './random-plan.ts';

export interface RandomKillsOptions extends ActionCounts {
  readonly seed: number;
  /** Of both files together. */
  readonly rows: number;
  /** Whether the product's own audit is asked about both runs in the end. */
  readonly audits: boolean;
  /** After so long the work must have ended. */
  readonly patienceMs: number;
}

/** What was really done: a queue that was away could not be flushed, a process that was just killed not be frozen. */
interface Done {
  kills: number;
  flushes: number;
  restarts: number;
  freezes: number;
}

export type RandomKillsResult = Verdict & Readonly<Done>;

/** Faults of all kinds; what is late or hidden is so for less than D and V (`ground.ts`). */
export const randomKillFaults: readonly string[] = [
  '*:latency=20ms',
  'create:dropAfter:3%',
  'create:dropBefore:1%',
  'create:lateCommit=500ms:1%',
  'create:hangAfter=2s:1%',
  'create:truncated:1%',
  'create:notJson:1%',
  'update:dropAfter:3%',
  'update:hangAfter=2s:1%',
  'list:listLag=300ms',
  '*:status=503:1%',
  '*:status=429;retryAfter=1:0.2%',
];

const lookEveryMs = 50;
/** Where nothing is written for so long, the next action does not wait for more writes. */
const stuckMs = 5_000;

interface Stage extends Scene {
  readonly view: LedgerView;
  readonly crew: Crew;
  readonly queue: QueueDisturbance;
  /** What was wrong before the end. */
  readonly violations: string[];
  readonly done: Done;
  readonly deadlineMs: number;
}

export async function runRandomKills(ground: Ground, options: RandomKillsOptions): Promise<RandomKillsResult> {
  const deadlineMs = performance.now() + options.patienceMs;
  const chance = createChance(options.seed);
  const files = filesOf(options.rows, chance);
  const actions = actionsOf(options, chance);
  const data = join(ground.folder, 'random');
  const crew = await startCrew(ground, data, options.workerCount);
  const view = viewLedger(data);
  const done: Done = { kills: 0, flushes: 0, restarts: 0, freezes: 0 };
  const stage = { ground, view, crew, queue: disturbanceOf(ground, data, crew), violations: [], done, deadlineMs };
  try {
    await play(stage, data, files, actions, chance);
    await waitFor(stage, () => isOver(view));
    const problems: string[] = [...stage.violations];
    if (!isOver(view)) problems.push(`not ended in time: ${view.runs().map(({ state }) => state)}`);
    problems.push(...(await crew.stop()));
    const verdict = await judge(stage, [data], files);
    problems.push(...verdict.violations, ...(options.audits ? await auditAll(stage, data) : []));
    return { ...verdict, ...done, violations: problems };
  } finally {
    view.close();
  }
}

/** Both files and all actions, each at its number of writes. Ends early where the work does. */
async function play(
  stage: Stage,
  data: string,
  { first, second }: TwoFiles,
  actions: readonly Action[],
  chance: Chance,
): Promise<void> {
  const { view, ground } = stage;
  const rows = first.length + second.length;
  drop(data, 'first.csv', first);
  await waitFor(stage, () => view.runs().length > 0);
  const secondAt = Math.floor((rows * chance.between(5, 40)) / 100);
  let dropped = false;
  for (const [index, action] of actions.entries()) {
    // The last few writes are left alone, so that the work does not end before the actions do.
    const moment = Math.floor((rows * 0.95 * (index + chance.between(0, 99) / 100)) / actions.length);
    await waitForWrites(stage, dropped ? moment : Math.min(moment, secondAt));
    if (!dropped && ground.service.writes.length >= secondAt) {
      drop(data, 'second.csv', second);
      dropped = true;
      await waitForWrites(stage, moment);
    }
    if (isOver(view)) return;
    await act(stage, action);
  }
  if (!dropped) drop(data, 'second.csv', second);
}

/** As a program does that writes exports: complete at once. */
function drop(data: string, name: string, people: readonly Person[]): void {
  const folder = join(data, 'import');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.part`), csvOf(people));
  renameSync(join(folder, `${name}.part`), join(folder, name));
}

function isOver(view: LedgerView): boolean {
  const runs = view.runs();
  return runs.length === 2 && runs.every((run) => run.isFinal);
}

/** Ends with the answer, or with the patience. */
async function waitFor(stage: Stage, isThere: () => boolean): Promise<void> {
  while (!isThere() && performance.now() < stage.deadlineMs) {
    await sleep(lookEveryMs);
    stage.violations.push(...stage.crew.restartEnded());
  }
}

async function waitForWrites(stage: Stage, count: number): Promise<void> {
  const { writes } = stage.ground.service;
  let known = writes.length;
  let knownAtMs = performance.now();
  await waitFor(stage, () => {
    if (writes.length > known) {
      known = writes.length;
      knownAtMs = performance.now();
    }
    return writes.length >= count || performance.now() > knownAtMs + stuckMs;
  });
}

async function act({ crew, queue, done }: Stage, action: Action): Promise<void> {
  switch (action.kind) {
    case 'kill': {
      const member = crew.members[action.member];
      if (member === undefined) return;
      await crew.killAndRestart(member);
      done.kills += 1;
      return;
    }
    case 'flush':
      if (await queue.flush()) done.flushes += 1;
      return;
    case 'restart':
      await queue.restart(action.awayMs);
      done.restarts += 1;
      return;
    case 'freezeQueue':
      if (await queue.freeze(action.forMs)) done.freezes += 1;
      return;
    case 'freezeMember': {
      const member = crew.members[action.member];
      if (member?.process.running && (await freezeProcess(member.process.pid, action.forMs))) done.freezes += 1;
      return;
    }
    default:
      unreachable(action);
  }
}
