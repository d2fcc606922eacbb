/**
 * All proofs of "one contact per key", one after the other: `npm run torture [-- --seed S] [--minutes M] [--only PROOF]`.
 *
 * Each is a process of its own and prints rows of a table. The tables of all three go into `README.md`, between the
 * markers. `--minutes` bounds each of the proofs. Exits 1 where one of them found a violation.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ProofResult, resultText, withResults } from './results.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, minutes: { type: 'string' }, only: { type: 'string' } },
});
const folder = import.meta.dirname;
const readme = join(folder, 'README.md');
const proofNames = ['checker', 'commands', 'torture'] as const;

const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const chosen = proofNames.filter((name) => values.only === undefined || values.only === name);
if (chosen.length === 0) throw new Error(`there is no proof ${values.only}: ${proofNames.join(', ')}`);

const results: ProofResult[] = [];
for (const name of chosen) {
  process.stderr.write(`\n${name}, seed ${seed}\n`);
  const result = await prove(name);
  results.push(result);
  if (result.exitCode !== 0) process.exitCode = 1;
}
const date = new Date().toISOString().slice(0, 10);
const text = resultText(results, { seed, date });
process.stdout.write(`\n${text}`);
if (values.only === undefined) writeFileSync(readme, withResults(readFileSync(readme, 'utf8'), text));

async function prove(name: string): Promise<ProofResult> {
  const startedMs = performance.now();
  const minutes = values.minutes === undefined ? [] : ['--minutes', values.minutes];
  const child = spawn(process.execPath, [join(folder, name, 'run.ts'), '--seed', `${seed}`, ...minutes], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const exitCode = await new Promise<number>((done) => child.once('close', (code) => done(code ?? 1)));
  return { name, exitCode, output, seconds: Math.round((performance.now() - startedMs) / 1_000) };
}
