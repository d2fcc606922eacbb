import { describe, expect, test } from 'vitest';
import { withoutQuotedCells } from '#src/contacts/quoted-cell.ts';
import { createLogger, keyHash } from '#src/log.ts';
import type { UpsertParts } from '#src/upsert/chunk.ts';
import type { Contact } from '#src/wire/contact.ts';
import { readErrorBody } from '#src/wire/error.ts';
import { phone, wanted } from './support/build.ts';
import { openUpsertWorld } from './support/upsert-world.ts';

const path = (contact: Contact) => `/v1/contacts/${contact.id}`;

describe('a service that cannot be trusted or reached', () => {
  test('that answers a look-up with strangers gets no write, and all work waits', async () => {
    const world = await openUpsertWorld();
    const stranger = await world.byHand('POST', '/v1/contacts', {
      externalId: 'other-1',
      defaultFields: { firstName: 'Bea' },
    });
    await world.faults('list:strangers');
    const run = await world.stage([wanted('crm-1'), wanted('crm-2')]);
    await expect(world.workOnce(run)).rejects.toMatchObject({ kind: 'unreachable', code: 'strangersReturned' });
    expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 0 });
    expect(world.service.counts()).toMatchObject({ create: 1 });
    await world.expectSound();
    await world.faults();
    expect((await world.finish(run)).counts).toMatchObject({ created: 2 });
    expect(await world.contactOf('other-1')).toEqual({ ...stranger, updatedAt: expect.any(String) });
    await world.expectSound();
  });

  test('that refuses the key stops all work; no row dies, and it goes on with a working key', async () => {
    const world = await openUpsertWorld({ faults: ['*:status=401'] });
    const run = await world.stage([wanted('crm-1'), wanted('crm-2')]);
    await expect(world.workOnce(run)).rejects.toMatchObject({ kind: 'auth', code: 'keyRefused' });
    expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 0, skipped: 0 });
    await world.faults();
    await world.expectSound();
    expect((await world.finish(run)).counts).toMatchObject({ created: 2, dead: 0 });
    await world.expectSound();
  });

  test('that fails every look-up stops all work; no row dies', async () => {
    const world = await openUpsertWorld({ faults: ['list:status=503'] });
    const run = await world.stage([wanted('crm-1')]);
    await expect(world.workOnce(run)).rejects.toMatchObject({ kind: 'unreachable', code: 'serviceFailing' });
    await world.faults();
    await world.expectSound();
    const finished = await world.finish(run);
    expect(finished.counts).toMatchObject({ created: 1, dead: 0 });
    // Four tries of the look-up, four of the control key, and the look-up that passes.
    expect(finished.requests).toMatchObject({ get: 9, retried: 6, post: 1 });
    await world.expectSound();
  });
});

test('a contact that each look-up shows under another id, by which no write finds it, is dead, in these words', async () => {
  const world = await openUpsertWorld();
  await world.load([wanted('crm-1')]);
  const run = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
  const updateContact: UpsertParts['workspace']['updateContact'] = async () => ({
    ...{ kind: 'refused', status: 404, body: readErrorBody({}) },
  });
  const { workspace } = world.parts;
  let shown = 0;
  const listByExternalIds: typeof workspace.listByExternalIds = async (keys, options) => {
    const found = await workspace.listByExternalIds(keys, options);
    shown += 1;
    return { ...found, contacts: found.contacts.map((contact) => ({ ...contact, id: `shown-${shown}` })) };
  };
  await world.workOnce(run, { ...world.parts, workspace: { ...workspace, listByExternalIds, updateContact } });
  expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
    {
      ...{ class: 'doubt', code: 'doubt', key: 'crm-1' },
      message: expect.stringContaining('each write to it was answered with 404'),
    },
  ]);
  await world.expectSound();
});

