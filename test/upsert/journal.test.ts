/**
 * The journal (`docs/rules.md`, "The journal"): one entry for each write that landed, whenever the process died. A process that dies is a
 * worker whose ledger and service answer nothing any more, from before or after one of their calls.
 */
import { describe, expect, test } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const first = wanted('crm-1', { role: 'Buyer', phones: { mobile: [phone(1)] } });
const second = wanted('crm-1', { role: 'Seller', phones: { mobile: [phone(2)] } });
const third = wanted('crm-1', { role: 'Partner', phones: { mobile: [phone(2)] } });

const journalOf = async ({ ledger }: UpsertWorld, run: RunRecord) =>
  (await ledger.contacts.journal({ runId: run.id, limit: 99 })).map(({ kind, changes }) => ({
    kind,
    changes: changes.map(({ field, from, to }) => `${field}: ${from} → ${to}`),
  }));

const created = {
  kind: 'create',
  changes: ['firstName: null → Ann', 'role: null → Buyer', `phone.${phone(1)}: null → ${phone(1)}`],
};
const updated = {
  kind: 'patch',
  changes: ['role: Buyer → Seller', `phone.${phone(1)}: ${phone(1)} → null`, `phone.${phone(2)}: null → ${phone(2)}`],
};

type Death = readonly [moment: 'before' | 'after', part: 'contacts' | 'runs' | 'workspace', call: string];

/** A worker that dies at one of its calls: nothing is answered to it from then on. */
function mortal(parts: UpsertParts, [moment, part, call]: Death): UpsertParts {
  let isDead = false;
  const die = (): never => {
    isDead = true;
    throw new Error('the process has died');
  };
  const wrapped = <Whole extends object>(whole: Whole, name: string | null): Whole =>
    new Proxy(whole, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member);
        if (name === null && (member === 'contacts' || member === 'runs')) return wrapped(Object(value), member);
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]) => {
          const isCall = name === part && member === call;
          if (isDead || (isCall && moment === 'before')) die();
          const answer: unknown = await Reflect.apply(value, target, given);
          return isDead || isCall ? die() : answer;
        };
      },
    });
  return { ...parts, ledger: wrapped(parts.ledger, null), workspace: wrapped(parts.workspace, 'workspace') };
}

async function dieIn(world: UpsertWorld, run: RunRecord, death: Death): Promise<void> {
  await expect(world.workOnce(run, mortal(await world.anotherWorker(), death))).rejects.toThrow('has died');
}

const around = (...calls: readonly (readonly [part: Death[1], call: string])[]): readonly Death[] =>
  calls.flatMap(([part, call]) => [['before', part, call] as const, ['after', part, call] as const]);
const createDeaths = around(
  ...([
    ['contacts', 'lease'],
    ['contacts', 'intend'],
    ['workspace', 'createContact'],
    ['runs', 'settle'],
    ['contacts', 'release'],
  ] as const),
);
const updateDeaths = around(
  ...([
    ['contacts', 'lease'],
    ['contacts', 'claimItems'],
    ['workspace', 'updateContact'],
    ['runs', 'settle'],
    ['contacts', 'release'],
  ] as const),
);

test('a create and an update are entered as they are settled, with their run, and found by key', async () => {
  const world = await openUpsertWorld();
  const [one, two] = [await world.load([first]), await world.load([second])];
  expect(await journalOf(world, one)).toEqual([created]);
  expect(await journalOf(world, two)).toEqual([updated]);
  const contact = await world.contactOf('crm-1');
  const ofKey = await world.ledger.contacts.journal({ key: 'crm-1', newestFirst: true, limit: 9 });
  expect(ofKey.map(({ runId, contactId }) => [runId, contactId])).toEqual([
    [two.id, contact.id],
    [one.id, contact.id],
  ]);
  expect(ofKey.flatMap(({ changes }) => changes.map(({ why }) => why))).toEqual([
    ...['changed', 'removed', 'added'],
    ...['added', 'added', 'added'],
  ]);
});

