/** `docs/rules.md`, "Guards": while applying, a ledger that knows nothing and a service that takes nothing stop the run. */
import { describe, expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { approvalOf, approvedShare, figureFacts, figuresOf, type GuardFigures } from '#src/ledger/rules/approval.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { adoptionStop } from '#src/upsert/applying-guards.ts';
import { wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const people = (count: number, role = 'Buyer') =>
  Array.from({ length: count }, (_, index) => wanted(`crm-${index}`, { role }));

async function enterByHand(world: UpsertWorld, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await world.byHand('POST', '/v1/contacts', {
      externalId: `crm-${index}`,
      defaultFields: { firstName: 'Ada', role: 'Owner' },
    });
  }
}

/** Works until the guard stops the run with these figures, and approves them as `runs approve` does. */
async function stopAndApprove(world: UpsertWorld, run: RunRecord, figures: GuardFigures): Promise<void> {
  const error = await world.workOnce(run).catch((thrown: unknown) => thrown);
  if (!(error instanceof PatchbayError)) throw new Error('the run was not stopped', { cause: error });
  const { code, message, hint, facts } = error;
  expect(figuresOf(facts)).toEqual([figures]);
  const reason = { code, message, hint, facts };
  await world.ledger.runs.move(run.id, ['applying'], 'stopped', { atMs: 1, reason });
  expect(await world.ledger.runs.approve(run.id, approvalOf(reason, { reason: null, atMs: 2 }))).toBe(true);
}

describe('contacts found that the ledger did not know', () => {
  test('stop the run before the first of them is written, from 10 and above 30 % of those looked up', async () => {
    const world = await openUpsertWorld();
    await enterByHand(world, 10);
    const run = await world.stage(people(20));
    await expect(world.workOnce(run)).rejects.toMatchObject({ kind: 'guard', code: 'guardAdoptions' });
    expect(world.service.counts()).toMatchObject({ create: 10, update: 0 });
    await world.expectSound();
  });

  test('pass below 10', async () => {
    const world = await openUpsertWorld();
    await enterByHand(world, 9);
    expect((await world.load(people(20))).counts).toMatchObject({ created: 11, updated: 9, adopted: 9 });
    await world.expectSound();
  });

  test('pass up to 30 % of those looked up', async () => {
    const world = await openUpsertWorld({
      limits: { applyingOf: () => ({ adoptionsMax: 0.3, adoptionsFloor: 6, refusalsMax: 20 }) },
    });
    await enterByHand(world, 6);
    expect((await world.load(people(20))).counts).toMatchObject({ created: 14, adopted: 6 });
  });

  test('pass with --adopt', async () => {
    const world = await openUpsertWorld();
    await enterByHand(world, 10);
    const run = await world.load(people(20), { options: { adopt: true } });
    expect(run.counts).toMatchObject({ created: 10, updated: 10, adopted: 10 });
    await world.expectSound();
  });

  test.each([{ accept: true }, { maxChange: 1 }])('stop a run whose file was let pass before: %o', async (options) => {
    const world = await openUpsertWorld();
    await enterByHand(world, 10);
    const run = await world.stage(people(20), { options });
    await expect(world.workOnce(run)).rejects.toMatchObject({ code: 'guardAdoptions' });
  });

  test('pass once they were approved, to the end of the run, also where an earlier look-up found none', async () => {
    const world = await openUpsertWorld();
    await enterByHand(world, 20);
    const run = await world.stage([...people(60).slice(20), ...people(20)]);
    await stopAndApprove(world, run, { guard: 'adoptions', count: 20, base: 60, limit: 0.3 });
    expect((await world.finish(run)).counts).toMatchObject({ created: 40, adopted: 20 });
    await world.expectSound();
  });

  test('pass once they were approved also where keys of the same look-up were at their end already', async () => {
    const world = await openUpsertWorld();
    await world.load(people(20).slice(10), { feed: 'shop' });
    await enterByHand(world, 10);
    const run = await world.stage(people(20));
    await stopAndApprove(world, run, { guard: 'adoptions', count: 10, base: 20, limit: 0.3 });
    expect((await world.finish(run)).counts).toMatchObject({ adopted: 10, unchanged: 10 });
    await world.expectSound();
  });

  test.each([
    ['command', 'crm', 'import again with --adopt.'],
    ['schedule', 'crm', 'set feeds.crm.adopt to true, restart Patchbay where it runs, and approve this run then.'],
    ['folder', 'main', 'cancel this run, and import its file by a command, with --adopt.'],
  ] as const)('stop a run that came by %s into %s with advice that can be followed', async (origin, feed, cure) => {
    const world = await openUpsertWorld();
    await enterByHand(world, 10);
    const run = await world.stage(people(20), { feed, options: { origin } });
    await expect(world.workOnce(run)).rejects.toMatchObject({
      hint: `Was the data folder lost, or is this another one? If the file is to win over the values of these contacts, ${cure}`,
    });
  });

  test('stop it again above the share that was approved', async () => {
    const world = await openUpsertWorld();
    await enterByHand(world, 30);
    const run = await world.stage([...people(40).slice(30), ...people(30)]);
    await stopAndApprove(world, run, { guard: 'adoptions', count: 10, base: 20, limit: 0.3 });
    await stopAndApprove(world, run, { guard: 'adoptions', count: 30, base: 40, limit: 0.3 });
    expect((await world.finish(run)).counts).toMatchObject({ created: 10, adopted: 30 });
  });

  test('pass up to the greatest share that was approved, in whatever order', () => {
    const approvalAt = (count: number, base: number) => {
      const facts = figureFacts([{ guard: 'adoptions', count, base, limit: 0.3 }]);
      return approvalOf({ code: 'guardAdoptions', facts }, { reason: null, atMs: 1 });
    };
    const approvals = [approvalAt(10, 20), approvalAt(30, 40), approvalAt(24, 60)];
    expect(approvedShare(approvals, 'adoptions')).toBe(0.75);
    expect(approvedShare(approvals, 'refusals')).toBeNull();
  });

  test('pass where dead letters are tried again', async () => {
    const world = await openUpsertWorld();
    const run = await world.stage(people(20));
    const stopOf = (kind: RunRecord['kind']) =>
      adoptionStop(world.parts.limits, { ...run, kind, counts: { lookedUp: 20, foundUnknown: 20 } });
    expect([stopOf('redrive'), stopOf('file')?.code]).toEqual([null, 'guardAdoptions']);
  });
});

describe('writes that are all refused with one code', () => {
  test('stop the run after the first 20 of them', async () => {
    const world = await openUpsertWorld({ faults: ['create:status=400'] });
    const run = await world.stage(people(60));
    await expect(world.workOnce(run)).rejects.toMatchObject({ kind: 'guard', code: 'guardRefusals' });
    expect(world.service.counts()).toMatchObject({ create: 20 });
    expect(await world.countsOf(run)).toMatchObject({ dead: 20, created: 0 });
    await world.expectSound();
  });

  test('stop it after no more than 20, also where rows before them or among them need no write', async () => {
    const world = await openUpsertWorld();
    await world.load(people(60));
    const { id, defaultFields } = await world.contactOf('crm-0');
    await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Owner' } });
    await world.faults('update:status=400');
    const before = world.service.counts().update ?? 0;
    const run = await world.stage(people(60, 'Seller'));
    const figures = { guard: 'refusals', count: 20, base: 20, limit: 20 } as const;
    await stopAndApprove(world, run, figures);
    expect((world.service.counts().update ?? 0) - before).toBe(20);
    await world.expectSound();
  });

  test('are all tried once that was approved', async () => {
    const world = await openUpsertWorld({ faults: ['create:status=400'] });
    const run = await world.stage(people(60));
    await stopAndApprove(world, run, { guard: 'refusals', count: 20, base: 20, limit: 20 });
    expect((await world.finish(run)).counts).toMatchObject({ dead: 60 });
    await world.expectSound();
  });

  test('stop also a run whose file was let pass with --accept', async () => {
    const world = await openUpsertWorld({ faults: ['create:status=400'] });
    const run = await world.stage(people(60), { options: { accept: true } });
    await expect(world.workOnce(run)).rejects.toMatchObject({ code: 'guardRefusals' });
  });

  test('do not stop it once one was accepted', async () => {
    const world = await openUpsertWorld();
    const refused = Array.from({ length: 25 }, (_, index) =>
      wanted(`bad-${index}`, { customFields: { no_such_field: 'x' } }),
    );
    const run = await world.load([wanted('crm-1'), ...refused]);
    expect(run.counts).toMatchObject({ created: 1, dead: 25 });
  });

  test('do not stop it once an update was accepted', async () => {
    const world = await openUpsertWorld();
    await world.load(people(1));
    const refused = Array.from({ length: 25 }, (_, index) =>
      wanted(`bad-${index}`, { customFields: { no_such_field: 'x' } }),
    );
    const run = await world.load([...people(1, 'Seller'), ...refused]);
    expect(run.counts).toMatchObject({ updated: 1, created: 0, dead: 25 });
  });
});
