/** A process that says its own name and stays until it is killed. */
import { systemClock } from '#src/clock.ts';
import { identifyProcess } from '#src/ledger/process-identity.ts';

process.stdout.write(`${identifyProcess(process.argv[2] ?? systemClock().bootId).name}\n`);
process.stdin.resume();
