/** Values of people and of other feeds that a run would take away, before its first write (`docs/rules.md`, "Guards"). */
import { describe, expect, it } from 'vitest';
import { mappingSchema } from '#src/mapping/mapping-schema.ts';
import { phone } from '#test/upsert/support/build.ts';
import { type BenchOptions, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards, generousGuards } from './support/tallies.ts';

const limits = {
  clearsMax: `${defaultGuards.clearsMax * 100}%`,
  clearsFloor: defaultGuards.clearsFloor,
  updatesMax: '100%',
};
const mappingOf = (given: Record<string, unknown>) =>
  mappingSchema.parse({
    name: 'crm',
    key: 'externalId',
    fields: { firstName: 'firstName' },
    phones: [{ column: 'phone', label: 'work' }],
    ...given,
  });
const all = mappingOf({ items: 'all' });

/** 40 people; the first `renamed` of them have another name. */
const file = (renamed: number, header = 'externalId,firstName,phone') =>
  [
    header,
    ...Array.from(
      { length: 40 },
      (_, index) => `c-${index + 1},${index < renamed ? 'Anna' : 'Ann'},${phone(index + 10)}`,
    ),
    '',
  ].join('\r\n');

const openBench = (guards: Record<string, unknown> = limits, upsert: BenchOptions['limits'] = {}) =>
  openRunsBench({ limits: upsert, guards: generousGuards, configured: { crm: { guards }, sales: { guards } } });

/** People add an address and a number to the first `count` contacts. */
async function edit({ world }: RunsBench, count: number): Promise<void> {
  const contacts = await world.contacts();
  for (let index = 1; index <= count; index += 1) {
    const contact = contacts.find(({ externalId }) => externalId === `c-${index}`);
    if (contact === undefined) throw new Error(`c-${index} is not there`);
    const { phoneNumbers, emails, ...named } = contact.defaultFields;
    await world.byHand('PATCH', `/v1/contacts/${contact.id}`, {
      defaultFields: { ...named, emails, phoneNumbers: [...phoneNumbers, { name: 'home', value: phone(index + 55) }] },
    });
  }
}

const next = (bench: RunsBench, text: string, given: Parameters<RunsBench['submit']>[2]) =>
  bench.submit('next.csv', text, given).then((run) => bench.stage(run));

describe('a file with items: all', () => {
  it('stops before the first write where it would remove more than a tenth of the numbers that people added', async () => {
    const bench = await openBench();
    await bench.import('a.csv', file(0), { feed: 'crm', mapping: all });
    await edit(bench, 11);
    const before = await bench.world.contacts();
    const run = await next(bench, file(11), { feed: 'crm', mapping: all });
    expect(run.state).toBe('stopped');
    expect(run.reason).toMatchObject({ code: 'guardClears', facts: { clearsCount: 11, clearsBase: 40 } });
    expect(run.reason?.message).toContain(
      'the file clears or removes 11 values of 40 contacts that are there, 11 of them from people or other feeds',
    );
    expect(run.requests).toMatchObject({ get: 1, post: 0, patch: 0 });
    expect(await bench.world.contacts()).toEqual(before);
  });

  it('counts them, too, in contacts that were written a moment ago: it waits until a read can tell', async () => {
    const bench = await openBench(limits, { visibilityLagMs: 1_500 });
    await bench.import('a.csv', file(0), { feed: 'crm', mapping: all });
    await edit(bench, 11);
    const run = await next(bench, file(11), { feed: 'crm', mapping: all });
    expect(run.reason).toMatchObject({ code: 'guardClears', facts: { clearsCount: 11, clearsBase: 40 } });
  });

  it('passes up to the limit, and where a person lets the file pass once', async () => {
    const bench = await openBench();
    await bench.import('a.csv', file(0), { feed: 'crm', mapping: all });
    await edit(bench, 11);
    // Of the four people whose rows changed, four numbers are taken: a tenth of 40.
    expect((await next(bench, file(4), { feed: 'crm', mapping: all })).state).toBe('applying');
    const accepted = await next(bench, file(12), { feed: 'crm', mapping: all, options: { accept: true } });
    expect(accepted).toMatchObject({ state: 'applying', requests: { get: 0 } });
    const raised = await next(bench, file(13), { feed: 'crm', mapping: all, options: { maxChange: 0.5 } });
    expect(raised.state).toBe('applying');
  });

  it('counts numbers that another feed put there, for a feed that knows none of the contacts', async () => {
    const bench = await openBench();
    await bench.import('a.csv', file(0), { feed: 'crm', mapping: mappingOf({}) });
    const others = file(0).replace(/\+141555501(\d\d)/g, '+141555502$1');
    const run = await next(bench, others, { feed: 'sales', mapping: all });
    // What another feed's file names stays: nothing is taken.
    expect(run.state).toBe('applying');
    await edit(bench, 40);
    const taking = await next(bench, `${others}\r\n`, { feed: 'sales', mapping: all });
    expect(taking.reason).toMatchObject({ code: 'guardClears', facts: { clearsCount: 40, clearsBase: 40 } });
  });

  it('counts numbers that the files of main wrote, which a named feed may remove', async () => {
    const bench = await openBench();
    await bench.import('a.csv', file(0));
    const others = file(0).replace(/\+141555501(\d\d)/g, '+141555502$1');
    const run = await next(bench, others, { feed: 'sales', mapping: all });
    expect(run.reason).toMatchObject({ code: 'guardClears', facts: { clearsCount: 40, clearsBase: 40 } });
  });

  it('asks for nothing where the lists are owned, are not named by the rows, or nothing may be removed', async () => {
    const bench = await openBench();
    await bench.import('a.csv', file(0), { feed: 'crm', mapping: all });
    await edit(bench, 40);
    const cases = [
      { text: file(12), mapping: mappingOf({}) },
      { text: file(13).replaceAll(/(Anna,)\+\d+/g, '$1'), mapping: all },
      { text: file(14), mapping: all, options: { createOnly: true } },
    ];
    for (const { text, ...given } of cases) {
      const run = await next(bench, text, { feed: 'crm', ...given });
      expect(run).toMatchObject({ state: 'applying', requests: { get: 0 } });
    }
  });
});

describe('a file with policy: source', () => {
  it('stops where it would clear more than a tenth of the values that people filled in', async () => {
    const bench = await openBench();
    const fields = { firstName: 'firstName', role: { column: 'role', policy: 'source', onBlank: 'clear' } };
    const source = mappingOf({ fields });
    await bench.import('a.csv', file(0), { feed: 'crm', mapping: mappingOf({}) });
    for (const { id, defaultFields } of await bench.world.contacts())
      await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Chief' } });
    const blank = file(0, 'externalId,firstName,phone,role').replaceAll(/(\+\d+)\r\n/g, '$1,\r\n');
    const run = await next(bench, blank, { feed: 'crm', mapping: source });
    expect(run.reason).toMatchObject({ code: 'guardClears', facts: { clearsCount: 40, clearsBase: 40 } });
  });
});
