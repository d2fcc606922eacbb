/**
 * The commands, their arguments and options, as commander knows them and as `docs/commands.md` lists them. What a command does
 * is loaded when it is called.
 */
import { Argument, Command, Option } from 'commander';
import { finalRunStates } from '#src/ledger/runs.ts';
import { logLevels } from '#src/operations/logs.ts';
import manifest from '../../package.json' with { type: 'json' };
import { onDataFolder, run, withDetach, withExamples, withReason, withWait } from './describe.ts';
import { addImport, addMap, addPlan } from './file-commands.ts';
import { addDead, addHeld } from './letter-commands.ts';
import { append, count, countFromOne, portNumber } from './option-values.ts';

export function buildProgram(): Command {
  const program = new Command('patchbay')
    .description('Keeps the contacts of a business-telephony workspace in sync with the exports dropped into a folder.')
    .version(manifest.version)
    .option('--config <file>', 'config file (default: ./patchbay.yaml, if it exists)')
    .option('--data <dir>', 'data folder (default: ./data)')
    .option('--json', 'print JSON on stdout: one document, or one line per item of a list')
    .option('-q, --quiet', 'print results only')
    .option('-v, --verbose', 'print log lines, those of the level debug too')
    .option('--no-color', 'no colours')
    .option('--no-values', 'print no values from files or contacts')
    .option('-y, --yes', 'answer every question with yes')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      // Errors are printed by `main`, in the form of all other errors.
      outputError: () => undefined,
    })
    .exitOverride()
    .showSuggestionAfterError();
  program.addHelpText('after', helpFooter);
  for (const add of [
    addInit,
    addStart,
    addPlan,
    addImport,
    addMap,
    addForget,
    addStatus,
    addRuns,
    addContact,
    addHeld,
    addDead,
    addSchedule,
    addNumbers,
    addAudit,
    addLedger,
    addHosts,
    addLogs,
    addServe,
    addDoctor,
    addConfig,
    addCompletion,
  ])
    add(program);
  return program;
}

const helpFooter = `
Try it without an account:
  patchbay start                                   worker, queue, sandbox service and page
  patchbay import --sandbox config/samples/contacts.csv

Exit codes: 0 done, 1 unexpected error or damaged ledger, 2 usage or configuration, 3 rejected rows, unreadable file or duplicates,
  4 key missing or refused, 5 stopped by a guard, cancelled, or changed since the plan, 6 service or queue unreachable,
  10 something to write, or drift (plan, import --verify), 129/130/143 interrupted.`;

function addInit(program: Command): void {
  withExamples(
    program.command('init'),
    'patchbay init --default-country DE             ./patchbay.yaml and data/import',
    'patchbay init --data /srv/patchbay             with a data folder elsewhere, which the file names',
  )
    .description('write a first config file, with comments, and make the import folder; replaces nothing')
    .option('--default-country <cc>', 'country of phone numbers without a country code, e.g. DE')
    .action(run(async () => (await import('./commands/init.ts')).init));
}

function addStart(program: Command): void {
  onDataFolder(program.command('start'))
    .description('run the worker, the queue and the page; without a configured service also the sandbox')
    .option('--same-workspace', 'confirm that this is the same workspace, although the URL or the key has changed')
    .addOption(
      new Option('--worker', 'run an additional worker process for the engine that runs on this data folder').conflicts(
        'sameWorkspace',
      ),
    )
    .action(run(async () => (await import('./commands/start.ts')).start));
}

function addForget(program: Command): void {
  const command = program
    .command('forget')
    .description(
      'erase a person from ledger and files; later files with this key are skipped. On a terminal it asks first',
    )
    .argument('<KEY>', 'the externalId, prefix included')
    .option(
      '--reason <text>',
      'why, without personal data; logs --acts shows it. Asked for on a terminal; needed without one, and with --yes or --json',
    )
    .option('--allow', 'erase nothing: let later files bring a person again who was forgotten before');
  withExamples(onDataFolder(command), 'patchbay forget crm-17 --reason "request of 2026-11-20"').action(
    run(async () => (await import('./commands/forget.ts')).forget),
  );
}

function addStatus(program: Command): void {
  onDataFolder(program.command('status'))
    .description('what is running, what waits, and what needs attention')
    .action(run(async () => (await import('./commands/status.ts')).status));
}

