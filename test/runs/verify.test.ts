/** Drift (`docs/rules.md`, "Drift"): what people changed is told by `--verify`, and written back by `--repair`. */
import { describe, expect, it } from 'vitest';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import type { RunEvent } from '#src/ledger/staging.ts';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import { listHeld, takeHeld } from '#src/operations/held-fields.ts';
import { exitCodeOfPlan } from '#src/operations/plan.ts';
import { exitCodeOfRun } from '#src/runs/exit-code.ts';
import { openPlanBench } from '#test/plans/support/plan-bench.ts';
import { phone } from '#test/upsert/support/build.ts';
import { expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const mapping: Mapping = mappingSchema.parse({
  name: 'crm',
  key: 'externalId',
  fields: { firstName: 'firstName', role: 'role', company: { column: 'company', policy: 'app' } },
  phones: [{ column: 'phone', label: 'work' }],
  customFields: [{ column: 'seats', key: 'seats' }],
});
const keys = ['c-1', 'c-2', 'c-3', 'c-4', 'c-5'];
const header = 'externalId,firstName,role,company,phone,seats';
const file = (role = 'Buyer') =>
  [header, ...keys.map((key, index) => `${key},Ann,${role},Elm,${phone(index)},${index + 1}`), ''].join('\r\n');
const inFeed = { feed: 'crm', mapping };
const verify = { ...inFeed, options: { verify: true } };
const repair = { ...inFeed, options: { repair: true } };

/** One contact edited in every kind of field, one deleted, one doubled. */
async function drifted(guards = {}): Promise<RunsBench> {
  const bench = await openRunsBench({ configured: { crm: { guards } } });
  await bench.import('a.csv', file(), inFeed);
  const { world } = bench;
  const { id, defaultFields, customFields } = await world.contactOf('c-2');
  await world.byHand('PATCH', `/v1/contacts/${id}`, {
    defaultFields: {
      ...defaultFields,
      role: 'Chief',
      company: 'Oak',
      phoneNumbers: defaultFields.phoneNumbers.map((item) => ({ ...item, value: null })),
    },
    customFields: customFields.map(({ key, value }) => ({ key, value: key === 'seats' ? 99 : value })),
  });
  await world.service.call('DELETE', `/v1/contacts/${(await world.contactOf('c-3')).id}`);
  return bench;
}

const driftIn = async (bench: RunsBench, name: string, given: typeof verify | typeof repair, text = file()) => {
  const run = await bench.import(name, text, given);
  const outcomes = (await bench.report(run)).outcomes.filter(({ kind }: { kind: string }) => kind === 'drift');
  const told = outcomes.map(({ key, code, field, file: said, app }: Record<string, unknown>) => [
    key,
    code,
    field,
    said,
    app,
  ]);
  return { run, told };
};

describe('a run with --verify', () => {
  it('tells what was changed and deleted in the app, writes nothing, and ends with 10', async () => {
    const bench = await drifted();
    const before = await bench.world.contacts();
    const { run, told } = await driftIn(bench, 'b.csv', verify);
    expectCounts(run, { rows: 5, unchanged: 5 });
    expect(run.shape?.drift).toEqual({ looked: 5, changed: 1, gone: 1, doubled: 0 });
    expect(told).toEqual([
      ['c-2', 'driftChanged', 'role', 'Buyer', 'Chief'],
      ['c-2', 'driftChanged', 'custom.seats', 2, 99],
      ['c-2', 'driftChanged', `phone.${phone(1)}`, phone(1), null],
      ['c-3', 'driftGone', null, undefined, undefined],
    ]);
    expect(exitCodeOfRun(run)).toBe(10);
    expect(await bench.report(run)).toMatchObject({ exitCode: 10, drift: { changed: 1, gone: 1 } });
    expect(run.requests).toMatchObject({ post: 0, patch: 0 });
    expect(await bench.world.contacts()).toEqual(before);
  });

  it('leaves rows that the file changed for the next run, and ends with 0 where nothing drifted', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', file(), inFeed);
    const run = await bench.import('b.csv', file('Seller'), verify);
    expectCounts(run, { rows: 5, skipped: 5 });
    expect(run.shape?.drift).toEqual({ looked: 5, changed: 0, gone: 0, doubled: 0 });
    expect(exitCodeOfRun(run)).toBe(0);
    expectCounts(await bench.import('c.csv', file('Seller'), inFeed), { rows: 5, updated: 5 });
  });

  it('tells of one phone number under two keys, and looks at some keys only where they are named', async () => {
    const bench = await openRunsBench();
    const twice = file().replace(phone(3), phone(0));
    await bench.import('a.csv', twice, inFeed);
    const run = await bench.import('b.csv', `${twice}\r\n`, verify);
    expect((await bench.report(run)).outcomes).toMatchObject([
      { kind: 'drift', code: 'samePhone', key: 'c-4', contact: 'c-1', value: phone(0) },
    ]);
    expect(run.notes).toContain('1 phone number stands under two keys');
    const few = await bench.import('c.csv', `${twice}\r\n\r\n`, {
      ...inFeed,
      options: { verify: true, only: ['c-2'] },
    });
    expect(few.notes.find((note) => note.startsWith('looked at'))).toMatch(/^looked at 1 contact: /);
    expect(few.shape?.drift?.looked).toBe(1);
  });

  it('tells of two contacts with one key', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', file(), inFeed);
    const listed = bench.parts.workspace.listByExternalIds.bind(bench.parts.workspace);
    const workspace = {
      ...bench.parts.workspace,
      listByExternalIds: async (...given: Parameters<typeof listed>) => {
        const found = await listed(...given);
        const twins = found.contacts.filter(({ externalId }) => externalId === 'c-4');
        return { ...found, contacts: [...found.contacts, ...twins.map((one) => ({ ...one, id: 'twin' }))] };
      },
    };
    const staged = await bench.stage(await bench.submit('b.csv', `${file()}\r\n`, verify), {
      parts: { ...bench.parts, workspace },
    });
    expect(staged.shape?.drift).toEqual({ looked: 5, changed: 0, gone: 0, doubled: 1 });
  });
});

