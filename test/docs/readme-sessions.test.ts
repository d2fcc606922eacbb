/** What the README shows is what happens: its sessions are typed into a folder like the project's own. */
import { expect, it } from 'vitest';
import { readDocument } from './support/read-document.ts';
import { fits, inToday, type Names, stepsOf, tidyOutput } from './support/session.ts';
import { openWorkplace } from './support/workplace.ts';

const steps = stepsOf(readDocument('README.md'));

it('the README holds sessions, and the first command is the one that works without an alias', () => {
  expect(steps.length).toBeGreaterThan(10);
  expect(steps[0]?.command).toBe('npx --no-install patchbay import --sandbox config/samples/contacts.csv');
});

it('every command of the README does what the README shows, with the exit code it shows', async () => {
  await using place = await openWorkplace();
  const names: Names = new Map();
  let before = 0;
  for (const [index, { command, expected }] of steps.entries()) {
    const { code, output } = await place.run(inToday(command, names), before);
    const actual = tidyOutput(output, place.folder);
    // The lines side by side, where they differ in more than ids and seconds.
    if (!fits(expected, actual, names)) expect(actual, command).toEqual(expected);
    if (steps[index + 1]?.command !== 'echo $?') expect(code, `${command}\n${output}`).toBe(0);
    before = code;
  }
}, 180_000);