describe('a contact that the service refuses', () => {
  test('has a log line with run, feed, line, code and a hash of its key', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'warn', stream: { write: (line) => void lines.push(line) } });
    const world = await openUpsertWorld({ log });
    const run = await world.load([wanted('crm-1'), wanted('crm-2', { customFields: { no_such_field: 'x' } })]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { run: run.id, feed: run.feed, line: 3, key: keyHash('crm-2'), class: 'refused', msg: 'row rejected' },
    ]);
  });

  test.each(['merge', 'replace'] as const)(
    'for a custom field is dead, and the others are written (%s)',
    async (mode) => {
      const world = await openUpsertWorld({ patchMode: mode });
      const bad = wanted('crm-2', { customFields: { no_such_field: 'x' } });
      const run = await world.load([wanted('crm-1'), bad, wanted('crm-3')]);
      expect(run.counts).toMatchObject({ rows: 3, created: 2, dead: 1, deadNew: 1 });
      expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
        {
          key: 'crm-2',
          class: 'refused',
          code: 'customFieldRefused',
          line: 3,
          state: 'open',
          answer: { status: 400, code: '0801400' },
          desired: bad,
        },
      ]);
      expect((await world.contacts()).map(({ externalId }) => externalId).toSorted()).toEqual(['crm-1', 'crm-3']);
      const corrected = await world.load([wanted('crm-2')]);
      expect(corrected.counts).toMatchObject({ created: 1 });
      expect((await world.ledger.counts()).openLetters).toBe(0);
      await world.expectSound();
    },
  );

  test('for a custom field is told by the field, its value and the words of the service, wherever its body has it', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-1', { customFields: { interests: ['tea'] } })]);
    await world.load([
      wanted('crm-1', { customFields: { interests: ['tea'], no_such_field: 'x' } }),
      wanted('crm-2', { customFields: { no_such_field: 7 } }),
    ]);
    const letters = await world.ledger.deadLetters.list({ limit: 10 });
    const told = letters.map(({ key, field, problems, hint }) => [key, field, problems[0]?.value, hint]);
    const hint = expect.stringMatching(
      /^Correct the row as the service says \(“[^”]*custom\.no_such_field: [^”]+”\), and drop the fix-file in again\.$/,
    );
    expect(told.toSorted()).toEqual([
      ['crm-1', 'custom.no_such_field', 'x', hint],
      ['crm-2', 'custom.no_such_field', '7', hint],
    ]);
    expect(withoutQuotedCells(letters[0]?.hint ?? '')).toBe(
      'Correct the row as the service says (“…”), and drop the fix-file in again.',
    );
  });

  test('in an update is dead, and stays as it was', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-1', { role: 'Buyer' })]);
    const run = await world.load([wanted('crm-1', { role: 'Seller', customFields: { no_such_field: 'x' } })]);
    expect(run.counts).toMatchObject({ dead: 1, updated: 0 });
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Buyer');
    const corrected = await world.load([wanted('crm-1', { role: 'Seller' })]);
    expect(corrected.counts).toMatchObject({ updated: 1, heldFields: 0 });
    await world.expectSound();
  });

  test('in an update is not learnt from: a number that people added once more before it stays theirs', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-1', { phones: { mobile: [phone(1)] } })]);
    const contact = await world.contactOf('crm-1');
    const { phoneNumbers } = contact.defaultFields;
    await world.byHand('PATCH', path(contact), {
      defaultFields: { ...contact.defaultFields, phoneNumbers: [...phoneNumbers, { name: 'mobile', value: phone(1) }] },
    });
    const refused = wanted('crm-1', { phones: { mobile: [phone(1)] }, customFields: { no_such_field: 'x' } });
    expect((await world.load([refused])).counts).toMatchObject({ dead: 1 });
    const moved = await world.load([wanted('crm-1', { phones: { mobile: [phone(2)] } })]);
    expect(moved.counts).toMatchObject({ updated: 1, removedValues: 1 });
    const left = (await world.contactOf('crm-1')).defaultFields.phoneNumbers.map(({ value }) => value);
    expect(left.toSorted()).toEqual([phone(1), phone(2)]);
    await world.expectSound();
  });

  test.each(['create:status=401', 'create:status=403'])('%s alone, while the key works, is dead', async (fault) => {
    const world = await openUpsertWorld({ faults: [fault] });
    const run = await world.load([wanted('crm-1')]);
    expect(run.counts).toMatchObject({ dead: 1, created: 0 });
    expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
      {
        class: 'refused',
        key: 'crm-1',
        hint: expect.stringMatching(/^Nothing is wrong with the row: .* may not write/),
      },
    ]);
    await world.faults();
    expect((await world.load([wanted('crm-1')])).counts).toMatchObject({ created: 1 });
    await world.expectSound();
  });

  test('an update that only this contact may not have is dead, and changes nothing', async () => {
    const world = await openUpsertWorld();
    await world.load([wanted('crm-1'), wanted('crm-2')]);
    await world.faults('update:status=403');
    const run = await world.load([wanted('crm-1', { role: 'Buyer' }), wanted('crm-2')]);
    expect(run.counts).toMatchObject({ dead: 1, unchanged: 1 });
    await world.expectSound();
  });

  test('429 kills nothing and burns no attempt: the row is written after the wait', async () => {
    const world = await openUpsertWorld({ faults: ['create:status=429;retryAfter=0'] });
    const run = await world.stage([wanted('crm-1')]);
    for (let round = 0; round < 5; round += 1) {
      await world.workOnce(run);
      world.clock.advance(5);
    }
    expect(await world.countsOf(run)).toMatchObject({ created: 0, dead: 0 });
    await world.faults();
    const finished = await world.finish(run);
    expect(finished.counts).toMatchObject({ created: 1 });
    expect(finished.requests.rateLimited).toBeGreaterThan(0);
    await world.expectSound();
  });
});

