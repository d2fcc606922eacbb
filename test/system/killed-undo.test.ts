/** An undo that is killed on its way: whoever goes on takes back what is left, and nothing that people changed is lost. */
import { describe, expect } from 'vitest';
import { type Journey, test } from '#test/support/journey.ts';
import type { JourneyService } from '#test/support/journey-service.ts';
import { until } from '#test/support/until.ts';

const changedCount = 60;
const madeCount = 30;
/** Slow enough for a kill between two writes. */
const slowly = { PATCHBAY_RATE: '100' };

const row = (name: string, index: number, night: string) => `${name}-${index},Ann,role ${night} ${index},${night}`;
const rows = (name: string, count: number, night: string) =>
  Array.from({ length: count }, (_, index) => row(name, index, night));
const fileOf = (lines: readonly string[]) => `externalId,firstName,role,company\n${lines.join('\n')}\n`;
const firstNight = fileOf(rows('changed', changedCount, 'first'));
const secondNight = fileOf([...rows('changed', changedCount, 'second'), ...rows('made', madeCount, 'second')]);

const isEdited = (index: number) => index % 2 === 1;

/** Two nights, and people who edit every other contact after the second one. @returns the run of the second. */
async function twoNights(journey: Journey, service: JourneyService): Promise<string> {
  const load = async (text: string) =>
    (await journey.call(['import', '--json', '--accept', journey.file('people.csv', text)])).documents[0];
  expect(await load(firstNight)).toMatchObject({ created: changedCount });
  const second = await load(secondNight);
  expect(second).toMatchObject({ created: madeCount, updated: changedCount });
  for (let index = 0; index < changedCount; index += 1)
    if (isEdited(index)) await service.edit(`changed-${index}`, { role: 'by hand' });
  for (let index = 0; index < madeCount; index += 1)
    if (isEdited(index)) await service.edit(`made-${index}`, { role: 'by hand' });
  return second.run;
}

/** Starts the command again and again, and kills it behind these many further writes each time. */
async function killed(journey: Journey, service: JourneyService, args: readonly string[], kills: readonly number[]) {
  const before = service.writeCount();
  for (const behind of kills) {
    const process = journey.start(args, slowly);
    await until(`${behind} writes of the undo`, () => service.writeCount() >= before + behind || !process.running);
    expect(process.running, process.stderr).toBe(true);
    await process.kill();
  }
}

async function expectTakenBack(service: JourneyService): Promise<void> {
  const people = await service.people();
  for (let index = 0; index < changedCount; index += 1) {
    const role = isEdited(index) ? 'by hand' : `role first ${index}`;
    expect(people.get(`changed-${index}`), `changed-${index}`).toMatchObject({ role, company: 'first' });
  }
}

const ofUndo = (journey: Journey, run: string) =>
  journey.runs().then((runs) => runs.filter(({ options }) => options.undoes === run));

describe.concurrent('an undo that is killed on its way', () => {
  test('goes on with the same command, ends as if it had not been, and the same file does not do it again', async ({
    journey,
  }) => {
    const service = await journey.service();
    const run = await twoNights(journey, service);
    const undo = ['runs', 'undo', run, '--accept', '--reason', 'wrong export', '--yes', '--json'];
    await killed(journey, service, undo, [1, 20, 45]);
    const { code, documents, stderr } = await journey.run(undo);
    expect(code, stderr).toBe(0);
    expect(documents[0]).toMatchObject({ state: 'done', created: 0, dead: 0, pending: 0, updated: changedCount });
    expect(documents[0]).toMatchObject({ heldFields: changedCount / 2 });
    await expectTakenBack(service);
    expect(await service.keys()).toHaveLength(changedCount + madeCount);
    expect((await ofUndo(journey, run)).map(({ state }) => state)).toEqual(['done']);

    const writes = service.writeCount();
    const again = await journey.run(['import', '--json', journey.file('people.csv', secondNight)]);
    expect(again.documents[0], again.stderr).toMatchObject({ created: 0, updated: 0 });
    expect(service.writeCount()).toBe(writes);
    await expectTakenBack(service);
  });

  test('deletes with --delete-created those that nobody changed, each once', async ({ journey }) => {
    const service = await journey.service();
    const run = await twoNights(journey, service);
    const undo = ['runs', 'undo', run, '--delete-created', '--accept', '--yes', '--json'];
    await killed(journey, service, undo, [10, 50]);
    const { code, documents, stderr } = await journey.run(undo);
    expect(code, stderr).toBe(0);
    expect(documents[0]).toMatchObject({ state: 'done', created: 0, dead: 0, pending: 0, deleted: madeCount / 2 });
    await expectTakenBack(service);
    const left = (await service.keys()).filter((key) => key.startsWith('made'));
    expect(left).toEqual(
      Array.from({ length: madeCount }, (_, index) => index)
        .filter(isEdited)
        .map((index) => `made-${index}`)
        .sort(),
    );
  });
});
