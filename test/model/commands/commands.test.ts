import { describe, expect, test } from 'vitest';
import { explore, playTold } from './explore.ts';
import { asTakenBack, knownActs } from './known-acts.ts';
import { asStory, knownStories, policedStories } from './known-stories.ts';
import { play } from './play.ts';

/** PATCHBAY_MODEL_SEED and PATCHBAY_MODEL_PATH play a printed counterexample again. */
const seed = Number(process.env.PATCHBAY_MODEL_SEED ?? Date.now() % 2 ** 31);
const path = process.env.PATCHBAY_MODEL_PATH;
/** Less than a test may take: what breaks a rule is then named as far as it was shrunk. */
const msMax = 100_000;

describe.each(['merge', 'replace'] as const)('stories that once broke a rule, on a service that %ss', (patchMode) => {
  test.each(knownStories)('$name', async (known) => {
    const { breaches } = await play(asStory(known, patchMode));
    expect(breaches).toEqual([]);
  });

  test.each(knownActs)('$name', async (known) => {
    const { breaches } = await playTold('takenBack', asTakenBack(known, patchMode));
    expect(breaches).toEqual([]);
  });

  test.each(policedStories)('a field with the policy $policy, through all that may happen to it', async (policed) => {
    const { breaches } = await play({ ...policed, patchMode }, { isCalm: true });
    expect(breaches).toEqual([]);
  });
});

test.each([
  { kind: 'storm', runs: 40, rule: 'one contact per key and nobody’s value lost, whatever happens in whatever order' },
  { kind: 'calm', runs: 20, rule: 'each field is as the rules say, on a service that merges and on one that replaces' },
  { kind: 'interrupted', runs: 15, rule: 'unrelated runs leave every verdict as it is' },
  {
    kind: 'takenBack',
    runs: 20,
    rule: 'what a plan shows is done, and an undo takes back what nobody has changed since',
  },
] as const)(`$rule ($kind, seed ${seed})`, async ({ kind, runs }) => {
  const { failure } = await explore({ kind, seed, runs, msMax, ...(path === undefined ? {} : { path }) });
  expect(failure, failure ?? '').toBeNull();
});
