/** Stories of files, people, faults and crashes on a ledger in PostgreSQL: the rules hold there as they do on a file. */
import { expect, test } from 'vitest';
import type { Ledger } from '#src/ledger/port.ts';
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import { newSchema } from '#test/ledger/support/postgres-ledgers.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';
import { explore } from './explore.ts';
import { asStory, knownStories } from './known-stories.ts';
import { play } from './play.ts';
import type { NewLedger } from './world.ts';

const seed = Number(process.env.PATCHBAY_MODEL_SEED ?? Date.now() % 2 ** 31);
const path = process.env.PATCHBAY_MODEL_PATH;
const runs = 12;
/** Less than the test may take: what breaks a rule is then named as far as it was shrunk. */
const msMax = 45_000;

/** The database's clock cannot be moved by hand: the story's time takes its place. */
const inStoryTime = (ledger: Ledger): Ledger => ({ ...ledger, nowMs: async (clock) => clock.monotonicMs() });

describeOnPostgres('stories on PostgreSQL', (server) => {
  const newLedger: NewLedger = () => {
    const url = server().url(`&schema=${newSchema()}`);
    return async () => inStoryTime(await openPostgresLedger(url));
  };

  test.each(['merge', 'replace'] as const)('what once broke a rule, on a service that %ss', async (patchMode) => {
    for (const known of knownStories) {
      const { breaches } = await play(asStory(known, patchMode), { newLedger });
      expect(breaches, known.name).toEqual([]);
    }
  });

  test(`one contact per key and nobody’s value lost, whatever happens in whatever order (seed ${seed})`, async () => {
    const { failure } = await explore({
      kind: 'storm',
      seed,
      runs,
      msMax,
      newLedger,
      ...(path === undefined ? {} : { path }),
    });
    expect(failure, failure ?? '').toBeNull();
  });
});
