/** The commands about held fields and dead letters, as commander knows them. */
import { Argument, type Command, Option } from 'commander';
import { onDataFolder, run, withDetach, withExamples, withReason, withWait } from './describe.ts';
import { append, countFromOne, rate } from './option-values.ts';

export function addHeld(program: Command): void {
  const held = program
    .command('held')
    .description('fields changed both in the file and in the app: list or export them, or decide which value to keep');
  const choice = (command: Command): Command =>
    onDataFolder(command)
      .argument('[KEY...]', 'keys of contacts')
      .option('--feed <name>', 'only fields of this feed')
      .option('--field <field>', 'only this field, such as role or custom.tier')
      .option('--key <key>', 'only this contact; may be repeated', append)
      .option('--run <run>', 'only fields whose file value came from this run');
  choice(held.command('ls', { isDefault: true }))
    .description("held fields, each with the file's value and the app's, since when, and from which file")
    .option('--limit <n>', 'how many (default: 1000; with --json all)', countFromOne)
    .action(run(async () => (await import('./commands/held.ts')).listHeldFields));
  const side = new Argument('<SIDE>', "file: write the file's value; app: keep the app's").choices(['file', 'app']);
  withExamples(
    withReason(withDetach(withWait(choice(held.command('take').addArgument(side)))), 'logs --acts shows it'),
    "patchbay held take file c-17 --field role   write the file's role to one contact",
    "patchbay held take app --all                keep the app's values everywhere",
    'patchbay held take app --feed crm --field role   all of one kind',
  )
    .description("decide: write the file's value, or keep the app's; asks on a terminal, unless --yes")
    .option('--all', 'all held fields')
    .action(run(async () => (await import('./commands/held.ts')).takeHeldFields));
  addHeldExport(held, choice);
}

function addHeldExport(held: Command, choice: (command: Command) => Command): void {
  choice(held.command('export'))
    .description('write held fields as a table (CSV), for a colleague')
    .requiredOption('--output <file>', 'the file to write')
    .action(run(async () => (await import('./commands/held.ts')).exportHeldFields));
}

export function addDead(program: Command): void {
  const dead = program
    .command('dead')
    .description('dead letters, one for each rejected row: list, show, edit, retry, export or drop them');
  onDataFolder(dead.command('ls', { isDefault: true }))
    .description('dead letters, grouped by what is wrong')
    .option('--code <code>', 'only those with this code')
    .option('--run <run>', 'only those of this run')
    .option('--feed <name>', 'only those of this feed')
    .addOption(
      new Option('--state <state>', 'only those in this state')
        .choices(['open', 'redriven', 'closed', 'dropped', 'all'])
        .default('open'),
    )
    .option('--after <id>', 'only those after this one (to page: the last id of the previous page)')
    .option('--limit <n>', 'how many (default: 1000; with --json all)', countFromOne)
    .action(run(async () => (await import('./commands/dead.ts')).listDead));
  onDataFolder(dead.command('show'))
    .description("one dead letter with all that is wrong with it, its cells and the service's answer")
    .argument('<ID>')
    .action(run(async () => (await import('./commands/dead.ts')).showDead));
  withExamples(
    withDetach(withWait(onDataFolder(dead.command('retry')))),
    'patchbay dead retry --code timeout    all with one code',
    'patchbay dead retry --all --remap     after a change of the mapping or the default country',
  )
    .description('try dead letters again')
    .argument('[ID...]')
    .option('--code <code>', 'all with this code')
    .option('--run <run>', 'all of this run')
    .option('--feed <name>', 'all of this feed')
    .option('--all', 'all that are open')
    .option('--remap', 'map their cells again, with the mapping as it is now')
    .option('--rate <n>', 'at most this many requests per second, from 0.1 to 1000, below what the key allows', rate)
    .option('--reason <text>', 'why; logs --acts shows it')
    .action(run(async () => (await import('./commands/dead.ts')).retryDead));
  addMending(dead);
}

function addMending(dead: Command): void {
  withExamples(
    withDetach(withWait(onDataFolder(dead.command('edit')))),
    'patchbay dead edit d4252e8f1649 --set "Phone=+14155550109"',
    'patchbay dead edit d4252e8f1649 --set "Last Name=Lovelace" --set "#6="   the sixth cell of the row',
  )
    .description('change cells of a rejected row, and try the row again with the current mapping')
    .argument('<ID>')
    .option(
      '--set <column=value>',
      'the cell of that column, of that position (#6), or that member of a JSON record; may be repeated',
      append,
    )
    .option('--reason <text>', 'why; logs --acts shows it')
    .action(run(async () => (await import('./commands/mend-letters.ts')).editDead));
  const choice = (command: Command): Command =>
    onDataFolder(command)
      .argument('[ID...]')
      .option('--code <code>', 'all with this code')
      .option('--run <run>', 'all of this run')
      .option('--feed <name>', 'all of this feed');
  withExamples(
    choice(dead.command('export')),
    'patchbay dead export --code phoneLetters                 into the folder of fix-files',
    'patchbay dead export --feed crm --output /tmp/rejected   into a folder of your own',
  )
    .description(
      'write open dead letters as files that can be fixed and dropped in again, one for each feed and mapping',
    )
    .option('--output <folder>', 'where to (default: _fix in the import folder)')
    .action(run(async () => (await import('./commands/mend-letters.ts')).exportDead));
  withExamples(
    withReason(choice(dead.command('drop')), 'logs --acts shows it'),
    'patchbay dead drop d4252e8f1649 --reason "a footer"',
    'patchbay dead drop --code cellCount --feed crm      all footers of one feed',
    'patchbay dead drop --code webhookGone               notices to a webhook that is gone',
  )
    .description('give up dead letters for good: their rows are not imported, and their notices are not sent')
    .option('--all', 'all that are open')
    .action(run(async () => (await import('./commands/mend-letters.ts')).dropDead));
}
