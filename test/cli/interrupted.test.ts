/** What a script is told by a command that was interrupted before it had a run (`docs/contract.md`, "Exit codes"). */
import { expect, it } from 'vitest';
import { NothingEntered, reportInterrupted } from '#src/cli/interrupt.ts';
import { createOutput } from '#src/cli/output.ts';
import { captureOutput } from './support/captured-output.ts';

it('says that nothing was begun, and that the same command does it', () => {
  const captured = captureOutput();
  const code = reportInterrupted(createOutput({ json: true }), 'the next engine does it', 130, new NothingEntered());
  expect(code).toBe(130);
  expect(JSON.parse(captured.stdout())).toEqual({
    error: {
      code: 'interrupted',
      message: 'interrupted before the work was entered',
      hint: 'Nothing was begun. Run the same command again.',
    },
    exitCode: 130,
  });
});

it('says nothing of that kind where an engine goes on with the work', () => {
  const captured = captureOutput();
  reportInterrupted(createOutput({ json: true }), 'the next engine does it', 130);
  expect(JSON.parse(captured.stdout())).toMatchObject({ error: { message: 'the next engine does it', hint: null } });
});
