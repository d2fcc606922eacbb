/** `rules.md`, "Retries, rate, outages": `exhausted` kills a row only while other requests succeed. */
import { expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import type { UpsertParts } from '#src/upsert/parts.ts';
import { wanted } from './support/build.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

/** The same worker; every look-up that names one of these keys fails. */
function withPoison(parts: UpsertParts, poisoned: readonly string[], failure: PatchbayError): UpsertParts {
  const { workspace } = parts;
  return {
    ...parts,
    workspace: {
      ...workspace,
      listByExternalIds: async (keys, options) => {
        if (keys.some((key) => poisoned.includes(key))) throw failure;
        return workspace.listByExternalIds(keys, options);
      },
    },
  };
}

const failing = new PatchbayError('unreachable', 'serviceFailing', 'the service fails to list contacts (500)');
const refusing = new PatchbayError('rejected', 'requestRefused', 'the service refuses to list contacts (400)');

test.each([failing, refusing])(
  'one key whose look-up fails is dead, and the others are written: $code',
  async (failure) => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1'), wanted('crm-2'), wanted('crm-3')]);
    await world.workOnce(run, withPoison(world.parts, ['crm-2'], failure));
    expect(await world.countsOf(run)).toMatchObject({ created: 2, dead: 1 });
    const [letter] = await world.ledger.deadLetters.list({ limit: 10 });
    expect(letter).toMatchObject({ class: 'exhausted', code: 'lookUpFails', key: 'crm-2' });
    await world.expectSound();
  },
);

test('a service that fails for every key kills no row', async () => {
  const world = await openUpsertWorld();
  const run = await world.stage([wanted('crm-1'), wanted('crm-2')]);
  const parts = withPoison(world.parts, ['crm-1', 'crm-2'], failing);
  await expect(world.workOnce(run, parts)).rejects.toMatchObject({ kind: 'unreachable' });
  expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 0 });
  await world.expectSound();
});

test('a create that was refused claims nothing: what somebody else made stays theirs', async () => {
  const world = await openUpsertWorld({ faults: ['create:status=429'] });
  const run = await world.stage([wanted('crm-1', { emails: { work: ['ada@example.com'] } })]);
  await world.workOnce(run);
  const known = (await world.ledger.contacts.get(['crm-1'])).get('crm-1');
  expect(known?.owned.emails).toEqual([]);
  await world.expectSound();
});
