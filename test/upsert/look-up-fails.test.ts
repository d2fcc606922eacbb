/** `docs/rules.md`, "Retries, rate, outages": `exhausted` kills a row only while other requests succeed. */
import { describe, expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

/** The same worker; every look-up that names one of these keys fails. Absent: every look-up. */
function withPoison(parts: UpsertParts, failure: PatchbayError, poisoned?: readonly string[]): UpsertParts {
  const { workspace } = parts;
  const listByExternalIds: typeof workspace.listByExternalIds = async (keys, options) => {
    if (poisoned === undefined || keys.some((key) => poisoned.includes(key))) throw failure;
    return workspace.listByExternalIds(keys, options);
  };
  return { ...parts, workspace: { ...workspace, listByExternalIds } };
}

/** The same worker; the read of one contact by its id fails. */
function withPoisonedId(parts: UpsertParts, failure: PatchbayError, poisonedId: string): UpsertParts {
  const { workspace } = parts;
  const getContact: typeof workspace.getContact = async (id, options) => {
    if (id === poisonedId) throw failure;
    return workspace.getContact(id, options);
  };
  return { ...parts, workspace: { ...workspace, getContact } };
}

const failing = new PatchbayError('unreachable', 'serviceFailing', 'the service fails to list contacts (500)');
const odd = new PatchbayError('unreachable', 'serviceAnswersOddly', 'the reply is not as the interface says');
const refusing = new PatchbayError('rejected', 'requestRefused', 'the service refuses to list contacts (400)');
const forbidding = new PatchbayError('auth', 'keyRefused', 'the service refuses the API key (403)');

/** Works on what is due, a moment later again, and so on. @returns how often, until nothing was pending. */
async function turnsUntilDone(world: UpsertWorld, run: RunRecord, worker: UpsertParts): Promise<number> {
  for (let turn = 1; turn <= 10; turn += 1) {
    await world.workOnce(run, worker);
    if ((await world.ledger.runs.pendingCount(run.id)) === 0) return turn;
    world.clock.advance(1_100);
  }
  throw new Error('the run does not come to its end');
}

const lettersOf = (world: UpsertWorld) => world.ledger.deadLetters.list({ limit: 10 });
const exhausted = { class: 'exhausted', code: 'lookUpFails', key: 'crm-2' };

describe('one key whose look-up fails', () => {
  test.each([failing, odd])('is put off for a moment, and dead the third time: $code', async (failure) => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1'), wanted('crm-2'), wanted('crm-3')]);
    const worker = withPoison(world.parts, failure, ['crm-2']);
    expect(await world.workOnce(run, worker)).toEqual(['deferred']);
    expect(await world.countsOf(run)).toMatchObject({ created: 2, dead: 0 });
    await world.expectSound();
    world.clock.advance(1_100);
    expect(await turnsUntilDone(world, run, worker)).toBe(2);
    expect(await world.countsOf(run)).toMatchObject({ created: 2, dead: 1 });
    expect(await lettersOf(world)).toMatchObject([exhausted]);
    await world.expectSound();
  });

  test('is written where it passes the next time', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1'), wanted('crm-2')]);
    await world.workOnce(run, withPoison(world.parts, failing, ['crm-2']));
    expect((await world.finish(run)).counts).toMatchObject({ created: 2, dead: 0 });
    await world.expectSound();
  });

  test('is dead at once where the service refuses it, and the others are written', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-1'), wanted('crm-2'), wanted('crm-3')]);
    expect(await world.workOnce(run, withPoison(world.parts, refusing, ['crm-2']))).toEqual(['done']);
    expect(await world.countsOf(run)).toMatchObject({ created: 2, dead: 1 });
    expect(await lettersOf(world)).toMatchObject([exhausted]);
    await world.expectSound();
  });

  test.each([
    { failure: failing, turns: 3 },
    { failure: refusing, turns: 1 },
  ])('ends although no other key is left to look up: $failure.code', async ({ failure, turns }) => {
    const world = await openUpsertWorld();
    const run = await world.stage([wanted('crm-2')]);
    // No turn throws: what is thrown pauses all work.
    expect(await turnsUntilDone(world, run, withPoison(world.parts, failure, ['crm-2']))).toBe(turns);
    expect(await lettersOf(world)).toMatchObject([exhausted]);
    await world.expectSound();
  });
});

