/**
 * People who leave, or are back, while a write to their contact is in doubt, as the run that sent it is cancelled before it is looked up
 * (`docs/rules.md`, "People who left").
 */
import { describe, expect, it } from 'vitest';
import { openRunsBench, type RunsBench } from './support/runs-bench.ts';

const header = 'externalId,firstName,role,company';
const tom = 't1,Tom,,';
const tim = 't2,Tim,,';

/** No two files have the same text: blank lines at the end tell them apart. */
const blankLines = { a: 0, b: 1, c: 2, d: 3, e: 4 };
type Name = keyof typeof blankLines;
const file = (name: Name, rows: readonly string[]) =>
  `${[header, ...rows, ''].join('\r\n')}${'\r\n'.repeat(blankLines[name])}`;

const inDesk = { feed: 'desk', options: { accept: true } };
const desk = (bench: RunsBench, name: Name, ...rows: readonly string[]) =>
  bench.import(`${name}.csv`, file(name, rows), inDesk);

/** The updates of the file land, and have no answer; the run is cancelled. */
async function unanswered(bench: RunsBench, name: Name, ...rows: readonly string[]): Promise<void> {
  const { ledger, world, parts } = bench;
  const submitted = await bench.submit(`${name}.csv`, file(name, rows), inDesk);
  const run = await bench.stage(submitted);
  await world.faults('update:dropAfter');
  expect(await world.workOnce(run)).toEqual(['deferred']);
  await world.faults();
  const reason = { code: 'cancelled', message: 'cancelled by a person', hint: null, facts: {} };
  await ledger.runs.move(run.id, ['applying'], 'cancelling', { atMs: parts.clock.nowMs(), reason });
  expect(await bench.finish(run)).toMatchObject({ state: 'cancelled', counts: { updated: 0 } });
  // The horizon of the write passes.
  world.clock.advance(600_000);
}

const fieldsOf = async (bench: RunsBench) => (await bench.world.contactOf('t1')).defaultFields;
const managerOf = async (bench: RunsBench) =>
  (await bench.world.contactOf('t1')).customFields.find(({ key }) => key === 'account_manager')?.value ?? null;

describe.each([
  ['role', async (bench: RunsBench) => (await fieldsOf(bench)).role],
  ['custom.account_manager', managerOf],
] as const)('the tag in %s of a person who left', (field, read) => {
  const openBench = () => openRunsBench({ configured: { desk: { onMissing: `tag ${field}=Left` } } });

  it('is put on again where its removal had no answer, and the person has left again', async () => {
    const bench = await openBench();
    await desk(bench, 'a', tom, tim);
    await desk(bench, 'b', tim);
    expect(await read(bench)).toBe('Left');
    await unanswered(bench, 'c', tom, tim);
    expect(await read(bench)).toBeNull();
    await desk(bench, 'd', tim);
    expect(await read(bench)).toBe('Left');
    await desk(bench, 'e', tim, tom);
    expect(await read(bench)).toBeNull();
  });

  it('stays where its removal has not landed, and the person has left again', async () => {
    const bench = await openBench();
    await desk(bench, 'a', tom, tim);
    await desk(bench, 'b', tim);
    await unanswered(bench, 'c', tom, tim);
    const { id, defaultFields } = await bench.world.contactOf('t1');
    const customFields = [{ key: 'account_manager', value: 'Left' }];
    // As if the removal had been lost on its way.
    await bench.world.byHand(
      'PATCH',
      `/v1/contacts/${id}`,
      field === 'role' ? { defaultFields: { ...defaultFields, role: 'Left' } } : { customFields },
    );
    const updates = bench.world.service.counts().update;
    await desk(bench, 'd', tim);
    expect(await read(bench)).toBe('Left');
    expect(bench.world.service.counts().update).toBe(updates);
  });

  it('goes where it had no answer, and the person is back', async () => {
    const bench = await openBench();
    await desk(bench, 'a', tom, tim);
    await unanswered(bench, 'b', tim);
    expect(await read(bench)).toBe('Left');
    await desk(bench, 'c', tom, tim);
    expect(await read(bench)).toBeNull();
    await desk(bench, 'd', tim);
    expect(await read(bench)).toBe('Left');
  });
});

describe('what is cleared of a person who left', () => {
  const openBench = () => openRunsBench({ configured: { desk: { onMissing: 'clear role, company' } } });

  it('goes, too, where the write of it had no answer', async () => {
    const bench = await openBench();
    await desk(bench, 'a', 't1,Tom,Clerk,', tim);
    await desk(bench, 'b', tim);
    expect(await fieldsOf(bench)).toMatchObject({ role: null });
    // Back, with a further value.
    await unanswered(bench, 'c', 't1,Tom,Clerk,Mill', tim);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Clerk', company: 'Mill' });
    await desk(bench, 'd', tim);
    expect(await fieldsOf(bench)).toMatchObject({ role: null, company: null });
  });
});
