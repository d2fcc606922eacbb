/**
 * The long exploration: `node test/model/commands/run.ts [--runs N] [--seed S] [--minutes M]`. Prints one row of a table:
 * seed, stories, commands, files, rows, seconds. Exits 1 with the smallest sequence of commands that breaks a rule.
 *
 * `--seed S --path P` plays a counterexample again, `--story JSON` one that was printed in full; with `--trace` every
 * effect of every worker is printed.
 */
import { inspect, parseArgs } from 'node:util';
import type { Story } from './commands.ts';
import { explore } from './explore.ts';
import { play, type Trace } from './play.ts';

const { values } = parseArgs({
  options: {
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

if (values.story !== undefined) {
  // What this program printed itself.
  const { breaches } = await play(JSON.parse(values.story) as Story, { trace: values.trace ? trace : null });
  say(breaches.length === 0 ? 'every rule held' : breaches.join('\n'));
  process.exitCode = breaches.length === 0 ? 0 : 1;
} else {
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  const msMax = values.minutes === undefined ? undefined : Number(values.minutes) * 60_000;
  const runs = Number(values.runs ?? (msMax === undefined ? 1_000 : 1_000_000));
  const explored = await explore({
    seed,
    runs,
    ...(msMax === undefined ? {} : { msMax }),
    ...(values.path === undefined ? {} : { path: values.path }),
  });
  const { commands, files, rows, seconds } = explored;
  const figures = [explored.runs, commands, files, rows, seconds].map((figure) => figure.toLocaleString('en'));
  say(`| ${[explored.seed, ...figures].join(' | ')} |`);
  if (explored.failure !== null) say(explored.failure);
  process.exitCode = explored.failure === null ? 0 : 1;
}