describe('one contact whose single read fails', () => {
  async function threeToUpdate() {
    const world = await openUpsertWorld();
    const keys = ['crm-1', 'crm-2', 'crm-3'];
    await world.load(keys.map((key) => wanted(key, { role: 'Buyer' })));
    const { id } = await world.contactOf('crm-2');
    const run = await world.stage(keys.map((key) => wanted(key, { role: 'Seller' })));
    return { world, run, id };
  }

  test.each([
    { failure: failing, turns: 3 },
    { failure: odd, turns: 3 },
    { failure: refusing, turns: 1 },
    { failure: forbidding, turns: 1 },
  ])('blocks none of its neighbours, and is dead in the end: $failure.code', async ({ failure, turns }) => {
    const { world, run, id } = await threeToUpdate();
    // Each is fetched by its id.
    await world.faults('list:listLag=60m');
    const worker = withPoisonedId(world.parts, failure, id);
    await world.workOnce(run, worker);
    expect(await world.countsOf(run)).toMatchObject({ updated: 2, dead: turns === 1 ? 1 : 0 });
    world.clock.advance(1_100);
    if (turns > 1) expect(await turnsUntilDone(world, run, worker)).toBe(turns - 1);
    expect(await world.countsOf(run)).toMatchObject({ updated: 2, dead: 1 });
    expect(await lettersOf(world)).toMatchObject([exhausted]);
    await world.faults();
    expect((await world.contactOf('crm-2')).defaultFields.role).toBe('Buyer');
    await world.expectSound();
  });

  test('also where its read grew old before the update', async () => {
    const { world, run, id } = await threeToUpdate();
    const { workspace } = world.parts;
    const listByExternalIds: typeof workspace.listByExternalIds = async (keys, options) => {
      const found = await workspace.listByExternalIds(keys, options);
      world.clock.advance(11_000);
      return found;
    };
    const slow = { ...world.parts, workspace: { ...workspace, listByExternalIds } };
    await turnsUntilDone(world, run, withPoisonedId(slow, failing, id));
    expect(await world.countsOf(run)).toMatchObject({ updated: 2, dead: 1 });
    await world.expectSound();
  });

  test('is no reason where the control look-up fails too: all work waits, and no row is blamed', async () => {
    const { world, run, id } = await threeToUpdate();
    await world.faults('list:listLag=60m');
    const alone = withPoisonedId(world.parts, failing, id);
    const worker = withPoison(alone, failing, ['patchbay-probe']);
    await expect(world.workOnce(run, worker)).rejects.toMatchObject({ code: 'serviceFailing' });
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ updated: 3, dead: 0 });
    await world.expectSound();
  });
});

test('a service that fails for every key kills no row', async () => {
  const world = await openUpsertWorld();
  const run = await world.stage([wanted('crm-1'), wanted('crm-2')]);
  await expect(world.workOnce(run, withPoison(world.parts, failing))).rejects.toMatchObject({ kind: 'unreachable' });
  expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 0 });
  await world.expectSound();
});

test('a create that was refused claims nothing: what somebody else made stays theirs', async () => {
  const world = await openUpsertWorld({ faults: ['create:status=429'] });
  const run = await world.stage([wanted('crm-1', { emails: { work: ['ada@example.com'] } })]);
  await world.workOnce(run);
  expect((await world.ledger.contacts.get(['crm-1'])).has('crm-1')).toBe(false);
  await world.expectSound();
});
