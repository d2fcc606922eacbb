/** The commands that read a file: what it would change, importing it, and how it is read. */
import { type Command, Option } from 'commander';
import { inputFormats, readableEndings } from '#src/sources/file-name.ts';
import { onDataFolder, run, withDetach, withExamples, withWait } from './describe.ts';
import { append, count, countFromOne, percent, rowPlace } from './option-values.ts';

export function addPlan(program: Command): void {
  const command = program
    .command('plan')
    .description('show what importing a file would change, contact by contact; writes nothing')
    .argument('[FILE]', `an export: ${readableEndings}; - reads standard input`)
    .option('--run <run>', 'show what a run that a guard stopped would write, instead of a file');
  withGuards(withRows(withReading(command, 'the feed that the file belongs to (default: main)')))
    .addOption(
      new Option('--verify', 'as for import: what people changed, deleted or doubled; exit code 10 if any').conflicts(
        'repair',
      ),
    )
    .option('--repair', "as for import: write back the file's values where people changed them")
    .option('--adopt', 'as for import: the file wins for contacts with its keys; others are linked')
    .option('--create-anyway', 'as for import: create contacts although they may exist already')
    .option('--only <key>', 'only this contact, even if others change; may be repeated', append)
    .option('--limit <n>', 'how many contacts of each kind are shown (default: 20)', count)
    .option('--full', 'show all of them')
    .option('--output <file>', 'write the plan into a file as well: .html, .md or .json')
    .option('--exit-code', 'exit with 10 if there is anything to write')
    .option('--same-workspace', 'confirm that this is the same workspace, although the URL or the key has changed');
  withExamples(
    withWait(onDataFolder(command)),
    'patchbay plan crm.csv --feed crm              what tonight would change',
    'patchbay plan crm.csv --only c-17             one contact',
    'patchbay plan crm.csv --feed crm --verify     what people changed in the app since',
    'patchbay plan crm.csv --output plan.html      for a colleague: one file',
    'patchbay import --plan 1a2b3c                 carry out what was shown',
  ).action(run(async () => (await import('./commands/plan.ts')).plan));
}

export function addImport(program: Command): void {
  const command = program
    .command('import')
    .description('import files, then exit')
    .argument('[FILE...]', `exports: ${readableEndings}; - reads standard input`)
    .option('--plan <id>', 'carry out this plan (patchbay plan FILE): a contact that changed since is skipped');
  const feed = 'the feed that the files belong to, with its mapping, label and limits (default: main)';
  withGuards(withRows(withReading(command, feed)), '; with --accept asked for on a terminal, unless --yes')
    .option('--only <key>', 'only the row with this key, prefix included; may be repeated', append)
    .option('--limit <n>', 'only the first changed rows, at most this many', countFromOne)
    .addOption(
      new Option(
        '--verify',
        'write nothing; report what people changed, deleted or doubled; exit code 10 if any',
      ).conflicts('repair'),
    )
    .option('--repair', "write back the file's values where people changed them")
    .option(
      '--adopt',
      'take over contacts that exist already: the file wins for those with its keys; others are linked',
    )
    .option(
      '--create-anyway',
      'create contacts although they may exist already, without an externalId or under another key',
    )
    .option('--audit', 'wait until each key is known to have exactly one contact')
    .option('--same-workspace', 'confirm that this is the same workspace, although the URL or the key has changed');
  withExamples(
    withDetach(withWait(onDataFolder(command))),
    'patchbay import --sandbox config/samples/contacts.csv     try it without an account',
    'patchbay import --feed crm --default-country DE crm.csv   a feed of its own',
    'patchbay import --json contacts.csv                       for scripts',
    'curl -s https://example.com/crm.csv | patchbay import -   standard input',
  ).action(run(async () => (await import('./commands/import.ts')).importFiles));
}

/** How a file is read: the same wherever a command looks at one. */
function withReading(
  command: Command,
  feed: string,
  mapping = 'a mapping file, or the name of a mapping in config/mappings',
): Command {
  return command
    .option('--feed <name>', feed)
    .option('--mapping <name|file>', mapping)
    .option('--delimiter <char>', 'what separates the cells; tab for a tab (default: detected)')
    .option('--encoding <name>', 'encoding of the file (default: detected)')
    .option('--default-country <cc>', 'country of phone numbers without a country code, e.g. DE');
}

/** What is read, and which of its rows count: the same for the plan of a file and for its import. */
function withRows(command: Command): Command {
  return command
    .addOption(new Option('--format <name>', 'format of standard input (default: detected)').choices(inputFormats))
    .addOption(new Option('--on-blank <rule>', 'what a blank cell does').choices(['keep', 'clear']))
    .addOption(
      new Option(
        '--on-gone <rule>',
        'what a changed row does whose contact was deleted; with --repair unchanged rows, too',
      ).choices(['skip', 'recreate']),
    )
    .addOption(
      new Option('--create-only', 'only create contacts; leave those that exist as they are').conflicts('updateOnly'),
    )
    .option('--update-only', 'only update contacts that exist; create none');
}

/** Which of the guards that check a file it passes: the same for its plan and for its import. @param asked who is asked for the reason. */
function withGuards(command: Command, asked = ''): Command {
  return command
    .option('--max-change <percent>', 'allow updates, creates and clears up to this share, once', percent)
    .option('--max-dead <percent>', 'allow rejected rows up to this share, once', percent)
    .option('--accept', 'pass the guards that check the file, once; guards that watch the writing stay on')
    .option('--reason <text>', `why; recorded in the report${asked}`);
}

export function addMap(program: Command): void {
  const command = program
    .command('map')
    .description('show how a file would be read, or propose a mapping for it; sends nothing')
    .argument('[FILE]', 'an export to look at; with --test also a mapping file');
  const mapping = 'read it by this mapping; without FILE: print the mapping';
  withReading(command, 'the feed that the file belongs to (default: main)', mapping)
    .option('--sheet <name>', 'the sheet of a workbook (default: the first visible one that is not empty)')
    .option('--save', "save the mapping: in the feed's folder, or for main in the data folder")
    .option('--force', 'replace a mapping that is there already')
    .option('--test', 'run the fixtures of the mapping; exit code 3 if one fails')
    .option(
      '--explain <line>',
      'how the row at this line ("1, record 17" for one of several in a line) becomes a contact',
      rowPlace,
    );
  withExamples(
    onDataFolder(command),
    'patchbay map contacts.csv                     what each column would become',
    'patchbay map contacts.csv --save --feed crm   save the mapping for the folder data/import/crm',
    'patchbay map contacts.csv --explain 17        follow the row at line 17',
    'patchbay map --mapping hubspot                print a preset',
    'patchbay map --test --mapping hubspot         check its fixtures',
  ).action(run(async () => (await import('./commands/map.ts')).map));
}
