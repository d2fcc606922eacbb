/** A process that takes the engine lock of a file, says `held` or `taken`, and stays until it is killed. */
import { takeEngineLock } from '#src/ledger/engine-presence.ts';

const lock = takeEngineLock(process.argv[2] ?? '');
process.stdout.write(lock === null ? 'taken\n' : 'held\n');
process.stdin.on('data', () => {
  lock?.release();
  process.stdout.write('released\n');
});
