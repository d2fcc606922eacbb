/** Words of printed commands, as a shell reads them. */
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { printable } from '#src/cli/output.ts';
import { operands, shellWord } from '#src/shell-words.ts';

const texts = [
  ...['c-17', '-17', '--all', '-', '', 'a b', "O'Neill", '"quoted"', '$HOME `id` $(id)', 'back\\slash', '*', '~', '#1'],
  ...['Jürgen', '山田 😀', "\u202eend'", 'a\nb\tc\\n', 'bell\u0007\u009b', '!x', 'a;b&c|d<e>f', 'ünïcode-é'],
];

/** The words that bash makes of a line. */
function read(line: string): readonly string[] {
  const env = { LC_ALL: 'C.UTF-8', PATH: process.env.PATH };
  const ended = execFileSync('bash', ['--norc', '-c', `printf '%s\\0' start ${line}`], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return ended.split('\0').slice(1, -1);
}

it('a value is one word, whatever it holds, and moves no cursor', () => {
  const line = texts.map(shellWord).join(' ');
  expect(read(line)).toEqual(texts);
  expect(printable(line)).toBe(line);
});

it('what stands by itself is no option: two dashes go before it', () => {
  expect(operands('c-17')).toBe('c-17');
  expect(operands('-')).toBe('-');
  expect(operands('-17')).toBe('-- -17');
  expect(read(operands('c 1', '--all'))).toEqual(['--', 'c 1', '--all']);
});
