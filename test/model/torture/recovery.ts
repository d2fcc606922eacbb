/**
 * How soon the work goes on after a kill: other keys at once, keys in flight after lease and horizon.
 *
 * Figures, taken from the ledger (which keys the dead process held) and the service's log (which were written when).
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createChance } from './chance.ts';
import { type Crew, type Member, type Role, startCrew } from './crew.ts';
import type { Ground } from './ground.ts';
import { type LedgerView, viewLedger } from './ledger-view.ts';
import { csvOf, type Person } from './people.ts';

export interface RecoveryOptions {
  readonly seed: number;
  readonly rows: number;
  readonly kills: number;
  readonly workerCount: number;
  readonly patienceMs: number;
}

/** What one kill came to. */
export interface Recovered {
  readonly role: Role;
  /** Keys without an outcome that the dead process held. */
  readonly heldCount: number;
  /** From the kill to the next write of another key; null where none came. */
  readonly otherMs: number | null;
  /** From the kill to the outcome of the last key that was held; null where one has none. */
  readonly heldMs: number | null;
}

export interface RecoveryResult {
  readonly kills: readonly Recovered[];
  readonly violations: readonly string[];
}

/** The promise about other keys. */
const otherKeysMsMax = 12_000;
const lookEveryMs = 20;

interface Kill {
  readonly role: Role;
  readonly atMs: number;
  readonly held: ReadonlySet<string>;
  otherMs: number | null;
  heldMs: number | null;
}

export async function measureRecovery(ground: Ground, options: RecoveryOptions): Promise<RecoveryResult> {
  const chance = createChance(options.seed);
  const data = join(ground.folder, 'recovery');
  const crew = await startCrew(ground, data, options.workerCount);
  const view = viewLedger(data);
  const deadlineMs = performance.now() + options.patienceMs;
  const goals = Array.from({ length: options.kills }, (_, kill) => ({
    writeCount: Math.floor((options.rows * (kill + chance.between(20, 80) / 100)) / (options.kills + 1)),
    preferred: chance.between(0, options.workerCount),
  }));
  const kills: Kill[] = [];
  const violations: string[] = [];
  try {
    drop(data, chance.shuffled(peopleOf(options.rows)));
    // Ends with the run, or with the patience.
    while (!isOver(view) && performance.now() < deadlineMs) {
      const goal = goals[kills.length];
      if (goal !== undefined && ground.service.writes.length >= goal.writeCount) {
        // At a slow rate some of them have nothing to do: then the next one's turn it is.
        const order = [...crew.members.slice(goal.preferred), ...crew.members.slice(0, goal.preferred)];
        const member = order.find(({ process }) => process.running && view.keysHeldBy(process.pid).length > 0);
        const kill = member === undefined ? null : await killHolder(crew, view, member);
        if (kill !== null) kills.push(kill);
      }
      for (const kill of kills) look(kill, ground, view);
      violations.push(...crew.restartEnded());
      await sleep(lookEveryMs);
    }
    for (const kill of kills) look(kill, ground, view);
    violations.push(...(await crew.stop()), ...kills.flatMap(violationsOf));
    if (kills.length < options.kills) violations.push(`the run ended after ${kills.length} kills`);
    return { kills: kills.map(({ held, ...kill }) => ({ ...kill, heldCount: held.size })), violations };
  } finally {
    view.close();
  }
}

function peopleOf(rows: number): readonly Person[] {
  return Array.from({ length: rows }, (_, index): Person => ({ key: `c-${index + 1}`, version: 'newer' }));
}

function drop(data: string, people: readonly Person[]): void {
  const folder = join(data, 'import');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'people.csv.part'), csvOf(people));
  renameSync(join(folder, 'people.csv.part'), join(folder, 'people.csv'));
}

function isOver(view: LedgerView): boolean {
  const runs = view.runs();
  return runs.length > 0 && runs.every((run) => run.isFinal);
}

/** Null where it holds no key just now. It is frozen for the look, so that nothing moves between look and kill. */
async function killHolder(crew: Crew, view: LedgerView, member: Member): Promise<Kill | null> {
  const { pid } = member.process;
  process.kill(pid, 'SIGSTOP');
  const held = new Set(view.pendingOf(view.keysHeldBy(pid)));
  if (held.size === 0) {
    process.kill(pid, 'SIGCONT');
    return null;
  }
  const atMs = performance.now();
  await crew.killAndRestart(member);
  return { role: member.role, atMs, held, otherMs: null, heldMs: null };
}

/** Enters what has come to pass since the kill. */
function look(kill: Kill, { service }: Ground, view: LedgerView): void {
  const { atMs, held } = kill;
  if (kill.otherMs === null) {
    const other = service.writes.find((write) => write.atMs > atMs && write.key !== null && !held.has(write.key));
    if (other !== undefined) kill.otherMs = Math.round(other.atMs - atMs);
  }
  if (kill.heldMs === null && view.pendingOf([...held]).length === 0) {
    kill.heldMs = Math.round(performance.now() - atMs);
  }
}

function violationsOf({ role, held, otherMs, heldMs }: Kill): readonly string[] {
  const problems: string[] = [];
  if (heldMs === null) problems.push(`${held.size} keys held by a killed ${role} have no outcome in time`);
  if (otherMs !== null && otherMs > otherKeysMsMax) {
    problems.push(`other keys went on ${otherMs} ms after a kill of the ${role}`);
  }
  return problems;
}