function addRuns(program: Command): void {
  const runs = program.command('runs').description('list, show, approve, read anew, undo or cancel runs');
  const states = ['active', 'queued', 'staging', 'applying', 'cancelling', 'stopped', ...finalRunStates];
  withExamples(
    onDataFolder(runs.command('ls', { isDefault: true })),
    'patchbay runs ls --state stopped    runs that wait for your approval',
    'patchbay runs ls --feed crm         the last runs of one feed',
  )
    .description('the last runs, newest first')
    .option('--feed <name>', 'only runs of this feed')
    .addOption(
      new Option('--state <state>', 'only runs in this state; active: not ended and not stopped').choices(states),
    )
    .option('--after <run>', 'only runs older than this one (to page: the last run of the previous page)')
    .option('--limit <n>', 'how many', countFromOne, 20)
    .action(run(async () => (await import('./commands/runs.ts')).runs));
  onDataFolder(runs.command('show'))
    .description(
      'the whole story of one run: each contact it changed, before and after, its problems, warnings and audits',
    )
    .argument('<RUN>', 'its id, or the end of it')
    .option('--full', 'print all of it, however much there is')
    .action(run(async () => (await import('./commands/runs.ts')).showRun));
  withExamples(
    withReason(withDetach(withWait(onDataFolder(runs.command('approve')))), 'recorded in the report'),
    'patchbay runs approve 811b4f --reason "new mail domain"',
    'patchbay runs approve 811b4f --adopt     link contacts that were made by hand, and overwrite nothing',
  )
    .description('let a run that a guard stopped continue exactly as shown; on a terminal it asks first, unless --yes')
    .argument('<RUN>', 'its id, or the end of it')
    .addOption(
      new Option('--adopt', 'link contacts that are in the workspace already, without an externalId').conflicts(
        'createAnyway',
      ),
    )
    .option('--create-anyway', 'create these contacts a second time')
    .action(run(async () => (await import('./commands/runs.ts')).approve));
  withExamples(
    withReason(withDetach(withWait(onDataFolder(runs.command('restage')))), 'logs --acts shows it'),
    'patchbay runs restage 811b4f --reason "phones mapped"     after the mapping, or a limit, was corrected',
  )
    .description(
      "read the file of a stopped run anew, with today's mapping and limits; it keeps its place in the order",
    )
    .argument('<RUN>', 'its id, or the end of it')
    .action(run(async () => (await import('./commands/runs.ts')).restage));
  withExamples(
    withReason(withDetach(withWait(onDataFolder(runs.command('undo')))), 'recorded in the report'),
    'patchbay runs undo 811b4f --plan             what it would write',
    'patchbay runs undo 811b4f --delete-created   delete what the run created, too',
  )
    .description(
      'take back what a run wrote, where it is still as the run left it; on a terminal it asks first, unless --yes',
    )
    .argument('<RUN>', 'its id, or the end of it')
    .option('--delete-created', 'delete the contacts that the run created, if nothing of them has changed since')
    .option('--plan', 'only show what would be written')
    .option('--accept', 'pass the guards on what is to be written, once')
    .action(run(async () => (await import('./commands/undo.ts')).undo));
  withReason(onDataFolder(runs.command('cancel')), 'logs --acts shows it')
    .description(
      'end a run: what was written stays, the other rows are left out; prints how many writes may still have landed',
    )
    .argument('<RUN>', 'its id, or the end of it')
    .action(run(async () => (await import('./commands/runs.ts')).cancel));
}

function addContact(program: Command): void {
  withExamples(
    onDataFolder(program.command('contact')),
    'patchbay contact c-17                        by its key',
    'patchbay contact +14155550109 --offline      by a phone number, without a request',
  )
    .description(
      'all that is known of one contact: its row, what would become of each field and why, its writes and dead letters',
    )
    .argument('<KEY>', "its externalId, or the contact's id, a phone number or an e-mail address")
    .option('--offline', 'do not ask the service; show what it last answered')
    .action(run(async () => (await import('./commands/contact.ts')).contact));
}