describe('a contact that the service does not show whole', () => {
  it('is counted in a note, and not compared', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', file(), inFeed);
    const listed = bench.parts.workspace.listByExternalIds.bind(bench.parts.workspace);
    const workspace = {
      ...bench.parts.workspace,
      listByExternalIds: async (...given: Parameters<typeof listed>) => {
        const found = await listed(...given);
        const contacts = found.contacts.map((one) =>
          one.externalId === 'c-4' ? { ...one, missing: ['customFields'] } : one,
        );
        return { ...found, contacts };
      },
    };
    const run = await bench.stage(await bench.submit('b.csv', `${file()}\r\n`, verify), {
      parts: { ...bench.parts, workspace },
    });
    expect(run.shape?.drift).toMatchObject({ looked: 4, changed: 0 });
    expect(run.notes).toContain('1 contact could not be read, and was not compared');
  });
});

describe('a plan with --verify', () => {
  it('tells what the import with it tells, and changes nothing: no contact, no row of the ledger, no file', async () => {
    const planned = await openPlanBench(await drifted());
    const { bench } = planned;
    await bench.write('b.csv', file());
    const was = await planned.everything();
    const made = await planned.plan('b.csv', file(), verify);
    expect(await planned.everything()).toEqual(was);
    expect(made).toMatchObject({ isKept: false, drift: { looked: 5, changed: 1, gone: 1, doubled: 0 } });
    expect(made.plan.totals.rows).toMatchObject({ rows: 5, unchanged: 5, updated: 0 });
    expect(made.sent.get).toBeGreaterThan(0);
    expect(exitCodeOfPlan(made, false)).toBe(10);
    const run = await bench.import('b.csv', file(), verify);
    const ofKind = (outcomes: readonly RunEvent[]) => outcomes.filter(({ kind }) => kind === 'drift');
    expect(ofKind(made.outcomes)).toEqual(ofKind((await bench.report(run)).outcomes));
    expect(run.shape?.drift).toEqual(made.drift);
    expect(made.notes).toEqual(run.notes);
  });
});

