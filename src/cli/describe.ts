/** What the descriptions of commands have in common: their action, and options of several commands. */
import type { Command } from 'commander';
import { operands, shellWord } from '#src/shell-words.ts';

/** What the options hold is what the description of the command says: commander parses, the action names the type. */
type Action = (options: never, ...rest: never[]) => Promise<number>;

/** The command as it was typed, without what `Output.paste` adds, and with these options in place of those that were given. */
export type Again = (options: Readonly<Record<string, string | number>>) => string;

/** Runs the action with all options, its own and the global ones, and `again`; and sets its exit code. */
export function run(load: () => Promise<Action>): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    // Commander passes the arguments, then the command's options, then the command.
    const command = args.at(-1) as Command;
    const positional = args.slice(0, -2);
    const action = await load();
    const options = { ...command.optsWithGlobals(), again: againOf(command) };
    process.exitCode = await action(options as never, ...(positional as never[]));
  };
}

function againOf(command: Command): Again {
  return (changed) => {
    const given = command.options.flatMap((option): readonly (readonly [string, unknown])[] => {
      const name = option.attributeName();
      const isKept = command.getOptionValueSource(name) === 'cli' && name !== 'sandbox' && !(name in changed);
      return isKept ? [[option.long ?? '', command.getOptionValue(name)]] : [];
    });
    const fresh = Object.entries(changed).map(([name, value]) => [`--${name}`, value] as const);
    const flags = [...given, ...fresh].flatMap(([flag, value]) =>
      value === true ? [flag] : [value].flat().map((one) => `${flag} ${shellWord(`${one}`)}`),
    );
    const words = command.args.length === 0 ? [] : [operands(...command.args)];
    return ['patchbay', ...pathOf(command), ...flags, ...words].join(' ');
  };
}

/** The names of a command below the program: `held ls`. */
function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

/** A command that reads or changes a data folder. */
export function onDataFolder(command: Command): Command {
  return command.option('--sandbox', "use the sandbox and its data, not the configured service's");
}

export function withWait(command: Command): Command {
  return command.option(
    '--wait <duration>',
    'how long to wait for a service or a ledger that does not answer, from 1s on (default: 10m)',
  );
}

export function withDetach(command: Command): Command {
  return command.option('--detach', 'leave the work to the running engine, and exit');
}

/** Of a decision. @param kept where the reason is found later. */
export function withReason(command: Command, kept: 'recorded in the report' | 'logs --acts shows it'): Command {
  return command.option('--reason <text>', `why; ${kept}. Asked for on a terminal, unless --yes`);
}

/** One command a line, with what it does. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
