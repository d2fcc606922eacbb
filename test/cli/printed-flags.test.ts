/** A command in a text gets the options of the command that printed it; `test/journeys/pasteable-commands.test.ts` pastes them. */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '#src/cli/program.ts';
import { withFlags } from '#src/shell-words.ts';

/** The commands without subcommands, each with the words that name it. */
function commandsOf(command: Command, path: readonly string[] = []): readonly (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap((one) => commandsOf(one, [...path, one.name()]));
}

/** They open no data folder and no configuration. */
const withoutFolder = /^(serve|completion)/;

describe('a command in a text', () => {
  it.each(commandsOf(buildProgram()).filter(([path]) => !withoutFolder.test(path)))(
    'gets the options that it knows: %s',
    (path, command) => {
      const sandbox = command.options.some(({ long }) => long === '--sandbox') ? ' --sandbox' : '';
      expect(withFlags(`Now: patchbay ${path} x`, { config: 'c.yaml', data: 'd', sandbox: true })).toBe(
        `Now: patchbay --config c.yaml --data d ${path}${sandbox} x`,
      );
    },
  );
});
