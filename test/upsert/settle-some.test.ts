/** The first keys of a long chunk are settled while its others are written; a settling that fails is tried again when the chunk closes. */
import { expect, test } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import type { SettleRequest } from '#src/ledger/staging.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import { wanted } from './support/build.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const people = Array.from({ length: 60 }, (_, index) => wanted(`crm-${index}`));

// None of a chunk may be too many for a service that has accepted nothing yet.
const applyingOf = () => ({ adoptionsMax: 0.3, adoptionsFloor: 10, refusalsMax: people.length });
const limits = { writesAtOnce: 1, applyingOf };

/** All 60 keys in one chunk, each settling seen before it reaches the ledger. */
function inOneChunk({ parts }: UpsertWorld, onSettle: (request: SettleRequest) => void): UpsertParts {
  const { ledger } = parts;
  const settle: typeof ledger.runs.settle = async (request) => {
    onSettle(request);
    return ledger.runs.settle(request);
  };
  const pace = { keysPerChunk: () => people.length, ended: () => undefined };
  return { ...parts, pace, ledger: { ...ledger, runs: { ...ledger.runs, settle } } };
}

test('a long chunk is settled in parts, each as soon as it has ended', async () => {
  const world = await openUpsertWorld({ limits });
  const run = await world.stage(people, { rowsPerBatch: people.length });
  const settled: { readonly records: number; readonly creates: number }[] = [];
  const worker = inOneChunk(world, ({ records }) => {
    settled.push({ records: records.length, creates: world.service.counts().create ?? 0 });
  });
  await world.workOnce(run, worker);
  expect(settled).toEqual([
    { records: 25, creates: 25 },
    { records: 25, creates: 50 },
    { records: 10, creates: 60 },
  ]);
  expect((await world.finish(run)).counts).toMatchObject({ created: 60 });
  await world.expectSound();
});

test('what a settling could not enter is entered when the chunk closes, and nothing more is sent meanwhile', async () => {
  const world = await openUpsertWorld({ limits });
  const run = await world.stage(people, { rowsPerBatch: people.length });
  const busy = new PatchbayError('transient', 'ledgerBusy', 'another process writes to the ledger');
  let attempts = 0;
  const worker = inOneChunk(world, () => {
    attempts += 1;
    if (attempts === 1) throw busy;
  });
  await expect(world.workOnce(run, worker)).rejects.toBe(busy);
  expect(attempts).toBe(2);
  expect(world.service.counts()).toMatchObject({ create: 25 });
  expect(await world.countsOf(run)).toMatchObject({ created: 25 });
  expect(await world.ledger.runs.pendingCount(run.id)).toBe(35);
  world.clock.advance(60_000);
  expect((await world.finish(run)).counts).toMatchObject({ created: 60 });
  await world.expectSound();
});
