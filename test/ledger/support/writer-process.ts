/**
 * A process that writes to a ledger until it is told to stop, or is killed.
 *
 * Arguments: mode, file, a name. It says `ready`, waits for a line on standard input, then works:
 * - `runs`: run after run, each staged, written and settled; says the run's id after each one that it finished;
 * - `add`: enters the run `shared` unless another process has, adds to its counts 200 times, and says `done`.
 */
import { once } from 'node:events';
import type { Ledger } from '#src/ledger/port.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { applyingRun, deadRow, newRun, pendingOf, settleAs, settled, slice } from '#test/contracts/support/build.ts';

const [mode = '', file = '', name = ''] = process.argv.slice(2);
const say = (text: string) => process.stdout.write(`${text}\n`);

say('ready');
await once(process.stdin, 'data');
process.stdin.pause();
const ledger = openSqliteLedger(file);
if (mode === 'runs') await writeRuns(ledger);
else await addToCounts(ledger);
await ledger.close();

/** Ends when the process is killed, and after a thousand runs at the latest. */
async function writeRuns(one: Ledger): Promise<void> {
  for (let number = 1; number <= 1_000; number += 1) {
    const id = `${name}-${number}`;
    const keys = Array.from({ length: 8 }, (_, index) => `${id}-${index}`);
    const run = await applyingRun(one, id, keys, { rowsPerBatch: 4 });
    await one.runs.stage(slice(run, { dead: [deadRow(`${id}-dead`)], counts: { rows: 1, dead: 1 } }));
    for (const record of await pendingOf(one, run)) await settleAs(one, run, name, [settled(record)]);
    await one.runs.move(id, ['applying'], 'doneWithDead', { atMs: 1_800_000_000_000 + number });
    say(id);
  }
}

async function addToCounts(one: Ledger): Promise<void> {
  // One of the processes is the first; the others are told that the id is taken.
  await one.runs.create(newRun('shared')).catch(() => {});
  for (let turn = 0; turn < 200; turn += 1) {
    await one.runs.record('shared', { counts: { rows: 1 } });
    await one.runs.record('shared', { notes: [`${name} ${turn % 5}`] });
  }
  say('done');
}
