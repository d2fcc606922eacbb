/**
 * The command line: from words to a command and its exit code. What the commands are is described in `program.ts`; what one
 * does is loaded when it is called, so that `--help` is fast.
 */
import { type Command, CommanderError } from 'commander';
import { closest } from '#src/config/closest.ts';
import type { ErrorDocument } from '#src/operations/error-document.ts';
import type { FolderFlags } from '#src/shell-words.ts';
import { exitWithDocument, exitWithError, usageDocument, withFlagsInHint } from './exit.ts';
import { catchSignals } from './interrupt.ts';
import { outliveBrokenOutputs, wasPrinted } from './output.ts';
import { buildProgram } from './program.ts';

/** Never rejects: an error is printed, and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  outliveBrokenOutputs();
  const program = buildProgram();
  const words = argv.slice(2);
  const options = { json: words.includes('--json'), ...flagsTyped(program, words) };
  catchSignals((exitCode) => {
    // What was printed already is the document of this command.
    if (wasPrinted()) return;
    // A file whose run was entered meanwhile is known by its content.
    const hint = lookAt(program, words)[0] === 'import' ? 'Run the same command again.' : null;
    const error = { code: 'interrupted', message: 'interrupted before there was an answer', hint };
    exitWithDocument({ error, exitCode }, options);
  });
  const wrong = unknownSubcommand(program, words) ?? missingValue(program, words);
  if (wrong !== null) {
    exitWithDocument(withFlagsInHint(wrong, options), options);
    return;
  }
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) exitWithError(error, options);
    // Help and version end here, too.
    else if (error.exitCode === 0) process.exitCode = 0;
    else exitWithDocument(withFlagsInHint(commanderDocument(program, words, error), options), options);
  }
}

/** As they were typed: they are needed also where the words cannot be parsed. */
function flagsTyped(program: Command, words: readonly string[]): FolderFlags & { readonly verbose: boolean } {
  lookAt(program, words);
  const { config, data, verbose = false } = program.opts<{ config?: string; data?: string; verbose?: boolean }>();
  return {
    ...(config === undefined ? {} : { config }),
    ...(data === undefined ? {} : { data }),
    sandbox: words.includes('--sandbox'),
    verbose,
  };
}

/** The operands, without carrying anything out; none where the words cannot be parsed, which is reported when they are. */
function lookAt(program: Command, words: readonly string[]): readonly string[] {
  try {
    // Commander ends with the version as soon as it meets one of these.
    return program.parseOptions(words.filter((word) => word !== '--version' && word !== '-V')).operands;
  } catch (error) {
    if (error instanceof CommanderError) return [];
    throw error;
  }
}

/**
 * The error for a command or subcommand that does not exist. A group such as `runs` has a default subcommand, to which
 * commander would hand an unknown word as an argument.
 */
function unknownSubcommand(program: Command, words: readonly string[]): ErrorDocument | null {
  const [name, word, ofHelp] = lookAt(program, words);
  if (name === 'help') return word === undefined ? null : unknownInHelp(program, word, ofHelp);
  const known = program.commands.find((command) => command.name() === name);
  if (known === undefined || known.commands.length === 0 || word === undefined) return null;
  if (word === 'help') return ofHelp === undefined ? null : unknownInHelp(program, known.name(), ofHelp);
  const names = known.commands.map((command) => command.name());
  if (names.includes(word)) return null;
  const meant = closest(word, names);
  // `held KEY` is short for `held ls KEY`.
  const takesArguments = (known.commands[0]?.registeredArguments.length ?? 0) > 0;
  if (takesArguments && (meant === null || !/^[a-z]+$/.test(word))) return null;
  const suggestion = meant === null ? '' : `Did you mean: patchbay ${name} ${meant}? `;
  return usageDocument(`unknown command '${name} ${word}'`, `${suggestion}See: patchbay ${name} --help`);
}

/** `help` of a word that is no command: commander would print the help of all, and end as without a command. */
function unknownInHelp(program: Command, name: string, word: string | undefined): ErrorDocument | null {
  const known = program.commands.find((command) => command.name() === name);
  const path = known === undefined || word === undefined ? [name] : [name, word];
  const among = known === undefined || word === undefined ? program : known;
  const names = [...among.commands.map((command) => command.name()), 'help'];
  const last = path.at(-1) ?? '';
  if (names.includes(last) || (path.length === 2 && among.commands.length === 0)) return null;
  const meant = closest(last, names);
  const group = path
    .slice(0, -1)
    .map((one) => `${one} `)
    .join('');
  const suggestion = meant === null ? '' : `Did you mean: patchbay ${group}${meant} --help? `;
  return usageDocument(`unknown command '${path.join(' ')}'`, `${suggestion}See: patchbay ${group}--help`);
}

/**
 * The error for an option without its value, before another option: commander would take that for the value, or, since it looks for the
 * options of all commands first, the word behind it. A value that is called like an option is written `--reason=--all`.
 */
function missingValue(program: Command, words: readonly string[]): ErrorDocument | null {
  const path = commandPath(program, words);
  const options = [program, ...path].flatMap((command) => command.options);
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const option = words.slice(0, end).flatMap((word, index) => {
    if (!options.some(({ long }) => long === words[index + 1])) return [];
    return options.filter(({ long, short, required }) => required && (word === long || word === short));
  })[0];
  return option === undefined ? null : usageDocument(`option '${option.flags}' argument missing`, helpOf(path));
}

/** The command that the words name, behind its group. */
function commandPath(program: Command, words: readonly string[]): readonly Command[] {
  const [name, word] = lookAt(program, words);
  const known = program.commands.find((command) => command.name() === name);
  const subcommand = known?.commands.find((command) => command.name() === word);
  return [known, subcommand].filter((command) => command !== undefined);
}

function helpOf(path: readonly Command[]): string {
  return `See: ${['patchbay', ...path.map((command) => command.name()), '--help'].join(' ')}`;
}

/** Commander's own error: `error: unknown option '--dta'`, then perhaps `(Did you mean --data?)`. */
function commanderDocument(program: Command, words: readonly string[], error: CommanderError): ErrorDocument {
  const path = commandPath(program, words);
  const help = helpOf(path);
  // Its help was printed in place of a message.
  if (error.code === 'commander.help') return usageDocument('no command was given', commandsOf(path[0]) ?? help);
  const [what = '', meant = ''] = error.message.replace(/^error: /, '').split('\n');
  return usageDocument(what, meant === '' ? help : `${meant.replace(/^\(|\)$/g, '')} ${help}`);
}

/** What may be typed of a group, with what each command cannot do without. Null of `patchbay` itself, whose help says more. */
function commandsOf(group: Command | undefined): string | null {
  if (group === undefined) return null;
  const typed = group.commands.map((command) => {
    const needed = [
      ...command.registeredArguments.filter(({ required }) => required).map((argument) => argument.name()),
      ...command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags),
    ];
    const words = needed.map((word) => word.replace(/<(.*)>/, (_, name: string) => name.toUpperCase()));
    return ['patchbay', group.name(), command.name(), ...words].join(' ');
  });
  return `Type one of: ${typed.join('; ')}`;
}
