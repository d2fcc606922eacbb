/** Two feeds, one person: order is per feed and key, between feeds per field (`docs/rules.md`, "Workspace, feed, key"). */
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '#src/ledger/runs.ts';
import { phone } from '#test/upsert/support/build.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from './support/runs-bench.ts';
import { defaultGuards } from './support/tallies.ts';

const peopleCount = 60;
const configured = { crm: {}, shop: {} };
const header = 'externalId,firstName,phone mobile';

/** A row a person; the numbers start at `from`. */
const people = (from: number) =>
  csv(
    Array.from({ length: peopleCount }, (_, index) => `c-${index},Ann,${phone((from + index) % 100)}`),
    header,
  );
const shopFile = csv(
  Array.from({ length: peopleCount }, (_, index) => `c-${index},Ann`),
  'externalId,firstName',
);
const otherColumns = csv(
  Array.from({ length: peopleCount }, (_, index) => `c-${index},Mill ${index}`),
  'externalId,company',
);

async function loaded(bench: RunsBench): Promise<void> {
  expectCounts(await bench.import('crm-1.csv', people(0), { feed: 'crm' }), {
    rows: peopleCount,
    created: peopleCount,
  });
  // What is found equal is the second feed's as well, without a write.
  const shop = await bench.import('shop-1.csv', shopFile, { feed: 'shop' });
  expectCounts(shop, { rows: peopleCount, unchanged: peopleCount });
  expect(shop.requests.patch).toBe(0);
}

async function expectPhones(bench: RunsBench, from: number): Promise<void> {
  const numbers = new Map((await bench.world.contacts()).map((one) => [one.externalId, one.defaultFields]));
  for (let index = 0; index < peopleCount; index += 1) {
    const fields = numbers.get(`c-${index}`);
    expect(fields?.phoneNumbers.map(({ value }) => value)).toEqual([phone((from + index) % 100)]);
  }
}

const finished = async (bench: RunsBench, run: RunRecord) => bench.finish(await bench.apply(run));

describe('what one feed changed is at work while another feed’s newer file arrives', () => {
  it.each([
    ['with nothing changed', shopFile, { unchanged: peopleCount }],
    ['with other columns', otherColumns, { updated: peopleCount }],
  ])('%s: none of its changes is superseded', async (_, file, ends) => {
    const bench = await openRunsBench({ configured });
    await loaded(bench);
    const crm = await bench.stage(await bench.submit('crm-2.csv', people(30), { feed: 'crm' }));
    expect(crm.state).toBe('applying');
    const shop = await bench.import('shop-2.csv', `${file}\r\n`, { feed: 'shop', options: { accept: true } });
    expectCounts(shop, { rows: peopleCount, ...ends });
    expectCounts(await finished(bench, crm), { rows: peopleCount, updated: peopleCount });
    await expectPhones(bench, 30);
    await bench.world.expectSound();
  });

  it('stopped by a guard, and approved after it: all of it is written', async () => {
    const bench = await openRunsBench({ configured, guards: defaultGuards });
    await loaded(bench);
    const crm = await bench.import('crm-2.csv', people(30), { feed: 'crm' });
    expect(crm).toMatchObject({ state: 'stopped', reason: { code: 'guardUpdates' } });
    await bench.import('shop-2.csv', `${shopFile}\r\n`, { feed: 'shop' });
    await bench.import('shop-3.csv', otherColumns, { feed: 'shop', options: { accept: true } });
    await bench.ledger.runs.move(crm.id, ['stopped'], 'applying', { atMs: 1, reason: null });
    expectCounts(await finished(bench, crm), { rows: peopleCount, updated: peopleCount });
    await expectPhones(bench, 30);
    expect((await bench.world.contactOf('c-7')).defaultFields.company).toBe('Mill 7');
    await bench.world.expectSound();
  });

  it('an older file of the same feed is superseded, where the newer one changes nothing either', async () => {
    const bench = await openRunsBench({ configured });
    await loaded(bench);
    const older = await bench.stage(await bench.submit('crm-2.csv', people(30), { feed: 'crm' }));
    await bench.import('crm-3.csv', `${people(0)}\r\n`, { feed: 'crm' });
    expectCounts(await finished(bench, older), { rows: peopleCount, skipped: peopleCount });
    await expectPhones(bench, 0);
    await bench.world.expectSound();
  });
});

