/** Which held fields a person's decision still applies to (`docs/rules.md`, "Three pictures, one plan"). */
import { expect, onTestFinished, test } from 'vitest';
import type { HeldField } from '#src/contacts/outcome.ts';
import { fateOfHeld } from '#src/ledger/rules/held.ts';
import { createdAtMs, newRun } from '#test/contracts/support/build.ts';
import { settledHolds } from '../../contracts/held-contract.ts';
import { openTempLedger } from '../support/temp-ledger.ts';

const role: HeldField = { field: 'role', said: 'X', ours: 'Z', theirs: 'Y' };

test('the value of the file is written to a bound contact alone: a decision for it makes none', async () => {
  const { ledger, close } = await openTempLedger();
  onTestFinished(() => close());
  await settledHolds(ledger, 'r1', { k1: [role] });
  const [shown] = await ledger.contacts.held({ limit: 1 });
  const contact = (await ledger.contacts.get(['k1'])).get('k1');
  if (shown === undefined || contact === undefined) throw new Error('nothing is held');
  const lease = { owner: null, leaseUntilMs: null, horizonAtMs: null, settledSequence: 1, claim: null };
  const decision = { feed: 'main', shown: [shown], atMs: createdAtMs, nowMs: 1_000, isOwnerDead: () => false };
  const fates = (['bound', 'conflict', 'intent'] as const).map((state) => {
    const held = { contact: { ...contact, state }, lease };
    return [null, { run: newRun('h1'), rowsPerBatch: 50 }].map((write) =>
      fateOfHeld({ ...decision, write }, held, shown, shown),
    );
  });
  expect(fates).toEqual([
    ['taken', 'taken'],
    ['taken', 'moved'],
    ['taken', 'moved'],
  ]);
});
