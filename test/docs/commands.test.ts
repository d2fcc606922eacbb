/** The command line and the documents describe each other (both ways). */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '#src/cli/program.ts';
import { commandReference, leavesOf } from './support/command-reference.ts';
import { documents, readDocument } from './support/read-document.ts';

const program = buildProgram();
const commands = leavesOf(program);
/** The README and everything in `docs/`, as one text. */
const text = documents.map(readDocument).join('\n');

function longOptions(command: Command): readonly string[] {
  return command.options.flatMap((option) => option.long ?? []);
}

describe('the command line', () => {
  it('stands in docs/commands.md as generated', async () => {
    await expect(commandReference(program)).toMatchFileSnapshot('../../docs/commands.md');
  });

  it('has every option that stands anywhere in the documents', () => {
    const known = new Set([...longOptions(program), ...commands.flatMap(({ command }) => longOptions(command))]);
    const ofOthers = ['--no-install', '--help'];
    // Lines of other programs have options of their own.
    const ours = text.replace(/^ *(?:docker|psql|pg_restore) .*$/gm, '');
    const named = [...ours.matchAll(/(?<![\w<!-])--[a-z][a-z-]+/g)].map(([option]) => option);
    expect(named.filter((option) => !known.has(option) && !ofOthers.includes(option))).toEqual([]);
  });

  it('has every command that the documents type, and its subcommand', () => {
    const words = program.commands.map((command) => command.name());
    const typed = [...text.matchAll(/(?:^\$ |no-install |`|^|go on: |see )patchbay ([a-z]+)(?: ([a-z]+))?/gm)];
    expect(typed.length).toBeGreaterThan(30);
    for (const [line, word = '', second] of typed) {
      expect(words, line).toContain(word);
      const children = program.commands.find((one) => one.name() === word)?.commands.map((child) => child.name()) ?? [];
      if (second !== undefined && children.length > 0) expect(children, line).toContain(second);
    }
  });

  it('has every option where the documents type it', () => {
    const calls = [...text.matchAll(/(?:^\$ |no-install |`|^|go on: )patchbay ([a-z][^`\n]*)/gm)].map(
      ([, words = '']) => words,
    );
    const given = calls.filter((call) => call.includes(' --'));
    expect(given.length).toBeGreaterThan(15);
    for (const call of given) {
      const command = commands.find(({ name }) => call === name || call.startsWith(`${name} `))?.command;
      expect(command, call).toBeDefined();
      if (command === undefined) continue;
      const known = [...longOptions(program), ...longOptions(command)];
      expect(known, call).toEqual(expect.arrayContaining(call.match(/(?<= )--[a-z][a-z-]*/g) ?? []));
    }
  });

  it('describes every command, argument and option in its help', () => {
    for (const { name, command } of commands) {
      expect(command.description(), name).not.toBe('');
      for (const option of command.options) expect(option.description, `${name} ${option.flags}`).not.toBe('');
      const help = command.helpInformation();
      for (const option of longOptions(command)) expect(help, name).toContain(option);
    }
    for (const command of program.commands) {
      expect(command.description(), command.name()).not.toBe('');
      expect(program.helpInformation()).toMatch(new RegExp(`^ {2}${command.name()}\\b`, 'm'));
    }
  });
});
