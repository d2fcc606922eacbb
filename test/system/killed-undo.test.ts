/**
 * An undo that is killed on its way: whoever goes on takes back what is left, nothing that people changed is lost, and the numbers add up.
 *
 * Each kill comes when the service has carried out the n-th request of a kind, before it answers. So that write is in doubt for whoever
 * goes on, on machines of any speed.
 */
import { describe, expect } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { type Journey, test } from '#test/support/journey.ts';
import type { JourneyService, WriteMethod } from '#test/support/journey-service.ts';
import type { PatchbayProcess } from '#test/support/patchbay-process.ts';
import { until } from '#test/support/until.ts';

const changedCount = 60;
/** A process has 16 writes on their way at most, so that a third kill among the deletions still finds one. */
const madeCount = 60;
const rowCount = changedCount + madeCount;
/** Fewer than half of the deletions are on their way at a kill: a gate lets a second's worth go at once. */
const slowly = { PATCHBAY_RATE: '15' };

const row = (key: string, night: string) => `${key},Ann,role ${night} ${key},${night}`;
const fileOf = (keys: readonly string[], night: string) =>
  `externalId,firstName,role,company\n${keys.map((key) => row(key, night)).join('\n')}\n`;
const changedKeys = Array.from({ length: changedCount }, (_, index) => `changed-${index}`);
const madeKeys = Array.from({ length: madeCount }, (_, index) => `made-${index}`);
const fullFile = (night: string) => fileOf([...changedKeys, ...madeKeys], night);
/** Those whom people edit after the second night: a third. */
const editedOf = (keys: readonly string[]) => keys.filter((_, index) => index % 3 === 1);

/** Two nights, and people who edit every third contact after the second one. @returns the run of the second. */
async function twoNights(journey: Journey, service: JourneyService): Promise<string> {
  const load = async (text: string) =>
    (await journey.call(['import', '--json', '--accept', journey.file('people.csv', text)])).documents[0];
  expect(await load(fileOf(changedKeys, 'first'))).toMatchObject({ created: changedCount });
  const second = await load(fullFile('second'));
  expect(second).toMatchObject({ created: madeCount, updated: changedCount });
  for (const key of editedOf([...changedKeys, ...madeKeys])) await service.edit(key, { role: 'by hand' });
  return second.run;
}

type Counts = Readonly<Record<WriteMethod, number>>;
const countsOf = ({ answered }: JourneyService): Counts => ({
  POST: answered('POST'),
  PATCH: answered('PATCH'),
  DELETE: answered('DELETE'),
});

/** The n-th request of a kind, counted from the kill before. */
type Kill = readonly [method: WriteMethod, nth: number];

/** Kills the process when the service has carried out that request of it. */
async function killAt(service: JourneyService, process: PatchbayProcess, [method, nth]: Kill) {
  let isKilled = false;
  service.beforeAnswer(method, nth, () => {
    isKilled = true;
    process.signal('SIGKILL');
  });
  await until(`${method} ${nth} of the undo`, () => isKilled || !process.running);
  expect(isKilled, `it ended by itself:\n${process.stdout}${process.stderr}`).toBe(true);
  await process.kill();
}

const undosOf = async (journey: Journey, run: string): Promise<readonly RunRecord[]> =>
  (await journey.runs()).filter(({ options }) => options.undoes === run);

/**
 * One undo took everything back, and its counts, its journal and the service say the same.
 * @param left of the contacts that the run had made.
 */
async function expectTakenBack(journey: Journey, service: JourneyService, run: string, left: readonly string[]) {
  expect(await service.keys()).toEqual([...changedKeys, ...left].sort());
  const people = await service.people();
  const edited = new Set(editedOf([...changedKeys, ...madeKeys]));
  for (const key of changedKeys)
    expect(people.get(key), key).toMatchObject({
      role: edited.has(key) ? 'by hand' : `role first ${key}`,
      company: 'first',
    });
  for (const key of left)
    expect(people.get(key), key).toMatchObject({
      ...(edited.has(key) ? { role: 'by hand' } : {}),
      company: 'second',
    });

  const [undo, ...others] = await undosOf(journey, run);
  expect(others).toEqual([]);
  const { deleteCreated } = undo?.options ?? {};
  const deleted = madeKeys.filter((key) => !left.includes(key));
  const heldOfMade = deleteCreated ? left.length : 0;
  expect(undo).toMatchObject({
    state: 'done',
    counts: {
      ...{ rows: rowCount, created: 0, updated: changedCount + deleted.length, deleted: deleted.length, dead: 0 },
      ...{ unchanged: heldOfMade, skipped: deleteCreated ? 0 : madeCount },
      heldFields: editedOf(changedKeys).length + heldOfMade,
    },
  });
  const journal = await journey.journal(undo?.id ?? '');
  const keysOf = (kind: string) => journal.flatMap((entry) => (entry.kind === kind ? [entry.key] : [])).sort();
  expect(keysOf('patch')).toEqual([...changedKeys].sort());
  expect(keysOf('delete')).toEqual([...deleted].sort());
  expect(journal).toHaveLength(changedCount + deleted.length);
}

