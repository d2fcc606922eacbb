/** What the descriptions of commands have in common: their action, and options of several commands. */
import type { Command } from 'commander';

/** What the options hold is what the description of the command says: commander parses, the action names the type. */
type Action = (options: never, ...rest: never[]) => Promise<number>;

/** Runs the action with all options, its own and the global ones, and sets its exit code. */
export function run(load: () => Promise<Action>): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    // Commander passes the arguments, then the command's options, then the command.
    const command = args.at(-1) as Command;
    const positional = args.slice(0, -2);
    const action = await load();
    process.exitCode = await action(command.optsWithGlobals() as never, ...(positional as never[]));
  };
}

/** A command that reads or changes a data folder. */
export function onDataFolder(command: Command): Command {
  return command.option('--sandbox', "use the sandbox and its data, not the configured service's");
}

export function withWait(command: Command): Command {
  return command.option('--wait <duration>', 'how long to wait for a service that does not answer (default: 10m)');
}

export function withDetach(command: Command): Command {
  return command.option('--detach', 'leave the work to the running engine, and exit');
}

/** One command a line, with what it does. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