describe('a dead letter of one feed', () => {
  it('is not closed by another feed’s unchanged row, and is by a later success of its own', async () => {
    const bench = await openRunsBench({ configured });
    await loaded(bench);
    await bench.world.faults('update:status=422');
    const crm = await bench.import('crm-2.csv', csv([`c-1,Ann,${phone(99)}`], header), { feed: 'crm' });
    expectCounts(crm, { rows: 1, dead: 1 });
    await bench.world.faults();
    expectCounts(await bench.import('shop-2.csv', `${shopFile}\r\n`, { feed: 'shop' }), {
      rows: peopleCount,
      unchanged: peopleCount,
    });
    expect(await bench.letters()).toMatchObject([{ feed: 'crm', key: 'c-1', state: 'open' }]);
    await bench.import('crm-3.csv', `${csv([`c-1,Ann,${phone(99)}`], header)}\r\n`, { feed: 'crm' });
    expect((await bench.ledger.counts()).openLetters).toBe(0);
  });
});

describe('the first loads of two feeds with equal columns at once', () => {
  const crmFile = csv(['c-1,Ann,Engineer', 'c-2,Ben,Buyer', 'c-3,Cleo,Boss']);
  const shopRows = csv(['c-1,Ann,Seller', 'c-2,Benjamin,Buyer', 'c-4,Dan,Clerk']);

  it.each([
    ['the one that arrived first is written first', ['crm', 'shop']],
    ['the one that arrived last is written first', ['shop', 'crm']],
  ])('the last that arrived wins field by field, and each row is accounted for: %s', async (_, order) => {
    const bench = await openRunsBench({ configured });
    const crm = await bench.stage(await bench.submit('crm.csv', crmFile, { feed: 'crm' }));
    const shop = await bench.stage(await bench.submit('shop.csv', shopRows, { feed: 'shop' }));
    const ends = new Map<string, RunRecord>();
    for (const run of order.map((feed) => (feed === 'crm' ? crm : shop))) {
      ends.set(run.feed, await finished(bench, run));
    }
    const first = (feed: string) => order[0] === feed;
    const [one, other] = [ends.get('crm') ?? crm, ends.get('shop') ?? shop];
    expectCounts(one, first('crm') ? { rows: 3, created: 3 } : { rows: 3, created: 1, skipped: 2 });
    expectCounts(other, first('shop') ? { rows: 3, created: 3 } : { rows: 3, created: 1, updated: 2 });
    expect([one.counts.heldFields, other.counts.heldFields]).toEqual([0, 0]);
    const people = (await bench.world.contacts()).map(
      ({ externalId, defaultFields: { firstName, role } }) => `${externalId} ${firstName} ${role}`,
    );
    expect(people.toSorted()).toEqual(['c-1 Ann Seller', 'c-2 Benjamin Buyer', 'c-3 Cleo Boss', 'c-4 Dan Clerk']);
    await bench.world.expectSound();
  });
});