function addSchedule(program: Command): void {
  const schedule = program.command('schedule').description('scheduled work: list it, run it now, pause and resume it');
  onDataFolder(schedule.command('ls', { isDefault: true }))
    .description('schedules with their next times and their last outcome')
    .action(run(async () => (await import('./commands/schedule.ts')).schedules));
  withDetach(withWait(onDataFolder(schedule.command('run'))))
    .description('run a schedule now, and wait until it is done')
    .argument('<NAME>')
    .action(run(async () => (await import('./commands/schedule.ts')).runSchedule));
  onDataFolder(schedule.command('pause'))
    .description('pause a schedule until you resume it')
    .argument('<NAME>')
    .option('--reason <text>', 'why; schedule ls shows it')
    .action(run(async () => (await import('./commands/schedule.ts')).pause));
  onDataFolder(schedule.command('resume'))
    .description('resume a schedule; runs missed during the pause are not made up for')
    .argument('<NAME>')
    .action(run(async () => (await import('./commands/schedule.ts')).resume));
}

function addNumbers(program: Command): void {
  const numbers = program.command('numbers').description('the phone numbers of the workspace and their history');
  const add = (name: string, isDefault = false): Command =>
    onDataFolder(numbers.command(name, { isDefault })).option(
      '--user <id>',
      "only this user's numbers (kept as a separate series of snapshots)",
    );
  add('ls', true)
    .description('the phone numbers as the last snapshot shows them')
    .action(run(async () => (await import('./commands/numbers.ts')).numbers));
  withWait(add('snapshot'))
    .description('take a snapshot now')
    .action(run(async () => (await import('./commands/numbers.ts')).snapshotNumbers));
  add('history')
    .description('the snapshots and what changed, or the history of one number')
    .argument('[NUMBER]', 'such as +14155550101, or its id')
    .option('--limit <n>', 'how many', countFromOne, 20)
    .action(run(async () => (await import('./commands/numbers.ts')).numberHistory));
  withExamples(
    add('diff'),
    'patchbay numbers diff                the last snapshot and the one before it',
    'patchbay numbers diff 2026-11-01     since the beginning of that day',
  )
    .description('what changed between two snapshots (without times: the last one and the one before it)')
    .argument('[FROM]', 'a time: 20261121T140000Z, 2026-11-21T14:00:00Z or 2026-11-21 (UTC)')
    .argument('[TO]', 'another time (default: the last snapshot)')
    .action(run(async () => (await import('./commands/numbers.ts')).numbersDiff));
}

function addAudit(program: Command): void {
  withWait(onDataFolder(program.command('audit')))
    .description('check that each key that a run touched has exactly one contact')
    .argument('<RUN>', 'its id, or the end of it')
    .action(run(async () => (await import('./commands/audit.ts')).auditRun));
}

function addLedger(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('check the ledger, back it up, or copy it into another database');
  onDataFolder(ledger.command('check'))
    .description('check that the ledger is intact and adds up; exit code 0: sound, 1: damaged, 3: inconsistent')
    .action(run(async () => (await import('./commands/ledger.ts')).checkTheLedger));
  onDataFolder(ledger.command('backup'))
    .description('write a backup into a new file, also while an engine works')
    .argument('<FILE>')
    .action(run(async () => (await import('./commands/ledger.ts')).backUpTheLedger));
  withExamples(
    onDataFolder(ledger.command('copy')),
    'patchbay ledger copy --to postgres://patchbay@db/patchbay             from the data folder into PostgreSQL',
    'DATABASE_URL=… patchbay ledger copy --to data/ledger.sqlite           and back',
  )
    .description(
      'copy the ledger into PostgreSQL, or back into a file, and compare it; nothing else may work on either',
    )
    .requiredOption('--to <url|file>', 'a database as DATABASE_URL names it, or a new SQLite file')
    .action(run(async () => (await import('./commands/ledger.ts')).copyTheLedger));
}

function addHosts(program: Command): void {
  const hosts = program
    .command('hosts')
    .description('hosts that share a ledger in PostgreSQL, and what waits for each');
  onDataFolder(hosts.command('ls', { isDefault: true }))
    .description('list the hosts: which one leads, and which are away')
    .action(run(async () => (await import('./commands/hosts.ts')).listHosts));
  onDataFolder(hosts.command('forget'))
    .description(
      'give up a host that does not come back: its runs become those of this one, and its unread files are cancelled',
    )
    .argument('<HOST>', 'its id or its name')
    .action(run(async () => (await import('./commands/hosts.ts')).forgetOneHost));
}

