/**
 * The command line. Commands are described here; what they do is loaded when they are called, so that `--help` is
 * fast.
 */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { exitWithError } from './exit.ts';
import { leaveWhenStdoutBreaks, logLevels } from './output.ts';

export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', leaveWhenStdoutBreaks);
  const program = buildProgram();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version end here too, with code 0. Commander has told what is wrong on stderr.
      const wantsJson = argv.includes('--json');
      if (wantsJson && error.exitCode !== 0) await exitWithError(error, { json: true });
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    await exitWithError(error, { json: argv.includes('--json') });
  }
}

export function buildProgram(): Command {
  const program = new Command('patchbay')
    .description('Keeps the contacts of a business-telephony workspace in sync with the exports dropped into a folder.')
    .version(manifest.version)
    .option('--config <file>', 'config file (default: ./patchbay.yaml, if there)')
    .option('--data <dir>', 'data folder (default: ./data)')
    .option('--json', 'print one JSON document on stdout')
    .option('-q, --quiet', 'print results only')
    .option('-v, --verbose', 'print log lines')
    .option('--no-color', 'no colours')
    .option('--no-values', 'print no values from files or contacts')
    .option('-y, --yes', 'answer every question with yes')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .exitOverride()
    .showSuggestionAfterError();
  program.addHelpText('after', helpFooter);
  for (const add of [
    addStart,
    addImport,
    addStatus,
    addRuns,
    addHeld,
    addDead,
    addSchedule,
    addNumbers,
    addAudit,
    addLedger,
    addLogs,
    addServe,
    addDoctor,
    addConfig,
  ])
    add(program, run);
  return program;
}

const helpFooter = `
Try it without an account:
  patchbay start                                   worker, queue, sandbox service and page
  patchbay import --sandbox config/samples/contacts.csv

Exit codes: 0 done, 2 usage, 3 rejected rows or duplicates, 4 key refused, 5 stopped by a guard, 6 service unreachable, 130 interrupted.`;

/** Runs the action with all options, its own and the global ones, and leaves its exit code. */
function run(load: () => Promise<Action>): (...args: unknown[]) => Promise<void> {
  return async (...args: unknown[]): Promise<void> => {
    // Commander passes the arguments, then the command's options, then the command.
    const command = args.at(-1) as Command;
    const positional = args.slice(0, -2);
    const action = await load();
    process.exitCode = await action(command.optsWithGlobals() as never, ...(positional as never[]));
  };
}

function addStart(program: Command): void {
  program
    .command('start')
    .description('run the worker, the queue and the page; without a configured service also the sandbox')
    .option('--same-workspace', 'origin or key changed, but it is the same workspace')
    .addOption(
      new Option('--worker', 'a further process that works for the engine running on the data folder').conflicts(
        'sameWorkspace',
      ),
    )
    .action(run(async () => (await import('./commands/start.ts')).start));
}

function addImport(program: Command): void {
  program
    .command('import')
    .description('import files, then exit')
    .argument('<FILE...>', 'CSV or JSON files (.csv .tsv .txt .json .ndjson .jsonl, each also .gz)')
    .option('--feed <name>', 'the feed that the files belong to: its mapping, label and limits (default: main)')
    .option('--mapping <name|file>', 'mapping file, or the name of one in config/mappings')
    .option('--delimiter <char>', 'what separates the cells (default: detected)')
    .option('--encoding <name>', 'encoding of the file (default: detected)')
    .option('--default-country <cc>', 'country of phone numbers without a country code, e.g. DE')
    .addOption(new Option('--on-blank <rule>', 'what a blank cell does').choices(['keep', 'clear']))
    .option('--adopt', 'take over contacts that are there already and that the ledger does not know')
    .option('--max-change <percent>', 'raise the limit on updates, creates and clears for this run', percent)
    .option('--max-dead <percent>', 'raise the limit on rejected rows for this run', percent)
    .option('--accept', 'pass the guards on the file, once; not those while it is applied')
    .option('--reason <text>', 'why; recorded in the report')
    .option('--sandbox', 'import into the sandbox')
    .option('--audit', 'wait until every key was seen to have exactly one contact')
    .option('--same-workspace', 'origin or key changed, but it is the same workspace')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .option('--detach', 'hand the files to the running engine and exit')
    .action(run(async () => (await import('./commands/import.ts')).importFiles));
}

