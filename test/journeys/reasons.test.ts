/** A person at a terminal is asked why a file is imported past its guards, read anew, cancelled or undone (`docs/contract.md`, "Commands"). */
import { expect } from 'vitest';
import { test } from '#test/support/journey.ts';
import { atTerminal } from '../cli/support/at-terminal.ts';

const people = (role: string): string =>
  `externalId,firstName,role\n${Array.from({ length: 20 }, (_, index) => `c-${index},Ann,${role}`).join('\n')}\n`;

test('import --accept, runs restage, runs cancel and runs undo ask why, and keep the answer', async ({ journey }) => {
  await journey.service();
  const first = journey.file('a.csv', people('Lead'));
  const imported = await atTerminal('first load\n', () => journey.call(['import', '--accept', first]));
  expect([imported.code, imported.stderr]).toEqual([
    0,
    expect.stringContaining('Why? Recorded in the report (Enter: no reason) '),
  ]);
  const reasonsOf = async (): Promise<readonly (readonly [string, string | null])[]> =>
    (await journey.call(['logs', '--acts', '--json'])).documents.map(({ kind, reason }) => [kind, reason]);
  expect(await reasonsOf()).toEqual([['import', 'first load']]);
  const shown = await journey.call(['runs', 'ls', '--json']);
  const run = shown.documents[0].run;
  expect((await journey.call(['runs', 'show', run, '--json'])).documents[0].acceptReason).toBe('first load');

  const undone = await atTerminal('y\nthe wrong list\n', () => journey.call(['runs', 'undo', run, '--detach']));
  expect(undone.stderr).toContain('Undo this? [y/N] Why? Recorded in the report (Enter: no reason) ');
  expect(await reasonsOf()).toContainEqual(['undo', 'the wrong list']);
  const [{ run: undo }] = (await journey.call(['runs', 'ls', '--json'])).documents;
  const cancel = (typed: string) => atTerminal(typed, () => journey.call(['runs', 'cancel', undo]));
  const cancelled = await cancel('\n');
  expect([cancelled.code, cancelled.stderr.startsWith('Why? logs --acts shows it')]).toEqual([0, true]);
  expect(await reasonsOf()).toContainEqual(['cancel', null]);
  const again = await cancel('never read\n');
  expect([again.code, again.stderr.includes('Why?')]).toEqual([2, false]);

  const stopped = await journey.call(['import', '--json', journey.file('b.csv', people('Chief'))]);
  expect(stopped.documents[0]).toMatchObject({ state: 'stopped' });
  const anew = await atTerminal('limits raised\n', () =>
    journey.call(['runs', 'restage', stopped.documents[0].run], { PATCHBAY_GUARDS_UPDATES_MAX: '100%' }),
  );
  expect([anew.code, anew.stderr.startsWith('Why? logs --acts shows it')]).toEqual([0, true]);
  expect(await reasonsOf()).toContainEqual(['restage', 'limits raised']);

  // What is not accepted is no decision, and a reason that was given is not asked for.
  const plain = await atTerminal('never read\n', () => journey.call(['import', first, '--verify']));
  expect(plain.stderr).not.toContain('Why?');
  const given = ['import', '--accept', '--reason', 'known', journey.file('c.csv', people('Boss'))];
  expect((await atTerminal('never read\n', () => journey.call(given))).stderr).not.toContain('Why?');
});