function addLogs(program: Command): void {
  withExamples(
    onDataFolder(program.command('logs')),
    'patchbay logs -f --feed crm          follow one feed',
    'patchbay logs --level warn           what needs attention',
    'patchbay logs --acts --run 811b4f    who approved, cancelled or decided what',
  )
    .description('the log lines of the data folder')
    .option('-f, --follow', 'wait for further lines')
    .option('--run <run>', 'only lines of this run, by its id or the end of it')
    .option('--feed <feed>', 'only lines of this feed')
    .addOption(new Option('--level <level>', 'only lines of this level and above').choices(logLevels))
    .addOption(new Option('--acts', 'what people did: who, when, what and why').conflicts(['follow', 'level']))
    .option('--lines <n>', 'how many of the last matching lines', count, 50)
    .action(run(async () => (await import('./commands/logs.ts')).logs));
}

/** Options of a running service: `--dump` starts none. */
const notForDump = [
  ...['load', 'port', 'key', 'keyFile', 'contacts', 'numbers', 'patch', 'rate', 'pageNumbers', 'international'],
  ...['errorDocs', 'fault', 'faultSeed', 'control', 'reservedSource'],
];

/** `--help` stays fast: the catalog itself is loaded with the service (a test compares the two). */
const serveHelp = `
Faults: OPERATION:FAULT[=ARGUMENT][:PROBABILITY], such as create:dropAfter:5% or *:status=503;retryAfter=2:3%
  operations  create get list update delete numbers fields calls recordings messages send, or * for all
  faults      latency=DURATION status=STATUS[;retryAfter=SECONDS] dropBefore dropAfter hangAfter[=DURATION]
              lateCommit=DURATION listLag=DURATION repeatToken nonStringToken strangers truncated notJson`;

function addServe(program: Command): void {
  program
    .command('serve')
    .description('run the workspace service alone: sandbox and reference server')
    .option('--port <n>', 'port (default: 8787; 0 takes a free one)', portNumber)
    .option('--key <key>', 'API key; may be repeated (default: those of the store, and a random one)', append)
    .option('--key-file <file>', 'file with API keys, one per line')
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
      new Option('--patch <mode>', 'what PATCH does with fields missing from its body (default: replace)').choices([
        'merge',
        'replace',
      ]),
    )
    .option('--rate <n>', 'requests per second for each key (default: no limit)', countFromOne)
    .option('--page-numbers <n>', 'page size of the phone numbers (default: all at once)', countFromOne)
    .addOption(
      new Option('--error-docs <url>', 'what `docs` in errors says (default: https://quo.com/docs)').choices([
        'https://quo.com/docs',
        'https://openphone.com/docs',
      ]),
    )
    .option('--international', 'allow messages to numbers outside the United States and Canada')
    .option('--fault <spec...>', 'misbehave: OPERATION:FAULT[=ARGUMENT][:PROBABILITY]')
    .option('--fault-seed <n>', 'seed for --fault: the same seed gives the same behaviour (default: 1)', count)
    .option('--control', 'open /__control, which shows and changes the faults')
    .option(
      '--reserved-source <word>',
      'reserve this source (WORD or PREFIX*) instead of openphone*, zapier and google-people; may be repeated',
      append,
    )
    .addHelpText('after', serveHelp)
    .action(run(async () => (await import('./commands/serve.ts')).serve));
}

function addDoctor(program: Command): void {
  onDataFolder(program.command('doctor'))
    .description('check this machine, the ledger, the configuration and the connection to the service')
    .action(run(async () => (await import('./commands/doctor.ts')).doctor));
}

function addConfig(program: Command): void {
  const config = program.command('config').description('check or print the configuration');
  config
    .command('check')
    .description('check the configuration and list its errors')
    .action(run(async () => (await import('./commands/config.ts')).checkConfig));
  config
    .command('print')
    .description('print the configuration, with the origin of each value and secrets masked')
    .action(run(async () => (await import('./commands/config.ts')).printConfiguration));
  config
    .command('schema')
    .description('print the JSON Schema of the configuration')
    .action(run(async () => (await import('./commands/config.ts')).printSchema));
}

function addCompletion(program: Command): void {
  withExamples(
    program.command('completion'),
    'source <(patchbay completion bash)      in ~/.bashrc',
    'source <(patchbay completion zsh)       in ~/.zshrc, after compinit',
  )
    .description('print a script that completes commands, options and their values in a shell')
    .addArgument(new Argument('<SHELL>', 'the shell that the script is for').choices(['bash', 'zsh']))
    .action(run(async () => (await import('./completion.ts')).printCompletion(program)));
}