function addStatus(program: Command): void {
  program
    .command('status')
    .description('what runs, what waits, what is held, what was rejected')
    .option('--sandbox', 'use the sandbox')
    .action(run(async () => (await import('./commands/status.ts')).status));
}

function addRuns(program: Command): void {
  const runs = program.command('runs').description('list, look at, approve or cancel runs');
  const sandbox = (command: Command): Command => command.option('--sandbox', 'use the sandbox');
  sandbox(runs.command('ls', { isDefault: true }))
    .description('the last runs')
    .option('--feed <name>', 'only those of this feed')
    .option('--limit <n>', 'how many', count, 20)
    .action(run(async () => (await import('./commands/runs.ts')).listRuns));
  sandbox(runs.command('show'))
    .description('one run with its problems and warnings')
    .argument('<RUN>')
    .action(run(async () => (await import('./commands/runs.ts')).showRun));
  sandbox(runs.command('approve'))
    .description('continue a run that a guard stopped, as it was shown; asks on a terminal, unless --yes')
    .argument('<RUN>')
    .option('--reason <text>', 'why; recorded in the report')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .option('--detach', 'leave it to the running engine and exit')
    .action(run(async () => (await import('./commands/runs.ts')).approve));
  sandbox(runs.command('cancel'))
    .description('end a run: what was written stays written, the rest is left')
    .argument('<RUN>')
    .action(run(async () => (await import('./commands/runs.ts')).cancelRun));
}

function addHeld(program: Command): void {
  const held = program
    .command('held')
    .description('fields that file and app changed differently: list them, decide about them');
  const choice = (command: Command): Command =>
    command
      .argument('[KEY...]', 'keys of contacts')
      .option('--feed <name>', 'only those of this feed')
      .option('--field <field>', 'only this field, as role or custom.tier')
      .option('--sandbox', 'use the sandbox');
  choice(held.command('ls', { isDefault: true }).description("held fields, each with the file's value and the app's"))
    .option('--limit <n>', 'how many', count, 1_000)
    .action(run(async () => (await import('./commands/held.ts')).listHeldFields));
  const side = new Argument('<SIDE>', 'whose value stands from now on').choices(['file', 'app']);
  choice(held.command('take').description("decide: write the file's value, or keep the app's").addArgument(side))
    .option('--all', 'all that are held')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .option('--detach', 'leave the writing to the running engine and exit')
    .action(run(async () => (await import('./commands/held.ts')).takeHeldFields));
}

function addDead(program: Command): void {
  const dead = program.command('dead').description('rejected rows: list them, look at one, try them again');
  const sandbox = (command: Command): Command => command.option('--sandbox', 'use the sandbox');
  sandbox(dead.command('ls', { isDefault: true }))
    .description('dead letters, grouped by what is wrong')
    .option('--code <code>', 'only those with this code')
    .option('--run <run>', 'only those of this run')
    .addOption(
      new Option('--state <state>', 'which').choices(['open', 'redriven', 'closed', 'dropped', 'all']).default('open'),
    )
    .option('--limit <n>', 'how many', count, 1_000)
    .action(run(async () => (await import('./commands/dead.ts')).listDead));
  sandbox(dead.command('show'))
    .description('one dead letter with its cells and the answer of the service')
    .argument('<ID>')
    .action(run(async () => (await import('./commands/dead.ts')).showDead));
  sandbox(dead.command('retry'))
    .description('try dead letters again')
    .argument('[ID...]')
    .option('--code <code>', 'all with this code')
    .option('--run <run>', 'all of this run')
    .option('--all', 'all that are open')
    .option('--remap', "map their cells anew with today's mapping")
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .option('--detach', 'leave it to the running engine and exit')
    .action(run(async () => (await import('./commands/dead.ts')).retryDead));
}

function addAudit(program: Command): void {
  program
    .command('audit')
    .description('look whether every key that a run touched has exactly one contact')
    .argument('<RUN>')
    .option('--sandbox', 'use the sandbox')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .action(run(async () => (await import('./commands/audit.ts')).auditRun));
}