/** What the next nights may do (`docs/plans.md`, "Undo"). @param left of the contacts that the second night made. */
async function expectNextNights(journey: Journey, service: JourneyService, left: readonly string[]) {
  const load = async (night: string) => {
    const { documents, stderr } = await journey.run([
      'import',
      '--json',
      '--accept',
      journey.file('people.csv', fullFile(night)),
    ]);
    expect(documents, stderr).toHaveLength(1);
    return documents[0];
  };
  const [before, people] = [countsOf(service), await service.people()];
  expect(await load('second')).toMatchObject({ rows: rowCount, unchanged: rowCount, created: 0, updated: 0 });
  expect(countsOf(service)).toEqual(before);
  expect(await service.people()).toEqual(people);

  // What the file says anew is written, but for what people changed; whoever was deleted stays so.
  const stay = changedCount + left.length;
  const byHand = [...people].flatMap(([key, { role }]) => (role?.includes('by hand') ? [key] : []));
  expect(await load('third')).toMatchObject({
    ...{ rows: rowCount, created: 0, updated: stay, skipped: rowCount - stay, dead: 0 },
    heldFields: byHand.length,
  });
  const after = await service.people();
  expect(await service.keys()).toEqual([...people.keys()].sort());
  for (const [key, { role }] of people)
    expect(after.get(key), key).toMatchObject({
      role: byHand.includes(key) ? role : `role third ${key}`,
      company: 'third',
    });
}

describe.concurrent('an undo that is killed on its way', () => {
  test('goes on with the same command, ends as if it had not been, and the same file does not do it again', async ({
    journey,
  }) => {
    const service = await journey.service();
    const run = await twoNights(journey, service);
    const undo = ['runs', 'undo', run, '--accept', '--reason', 'wrong export', '--yes', '--json'];
    const before = countsOf(service);
    for (const nth of [1, 8, 10]) await killAt(service, journey.start(undo, slowly), ['PATCH', nth]);
    const { code, documents, stderr } = await journey.run(undo);
    expect(code, stderr).toBe(0);
    expect(documents[0]).toMatchObject({ state: 'done', updated: changedCount, pending: 0 });
    await expectTakenBack(journey, service, run, madeKeys);
    expect(countsOf(service)).toEqual({ ...before, PATCH: before.PATCH + changedCount });
    await expectNextNights(journey, service, madeKeys);
  });

  test('deletes with --delete-created those that nobody changed, each once, whatever deletion it is killed at', async ({
    journey,
  }) => {
    const service = await journey.service();
    const run = await twoNights(journey, service);
    const undo = ['runs', 'undo', run, '--delete-created', '--accept', '--yes', '--json'];
    const before = countsOf(service);
    const kills: readonly Kill[] = [
      ['PATCH', 10],
      ['DELETE', 1],
      ['DELETE', 3],
      ['DELETE', 4],
    ];
    for (const kill of kills) await killAt(service, journey.start(undo, slowly), kill);
    const { code, documents, stderr } = await journey.run(undo);
    expect(code, stderr).toBe(0);
    const left = editedOf(madeKeys);
    expect(documents[0]).toMatchObject({ state: 'done', deleted: madeCount - left.length, pending: 0 });
    await expectTakenBack(journey, service, run, left);
    expect(countsOf(service)).toMatchObject({ POST: before.POST, DELETE: madeCount - left.length });
    await expectNextNights(journey, service, left);
  });

  test('goes on with the next engine, which asks of each contact again before it deletes it', async ({ journey }) => {
    const service = await journey.service();
    const run = await twoNights(journey, service);
    const before = countsOf(service);
    const undo = ['runs', 'undo', run, '--delete-created', '--accept', '--yes', '--json'];
    await killAt(service, journey.start(undo, slowly), ['DELETE', 2]);
    await killAt(service, journey.start(['start', '--json'], slowly), ['DELETE', 2]);
    // A person edits the last one while nothing runs.
    const late = madeKeys.at(-1) ?? '';
    await service.edit(late, { role: 'late by hand' });
    const engine = journey.start(['start', '--json']);
    await until(
      'the end of the undo',
      async () => (await undosOf(journey, run))[0]?.state === 'done' || !engine.running,
    );
    engine.signal('SIGTERM');
    await engine.ended();
    const left = [...editedOf(madeKeys), late];
    await expectTakenBack(journey, service, run, left);
    expect(countsOf(service)).toMatchObject({ POST: before.POST, DELETE: madeCount - left.length });
    await expectNextNights(journey, service, left);
  });
});
