/**
 * What the documents show is what happens: their sessions are typed into a folder like the project's own, each document in
 * a folder of its own. `npm run docs` writes today's output where it differs.
 */
import { describe, expect, it } from 'vitest';
import { documents, readDocument } from './support/read-document.ts';
import { asInPaper, fits, inToday, type Names, stepsOf, tidyOutput, withOutputs } from './support/session.ts';
import { openWorkplace } from './support/workplace.ts';

const withSessions = documents.filter((path) => stepsOf(readDocument(path)).length > 0);

it('the README holds sessions, and the first command is the one that works without an alias', () => {
  const steps = stepsOf(readDocument('README.md'));
  expect(steps.length).toBeGreaterThan(10);
  expect(steps[0]?.command).toBe('npx --no-install patchbay import --sandbox config/samples/contacts.csv');
  expect(withSessions).toEqual(['README.md', 'docs/mapping.md', 'docs/operations.md', 'docs/plans.md']);
});

it('no session writes over the configuration of a reader who pastes it', () => {
  const commands = withSessions.flatMap((path) => stepsOf(readDocument(path)).map(({ command }) => command));
  expect(commands.filter((command) => /> *(?:\.\/)?patchbay\.yaml\b/.test(command))).toEqual([]);
});

describe('every command does what the document shows, with the exit code it shows', () => {
  it.each(withSessions)(
    '%s',
    async (path) => {
      const text = readDocument(path);
      const steps = stepsOf(text);
      await using place = await openWorkplace();
      const names: Names = new Map();
      const outputs = new Map<number, readonly string[]>();
      let before = 0;
      for (const [index, { command, expected }] of steps.entries()) {
        const { code, output } = await place.run(inToday(command, names), before);
        const actual = tidyOutput(output, place.folder);
        if (!fits(expected, actual, names)) outputs.set(index, asInPaper(expected, actual, names));
        if (steps[index + 1]?.command !== 'echo $?') expect(code, `${command}\n${output}`).toBe(0);
        before = code;
      }
      // The lines side by side, where they differ in more than ids and seconds.
      await expect(withOutputs(text, outputs)).toMatchFileSnapshot(`../../${path}`);
    },
    180_000,
  );
});