function addLedger(program: Command): void {
  const ledger = program.command('ledger').description('check the ledger, or take a backup of it');
  const sandbox = (command: Command): Command => command.option('--sandbox', 'use the sandbox');
  sandbox(ledger.command('check'))
    .description('check that its file is whole and its contents add up: 0 sound, 1 damaged, 3 inconsistent')
    .action(run(async () => (await import('./commands/ledger.ts')).checkTheLedger));
  sandbox(ledger.command('backup'))
    .description('write a backup into a new file, also while an engine works')
    .argument('<FILE>')
    .action(run(async () => (await import('./commands/ledger.ts')).backUpTheLedger));
}

function addLogs(program: Command): void {
  program
    .command('logs')
    .description('the log lines of the data folder')
    .option('-f, --follow', 'follow new lines')
    .option('--run <run>', 'of one run, by its id or the end of it')
    .option('--feed <feed>', 'of one feed')
    .addOption(new Option('--level <level>', 'of this level and above').choices(logLevels))
    .option('--lines <n>', 'number of matching lines', count, 50)
    .option('--sandbox', 'use the sandbox')
    .action(run(async () => (await import('./commands/logs.ts')).logs));
}

/** What a service that is not started cannot heed. */
const notForDump = [
  ...['load', 'port', 'key', 'keyFile', 'contacts', 'numbers', 'patch', 'rate', 'pageNumbers', 'international'],
  ...['fault', 'faultSeed', 'control', 'reservedSource'],
];

/** `--help` stays fast: the catalog itself is loaded with the service (a test compares the two). */
const serveHelp = `
Faults: OPERATION:FAULT[=ARGUMENT][:PROBABILITY], as create:dropAfter:5% or *:status=503;retryAfter=2:3%
  operations  create get list update delete numbers fields calls recordings messages send, or * for all
  faults      latency=DURATION status=STATUS[;retryAfter=SECONDS] dropBefore dropAfter hangAfter[=DURATION]
              lateCommit=DURATION listLag=DURATION repeatToken nonStringToken strangers truncated notJson`;

function addServe(program: Command): void {
  program
    .command('serve')
    .description('run the workspace service alone: sandbox and reference server')
    .option('--port <n>', 'port (default: 8787; 0 takes a free one)', portNumber)
    .option('--key <key>', 'API key, repeatable (default: those of the store, and a random one)', append)
    .option('--key-file <file>', 'file with API keys, one in each line')
    .option('--store <file>', 'SQLite file, or :memory: (default)')
    .addOption(
      new Option('--load <file>', 'fill a new store from a workspace file, or - for stdin').conflicts([
        'contacts',
        'numbers',
      ]),
    )
    .addOption(
      new Option('--dump <file>', 'write the store into a workspace file, or - for stdout, and exit').conflicts(
        notForDump,
      ),
    )
    .option('--contacts <n>', 'invented contacts of a new workspace (default: 25)', count)
    .option('--numbers <n>', 'invented phone numbers of a new workspace, with calls and messages (default: 4)', count)
    .addOption(
      new Option('--patch <mode>', 'what PATCH does with what its body leaves out (default: merge)').choices([
        'merge',
        'replace',
      ]),
    )
    .option('--rate <n>', 'requests per second for each key (default: no limit)', count)
    .option('--page-numbers <n>', 'page size of the phone numbers (default: all at once)', count)
    .option('--international', 'allow messages to numbers outside the United States and Canada')
    .option('--fault <spec...>', 'misbehave: OPERATION:FAULT[=ARGUMENT][:PROBABILITY]')
    .option('--fault-seed <n>', 'seed of the faults: the same seed, the same faults (default: 1)', count)
    .option('--control', 'open /__control, which shows and changes the faults')
    .option('--reserved-source <word>', 'WORD or PREFIX* that source must not be, repeatable', append)
    .addHelpText('after', serveHelp)
    .action(run(async () => (await import('./commands/serve.ts')).serve));
}

function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check this machine, the ledger, the configuration and the way to the service')
    .option('--sandbox', 'use the sandbox')
    .action(run(async () => (await import('./commands/doctor.ts')).doctor));
}

