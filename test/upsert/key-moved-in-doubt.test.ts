/** A key that people gave to another contact, where the process dies in the middle of the first row that meets it. */
import { expect, test } from 'vitest';
import { processBatch } from '#src/upsert/process-batch.ts';
import { phone, wanted } from './support/build.ts';
import { mortal } from './support/mortal.ts';
import { openUpsertWorld, type UpsertWorld } from './support/upsert-world.ts';

const row = wanted('k-1', { role: 'Clerk', company: 'Elm', phones: { mobile: [phone(1)] } });
const ofShop = wanted('k-1', { emails: { work: ['ann@example.com'] } });

async function withMovedKey(): Promise<UpsertWorld> {
  const world = await openUpsertWorld({ limits: { ownsItems: () => true } });
  await world.load([row], { feed: 'crm' });
  await world.load([ofShop], { feed: 'shop' });
  await world.byHand('PATCH', `/v1/contacts/${(await world.contactOf('k-1')).id}`, { externalId: 'old-1' });
  const defaultFields = { firstName: 'Bob', role: 'Clerk', phoneNumbers: [{ name: 'desk', value: phone(2) }] };
  await world.byHand('POST', '/v1/contacts', { externalId: 'k-1', defaultFields });
  return world;
}

/** What is remembered of the key, without ids and instants. */
async function remembered({ ledger }: UpsertWorld) {
  const known = (await ledger.contacts.get(['k-1'])).get('k-1');
  return { ...known, contactId: null, writtenAtMs: null, seen: null };
}

async function shown(world: UpsertWorld) {
  const { firstName, company, role, emails, phoneNumbers } = (await world.contactOf('k-1')).defaultFields;
  const items = [...emails, ...phoneNumbers].map(({ value }) => value).toSorted();
  return { firstName, company, role, items };
}

test.each(['before', 'after'] as const)(
  'the contact is taken over all the same where the process dies %s any of its steps',
  { timeout: 60_000 },
  async (moment) => {
    const whole = await withMovedKey();
    await whole.load([row], { feed: 'crm' });
    const expected = await remembered(whole);
    let deaths = 0;
    // Ends: at some call the work is done before the process would die.
    for (let at = 1; ; at += 1) {
      const world = await withMovedKey();
      const run = await world.stage([row], { feed: 'crm' });
      const [batch] = await world.ledger.runs.nextBatches(await world.ledger.nowMs(world.clock), 10);
      if (batch === undefined) throw new Error('the run has a batch');
      const process = mortal(world.parts, at, moment);
      await processBatch(process.parts, batch, new AbortController().signal).catch(() => undefined);
      if (process.lives()) break;
      deaths += 1;
      const { counts } = await world.finish(run);
      expect(counts, `call ${at}`).toMatchObject({ rows: 1, updated: 1, heldFields: 1, dead: 0 });
      const own = { firstName: 'Bob', role: 'Clerk', company: 'Elm', items: [phone(1), phone(2)] };
      expect(await shown(world), `call ${at}`).toEqual(own);
      expect(await remembered(world), `call ${at}`).toEqual(expected);
      await world.load([ofShop], { feed: 'shop' });
      await world.load([{ ...row, phones: [{ slot: 'mobile', items: [] }] }], { feed: 'crm' });
      expect(await shown(world)).toEqual({ ...own, items: [phone(2), 'ann@example.com'] });
      await world.expectSound();
    }
    expect(deaths).toBeGreaterThan(5);
  },
);
