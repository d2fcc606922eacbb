/** Runs that may only create or only update, and contacts that are made again (`docs/rules.md`, "Modes"). */
import { describe, expect, test } from 'vitest';
import { wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const roleOf = async (world: UpsertWorld, key: string) => (await world.contactOf(key)).defaultFields.role;
const keysOf = async (world: UpsertWorld) => (await world.contacts()).map(({ externalId }) => externalId).toSorted();

/** One contact that Patchbay made, and one with a key that people made. */
async function withTwo(): Promise<UpsertWorld> {
  const world = await openUpsertWorld();
  await world.load([wanted('crm-1', { role: 'Clerk' })], { feed: 'crm' });
  await world.byHand('POST', '/v1/contacts', { externalId: 'crm-2', defaultFields: { firstName: 'Bea', role: null } });
  return world;
}

const rows = ['crm-1', 'crm-2', 'crm-3'].map((key) => wanted(key, { role: 'Buyer' }));

describe.each([
  {
    mode: 'create-only',
    options: { createOnly: true },
    counts: { created: 1, updated: 0, skipped: 2, dead: 0 },
    roles: ['Clerk', null],
    keys: ['crm-1', 'crm-2', 'crm-3'],
  },
  {
    mode: 'update-only',
    options: { updateOnly: true },
    counts: { created: 0, updated: 2, skipped: 1, dead: 0 },
    roles: ['Buyer', 'Buyer'],
    keys: ['crm-1', 'crm-2'],
  },
])('a run with $mode', ({ options, counts, roles, keys }) => {
  test('leaves the other rows as they are, and the next run applies them', async () => {
    const world = await withTwo();
    const run = await world.load(rows, { feed: 'crm', options });
    expect(run.counts).toMatchObject(counts);
    expect([await roleOf(world, 'crm-1'), await roleOf(world, 'crm-2')]).toEqual(roles);
    expect(await keysOf(world)).toEqual(keys);
    const skipped = (await world.eventsOf(run)).filter(({ code }) => code === 'notSelected');
    expect(skipped).toHaveLength(counts.skipped);
    await world.expectSound();
    const next = await world.load(rows, { feed: 'crm' });
    expect(next.counts).toMatchObject({ skipped: 0, created: 1 - counts.created, updated: 2 - counts.updated });
    expect(await keysOf(world)).toEqual(['crm-1', 'crm-2', 'crm-3']);
  });
});

test('with create-only a create in doubt is brought to its end, and counts as created', async () => {
  const world = await openUpsertWorld({ faults: ['create:dropAfter'] });
  const run = await world.stage([wanted('crm-1')], { options: { createOnly: true } });
  expect(await world.workOnce(run)).toEqual(['deferred']);
  await world.faults();
  expect((await world.finish(run)).counts).toMatchObject({ created: 1, skipped: 0 });
  await world.expectSound();
});

describe('a contact that was deleted in the app', () => {
  const gone = async (world: UpsertWorld) => {
    await world.load([wanted('crm-1', { role: 'Clerk', phones: { mobile: ['+14155550101'] } })], { feed: 'crm' });
    await world.load([wanted('crm-1', { company: 'Elm' })], { feed: 'shop' });
    const { id } = await world.contactOf('crm-1');
    const answer = await world.service.call('DELETE', `/v1/contacts/${id}`);
    expect(answer.status).toBe(204);
  };
  const recreate = { onGoneOf: () => 'recreate' as const };
  /** Staged as a run that found the contact gone, and none without an externalId in its place. */
  const stageAgain = async (world: UpsertWorld, options = {}) => {
    const run = await world.stage([wanted('crm-1', { role: 'Buyer' })], { feed: 'crm', options });
    await world.ledger.runs.linkRows(run.id, [{ position: 1, link: { kind: 'again' } }]);
    return run;
  };

  test('stays deleted', async () => {
    const world = await openUpsertWorld();
    await gone(world);
    const run = await world.load([wanted('crm-1', { role: 'Buyer' })], { feed: 'crm' });
    expect(run.counts).toMatchObject({ skipped: 1, created: 0 });
    expect(await keysOf(world)).toEqual([]);
  });

  test('is made again where the feed says so, and each feed writes its fields again', async () => {
    const world = await openUpsertWorld({ limits: recreate });
    await gone(world);
    const run = await world.finish(await stageAgain(world));
    expect(run.counts).toMatchObject({ created: 1, skipped: 0, dead: 0 });
    expect(await roleOf(world, 'crm-1')).toBe('Buyer');
    const other = await world.load([wanted('crm-1', { company: 'Elm' })], { feed: 'shop' });
    expect(other.counts).toMatchObject({ updated: 1 });
    expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({ role: 'Buyer', company: 'Elm' });
    await world.expectSound();
  });

  test('is made once, though the answer was lost', async () => {
    const world = await openUpsertWorld({ limits: recreate });
    await gone(world);
    await world.faults('create:dropAfter');
    const run = await stageAgain(world);
    expect(await world.workOnce(run)).toEqual(['deferred']);
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ created: 1, dead: 0 });
    expect(await keysOf(world)).toEqual(['crm-1']);
    await world.expectSound();
  });

  test('is not made again by a run that only updates', async () => {
    const world = await openUpsertWorld({ limits: recreate });
    await gone(world);
    const run = await world.finish(await stageAgain(world, { updateOnly: true }));
    expect(run.counts).toMatchObject({ created: 0, skipped: 1 });
    expect(await keysOf(world)).toEqual([]);
  });

  test('is not made again where it was deleted after the workspace was looked through', async () => {
    const world = await openUpsertWorld({ limits: recreate });
    await gone(world);
    const run = await world.load([wanted('crm-1', { role: 'Buyer' })], { feed: 'crm' });
    expect(run.counts).toMatchObject({ created: 0, skipped: 1 });
    expect((await world.eventsOf(run)).map(({ code }) => code)).toEqual(['gone']);
  });
});
