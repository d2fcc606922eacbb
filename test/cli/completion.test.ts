/** The scripts of `patchbay completion`, asked as their shells ask them. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { completionScript, type Shell } from '#src/cli/completion.ts';
import { buildProgram } from '#src/cli/program.ts';
import { callPatchbay } from '#test/support/call-patchbay.ts';

const program = buildProgram();

function isThere(shell: Shell): boolean {
  try {
    execFileSync(shell, ['-c', ':']);
    return true;
  } catch {
    // Not installed: its cases are skipped by name.
    return false;
  }
}

/** What is printed for the last of these words; `files` where names of files are offered. */
const ask: Readonly<Record<Shell, (words: readonly string[]) => readonly string[]>> = {
  bash: (words) => {
    const call = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _patchbay; printf '%s\n' "\${COMPREPLY[@]}"`;
    return linesOf('bash', ['--norc', '-c'], `${completionScript(program, 'bash')}\n${call}`, words);
  },
  zsh: (words) => {
    // What the shell's own completion gives, and what it is asked for.
    const shellSide = `compdef() { : }; _files() { print files }
compadd() { shift; print -l -- "$@" }
_describe() { local name="$argv[-1]"; local -a list=("\${(@P)name}"); print -l -- "\${(@)list%%:*}" }`;
    const call = 'words=("$@"); CURRENT=$#; PREFIX="$words[-1]"; _patchbay';
    const lines = linesOf('zsh', ['-f', '-c'], `${shellSide}\n${completionScript(program, 'zsh')}\n${call}`, words);
    // The shell itself leaves out what does not begin with the word.
    return lines.filter((line) => line === 'files' || line.startsWith(words.at(-1) ?? ''));
  },
};

function linesOf(shell: Shell, flags: readonly string[], script: string, words: readonly string[]): readonly string[] {
  const output = execFileSync(shell, [...flags, script, shell, ...words], { encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

describe.each(['bash', 'zsh'] as const)('the completion for %s', (shell) => {
  const words = (line: string) => ask[shell](line.split(' '));

  it('is printed as it is, and with --json as one document', async () => {
    const script = completionScript(program, shell);
    expect((await callPatchbay(['completion', shell], {})).stdout).toBe(`${script}\n`);
    const { stdout } = await callPatchbay(['completion', shell, '--json'], {});
    expect(stdout).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(stdout)).toEqual({ shell, script });
  });

  it.skipIf(!isThere(shell))('offers commands, and the commands of a command', () => {
    expect(words('patchbay ')).toEqual(program.commands.map((command) => command.name()));
    expect(words('patchbay pl')).toEqual(['plan']);
    expect(words('patchbay dead e')).toEqual(['edit', 'export']);
    expect(words('patchbay --data /srv/data runs un')).toEqual(['undo']);
    expect(words('patchbay completion ')).toEqual(['bash', 'zsh']);
  });

  it.skipIf(!isThere(shell))('offers the options of the command, and those of all commands', () => {
    expect(words('patchbay plan --ver')).toEqual(['--verify', '--verbose']);
    expect(words('patchbay --ver')).toEqual(['--version', '--verbose']);
    expect(words('patchbay runs undo --del')).toEqual(['--delete-created']);
    expect(words('patchbay runs show --del')).toEqual([]);
  });

  it.skipIf(!isThere(shell))('offers the values of an option that has some, and takes no value for a command', () => {
    expect(words('patchbay import --format ')).toEqual(['csv', 'json', 'ndjson', 'xlsx', 'vcf']);
    expect(words('patchbay runs ls --state do')).toEqual(['done', 'doneWithDead']);
    expect(words('patchbay import --feed runs --on-blank k')).toEqual(['keep']);
    // The same option has a value in one command and none in another.
    expect(words('patchbay runs undo --plan --acc')).toEqual(['--accept']);
    expect(words('patchbay import --plan --acc')).toEqual(shell === 'bash' ? [] : ['files']);
  });

  it.skipIf(!isThere(shell))('leaves the names of files to the shell', () => {
    expect(words('patchbay import ')).toEqual(shell === 'bash' ? [] : ['files']);
  });
});
