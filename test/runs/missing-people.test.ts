/** People who left (`docs/rules.md`, "People who left"). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Mapping, mappingSchema } from '#src/mapping/mapping-schema.ts';
import { testFeeds } from '#test/feeds/support/test-feeds.ts';
import { openPlanBench } from '#test/plans/support/plan-bench.ts';
import { phone } from '#test/upsert/support/build.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const keys = ['c-1', 'c-2', 'c-3', 'c-4'];
const mapping: Mapping = mappingSchema.parse({
  name: 'crm',
  key: 'externalId',
  fields: { firstName: 'firstName', role: 'role' },
  phones: [{ column: 'phone', label: 'work' }],
});

const header = 'externalId,firstName,role,phone';
const rowOf = (key: string) => `${key},Ann,Buyer,${phone(Number(key.slice(2)))}`;
const file = (...present: readonly string[]) => [header, ...present.map(rowOf), ''].join('\r\n');
const inFeed = { feed: 'crm', mapping };

const openBench = (onMissing: string, guards = {}) => openRunsBench({ configured: { crm: { onMissing, guards } } });

const contactOf = async ({ world }: RunsBench, key: string) => {
  const { defaultFields, customFields } = await world.contactOf(key);
  return {
    firstName: defaultFields.firstName,
    role: defaultFields.role,
    phones: defaultFields.phoneNumbers.map(({ value }) => value),
    manager: customFields.find((one) => one.key === 'account_manager')?.value ?? null,
  };
};

const missingIn = async (bench: RunsBench, name: string, ...present: readonly string[]) => {
  const run = await bench.import(name, file(...present), inFeed);
  const listed = (await bench.report(run)).outcomes.filter(({ kind }: { kind: string }) => kind === 'missing');
  return { run, listed: listed.map(({ key, since }: { key: string; since: string }) => [key, since]) };
};

describe('a full file that lacks people', () => {
  it('tells who they are and since when, and who is back', async () => {
    const bench = await openBench('report');
    const first = await missingIn(bench, 'a.csv', ...keys);
    expect(first.run.shape?.missing).toEqual({ count: 0, new: 0 });
    const { run, listed } = await missingIn(bench, 'b.csv', 'c-1', 'c-3', 'c-4');
    expect(run.shape?.missing).toEqual({ count: 1, new: 1 });
    const since = new Date(run.createdAtMs).toISOString();
    expect(listed).toEqual([['c-2', since]]);
    expect(await bench.report(run)).toMatchObject({ missing: { count: 1, new: 1 }, rows: 3, unchanged: 3 });
    bench.world.clock.advance(86_400_000);
    const later = await missingIn(bench, 'c.csv', 'c-1', 'c-4');
    expect(later.run.shape?.missing).toEqual({ count: 2, new: 1 });
    expect(later.listed).toEqual([
      ['c-2', since],
      ['c-3', new Date(later.run.createdAtMs).toISOString()],
    ]);
    expect(await bench.ledger.missing.count('crm')).toBe(2);
    const planned = await (await openPlanBench(bench)).plan('d.csv', file('c-1', 'c-2', 'c-4'), inFeed);
    expect([planned.missing, planned.outcomes.map(({ key, kind }) => [kind, key])]).toEqual([
      { count: 1, new: 0 },
      [['missing', 'c-3']],
    ]);
    const back = await missingIn(bench, 'd.csv', 'c-1', 'c-2', 'c-4');
    expect(back.listed.map(([key]: readonly string[]) => key)).toEqual(['c-3']);
    expect((await bench.ledger.missing.list('crm', null, 10)).map(({ key }) => key)).toEqual(['c-3']);
    // Nothing was written for any of it.
    expect((await bench.world.contacts()).length).toBe(4);
    expect(await contactOf(bench, 'c-3')).toMatchObject({ role: 'Buyer', phones: [phone(3)] });
  });

  it('counts no rejected row, no row of another feed, and says nothing for files of kind delta', async () => {
    const bench = await openRunsBench({ configured: { crm: {}, changes: { kind: 'delta' } } });
    await bench.import('a.csv', file(...keys), inFeed);
    await bench.import('s.csv', file('c-1', 'c-9'), { feed: 'shop', mapping });
    const broken = `${file('c-1', 'c-2', 'c-3')}c-4,Ann,Buyer,not a number\r\n`;
    const run = await bench.import('b.csv', broken, inFeed);
    expect(run.counts.dead).toBe(1);
    expect(run.shape?.missing).toEqual({ count: 0, new: 0 });
    // Rows that cannot be read hold their keys as well.
    const unreadable = `${file('c-1')}c-2,A\u0007nn,Buyer,\r\nc-3,Ann\r\nc-4,Ann,Buyer, Jr.,${phone(4)}\r\n`;
    const unread = await bench.import('u.csv', unreadable, inFeed);
    expect([unread.counts.dead, unread.shape?.missing]).toEqual([3, { count: 0, new: 0 }]);
    const records = keys.map((externalId) => {
      const firstName = externalId === 'c-4' ? 'A\u0007nn' : 'Ann';
      return { externalId, firstName, role: 'Buyer', phone: phone(Number(externalId.slice(2))) };
    });
    const json = await bench.import('j.json', JSON.stringify(records), inFeed);
    expect([json.counts.dead, json.shape?.missing]).toEqual([1, { count: 0, new: 0 }]);
    const ignoring = { ...mapping, name: 'ignoring', ignoreRejected: [{ code: 'phoneLetters' }] };
    const ignored = `${file('c-1', 'c-2', 'c-3')}c-4,Ann,Buyer,call me\r\n`;
    const skipped = await bench.import('i.csv', ignored, { feed: 'crm', mapping: ignoring });
    expect([skipped.counts.skipped, skipped.shape?.missing]).toEqual([1, { count: 0, new: 0 }]);
    const delta = { feed: 'changes', mapping };
    await bench.import('c.csv', file('c-1'), delta);
    expect((await bench.import('d.csv', file('c-2'), delta)).shape?.missing).toBeUndefined();
  });

  it('counts no one whom a later file of kind delta has, unless it applies some rows only', async () => {
    const bench = await openBench('report');
    await bench.import('a.csv', file(...keys), inFeed);
    await bench.import('b.csv', file('c-1'), inFeed);
    Object.assign(bench.parts, { feeds: await testFeeds({ configured: { crm: { kind: 'delta' } } }) });
    const missing = async () => (await bench.ledger.missing.list('crm', null, 9)).map(({ key }) => key);
    const only = { ...inFeed, options: { only: ['c-3'] } };
    await bench.import('c.csv', file('c-2', 'c-3'), only);
    expect(await missing()).toEqual(['c-2', 'c-3', 'c-4']);
    await bench.import('d.csv', `${file('c-2')}c-3,Ann,Buyer,call me\r\n`, inFeed);
    expect(await missing()).toEqual(['c-4']);
  });

  it('counts for nothing while it is stopped, or once it is cancelled', async () => {
    const bench = await openBench('report', { rowsMin: '70%', rowsFloor: 1 });
    await bench.import('a.csv', file(...keys), inFeed);
    const run = await bench.stage(await bench.submit('b.csv', file('c-1'), inFeed));
    expect(run).toMatchObject({ state: 'stopped', shape: { missing: { count: 3, new: 3 } } });
    expect(await bench.ledger.missing.count('crm')).toBe(0);
  });
});

describe('the guard on clears', () => {
  it.each([
    ['tag role=Left', '3 values of its 3 known contacts (100%'],
    ['clear role', '4 values of its 3 known contacts, also of 1 contact of people whom it no longer has (133.3%'],
  ])('counts apart people whom the file lacks where they lose a value: %s', async (onMissing, words) => {
    const bench = await openBench(onMissing, { clearsMax: '10%', clearsFloor: 1 });
    await bench.import('a.csv', file(...keys), inFeed);
    const withoutPhones = ['c-1', 'c-2', 'c-3'].map((key) => `${key},Ann,Buyer,`);
    const run = await bench.import('b.csv', csv(withoutPhones, header), { ...inFeed, options: { onBlank: 'clear' } });
    expect([run.state, run.reason?.code]).toEqual(['stopped', 'guardClears']);
    expect(run.reason?.message).toContain(`the file clears or removes ${words}`);
  });
});

describe('with onMissing clear', () => {
  it('clears what the file said of them, keeps what people changed, and writes it again when they are back', async () => {
    const bench = await openBench('clear role, phones', { clearsFloor: 100 });
    await bench.import('a.csv', file(...keys), inFeed);
    const { id, defaultFields } = await bench.world.contactOf('c-3');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, {
      defaultFields: {
        ...defaultFields,
        role: 'Chief',
        phoneNumbers: [...defaultFields.phoneNumbers, { name: 'by hand', value: phone(9) }],
      },
    });
    const { run } = await missingIn(bench, 'b.csv', 'c-1', 'c-4');
    // Two rows of the file, and two people.
    expectCounts(run, { rows: 4, unchanged: 2, updated: 2 });
    expect(run.counts.heldFields).toBe(1);
    expect(await contactOf(bench, 'c-2')).toMatchObject({ firstName: 'Ann', role: null, phones: [] });
    expect(await contactOf(bench, 'c-3')).toMatchObject({ firstName: 'Ann', role: 'Chief', phones: [phone(9)] });
    // The next night there is nothing left to do.
    const again = await missingIn(bench, 'c.csv', 'c-4', 'c-1');
    expectCounts(again.run, { rows: 2, unchanged: 2 });
    expect(again.run.requests).toMatchObject({ get: 0, patch: 0 });
    // In another order, so that it is not the old file once more.
    const back = await missingIn(bench, 'd.csv', ...keys.toReversed());
    expectCounts(back.run, { rows: 4, unchanged: 2, updated: 2 });
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: 'Buyer', phones: [phone(2)] });
    expect(await contactOf(bench, 'c-3')).toMatchObject({ role: 'Chief', phones: [phone(9), phone(3)] });
  });

  it('skips one whose key people took away, as one that was deleted', async () => {
    const bench = await openBench('clear role');
    await bench.import('a.csv', file(...keys), inFeed);
    const { id } = await bench.world.contactOf('c-2');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { externalId: null });
    const deleted = await bench.world.contactOf('c-3');
    await bench.world.byHand('DELETE', `/v1/contacts/${deleted.id}`);
    const { run } = await missingIn(bench, 'b.csv', 'c-1', 'c-4');
    expectCounts(run, { rows: 4, unchanged: 2, skipped: 2 });
    expect((await bench.report(run)).outcomes.filter(({ kind }: { kind: string }) => kind === 'skipped')).toMatchObject(
      [
        { key: 'c-2', code: 'gone' },
        { key: 'c-3', code: 'gone' },
      ],
    );
  });

  it('keeps what another feed names', async () => {
    const bench = await openBench('clear role, phones', { clearsFloor: 100 });
    await bench.import('a.csv', file(...keys), inFeed);
    await bench.import('s.csv', file('c-2'), { feed: 'shop', mapping });
    await missingIn(bench, 'b.csv', 'c-1', 'c-3', 'c-4');
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: 'Buyer', phones: [phone(2)] });
  });

  it('clears what a feed names that is gone', async () => {
    const bench = await openBench('clear role', { clearsFloor: 100 });
    await bench.import('a.csv', file(...keys), inFeed);
    await bench.import('s.csv', file('c-2'), { feed: 'shop', mapping });
    await missingIn(bench, 'b.csv', 'c-1', 'c-3', 'c-4');
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: 'Buyer' });
    await rm(join(bench.folder, 'import', 'shop'), { recursive: true });
    await missingIn(bench, 'c.csv', 'c-4', 'c-3', 'c-1');
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: null });
  });

  it('clears what else a feed names once that is gone, too: custom fields, e-mails and phones, each by itself', async () => {
    const bench = await openBench('clear phones, emails, custom.account_manager', { clearsFloor: 100 });
    const desk = (name: string, ...rows: readonly string[]) =>
      bench.import(name, csv(rows, 'externalId,firstName,email,phone,mobile,custom.account_manager'), { feed: 'crm' });
    const held = async () => {
      const { defaultFields, customFields } = await bench.world.contactOf('k-1');
      const emails = defaultFields.emails.map(({ value }) => value);
      const phones = defaultFields.phoneNumbers.map(({ value }) => value);
      return { emails, phones, manager: customFields.find(({ key }) => key === 'account_manager')?.value ?? null };
    };
    const bea = 'k-2,Bea,,,,';
    await desk('a.csv', `k-1,Ann,ann@example.com,${phone(1)},${phone(2)},Zed`, bea);
    const header = 'externalId,email,phone,custom.account_manager';
    await bench.import('s.csv', csv([`k-1,ann@example.com,${phone(1)},Zed`], header), { feed: 'shop' });
    // The second phone is named by no other feed.
    expectCounts(await desk('b.csv', bea), { rows: 2, updated: 1, unchanged: 1 });
    expect(await held()).toEqual({ emails: ['ann@example.com'], phones: [phone(1)], manager: 'Zed' });
    expectCounts(await desk('c.csv', bea, 'k-3,Cleo,,,,'), { rows: 2, created: 1, unchanged: 1 });
    await rm(join(bench.folder, 'import', 'shop'), { recursive: true });
    expectCounts(await desk('d.csv', 'k-3,Cleo,,,,', bea), { rows: 3, updated: 1, unchanged: 2 });
    expect(await held()).toEqual({ emails: [], phones: [], manager: null });
    expectCounts(await desk('e.csv', bea, 'k-3,Cleo,,,,', 'k-4,Dee,,,,'), { rows: 3, created: 1, unchanged: 2 });
  });

  it('clears what two feeds name once the person has left both', async () => {
    const rule = { onMissing: 'clear phones, emails, role, custom.account_manager', guards: { clearsFloor: 100 } };
    const bench = await openRunsBench({ configured: { crm: rule, shop: rule } });
    const header = 'externalId,firstName,role,email,phone,custom.account_manager';
    const row = `k-1,Ann,Buyer,ann@example.com,${phone(1)},Zed`;
    const take = (feed: string, name: string, ...rows: string[]) => bench.import(name, csv(rows, header), { feed });
    await take('crm', 'a.csv', row, 'k-2,Bea,,,,');
    await take('shop', 's.csv', row, 'k-3,Cy,,,,');
    await take('crm', 'b.csv', 'k-2,Bea,,,,');
    expect((await bench.world.contactOf('k-1')).defaultFields).toMatchObject({ role: 'Buyer', emails: [{}] });
    await take('shop', 't.csv', 'k-3,Cy,,,,');
    await take('crm', 'c.csv', 'k-2,Bea,,,,', 'k-4,Dee,,,,');
    const { defaultFields, customFields } = await bench.world.contactOf('k-1');
    expect(defaultFields).toMatchObject({ role: null, emails: [], phoneNumbers: [] });
    expect(customFields).toEqual([]);
  });

  it('clears one of two numbers of a column where another feed names the other, until that is gone', async () => {
    const bench = await openBench('clear phones', { clearsFloor: 100 });
    const desk = (name: string, ...people: readonly object[]) =>
      bench.import(name, JSON.stringify(people), { feed: 'crm' });
    const phones = async () =>
      (await bench.world.contactOf('k-1')).defaultFields.phoneNumbers.map(({ value }) => value);
    const [bea, cleo] = ['Bea', 'Cleo'].map((firstName) => ({ externalId: firstName, defaultFields: { firstName } }));
    const numbers = [1, 2].map((number) => ({ name: 'work', value: phone(number) }));
    await desk('a.json', { externalId: 'k-1', defaultFields: { firstName: 'Ann', phoneNumbers: numbers } }, { ...bea });
    await bench.import('s.csv', csv([`k-1,${phone(2)}`], 'externalId,phone'), { feed: 'shop' });
    await desk('b.json', { ...bea });
    expect(await phones()).toEqual([phone(2)]);
    await desk('c.json', { ...bea }, { ...cleo });
    expect(await phones()).toEqual([phone(2)]);
    await rm(join(bench.folder, 'import', 'shop'), { recursive: true });
    await desk('d.json', { ...cleo }, { ...bea });
    expect(await phones()).toEqual([]);
  });

  it('holds what people changed as long as the person is missing, whatever else is cleared meanwhile', async () => {
    const bench = await openBench('clear role, company', { clearsFloor: 100 });
    const desk = (name: string, ...rows: readonly string[]) =>
      bench.import(name, csv(rows, 'externalId,firstName,role,company'), { feed: 'crm' });
    const shop = (name: string, company: string) =>
      bench.import(name, csv([`k-1,${company}`], 'externalId,company'), { feed: 'shop' });
    await desk('a.csv', 'k-1,Ann,Buyer,Mill', 'k-2,Bea,Buyer,Mill');
    await shop('s.csv', 'Mill');
    const { id, defaultFields } = await bench.world.contactOf('k-1');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, role: 'Chief' } });
    expect((await desk('b.csv', 'k-2,Bea,Buyer,Mill')).counts.heldFields).toBe(1);
    const held = await bench.ledger.contacts.held({ feed: 'crm', limit: 10 });
    expect(held).toMatchObject([{ key: 'k-1', field: 'role', line: 0 }]);
    // The company is cleared as soon as no other feed names it.
    await shop('t.csv', '#CLEAR');
    const later = await desk('c.csv', 'k-2,Bea,Buyer,Mill', 'k-3,Cleo,,');
    expectCounts(later, { rows: 3, created: 1, unchanged: 2 });
    expect(await bench.ledger.contacts.held({ feed: 'crm', limit: 10 })).toEqual(held);
    const next = await desk('d.csv', 'k-2,Bea,Buyer,Mill', 'k-3,Cleo,Buyer,');
    expectCounts(next, { rows: 2, updated: 1, unchanged: 1 });
    expect(await bench.ledger.contacts.held({ feed: 'crm', limit: 10 })).toEqual(held);
    await desk('e.csv', 'k-2,Bea,Buyer,Mill', 'k-3,Cleo,Buyer,', 'k-1,Ann,,Mill');
    expect(await bench.ledger.contacts.held({ feed: 'crm', limit: 10 })).toEqual([]);
  });

  it('is stopped by the guard on updates, which counts them apart from the rows of the file', async () => {
    const guards = { updatesFloor: 1, clearsFloor: 100, rowsMin: '0%', keysMin: '0%' };
    const bench = await openRunsBench({
      guards: defaultGuards,
      configured: { crm: { onMissing: 'clear role, phones', guards } },
    });
    await bench.import('a.csv', file(...keys), inFeed);
    const run = await bench.stage(await bench.submit('b.csv', file('c-1', 'c-4'), inFeed));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardUpdates' } });
    expect(run.reason?.message).toContain(
      "the run changes 0 of the file's 2 known contacts, and 2 contacts of people whom it no longer has (100%;",
    );
  });

  it('is stopped by the guard on clears, before the first write', async () => {
    const bench = await openRunsBench({
      guards: defaultGuards,
      configured: {
        crm: { onMissing: 'clear role, phones', guards: { clearsFloor: 1, rowsFloor: 100, keysFloor: 100 } },
      },
    });
    await bench.import('a.csv', file(...keys), inFeed);
    const run = await bench.stage(await bench.submit('b.csv', file('c-1'), inFeed));
    expect(run).toMatchObject({ state: 'stopped', reason: { code: 'guardClears' } });
    expect(run.reason?.message).toContain('clears or removes 6 values');
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: 'Buyer' });
  });

  it('does nothing in a run that applies some rows only', async () => {
    const bench = await openBench('clear role');
    await bench.import('a.csv', file(...keys), inFeed);
    const run = await bench.import('b.csv', file('c-1'), { ...inFeed, options: { limit: 5 } });
    expectCounts(run, { rows: 1, unchanged: 1 });
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: 'Buyer' });
  });
});

describe('with onMissing tag', () => {
  it('writes the tag, and takes it away when they are back', async () => {
    const bench = await openBench('tag custom.account_manager=nobody (left)');
    await bench.import('a.csv', file(...keys), inFeed);
    const { run } = await missingIn(bench, 'b.csv', 'c-1', 'c-3', 'c-4');
    expectCounts(run, { rows: 4, unchanged: 3, updated: 1 });
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: 'Buyer', manager: 'nobody (left)' });
    expectCounts((await missingIn(bench, 'c.csv', 'c-3', 'c-1', 'c-4')).run, { rows: 3, unchanged: 3 });
    // In another order, so that it is not the old file once more.
    const back = await missingIn(bench, 'd.csv', ...keys.toReversed());
    expectCounts(back.run, { rows: 4, unchanged: 3, updated: 1 });
    expect(await contactOf(bench, 'c-2')).toMatchObject({ role: 'Buyer', manager: null });
    expectCounts((await missingIn(bench, 'e.csv', 'c-3', 'c-4', 'c-1', 'c-2')).run, { rows: 4, unchanged: 4 });
  });

  it('refuses the file where the workspace has no such field', async () => {
    const bench = await openBench('tag custom.status=left');
    const run = await bench.stage(await bench.submit('a.csv', file(...keys), inFeed));
    const hint =
      'Create the custom field in the workspace, or correct feeds.crm.onMissing in the config file, then drop the file again.';
    expect(run).toMatchObject({ state: 'failed', reason: { code: 'tagRefused', hint } });
  });
});

it('a generic file of a named feed tells who left, too', async () => {
  const bench = await openRunsBench({ configured: { crm: {} } });
  await bench.import('a.csv', csv(['a,Ann,Clerk', 'b,Bea,Clerk']), { feed: 'crm' });
  const run = await bench.import('b.csv', csv(['a,Ann,Clerk']), { feed: 'crm' });
  expect(run.shape?.missing).toEqual({ count: 1, new: 1 });
});
