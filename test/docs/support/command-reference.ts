/** `docs/commands.md`, written from the description of the command line: one section per command, every argument and option. */
import type { Argument, Command, Option } from 'commander';

export interface LeafCommand {
  /** `runs ls`. */
  readonly name: string;
  readonly command: Command;
}

/** The commands that can be called: `runs ls`, not `runs`. */
export function leavesOf(command: Command, path: readonly string[] = []): readonly LeafCommand[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

/** Options that `--help` shows; commander keeps the others to itself. */
export function shownOptions(command: Command): readonly Option[] {
  return command.options.filter((option) => !option.hidden);
}

const head = `# Commands

Generated from the description of the command line in \`src/cli/program.ts\`: change it there, then run \`npm run docs\`. \`patchbay
COMMAND --help\` prints the same, with examples. Exit codes and JSON shapes are in [\`contract.md\`](contract.md).
`;

export function commandReference(program: Command): string {
  const parts = [head, '## Options of every command\n', optionTable(shownOptions(program)), '## All commands\n'];
  parts.push(overview(leavesOf(program)));
  for (const { name, command } of leavesOf(program)) parts.push(...section(name, command));
  return parts.join('\n');
}

function overview(leaves: readonly LeafCommand[]): string {
  const rows = leaves.map(({ name, command }) => `| \`${usageOf(name, command)}\` | ${cell(command.description())} |`);
  return ['| command | what it does |', '|---|---|', ...rows, ''].join('\n');
}

function section(name: string, command: Command): readonly string[] {
  const described = command.registeredArguments.filter(({ description }) => description !== '');
  const parts = [`## \`${name}\`\n`, `\`\`\`text\npatchbay ${usageOf(name, command)}\n\`\`\`\n`];
  parts.push(`${sentence(command.description())}\n`);
  if (described.length > 0) {
    const rows = described.map((one) => `| \`${one.name()}\` | ${cell(one.description)}${valuesOf(one)} |`);
    parts.push(['| argument | meaning |', '|---|---|', ...rows, ''].join('\n'));
  }
  const options = shownOptions(command);
  if (options.length > 0) parts.push(optionTable(options));
  return parts;
}

/** `import <FILE...>`. */
function usageOf(name: string, command: Command): string {
  const words = command.registeredArguments.map((one) => {
    const word = `${one.name()}${one.variadic ? '…' : ''}`.replace('...', '');
    return one.required ? word : `[${word}]`;
  });
  return [name, ...words].join(' ');
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map(
    (option) => `| \`${cell(option.flags)}\` | ${cell(option.description)}${valuesOf(option)} |`,
  );
  return ['| option | meaning |', '|---|---|', ...rows, ''].join('\n');
}

/** Choices and default, as `--help` prints them: ` (open, closed; default: open)`. The default of `--no-color` is no value. */
function valuesOf(described: Argument | Option): string {
  const isSwitch = 'negate' in described && described.negate;
  const words = [
    described.argChoices?.join(', '),
    isSwitch || described.defaultValue === undefined ? undefined : `default: ${described.defaultValue}`,
  ].filter((one) => one !== undefined);
  return words.length === 0 ? '' : ` (${words.join('; ')})`;
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
