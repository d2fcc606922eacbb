/** `--limit` of a list is one rule for all lists. */
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