describe('a run with --repair', () => {
  it('writes back what people changed, by the policies, and leaves deleted contacts deleted', async () => {
    const bench = await drifted();
    const { run } = await driftIn(bench, 'b.csv', repair);
    expectCounts(run, { rows: 5, unchanged: 4, updated: 1 });
    expect(run.notes).toContain('what people changed in 1 contact is written back');
    const { defaultFields, customFields } = await bench.world.contactOf('c-2');
    expect(defaultFields).toMatchObject({ role: 'Buyer', company: 'Oak' });
    expect(defaultFields.phoneNumbers.map(({ value }) => value)).toEqual([phone(1)]);
    expect(customFields.find(({ key }) => key === 'seats')?.value).toBe(2);
    expect((await bench.world.contacts()).length).toBe(4);
    // Its row is known as before, and nothing drifts any more but what was deleted.
    const next = await driftIn(bench, 'c.csv', verify);
    expectCounts(next.run, { rows: 5, unchanged: 5 });
    expect(next.run.shape?.drift).toEqual({ looked: 5, changed: 0, gone: 1, doubled: 0 });
    expect(next.run.requests).toMatchObject({ patch: 0 });
  });

  it('is stopped by the guard on updates, before the first write', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, updatesFloor: 1 } });
    await bench.import('a.csv', file(), inFeed);
    for (const { id, defaultFields } of await bench.world.contacts()) {
      await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Chief' } });
    }
    const run = await bench.stage(await bench.submit('b.csv', `${file()}\r\n`, repair));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardUpdates' } });
    expect(run.reason?.message).toContain('changes 5 of its 5 known contacts');
  });

  it('says in how many contacts it does so where --limit leaves some as they are, and counts these for the guard', async () => {
    const bench = await openRunsBench({ guards: { ...defaultGuards, updatesFloor: 2 } });
    await bench.import('a.csv', file(), inFeed);
    for (const { id, defaultFields } of await bench.world.contacts()) {
      await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Chief' } });
    }
    const run = await bench.import('b.csv', `${file()}\r\n`, { ...inFeed, options: { repair: true, limit: 1 } });
    expectCounts(run, { rows: 5, updated: 1, skipped: 4 });
    expect(run.notes).toContain('what people changed in 1 contact is written back');
  });

  it('imports what the file changed as ever, and holds what both changed', async () => {
    const bench = await drifted();
    const run = await bench.import('b.csv', file('Seller'), repair);
    expectCounts(run, { rows: 5, updated: 4, skipped: 1 });
    expect(run.counts.heldFields).toBe(1);
    const { defaultFields, customFields } = await bench.world.contactOf('c-2');
    expect(defaultFields.role).toBe('Chief');
    expect(customFields.find(({ key }) => key === 'seats')?.value).toBe(2);
  });
});

describe('what a person kept in the app', () => {
  const edit = async ({ world }: RunsBench, role: string): Promise<void> => {
    const { id, defaultFields } = await world.contactOf('c-2');
    await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role } });
  };
  const accepted = { ...inFeed, options: { accept: true } };
  const atOak = (role: string) => file(role).replaceAll('Elm', 'Oak');
  const roleOf = async ({ world }: RunsBench) => (await world.contactOf('c-2')).defaultFields.role;
  /** File and app agreed on Buyer; people said Chief, and the file says Boss. */
  const kept = async (): Promise<RunsBench> => {
    const bench = await openRunsBench({ configured: { crm: {} } });
    await bench.import('a.csv', file(), inFeed);
    await edit(bench, 'Chief');
    expect((await bench.import('b.csv', file('Boss'), accepted)).counts).toMatchObject({ heldFields: 1 });
    const identity = identifyProcess(bench.parts.clock.bootId);
    const home = { submit: bench.parts, actor: bench.parts.actor, identity, config: { upsert: bench.parts } };
    const { taken } = await takeHeld(home, 'app', await listHeld(bench.parts, {}));
    expect(taken).toHaveLength(1);
    return bench;
  };

  it('is no drift, and is not repaired', async () => {
    const bench = await kept();
    const { run, told } = await driftIn(bench, 'c.csv', verify, file('Boss'));
    expect([told, exitCodeOfRun(run)]).toEqual([[], 0]);
    expectCounts(await bench.import('d.csv', file('Boss'), repair), { rows: 5, unchanged: 5 });
    expect(await roleOf(bench)).toBe('Chief');
  });

  it('is no drift after a row about other fields either, and another value of the file is held', async () => {
    const bench = await kept();
    await bench.import('c.csv', atOak('Boss'), accepted);
    expect((await driftIn(bench, 'd.csv', verify, atOak('Boss'))).told).toEqual([]);
    const next = await bench.import('e.csv', atOak('Head'), accepted);
    expect(next.counts).toMatchObject({ heldFields: 1 });
    expect(await roleOf(bench)).toBe('Chief');
  });

  it('is drift again once the contact has held what the file says', async () => {
    const bench = await kept();
    await edit(bench, 'Boss');
    await bench.import('c.csv', atOak('Boss'), accepted);
    await edit(bench, 'Chief');
    const { told } = await driftIn(bench, 'd.csv', verify, atOak('Boss'));
    expect(told).toEqual([['c-2', 'driftChanged', 'role', 'Boss', 'Chief']]);
  });
});

