/**
 * The long exploration: `node test/model/checker/run.ts [--schedules N] [--seed S] [--minutes M] [--departures D]
 * [--scenario NAME]`. Prints a table with one row a scenario, and what happens with each guard taken away. Exits 1 with the schedule
 * of a violation, in words and to be played again, or where a guard's loss goes unnoticed.
 *
 * `--scenario NAME --schedule S` plays one schedule; `--words` tells the schedules of the guards in full.
 */
import { parseArgs } from 'node:util';
import { tell, tellShortly } from './check.ts';
import { parseSchedule } from './choices.ts';
import type { ScenarioResult } from './explore-scenarios.ts';
import { guardOptions, searchWithout } from './guard-search.ts';
import { guards } from './guards.ts';
import { runParts } from './run-parts.ts';
import { scenarioOf, scenarios } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1200000' },
    seed: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    departures: { type: 'string', default: '2' },
    scenario: { type: 'string' },
    schedule: { type: 'string' },
    words: { type: 'boolean', default: false },
  },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);

if (values.schedule !== undefined) {
  say(await tell(scenarioOf(values.scenario ?? ''), parseSchedule(values.schedule)));
} else {
  await explore();
  await takeGuardsAway();
}

async function explore(): Promise<void> {
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  const names = values.scenario === undefined ? scenarios.map((one) => one.name) : [values.scenario];
  const departuresMax = Number(values.departures);
  const results = await runParts({
    scenarios: names,
    seed,
    departuresMax,
    schedulesPerScenario: Math.ceil(Number(values.schedules) / names.length),
    threadCount: 2,
    msMax: Number(values.minutes) * 60_000,
    onResult: ({ name, enumerated, walked }) => {
      process.stderr.write(`${name}: ${enumerated + walked} schedules\n`);
    },
  });
  say(
    `| scenario | seed | all with ≤ ${departuresMax} departures | walks with more | duplicates | lost rows | violations | s |`,
  );
  say('|---|---|---|---|---|---|---|---|');
  for (const name of names)
    sayRow(
      name,
      seed,
      results.filter((one) => one.name === name),
    );
  const all = results.reduce((sum, one) => sum + one.enumerated + one.walked, 0);
  say(`\n${all.toLocaleString('en')} schedules, seed ${seed}`);
  const told = new Set<string>();
  for (const { name, found } of results) {
    if (found === null) continue;
    process.exitCode = 1;
    // Each thread may have found one.
    if (told.has(name)) continue;
    told.add(name);
    say(`\n${await tell(scenarioOf(name), parseSchedule(found.schedule))}`);
    say(`Again: node test/model/checker/run.ts --scenario '${name}' --schedule ${found.schedule}`);
  }
}

function sayRow(name: string, seed: number, parts: readonly ScenarioResult[]): void {
  const sum = (figure: (one: ScenarioResult) => number): string =>
    parts.reduce((all, one) => all + figure(one), 0).toLocaleString('en');
  const found = (kind: string | null): string =>
    sum((one) => Number(one.found !== null && (kind === null || one.found.violation.kind === kind)));
  const enumerated = `${sum((one) => one.enumerated)}${parts.every((one) => one.isComplete) ? '' : ' (not all)'}`;
  const seconds = Math.round(Math.max(...parts.map((one) => one.ms)) / 1_000);
  const figures = [name, seed, enumerated, sum((one) => one.walked), found('duplicate'), found('lostRow'), found(null)];
  say(`| ${[...figures, seconds].join(' | ')} |`);
}

/** Each guard in turn; the shortest schedule that does harm without it. */
async function takeGuardsAway(): Promise<void> {
  say(`\n${guards.length} guards taken away, one after the other, and the shortest schedule that does harm then:`);
  for (const guard of guards) {
    const scenario = scenarioOf(guard.scenario);
    const { found } = await searchWithout(guard);
    if (found === null) process.exitCode = 1;
    const options = guardOptions(guard);
    const story = found === null ? '**not noticed**' : await tellShortly(scenario, found.schedule, options);
    say(`- ${guard.name} (${guard.without}): ${story} (${guard.scenario})`);
    if (values.words && found !== null) process.stderr.write(`\n${await tell(scenario, found.schedule, options)}\n`);
  }
}
