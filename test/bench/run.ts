/**
 * The benchmark of imports: `npm run bench -- [CASE…] [--rows N] [--apply N] [--rounds N] [--against FOLDER] [--keep FOLDER]`.
 *
 * Each figure is a ratio to a baseline of the same run, the middle one of several rounds in which both take turns, so that
 * it holds on another machine. Ends with 1 where a limit is missed, and with 2 where an argument cannot be meant.
 * `--against` measures the code of another checkout in the same run; only this one's figures are judged.
 * `test/bench/README.md` explains the cases and keeps the last results.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { holds } from './holds/holds.ts';
import { creates, requests } from './import/applying.ts';
import { readArguments, usage } from './import/arguments.ts';
import type { Bench, BenchCase } from './import/bench.ts';
import { type Figure, isKept, tableOf } from './import/figures.ts';
import { postgres } from './import/postgres.ts';
import { type Checkout, thisCheckout } from './import/processes.ts';
import { mapping, rate } from './import/scripts.ts';
import { size } from './import/size.ts';
import { changed, fresh, memory, unchanged } from './import/staging.ts';

const cases: readonly BenchCase[] = [
  ...[unchanged, fresh, changed, memory, creates, requests, size, mapping, rate, holds],
  postgres,
];
const note = (text: string): void => void process.stderr.write(`${text}\n`);

const read = readArguments(
  process.argv.slice(2),
  cases.map(({ name }) => name),
);
if (typeof read === 'string') refuse(read);
const { against } = read;
if (against !== null && !existsSync(join(against, 'src/cli/patchbay.mjs')))
  refuse(`“${against}” is no checkout: it has no src/cli/patchbay.mjs`);
const other: Checkout | null = against === null ? null : { name: 'other', root: resolve(against) };

const folder = read.keep === null ? await mkdtemp(join(tmpdir(), 'patchbay-bench-')) : resolve(read.keep);
await mkdir(folder, { recursive: true });
try {
  const bench: Bench = { ...read, folder, note, checkouts: other === null ? [thisCheckout] : [thisCheckout, other] };
  const figures: Figure[] = [];
  const others: Figure[] = [];
  const chosen = read.cases.length === 0 ? cases : cases.filter(({ name }) => read.cases.includes(name));
  for (const { name, what, run } of chosen) {
    note(`${name}: ${what}`);
    const found = await run(bench);
    figures.push(...(found.get(thisCheckout) ?? []));
    if (other !== null) others.push(...(found.get(other) ?? []));
  }
  console.log(
    `${read.rows.toLocaleString('en')} rows staged, ${read.applied.toLocaleString('en')} applied, ${read.rounds} rounds, Node ${process.version}`,
  );
  console.log(tableOf(figures, other === null ? null : others));
  if (!figures.every(isKept)) process.exitCode = 1;
} finally {
  if (read.keep === null) await rm(folder, { recursive: true, force: true });
}

/** Ends the process with 2. */
function refuse(sentence: string): never {
  note(`${sentence}\n${usage}`);
  process.exit(2);
}