describe('a feed that is away while another takes back what its file names', () => {
  const people = csv([`c-1,Ann,${phone(1)}`, `c-2,Ben,${phone(2)}`, `c-3,Cleo,${phone(3)}`], header);
  // Another number, none, and the same one.
  const changed = csv([`c-1,Ann,${phone(9)}`, 'c-2,Ben,#CLEAR', `c-3,Cleo,${phone(3)}`], header);
  const withDesk = people.replace('phone mobile', 'phone work');

  async function away(): Promise<{ readonly bench: RunsBench; phonesOf(key: string): Promise<readonly unknown[]> }> {
    let isAway = false;
    const bench = await openRunsBench({ configured, limits: { ownsItems: (feed) => feed !== 'shop' || !isAway } });
    await bench.import('shop-1.csv', withDesk, { feed: 'shop' });
    await bench.import('crm-1.csv', people, { feed: 'crm' });
    isAway = true;
    await bench.import('crm-2.csv', changed, { feed: 'crm' });
    isAway = false;
    const phonesOf = async (key: string) =>
      (await bench.world.contactOf(key)).defaultFields.phoneNumbers.map(({ value }) => value);
    expect(await phonesOf('c-1')).toEqual([phone(9)]);
    expect(await phonesOf('c-2')).toEqual([]);
    return { bench, phonesOf };
  }

  it('puts them back with its next file, which says what it said, and once', async () => {
    const { bench, phonesOf } = await away();
    const back = await bench.import('shop-2.csv', withDesk, { feed: 'shop' });
    expectCounts(back, { rows: 3, updated: 2, unchanged: 1 });
    expect(await phonesOf('c-1')).toEqual([phone(9), phone(1)]);
    expect(await phonesOf('c-2')).toEqual([phone(2)]);
    expectCounts(await bench.import('shop-3.csv', withDesk, { feed: 'shop' }), { rows: 3, unchanged: 3 });
    // They are its own from then on.
    await bench.import('crm-3.csv', `${changed}\r\n`, { feed: 'crm' });
    expect(await phonesOf('c-2')).toEqual([phone(2)]);
    await bench.world.expectSound();
  });

  it('puts back none that people remove then', async () => {
    const { bench, phonesOf } = await away();
    await bench.import('shop-2.csv', withDesk, { feed: 'shop' });
    const { id, defaultFields } = await bench.world.contactOf('c-2');
    const phoneNumbers = defaultFields.phoneNumbers.map((item) => ({ ...item, value: null }));
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, phoneNumbers } });
    await bench.import('shop-3.csv', withDesk.replace('Ben', 'Benjamin'), { feed: 'shop' });
    expect(await phonesOf('c-2')).toEqual([]);
    await bench.world.expectSound();
  });

  it('puts back the value of a custom field in the same way, also where another column is new', async () => {
    const columns = 'externalId,firstName,custom.account_manager';
    const named = csv(['c-1,Ann,Fir', 'c-2,Ben,Elm', 'c-3,Cleo,Oak'], columns);
    let isAway = false;
    const bench = await openRunsBench({ configured, limits: { ownsItems: (feed) => feed !== 'shop' || !isAway } });
    await bench.import('shop-1.csv', named, { feed: 'shop' });
    await bench.import('crm-1.csv', named, { feed: 'crm' });
    isAway = true;
    const cleared = csv(['c-1,Ann,#CLEAR', 'c-2,Ben,#CLEAR', 'c-3,Cleo,Oak'], columns);
    await bench.import('crm-2.csv', cleared, { feed: 'crm' });
    isAway = false;
    const managers = async () => {
      const all = await Promise.all(['c-1', 'c-2', 'c-3'].map((key) => bench.world.contactOf(key)));
      return all.map(({ customFields }) => customFields.find(({ key }) => key === 'account_manager')?.value ?? null);
    };
    expect(await managers()).toEqual([null, null, 'Oak']);
    const next = named.replace('Ben', 'Benjamin');
    const back = await bench.import('shop-2.csv', next, { feed: 'shop' });
    expectCounts(back, { rows: 3, updated: 2, unchanged: 1 });
    expect(await managers()).toEqual(['Fir', 'Elm', 'Oak']);
    expectCounts(await bench.import('shop-3.csv', next, { feed: 'shop' }), { rows: 3, unchanged: 3 });
    // They are its own from then on.
    await bench.import('crm-3.csv', `${cleared}\r\n`, { feed: 'crm' });
    expect(await managers()).toEqual(['Fir', 'Elm', 'Oak']);
    await bench.world.expectSound();
  });
});
