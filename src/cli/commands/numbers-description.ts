/** `patchbay numbers` as commander knows it; what the commands do is loaded when they are called. */
import { type Command, InvalidArgumentError } from 'commander';
import type { RunAction } from '../run-action.ts';

export function addNumbers(program: Command, run: RunAction): void {
  const numbers = program.command('numbers').description('the phone numbers of the workspace and what became of them');
  const add = (name: string, isDefault = false): Command =>
    numbers
      .command(name, { isDefault })
      .option('--user <id>', 'the numbers of this user alone, a series of snapshots of its own')
      .option('--sandbox', 'of the sandbox');
  add('ls', true)
    .description('the phone numbers as the last snapshot shows them')
    .action(run(async () => (await import('./numbers.ts')).listNumbers));
  add('snapshot')
    .description('take a snapshot now')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .action(run(async () => (await import('./numbers-snapshot.ts')).snapshotNumbers));
  add('history')
    .description('the snapshots and what changed, or what became of one number')
    .argument('[NUMBER]', 'as +14155550101, or its id')
    .option('--limit <n>', 'how many', howMany, 20)
    .action(run(async () => (await import('./numbers-history.ts')).numberHistory));
  add('diff')
    .description('what changed between two snapshots (without times: the last one and the one before it)')
    .argument('[FROM]', 'a time: 20261121T140000Z, 2026-11-21T14:00:00Z or 2026-11-21 (UTC)')
    .argument('[TO]', 'another time (default: the last snapshot)')
    .action(run(async () => (await import('./numbers.ts')).diffNumbers));
}

function howMany(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1 to 99999.');
  return Number(text);
}
