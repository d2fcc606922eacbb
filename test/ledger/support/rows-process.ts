/**
 * A process that does one piece of work on the rows of a run, and kills itself with SIGKILL behind one of its transactions.
 *
 * Arguments: the ledger's file, the work, and behind which transaction that changes something it ends (0: never). It says `done` where
 * it came to the end. Rows are written in slices of `rowsPerSlice`; the work has several of them.
 *
 * - `stage`: reads a file of `rowCount` rows, one of which is withdrawn and one rejected, to its end, from the beginning;
 * - `cancel`: ends a run that is being cancelled;
 * - `prune`: forgets what a run that has ended needs no more.
 */
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { createdAtMs, deadRow, newRecord, row, slice } from '#test/contracts/support/build.ts';

const [file = '', work = '', commitText = '0'] = process.argv.slice(2);
const lastCommit = Number(commitText);
export const rowCount = 5_000;
const perSlice = 1_000;
/** Who goes on begins later than the one that was killed. */
const atMs = lastCommit > 0 ? createdAtMs : createdAtMs + 1;

let commits = 0;
const ledger = openSqliteLedger(file, (trouble) => {
  if (trouble === null) commits += 1;
  if (lastCommit > 0 && commits === lastCommit) process.kill(process.pid, 'SIGKILL');
});
const { runs } = ledger;

if (work === 'stage') await stage();
else if (work === 'cancel') {
  await runs.skipPending('r1', 'cancelled', atMs);
  await runs.move('r1', ['cancelling'], 'cancelled', { atMs });
} else await runs.prune('r1');
await ledger.close();
process.stdout.write('done\n');

async function stage(): Promise<void> {
  if (!(await runs.beginStaging('r1', atMs))) return;
  const run = await runs.get('r1');
  if (run === null) throw new Error('the run was entered before');
  const moment = { atMs, readSinceMs: atMs };
  const { columns } = row('k') as { readonly columns: readonly string[] };
  for (let first = 1; first <= rowCount; first += perSlice) {
    const records = Array.from({ length: perSlice }, (_, index) => {
      const key = `k${first + index}`;
      return newRecord(key, { row: { ...row(key, first + index + 1), columns } as ReturnType<typeof row> });
    });
    await runs.stage(slice(run, { ...moment, records, rowsPerBatch: 100, counts: { rows: perSlice } }));
  }
  const problem = { code: 'duplicateKey', line: 2, field: null, value: null, message: 'differs', hint: '' };
  await runs.stage(
    slice(run, {
      ...moment,
      withdrawnRows: [{ position: 1, end: { kind: 'dead', problem } }],
      dead: [deadRow('k0')],
      events: [{ kind: 'warning', line: 2, key: null, code: 'c', field: null, message: 'm' }],
      counts: { rows: 1, dead: 2 },
    }),
  );
  await runs.confirm('r1', { unchanged: Uint8Array.of(2), met: Uint8Array.of(6) });
  await runs.move('r1', ['staging'], 'applying', { atMs });
}