test('a row that changes nothing is no entry', async () => {
  const world = await openUpsertWorld();
  await world.load([first]);
  const again = await world.load([first]);
  expect(again.counts).toMatchObject({ unchanged: 1 });
  expect(await journalOf(world, again)).toEqual([]);
});

describe('a worker that dies leaves one entry for each write that landed', () => {
  test.each(createDeaths)('of a create: %s %s.%s', async (...death) => {
    const world = await openUpsertWorld();
    const run = await world.stage([first]);
    await dieIn(world, run, death);
    await world.finish(run);
    expect(world.service.counts().create).toBe(1);
    expect(await journalOf(world, run)).toEqual([created]);
    await world.expectSound();
  });

  test.each(updateDeaths)('of an update: %s %s.%s', async (...death) => {
    const world = await openUpsertWorld();
    await world.load([first]);
    const run = await world.stage([second]);
    await dieIn(world, run, death);
    await world.finish(run);
    expect(world.service.counts().update).toBe(1);
    const entries = await journalOf(world, run);
    expect(entries.map(({ kind }) => kind)).toEqual(['patch']);
    // What landed unseen is entered by field first, then by item.
    expect(entries[0]?.changes.toSorted()).toEqual(updated.changes.toSorted());
    await world.expectSound();
  });

  test.each(updateDeaths)('of an update whose answer was lost before another: %s %s.%s', async (...death) => {
    const world = await openUpsertWorld();
    await world.load([first]);
    const lost = await world.stage([second]);
    await dieIn(world, lost, ['after', 'workspace', 'updateContact']);
    // A later file says something else: what has landed of the earlier one is entered as that write.
    const run = await world.stage([third]);
    world.clock.advance(200_000);
    await dieIn(world, run, death);
    await world.finish(run);
    await world.finish(lost);
    expect(world.service.counts().update).toBe(2);
    const [ofLost, ofRun] = [await journalOf(world, lost), await journalOf(world, run)];
    expect(ofLost.map(({ changes }) => changes.toSorted())).toEqual([updated.changes.toSorted()]);
    expect(ofRun.map(({ changes }) => changes)).toEqual([['role: Seller → Partner']]);
    await world.expectSound();
  });
});

test('a create in doubt whose contact is found, and then updated, leaves both writes', async () => {
  const world = await openUpsertWorld();
  const lost = await world.stage([first]);
  await dieIn(world, lost, ['after', 'workspace', 'createContact']);
  const run = await world.stage([second]);
  world.clock.advance(200_000);
  await world.finish(run);
  // The run that finds the contact counts it as created, and has its writes.
  expect(await journalOf(world, lost)).toEqual([]);
  expect((await journalOf(world, run)).map(({ kind }) => kind)).toEqual(['create', 'patch']);
  expect(await world.countsOf(run)).toMatchObject({ created: 1 });
});

test('an update in doubt of a run that was cancelled is an update of the run that finds it', async () => {
  const world = await openUpsertWorld();
  await world.load([first]);
  const lost = await world.stage([second]);
  await dieIn(world, lost, ['after', 'workspace', 'updateContact']);
  await world.ledger.runs.move(lost.id, ['applying'], 'cancelling', { atMs: 1 });
  expect(await world.ledger.runs.skippedInDoubt(lost.id)).toBe(1);
  await world.ledger.runs.skipPending(lost.id, 'cancelled', 1);
  await world.ledger.runs.move(lost.id, ['cancelling'], 'cancelled', { atMs: 1 });
  const run = await world.stage([second]);
  world.clock.advance(200_000);
  await world.finish(run);
  expect(world.service.counts().update).toBe(1);
  expect(await world.countsOf(run)).toMatchObject({ updated: 1, unchanged: 0 });
  expect(await journalOf(world, lost)).toEqual([]);
  expect((await journalOf(world, run)).map(({ changes }) => changes.toSorted())).toEqual([updated.changes.toSorted()]);
  expect(await world.ledger.runs.skippedInDoubt(lost.id)).toBe(0);
});