describe('a contact that several feeds name', () => {
  const feed = (name: string, options: object = {}) => ({ feed: name, options });
  const text = (role: string, seats = '1') => `externalId,firstName,role,custom.seats\r\nc-1,Ann,${role},${seats}\r\n`;
  const opened = () => openRunsBench({ configured: { crm: {}, erp: {} } });
  const edit = async ({ world }: RunsBench, role: string, seats: number): Promise<void> => {
    const { id, defaultFields, customFields } = await world.contactOf('c-1');
    const others = customFields.filter(({ key }) => key !== 'seats');
    const edited = [...others, { key: 'seats', value: seats }];
    const body = { defaultFields: { ...defaultFields, role }, customFields: edited };
    await world.byHand('PATCH', `/v1/contacts/${id}`, body);
  };
  const told = async (bench: RunsBench, name: string, options: object, file: string) => {
    const run = await bench.import(`${name}.csv`, file, feed(name, options));
    const { outcomes } = await bench.report(run);
    const drift = outcomes.filter(({ kind }: { kind: string }) => kind === 'drift');
    return { run, drift: drift.map(({ field, file: said, app }: Record<string, unknown>) => [field, said, app]) };
  };

  it.each(['crm', 'erp'])(
    'drifts for each feed that says what was agreed, and either repairs it (%s)',
    async (name) => {
      const bench = await opened();
      for (const one of ['crm', 'erp']) await bench.import(`${one}.csv`, text('Buyer'), feed(one));
      await edit(bench, 'Chief', 99);
      for (const one of ['crm', 'erp']) {
        const { run, drift } = await told(bench, one, { verify: true }, text('Buyer'));
        expect([exitCodeOfRun(run), drift]).toEqual([
          10,
          [
            ['role', 'Buyer', 'Chief'],
            ['custom.seats', 1, 99],
          ],
        ]);
      }
      expectCounts((await told(bench, name, { repair: true }, text('Buyer'))).run, { rows: 1, updated: 1 });
      expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('Buyer');
      for (const one of ['crm', 'erp']) {
        const { run, drift } = await told(bench, one, { verify: true }, text('Buyer'));
        expect([exitCodeOfRun(run), drift]).toEqual([0, []]);
      }
    },
  );

  it.each(['written', 'typed in by people before'])(
    'does not drift for a feed whose value another feed has changed (%s)',
    async (how) => {
      const bench = await opened();
      await bench.import('crm.csv', text('Buyer'), feed('crm'));
      if (how !== 'written') await edit(bench, 'Seller', 2);
      await bench.import('erp.csv', text('Seller', '2'), feed('erp'));
      await edit(bench, 'Chief', 99);
      expect((await told(bench, 'crm', { verify: true }, text('Buyer'))).drift).toEqual([]);
      expectCounts((await told(bench, 'crm', { repair: true }, text('Buyer'))).run, { rows: 1, unchanged: 1 });
      const { drift } = await told(bench, 'erp', { repair: true }, text('Seller', '2'));
      expect(drift).toEqual([
        ['role', 'Seller', 'Chief'],
        ['custom.seats', 2, 99],
      ]);
      expect((await bench.world.contactOf('c-1')).defaultFields.role).toBe('Seller');
    },
  );

  it('is repaired by either feed where the mapping lets the file win, and a repeated file alone writes nothing', async () => {
    const bench = await opened();
    const wins = mappingSchema.parse({
      name: 'wins',
      key: 'externalId',
      fields: { role: { column: 'role', policy: 'source' } },
    });
    const given = (name: string, options: object = {}) => ({ feed: name, mapping: wins, options });
    const people = 'externalId,role\r\nc-1,Buyer\r\n';
    for (const one of ['crm', 'erp']) await bench.import(`${one}.csv`, people, given(one));
    const { id, defaultFields } = await bench.world.contactOf('c-1');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Chief' } });
    expectCounts(await bench.import('crm.csv', people, given('crm')), { rows: 1, unchanged: 1 });
    expectCounts(await bench.import('crm.csv', people, given('crm', { repair: true })), { rows: 1, updated: 1 });
    const run = await bench.import('crm.csv', people, given('crm', { verify: true }));
    expect(run.shape?.drift).toMatchObject({ looked: 1, changed: 0 });
  });

  it('does not drift where people fill a custom field that the file clears, since no repair takes it away', async () => {
    const bench = await opened();
    await bench.import('crm.csv', text('Buyer', ''), feed('crm'));
    await bench.import('crm.csv', text('Seller', '#CLEAR'), feed('crm'));
    await edit(bench, 'Seller', 99);
    expect((await told(bench, 'crm', { repair: true }, text('Seller', '#CLEAR'))).drift).toEqual([]);
    expect((await told(bench, 'crm', { verify: true }, text('Seller', '#CLEAR'))).drift).toEqual([]);
  });
});

