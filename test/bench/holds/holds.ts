/**
 * Nothing holds the lock or the loop for long: the longest transaction, and the longest turn of the event loop, of an engine
 * and the commands beside it, on a ledger with a million settled rows, as many staged ones, two letters for ten rows and a
 * run for a hundred.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, type BenchCase, exportIn, removeStore } from '../import/bench.ts';
import type { Figure } from '../import/figures.ts';
import { copyOf, knownFolder } from '../import/known-folder.ts';
import { benchFeed, type ImportDocument, thisCheckout, withService } from '../import/processes.ts';
import { type Command, type EngineProcess, startEngineProcess } from './engine-process.ts';
import type { Longest } from './watch.ts';

const heldMsMax = 50;
const turnMsMax = 150;
const runsMax = 3;
const lettersPerRun = 20;
const rowsPerRun = 100;
/** An audit of a million keys takes long: this much of it is watched. */
const auditMsMax = 60_000;
/** The audit of the run that ends first comes after the other steps: they take longer with more rows. */
const auditAfterMs = (rows: number): number => (rows > 100_000 ? 240_000 : 20_000);

export const holds: BenchCase = {
  name: 'holds',
  what: 'the longest transaction and the longest turn of the loop, in ms, through the life of runs of --rows rows',
  run: async (bench) => {
    const settled = await exportIn(bench, 'rows', { count: bench.rows });
    const other = await exportIn(bench, 'other', { count: bench.rows, first: 3_000_000 });
    const history = { runs: Math.ceil(bench.rows / rowsPerRun), lettersPerRun };
    bench.note(
      `a ledger with ${bench.rows} settled rows, ${history.runs} runs, ${history.runs * lettersPerRun} letters`,
    );
    const data = await knownFolder(thisCheckout, bench.folder, `holds-${bench.rows}`, settled, history);
    const longest = new Map<string, Longest>();
    for (let time = 1; time <= Math.min(bench.rounds, runsMax); time += 1) {
      bench.note(`run ${time}`);
      const copy = await copyOf(data);
      try {
        await lifeOfRuns(bench, copy, other, (step, { heldMs, turnMs }) => {
          bench.note(`  ${step}: transaction ${heldMs.toFixed(1)} ms, turn ${turnMs.toFixed(1)} ms`);
          const before = longest.get(step) ?? { heldMs: 0, turnMs: 0 };
          longest.set(step, {
            heldMs: Math.max(before.heldMs, heldMs),
            turnMs: Math.max(before.turnMs, turnMs),
          });
        });
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    }
    return new Map([[thisCheckout, [...longest].flatMap(([step, one]) => figuresOf(step, one))]]);
  },
};

function figuresOf(step: string, { heldMs, turnMs }: Longest): readonly Figure[] {
  const figure = (what: string, ms: number, most: number): Figure => ({
    ...{ name: `holds, ${step}: ${what}`, baseline: null, measured: `${ms.toFixed(1)} ms`, value: ms },
    limit: { is: 'most', value: most },
  });
  return [figure('transaction', heldMs, heldMsMax), figure('turn', turnMs, turnMsMax)];
}

type Told = (step: string, longest: Longest) => void;

async function lifeOfRuns({ folder, rows }: Bench, data: string, file: string, told: Told): Promise<void> {
  const store = join(folder, 'holds.service.sqlite');
  const env = {
    ...{ PATCHBAY_GUARDS_CREATES_MAX: '0%', PATCHBAY_GUARDS_CREATES_FLOOR: '1' },
    PATCHBAY_UPSERT_LATEST_COMMIT: `${auditAfterMs(rows)}ms`,
    PATCHBAY_UPSERT_VISIBILITY_LAG: '0s',
    LOG_LEVEL: 'error',
  };
  try {
    await withService(store, async (origin) => {
      const engine = await startEngineProcess(data, origin, env);
      try {
        await steps(engine, file, rows, async (step, work) => told(step, await engine.during(work)));
      } finally {
        await engine.stop();
      }
    });
  } finally {
    await removeStore(store);
  }
}

type Step = (name: string, work: (command: Command) => Promise<unknown>) => Promise<void>;

async function steps(engine: EngineProcess, file: string, rows: number, step: Step): Promise<void> {
  let [settled, staged] = ['', ''];
  // What an engine does once after its start.
  await step('start', () => sleep(3_000));
  await step('finish and prune', async (command) => {
    const { stdout } = await command(['runs', 'ls', '--state', 'stopped', '--limit', '1', '--json']);
    settled = (JSON.parse(stdout) as ImportDocument).run;
    await command(['runs', 'approve', settled, '--detach']);
    await engine.reached(settled, 'done');
  });
  await step('import', async (command) => {
    const { stdout } = await command(['import', file, '--feed', benchFeed, '--json', '--quiet', '--wait', '2h'], [5]);
    staged = (JSON.parse(stdout) as ImportDocument).run;
  });
  await step('status', (command) => command(['status']));
  await step('lists', async (command) => {
    const lists = [
      'runs ls',
      'dead ls',
      'dead ls --state all',
      'held ls',
      `runs show ${staged}`,
      `runs show ${settled}`,
    ];
    for (const list of lists) await command(list.split(' '));
  });
  await step('pages', async () => {
    const paths = ['', 'runs', `runs/${staged}`, `runs/${settled}`, 'feeds', 'dead-letters', 'dead-letters?state=all'];
    for (const path of [...paths, 'metrics', 'readyz']) {
      for (const accept of ['text/html', 'application/json']) {
        const reply = await fetch(`${engine.page}${path}`, { headers: { accept } });
        if (!reply.ok) throw new Error(`/${path} answered ${reply.status}`);
        await reply.text();
      }
    }
  });
  await step('cancel', async (command) => {
    await command(['runs', 'cancel', staged]);
    await engine.reached(staged, 'cancelled');
  });
  // The service has none of the contacts: each is missing, and found so.
  await step('audit', (command) =>
    command(['audit', settled, '--wait', '2h'], [0, 3, 143], auditAfterMs(rows) + auditMsMax),
  );
}
