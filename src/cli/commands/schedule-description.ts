/** What `patchbay schedule` says of itself. */
import type { Command } from 'commander';

/** Runs an action with all options, its own and the global ones, and leaves its exit code. */
type Run = (
  load: () => Promise<(options: never, ...rest: never[]) => Promise<number>>,
) => (...args: unknown[]) => Promise<void>;

export function addSchedule(program: Command, run: Run): void {
  const schedule = program
    .command('schedule')
    .description('what comes again by itself: list it, run it now, pause and resume it');
  const sandbox = (command: Command): Command => command.option('--sandbox', 'of the sandbox');
  sandbox(schedule.command('ls', { isDefault: true }))
    .description('schedules with their next times and their last outcome')
    .action(run(async () => (await import('./schedule.ts')).listSchedules));
  sandbox(schedule.command('run'))
    .description('do its work now, and wait for the end')
    .argument('<NAME>')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .option('--detach', 'leave it to the running engine and exit')
    .action(run(async () => (await import('./schedule-run.ts')).runSchedule));
  sandbox(schedule.command('pause'))
    .description('let it rest until somebody resumes it')
    .argument('<NAME>')
    .option('--reason <text>', 'why; schedule ls shows it')
    .action(run(async () => (await import('./schedule.ts')).pause));
  sandbox(schedule.command('resume'))
    .description('let it go on, from now')
    .argument('<NAME>')
    .action(run(async () => (await import('./schedule.ts')).resume));
}
