/**
 * Kills an import at a named step, imports the same file again without a kill, and looks at what came of it: exactly
 * one contact a key with the right fields, and every row accounted for.
 *
 * Each kill has keys of its own, and a copy of one data folder that knows the older half of them.
 */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Redis } from 'ioredis';
import type { Ground } from './ground.ts';
import { checkContacts, csvOf, type Person } from './people.ts';
import { countingEnv, killingEnv, nameOf, type StepKill } from './preload.ts';
import { readReports } from './reports.ts';
import { type SceneCounts, type SceneName, sceneFaults, sceneOf } from './step-plan.ts';

/** Few rows a batch: a run of twelve rows has three of them. */
const smallBatches = { PATCHBAY_UPSERT_ROWS_PER_BATCH: '5' };

const knownCount = 6;
const rowCount = 12;
const changedCount = 4;

export interface StepKillsResult {
  readonly kills: number;
  readonly rows: number;
  /** In words, each with the kill and the data folder. */
  readonly violations: readonly string[];
  /** Later occurrences that the work ended before. */
  readonly notReached: readonly string[];
  /** Kills for which there was no time. */
  readonly leftOut: number;
}

/** One file of its own: what was there before, and what the file says. */
interface Plot {
  readonly name: string;
  readonly before: readonly Person[];
  readonly now: readonly Person[];
}

function plotOf(name: string): Plot {
  const key = (index: number): string => `${name}-${index + 1}`;
  const person = (index: number, changed: boolean): Person => ({
    key: key(index),
    version: changed ? 'newer' : 'older',
  });
  return {
    name,
    before: Array.from({ length: knownCount }, (_, index) => person(index, false)),
    now: Array.from({ length: rowCount }, (_, index) => person(index, index < changedCount || index >= knownCount)),
  };
}

/** A data folder that knows the older half of all plots, and an instant at which the service lists them. */
async function prepare(ground: Ground, name: string, plots: readonly Plot[]): Promise<string> {
  await ground.service.setFaults([]);
  const data = join(ground.folder, name);
  const file = join(ground.folder, `${name}.csv`);
  writeFileSync(file, csvOf(plots.flatMap((plot) => plot.before)));
  const { code, stdout, stderr } = await ground.start(['import', '--json', file], data).ended();
  if (code !== 0) throw new Error(`the import before the kills ended with ${code}: ${stdout}${stderr}`);
  return data;
}

/** How often each step comes in each scene, when nobody is killed. */
export async function countSteps(ground: Ground): Promise<SceneCounts> {
  const counts: Record<SceneName, Readonly<Record<string, number>>> = { plain: {}, rated: {}, unlisted: {} };
  const names = ['plain', 'rated', 'unlisted'] as const;
  const base = await prepare(ground, 'count', names.map(plotOf));
  for (const scene of names) {
    const countsFile = join(ground.folder, `${scene}.counts`);
    await enact(ground, base, plotOf(scene), scene, countingEnv(countsFile));
    counts[scene] = JSON.parse(readFileSync(countsFile, 'utf8')) as Record<string, number>;
  }
  return counts;
}

/** `deadlineMs`, of `performance.now()`: after it no further kill is begun. */
export async function runStepKills(
  ground: Ground,
  kills: readonly StepKill[],
  deadlineMs: number,
): Promise<StepKillsResult> {
  const plots = new Map(kills.map((kill, index) => [kill, plotOf(`s${index + 1}`)]));
  const base = await prepare(ground, 'base', [...plots.values()]);
  const violations: string[] = [];
  const notReached: string[] = [];
  let leftOut = 0;
  for (const [kill, plot] of plots) {
    if (performance.now() > deadlineMs) {
      leftOut += 1;
      continue;
    }
    const problems = await killOnce(ground, base, kill, plot);
    if (problems === 'notReached') notReached.push(nameOf(kill));
    else for (const problem of problems) violations.push(`${nameOf(kill)} in ${plot.name}: ${problem}`);
  }
  const tried = kills.length - leftOut;
  return { kills: tried - notReached.length, rows: tried * rowCount, violations, notReached, leftOut };
}

async function killOnce(
  ground: Ground,
  base: string,
  kill: StepKill,
  plot: Plot,
): Promise<readonly string[] | 'notReached'> {
  const mark = join(ground.folder, `${plot.name}.killed`);
  const killed = await enact(ground, base, plot, sceneOf(kill.step), killingEnv(kill, mark));
  if (!existsSync(mark)) {
    // How often a step comes depends on the moment; the first time does not.
    if (kill.occurrence > 1 && killed.code === 0) return 'notReached';
    return [`the step never came; the import ended with ${killed.code}: ${killed.stderr}`];
  }
  if (killed.code !== null) return [`the import survived its kill with ${killed.code}`];
  await ground.service.setFaults([]);
  await flush(ground);
  const { file, data } = placesOf(ground, plot);
  const takenBefore = takenCount(ground);
  const again = await ground.start(['import', '--json', file], data, smallBatches).ended();
  const problems =
    again.code === 0 ? [] : [`the second import ended with ${again.code}: ${again.stdout}${again.stderr}`];
  if (takenCount(ground) > takenBefore) problems.push('a create was sent for a key that has a contact');
  const own = (await ground.service.contacts()).filter(({ externalId }) => externalId?.startsWith(`${plot.name}-`));
  return [...problems, ...checkContacts(own, plot.now).violations, ...checkReports(data, file)];
}

/** Copies the data folder and imports the plot's file there, in its scene. */
async function enact(
  ground: Ground,
  base: string,
  plot: Plot,
  scene: SceneName,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; stderr: string }> {
  const { file, data } = placesOf(ground, plot);
  // What the queue keeps is not the truth, and a copy of it would be the same queue twice.
  cpSync(base, data, { recursive: true, filter: (path) => !/\/(queue|logs|engine\.lock)$/.test(path) });
  writeFileSync(file, csvOf(plot.now));
  await flush(ground);
  await ground.service.setFaults(sceneFaults[scene]);
  return ground.start(['import', '--json', file], data, { ...smallBatches, ...env }).ended();
}

function placesOf({ folder }: Ground, { name }: Plot): { readonly file: string; readonly data: string } {
  return { file: join(folder, `${name}.csv`), data: join(folder, name) };
}

/** All copies of the data folder have one name in a real Redis: none is to find what another left. */
async function flush({ redis }: Ground): Promise<void> {
  if (redis === null) return;
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
}

function takenCount({ service }: Ground): number {
  return service.writes.filter((write) => write.kind === 'taken').length;
}

/** Every run of the file is at its end, adds up, and one of them made the new contacts. */
function checkReports(data: string, file: string): readonly string[] {
  const reports = readReports(data).filter((report) => report.file === basename(file));
  const problems = reports.flatMap((report) => report.flaws);
  if (reports.length === 0) problems.push('there is no report');
  for (const { rows } of reports) if (rows !== rowCount) problems.push(`a report tells ${rows} rows of ${rowCount}`);
  const created = reports.reduce((sum, report) => sum + report.created, 0);
  if (created !== rowCount - knownCount) problems.push(`the reports tell ${created} contacts created`);
  const archived = readdirSync(join(data, 'import', '_done')).filter((name) => name.endsWith(`__${basename(file)}`));
  if (archived.length !== reports.length) problems.push(`${archived.length} archived files of ${reports.length} runs`);
  return problems;
}
