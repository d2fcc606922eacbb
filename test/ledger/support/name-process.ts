/** A process that says its own name and stays until it is killed. */
import { identifyProcess } from '#src/ledger/process-identity.ts';

process.stdout.write(`${identifyProcess(process.argv[2] ?? '').name}\n`);
process.stdin.resume();