describe('a key that people gave to another contact', () => {
  async function moved(): Promise<RunsBench> {
    const bench = await openRunsBench();
    await bench.import('a.csv', file(), inFeed);
    const { world } = bench;
    await world.byHand('PATCH', `/v1/contacts/${(await world.contactOf('c-2')).id}`, { externalId: 'old-2' });
    const defaultFields = { firstName: 'Ann', role: 'Chief' };
    await world.byHand('POST', '/v1/contacts', { externalId: 'c-2', defaultFields });
    return bench;
  }

  it('is told as moved by --verify, and its fields are no drift', async () => {
    const { run, told } = await driftIn(await moved(), 'b.csv', verify);
    expect(run.shape?.drift).toEqual({ looked: 5, changed: 1, gone: 0, doubled: 0 });
    expect(told).toEqual([['c-2', 'driftMoved', null, undefined, undefined]]);
    expect(exitCodeOfRun(run)).toBe(10);
  });

  it('is taken over by --repair, which fills what is empty and holds what differs', async () => {
    const bench = await moved();
    const { run } = await driftIn(bench, 'b.csv', repair);
    expectCounts(run, { rows: 5, unchanged: 4, updated: 1 });
    expect(run.counts).toMatchObject({ adopted: 1, heldFields: 1 });
    expect(run.notes.join('\n')).not.toContain('written back');
    const { defaultFields } = await bench.world.contactOf('c-2');
    expect(defaultFields).toMatchObject({ role: 'Chief', company: 'Elm', phoneNumbers: [{ value: phone(1) }] });
    expect((await bench.world.contactOf('old-2')).defaultFields).toMatchObject({ role: 'Buyer' });
    expect((await driftIn(bench, 'c.csv', verify)).told).toEqual([]);
    // The row is looked at once more, since no row of a file has met the contact.
    const next = await bench.import('d.csv', `${file()}\r\n`, inFeed);
    expectCounts(next, { rows: 5, unchanged: 5 });
    expect(next.requests.get).toBe(1);
    await bench.world.expectSound();
  });
});