function addConfig(program: Command): void {
  const config = program.command('config').description('check or print the configuration');
  config
    .command('check')
    .description('say what is wrong with it')
    .action(run(async () => (await import('./commands/config.ts')).checkConfig));
  config
    .command('print')
    .description('print it with where each value comes from; secrets masked')
    .action(run(async () => (await import('./commands/config.ts')).printConfiguration));
  config
    .command('schema')
    .description('print its JSON Schema')
    .action(run(async () => (await import('./commands/config.ts')).printSchema));
}

function percent(text: string): number {
  const match = /^(\d{1,3}(?:\.\d+)?)%?$/.exec(text.trim());
  const value = Number(match?.[1]);
  if (match === null || value > 100) throw new InvalidArgumentError('Give a percentage from 0% to 100%.');
  return value / 100;
}

/** Gathers the values of an option that is given several times. */
function append(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function count(text: string): number {
  const value = numberOf(text);
  if (!Number.isInteger(value) || value < 0 || value > 10_000_000)
    throw new InvalidArgumentError('Give a whole number.');
  return value;
}

/** An empty text is no number, though JavaScript takes it for 0. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

function portNumber(text: string): number {
  const value = numberOf(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Give a port from 0 to 65535.');
  return value;
}

/** What the options hold is what the command's own description says: commander parses, the action names the type. */
type Action = (options: never, ...rest: never[]) => Promise<number>;

/** Wraps the loading of an action, so that it is called with all options and leaves its exit code. */
type RunAction = (load: () => Promise<Action>) => (...args: unknown[]) => Promise<void>;

/** `patchbay numbers` as commander knows it; what the commands do is loaded when they are called. */
function addNumbers(program: Command, run: RunAction): void {
  const numbers = program.command('numbers').description('the phone numbers of the workspace and what became of them');
  const add = (name: string, isDefault = false): Command =>
    numbers
      .command(name, { isDefault })
      .option('--user <id>', 'the numbers of this user alone, a series of snapshots of its own')
      .option('--sandbox', 'use the sandbox');
  add('ls', true)
    .description('the phone numbers as the last snapshot shows them')
    .action(run(async () => (await import('./commands/numbers.ts')).listNumbers));
  add('snapshot')
    .description('take a snapshot now')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .action(run(async () => (await import('./commands/numbers.ts')).snapshotNumbers));
  add('history')
    .description('the snapshots and what changed, or what became of one number')
    .argument('[NUMBER]', 'as +14155550101, or its id')
    .option('--limit <n>', 'how many', howMany, 20)
    .action(run(async () => (await import('./commands/numbers.ts')).numberHistory));
  add('diff')
    .description('what changed between two snapshots (without times: the last one and the one before it)')
    .argument('[FROM]', 'a time: 20261121T140000Z, 2026-11-21T14:00:00Z or 2026-11-21 (UTC)')
    .argument('[TO]', 'another time (default: the last snapshot)')
    .action(run(async () => (await import('./commands/numbers.ts')).diffNumbers));
}

function howMany(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('Give a whole number from 1 to 99999.');
  return Number(text);
}

/** What `patchbay schedule` says of itself. */
function addSchedule(program: Command, run: RunAction): void {
  const schedule = program
    .command('schedule')
    .description('what comes again by itself: list it, run it now, pause and resume it');
  const sandbox = (command: Command): Command => command.option('--sandbox', 'use the sandbox');
  sandbox(schedule.command('ls', { isDefault: true }))
    .description('schedules with their next times and their last outcome')
    .action(run(async () => (await import('./commands/schedule.ts')).listSchedules));
  sandbox(schedule.command('run'))
    .description('do its work now, and wait for the end')
    .argument('<NAME>')
    .option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)')
    .option('--detach', 'leave it to the running engine and exit')
    .action(run(async () => (await import('./commands/schedule.ts')).runSchedule));
  sandbox(schedule.command('pause'))
    .description('pause it until it is resumed')
    .argument('<NAME>')
    .option('--reason <text>', 'why; schedule ls shows it')
    .action(run(async () => (await import('./commands/schedule.ts')).pause));
  sandbox(schedule.command('resume'))
    .description('resume it from now')
    .argument('<NAME>')
    .action(run(async () => (await import('./commands/schedule.ts')).resume));
}
