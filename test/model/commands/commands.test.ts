import { expect, test } from 'vitest';
import { explore } from './explore.ts';

/** PATCHBAY_MODEL_SEED and PATCHBAY_MODEL_PATH play a printed counterexample again. */
const seed = Number(process.env.PATCHBAY_MODEL_SEED ?? Date.now() % 2 ** 31);
const path = process.env.PATCHBAY_MODEL_PATH;

test(`one contact per key and nobody's edits lost, whatever happens in whatever order (seed ${seed})`, async () => {
  const { failure } = await explore({ seed, runs: 20, ...(path === undefined ? {} : { path }) });
  expect(failure, failure ?? '').toBeNull();
});
