/**
 * The long exploration: `node test/model/commands/run.ts [--kind KIND] [--runs N] [--seed S] [--minutes M]`. Prints one row
 * of a table for each kind of stories: kind, seed, stories, commands, files, rows, seconds. Exits 1 with the smallest
 * sequence of commands that breaks a rule.
 *
 * `--kind KIND --seed S --path P` plays a counterexample again, `--story JSON` one that was printed in full; with `--trace`
 * every effect of every worker is printed (of stories that are not played twice).
 */
import { inspect, parseArgs } from 'node:util';
import { explore, type Kind, kinds, playTold, type Told } from './explore.ts';
import { play, type Trace } from './play.ts';

const { values } = parseArgs({
  options: {
    kind: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    path: { type: 'string' },
    story: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
});
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const trace: Trace = (what, ...details) =>
  say(
    [what, ...details.map((detail) => inspect(detail, { depth: 6, breakLength: Infinity, compact: true }))].join(' '),
  );
const chosen = kinds.filter((kind) => values.kind === undefined || values.kind === kind);
if (chosen.length === 0) throw new Error(`there is no kind ${values.kind}: ${kinds.join(', ')}`);

if (values.story !== undefined) {
  // What this program printed itself.
  const told = JSON.parse(values.story) as Told;
  const kind = chosen[0] ?? 'storm';
  const isTraced = values.trace && !('story' in told);
  const { breaches } = isTraced ? await play(told, { trace, isCalm: kind === 'calm' }) : await playTold(kind, told);
  say(breaches.length === 0 ? 'every rule held' : breaches.join('\n'));
  process.exitCode = breaches.length === 0 ? 0 : 1;
} else {
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  for (const kind of chosen) await exploreKind(kind, seed);
}

async function exploreKind(kind: Kind, seed: number): Promise<void> {
  const msMax = values.minutes === undefined ? undefined : (Number(values.minutes) * 60_000) / chosen.length;
  const runs = Number(values.runs ?? (msMax === undefined ? 1_000 : 1_000_000));
  const explored = await explore({
    kind,
    seed,
    runs,
    ...(msMax === undefined ? {} : { msMax }),
    ...(values.path === undefined ? {} : { path: values.path }),
  });
  const { commands, files, rows, seconds } = explored;
  const figures = [explored.runs, commands, files, rows, seconds].map((figure) => figure.toLocaleString('en'));
  say(`| ${[kind, explored.seed, ...figures].join(' | ')} |`);
  if (explored.failure !== null) {
    say(explored.failure);
    process.exitCode = 1;
  }
}
