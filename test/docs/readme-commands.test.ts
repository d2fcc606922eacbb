/** The command line and the README describe each other (both ways). */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '#src/cli/main.ts';
import { codeWords, markedPart, readDocument, tableRows } from './support/read-document.ts';

interface LeafCommand {
  /** `runs ls`. */
  readonly name: string;
  readonly command: Command;
}

const readme = readDocument('README.md');
const program = buildProgram();
const commands = leavesOf(program, []);

function leavesOf(command: Command, path: readonly string[]): readonly LeafCommand[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

/** `import` of `import FILE…`. */
function nameIn(usage: string): string {
  return usage
    .split(' ')
    .filter((word) => /^[a-z]+$/.test(word))
    .join(' ');
}

function longOptions(command: Command): readonly string[] {
  return command.options.flatMap((option) => option.long ?? []);
}

/** What `contract.md` names and an open issue has not built yet. */
const laterCommands = ['plan', 'map', 'contact', 'completion'];
const laterSubcommands = ['runs restage', 'dead edit', 'dead export', 'dead drop'];
const laterOptions = ['--create-only', '--update-only', '--only', '--plan', '--verify', '--repair'];

describe('the command line', () => {
  it('stands in the README, command for command, and the README names no other', () => {
    const named = tableRows(markedPart(readme, 'commands')).map(([usage]) => nameIn(codeWords(usage ?? '')[0] ?? ''));
    expect(named.toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
  });

  it('has the options that the README names beside a command', () => {
    for (const [usage = '', meaning = ''] of tableRows(markedPart(readme, 'commands'))) {
      const name = nameIn(codeWords(usage)[0] ?? '');
      const known = commands.find((one) => one.name === name)?.command;
      const options = codeWords(meaning).filter((word) => word.startsWith('--'));
      expect(known === undefined ? [] : longOptions(known), name).toEqual(expect.arrayContaining(options));
    }
  });

  it('has every option that stands anywhere in the README', () => {
    const known = new Set([...longOptions(program), ...commands.flatMap(({ command }) => longOptions(command))]);
    const ofOthers = ['--no-install', '--help'];
    const named = [...readme.matchAll(/(?<![\w<!-])--[a-z][a-z-]+/g)].map(([option]) => option);
    expect(named.filter((option) => !known.has(option) && !ofOthers.includes(option))).toEqual([]);
  });

  it('has every command that the README types', () => {
    const words = program.commands.map((command) => command.name());
    const typed = [...readme.matchAll(/(?:^\$ |no-install |`|^)patchbay ([a-z]+)/gm)].map(([, word]) => word ?? '');
    expect(typed.length).toBeGreaterThan(10);
    expect(typed.filter((word) => !words.includes(word))).toEqual([]);
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

  it('does not offer what is not built yet', () => {
    const names = commands.map(({ name }) => name);
    const firstWords = program.commands.map((command) => command.name());
    expect(firstWords.filter((word) => laterCommands.includes(word))).toEqual([]);
    expect(names.filter((name) => laterSubcommands.includes(name))).toEqual([]);
    expect(commands.flatMap(({ command }) => longOptions(command)).filter((one) => laterOptions.includes(one))).toEqual(
      [],
    );
  });
});