describe.each(['merge', 'replace'] as const)('a contact that people moved, where PATCH means %s', (patchMode) => {
  test('deleted by hand stays gone, in every later import', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1'), wanted('crm-2')]);
    await world.byHand('DELETE', path(await world.contactOf('crm-1')));
    for (const role of ['Buyer', 'Seller']) {
      const run = await world.load([wanted('crm-1', { role }), wanted('crm-2', { role })]);
      expect(run.counts).toMatchObject({ skipped: 1, updated: 1, created: 0 });
      const skipped = (await world.eventsOf(run)).filter(({ kind }) => kind === 'skipped');
      expect(skipped).toMatchObject([{ code: 'gone', key: 'crm-1' }]);
    }
    expect((await world.contacts()).map(({ externalId }) => externalId)).toEqual(['crm-2']);
    await world.expectSound();
  });

  test('deleted between look-up and update stays gone', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1')]);
    await world.faults('update:latency=400ms');
    const run = await world.stage([wanted('crm-1', { role: 'Buyer' })]);
    const contact = await world.contactOf('crm-1');
    const working = world.workOnce(run);
    while ((world.service.counts().update ?? 0) === 0) await world.clock.sleep(2);
    await world.byHand('DELETE', path(contact));
    await working;
    expect((await world.finish(run)).counts).toMatchObject({ skipped: 1, updated: 0, created: 0 });
    expect(await world.contacts()).toEqual([]);
    await world.expectSound();
  });

  test('made anew by hand under the same key is bound anew', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1', { phones: { mobile: [phone(1)] } })]);
    await world.byHand('DELETE', path(await world.contactOf('crm-1')));
    const fresh = await world.byHand('POST', '/v1/contacts', {
      externalId: 'crm-1',
      defaultFields: { firstName: 'Ann', phoneNumbers: [{ name: 'boat', value: phone(9) }] },
    });
    const run = await world.load([wanted('crm-1', { company: 'Example Ltd', phones: { mobile: [phone(1)] } })]);
    expect(run.counts).toMatchObject({ updated: 1, created: 0 });
    expect((await world.ledger.contacts.get(['crm-1'])).get('crm-1')?.contactId).toBe(fresh.id);
    expect((await world.contactOf('crm-1')).defaultFields).toMatchObject({ company: 'Example Ltd' });
    await world.expectSound();
  });

  test('given another key by hand is a conflict, and is not touched', async () => {
    const world = await openUpsertWorld({ patchMode });
    await world.load([wanted('crm-1')]);
    const contact = await world.contactOf('crm-1');
    await world.byHand('PATCH', path(contact), { externalId: 'moved-1' });
    const run = await world.load([wanted('crm-1', { role: 'Buyer' })]);
    expect(run.counts).toMatchObject({ dead: 1, created: 0, updated: 0 });
    expect(await world.ledger.deadLetters.list({ limit: 10 })).toMatchObject([
      { class: 'conflict', code: 'keyMoved', key: 'crm-1' },
    ]);
    expect((await world.contactOf('moved-1')).defaultFields.role).toBeNull();
    await world.expectSound();
  });

  test('not yet in the list is read by its id', async () => {
    const world = await openUpsertWorld({ patchMode, faults: ['list:listLag=60m'] });
    await world.load([wanted('crm-1')]);
    const run = await world.load([wanted('crm-1', { role: 'Buyer' })]);
    expect(run.counts).toMatchObject({ updated: 1, created: 0 });
    await world.faults();
    expect((await world.contactOf('crm-1')).defaultFields.role).toBe('Buyer');
    await world.expectSound();
  });
});
