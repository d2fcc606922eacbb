/** `--limit` of a list is one rule for all lists; what `serve` takes in such numbers is held to the same. */
import { expect, it } from 'vitest';
import { buildProgram } from '#src/cli/program.ts';
import { captureOutput } from './support/captured-output.ts';

const program = buildProgram();
for (const one of [program, ...program.commands.flatMap((group) => [group, ...group.commands])]) one.exitOverride();

it.each([
  ['runs', 'ls'],
  ['held', 'ls'],
  ['dead', 'ls'],
  ['numbers', 'history'],
])('%s %s takes a limit from 1, and refuses 0', async (...command) => {
  captureOutput();
  for (const limit of ['0', '-1', '1.5', 'all', '']) {
    const parsed = program.parseAsync([...command, `--limit=${limit}`], { from: 'user' });
    await expect(parsed, limit).rejects.toMatchObject({
      code: 'commander.invalidArgument',
      message: expect.stringContaining('Give a whole number from 1 to 10000000.'),
    });
  }
});

it.each(['--rate', '--page-numbers'])(
  'serve %s takes a number from 1, and names itself in the refusal of 0',
  async (option) => {
    captureOutput();
    for (const value of ['0', '-1', '1.5', 'x', '10000001']) {
      await expect(program.parseAsync(['serve', `${option}=${value}`], { from: 'user' }), value).rejects.toMatchObject({
        code: 'commander.invalidArgument',
        message: `error: option '${option} <n>' argument '${value}' is invalid. Give a whole number from 1 to 10000000.`,
      });
    }
  },
);

it('a count that is too great is refused with the range', async () => {
  captureOutput();
  await expect(program.parseAsync(['serve', '--fault-seed=10000001'], { from: 'user' })).rejects.toMatchObject({
    message: "error: option '--fault-seed <n>' argument '10000001' is invalid. Give a whole number from 0 to 10000000.",
  });
});
