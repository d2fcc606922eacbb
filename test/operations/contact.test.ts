/** All that is known of one contact (`docs/contract.md`, "Commands"). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PatchbayError } from '#src/errors.ts';
import { contactDocument, findContactKey, readContact } from '#src/operations/contact.ts';
import type { Contact } from '#src/wire/contact.ts';
import type { Workspace } from '#src/workspace/port.ts';
import { undoRun } from '#test/plans/support/undo-runs.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const header = 'externalId,firstName,role,phone';

function homeOf({ parts }: RunsBench): Parameters<typeof readContact>[0] {
  const config = { mapping: { defaultCountry: null, onBlank: 'keep' }, upsert: { itemRemoval: 'owned' } };
  // Reading a contact looks at these two settings of the configuration alone.
  return { ledger: parts.ledger, feeds: parts.feeds, config } as Parameters<typeof readContact>[0];
}

/** The service, as it lists each contact: as `give` says. */
function listing({ parts }: RunsBench, give: (contact: Contact) => readonly Contact[]): Workspace {
  return {
    ...parts.workspace,
    listByExternalIds: async (keys, options) => {
      const { contacts, readAtMs } = await parts.workspace.listByExternalIds(keys, options);
      return { contacts: contacts.flatMap(give), readAtMs };
    },
  };
}

const isTwice = {
  decision: 'keep',
  why: 'several contacts have this externalId: the row is rejected (twoContacts)',
};

describe('a contact', () => {
  it('is told from its cells to the decision about each field, with the reason that the plan gives', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,+14155550101'], header));
    const { id } = await bench.world.contactOf('c-1');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { role: 'Boss' } });
    const run = await bench.import('b.csv', csv(['c-1,Ann,Buyer,+14155550101'], header));
    const story = await readContact(homeOf(bench), 'c-1', bench.parts.workspace);
    expect(contactDocument(story)).toMatchObject({
      ...{ key: 'c-1', state: 'bound', contact: id, inDoubt: false },
      app: { read: 'fresh', values: expect.arrayContaining([{ field: 'role', value: 'Boss' }]) },
      agreed: expect.arrayContaining([{ feed: null, field: 'role', value: 'Lead' }]),
      feeds: [
        {
          feed: 'main',
          row: { kind: 'found', run: run.id, file: 'b.csv', explained: { line: 2 }, desired: { role: 'Buyer' } },
          said: expect.arrayContaining([{ field: 'role', value: 'Lead' }]),
          decisions: [
            { field: 'firstName', decision: 'equal', why: 'the app has what the file says' },
            {
              field: 'role',
              decision: 'hold',
              why: 'it waits for a decision',
              file: 'Buyer',
              said: 'Lead',
              app: 'Boss',
            },
            { field: 'phone.+14155550101', decision: 'equal', file: '+14155550101', app: '+14155550101' },
          ],
          held: [{ field: 'role', file: 'Buyer', app: 'Boss' }],
          letters: [],
        },
      ],
      writes: [{ kind: 'create' }],
      history: [],
    });
  });

  it.each([
    ['skip', 'keep', 'the row is skipped (gone)', { skipped: 1 }],
    ['recreate', 'write', 'is made again (onGone: recreate)', { created: 1 }],
  ] as const)(
    'that was deleted in the app is told to become what the import makes of it (onGone: %s)',
    async (onGone, decision, why, counts) => {
      const bench = await openRunsBench({ configured: { crm: { onGone } }, limits: { onGoneOf: () => onGone } });
      await bench.import('a.csv', csv(['c-1,Ann,Lead,+14155550101'], header), { feed: 'crm' });
      const { id } = await bench.world.contactOf('c-1');
      await bench.world.byHand('DELETE', `/v1/contacts/${id}`);
      const story = await readContact(homeOf(bench), 'c-1', bench.parts.workspace);
      expect(story.theirs).toEqual({ read: 'none', isSeveral: false, values: [] });
      expect(story.feeds[0]?.decisions.map((one) => [one.field, one.decision, one.why])).toEqual(
        ['firstName', 'role', 'phone.+14155550101'].map((field) => [field, decision, expect.stringContaining(why)]),
      );
      const again = await bench.import('b.csv', csv(['c-1,Ann,Buyer,+14155550101'], header), { feed: 'crm' });
      expectCounts(again, { rows: 1, ...counts });
    },
  );

  it('that an undo deleted is told so, with the command that makes it again', async () => {
    const bench = await openRunsBench({ configured: { crm: {} } });
    const wrong = await bench.import('a.csv', csv(['c-1,Ann,Lead,+14155550101'], header), { feed: 'crm' });
    const undo = await undoRun(bench, wrong, { deleteCreated: true });
    const story = await readContact(homeOf(bench), 'c-1', bench.parts.workspace);
    expect(contactDocument(story)).toMatchObject({ deletedBy: undo.id });
    const [feed] = story.feeds;
    expect(feed?.decisions[0]?.why).toContain(
      `the contact was deleted by the undo ${undo.id}: the row is skipped (gone)`,
    );
    expect(feed?.makeAgain).toBe('patchbay import --feed crm --on-gone recreate --only c-1 --repair FILE');
    const options = { onGone: 'recreate' as const, only: ['c-1'], repair: true };
    const again = await bench.import('a.csv', csv(['c-1,Ann,Lead,+14155550101'], header), { feed: 'crm', options });
    expectCounts(again, { rows: 1, created: 1 });
    expect((await readContact(homeOf(bench), 'c-1', bench.parts.workspace)).feeds[0]?.makeAgain).toBeNull();
  });

  it('that is there under another id, or twice, is told so, too', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,'], header));
    const { id } = await bench.world.contactOf('c-1');
    await bench.world.byHand('DELETE', `/v1/contacts/${id}`);
    const byHand = { externalId: 'c-1', defaultFields: { firstName: 'Ann', role: 'Boss' } };
    await bench.world.byHand('POST', '/v1/contacts', byHand);
    const roleNow = async (workspace: Workspace) => {
      const [feed] = (await readContact(homeOf(bench), 'c-1', workspace)).feeds;
      return feed?.decisions.find(({ field }) => field === 'role');
    };
    // What was agreed on was of the contact before.
    const held = { decision: 'hold', why: 'file and app never agreed on it', file: 'Lead', app: 'Boss' };
    expect(await roleNow(bench.parts.workspace)).toMatchObject(held);
    expect(await roleNow(listing(bench, (one) => [one, { ...one, id: `${one.id}2` }]))).toMatchObject(isTwice);
  });

  it('that is there a second time beside the one that is known is told as the import rejects it', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,'], header));
    const read = (give: (contact: Contact) => readonly Contact[]) =>
      readContact(homeOf(bench), 'c-1', listing(bench, give));
    const twice = await read((one) => [{ ...one, id: `${one.id}2` }, one]);
    expect(twice.theirs).toMatchObject({ read: 'fresh', isSeveral: true });
    expect(twice.theirs.values).toContainEqual({ field: 'role', value: 'Lead' });
    expect(twice.feeds[0]?.decisions.find(({ field }) => field === 'role')).toMatchObject(isTwice);
    // Pages of a list may overlap.
    const again = await read((one) => [one, one]);
    expect(again.feeds[0]?.decisions.find(({ field }) => field === 'role')).toMatchObject({ decision: 'equal' });
    // One that no list shows yet is read by its id.
    const unlisted = await read(() => []);
    expect(unlisted.feeds[0]?.decisions.find(({ field }) => field === 'role')).toMatchObject({ decision: 'equal' });
  });

  it('that has another externalId by now, or whose look-up fails, is told as the import rejects it', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,'], header));
    const { id } = await bench.world.contactOf('c-1');
    const failing: Workspace = {
      ...bench.parts.workspace,
      listByExternalIds: async (keys, options) => {
        if (keys.includes('c-1')) throw new PatchbayError('unreachable', 'serviceFailing', 'the service fails');
        return await bench.parts.workspace.listByExternalIds(keys, options);
      },
    };
    const failed = await readContact(homeOf(bench), 'c-1', failing);
    expect(failed.feeds[0]?.decisions).toContainEqual(
      expect.objectContaining({ field: 'role', decision: 'keep', why: expect.stringContaining('(lookUpFails)') }),
    );
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { externalId: 'c-9' });
    const story = await readContact(homeOf(bench), 'c-1', bench.parts.workspace);
    expect(story.feeds[0]?.decisions).toContainEqual(
      expect.objectContaining({ field: 'role', decision: 'keep', why: expect.stringContaining('(keyMoved)') }),
    );
    const run = await bench.import('b.csv', csv(['c-1,Ann,Buyer,'], header));
    expectCounts(run, { rows: 1, dead: 1 });
    expect(await bench.parts.ledger.deadLetters.list({ limit: 9 })).toMatchObject([{ code: 'keyMoved' }]);
  });

  it('whose service refuses all look-ups is told from the ledger, and that its row waits, as the import does', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,', 'c-2,,,1'], header));
    await bench.world.faults('*:status=400');
    const story = await readContact(homeOf(bench), 'c-1', bench.parts.workspace);
    expect(story.theirs).toMatchObject({ read: 'remembered', isSeveral: false });
    expect(story.theirs.values).toContainEqual({ field: 'role', value: 'Lead' });
    const why = expect.stringContaining('the run waits, and nothing is lost (requestRefused)');
    expect(story.feeds[0]?.decisions).toContainEqual(expect.objectContaining({ field: 'role', decision: 'keep', why }));
    // Of one that has no contact there is no picture.
    const refused = { code: 'requestRefused' };
    await expect(readContact(homeOf(bench), 'c-2', bench.parts.workspace)).rejects.toMatchObject(refused);
    const letters = await bench.parts.ledger.deadLetters.list({ limit: 9 });
    await expect(bench.import('b.csv', csv(['c-1,Ann,Buyer,'], header))).rejects.toMatchObject(refused);
    expect(await bench.parts.ledger.deadLetters.list({ limit: 9 })).toEqual(letters);
  });

  it('is told what becomes of each e-mail and phone that the file names or named: also where nothing is written', async () => {
    const bench = await openRunsBench();
    const columns = 'externalId,firstName,phone,phone work,email';
    await bench.import('a.csv', csv(['c-1,Ann,+14155550101,+14155550102,ann@example.com'], columns));
    const { id, defaultFields } = await bench.world.contactOf('c-1');
    const gone = defaultFields.phoneNumbers.find(({ value }) => value === '+14155550101');
    const byHand = { phoneNumbers: [{ ...gone, value: null }] };
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: byHand });
    await bench.import('b.csv', csv(['c-1,Anna,+14155550101,,ann@example.com'], columns));
    const [feed] = (await readContact(homeOf(bench), 'c-1', bench.parts.workspace)).feeds;
    const why = 'people removed it: it is not put back while the file goes on naming it';
    expect(feed?.decisions).toEqual([
      expect.objectContaining({ field: 'firstName', decision: 'equal' }),
      expect.objectContaining({ field: 'email.ann@example.com', decision: 'equal', app: 'ann@example.com' }),
      { field: 'phone.+14155550101', decision: 'keep', why, file: '+14155550101', said: '+14155550101', app: null },
      expect.objectContaining({
        field: 'phone.+14155550102',
        decision: 'keep',
        why: expect.stringContaining('says nothing of it now'),
      }),
    ]);
  });

  it('is told of a phone number with another label in the app that it stays, with both', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,+14155550101'], header));
    const { id, defaultFields } = await bench.world.contactOf('c-1');
    const phoneNumbers = defaultFields.phoneNumbers.map((item) => ({ ...item, name: 'Handy' }));
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, phoneNumbers } });
    const story = await readContact(homeOf(bench), 'c-1', bench.parts.workspace);
    expect(story.feeds[0]?.decisions.at(-1)).toMatchObject({
      field: 'phone.+14155550101',
      decision: 'equal',
      why: 'the app has what the file says, under another label',
      labels: { file: 'phone', app: 'Handy' },
    });
  });

  it('is told once what its file said of a phone number whose column was renamed', async () => {
    const bench = await openRunsBench();
    for (const [name, label] of [
      ['a.csv', 'mobile'],
      ['b.csv', 'home'],
    ] as const)
      await bench.import(name, csv(['c-1,Ann,+14155550101'], `externalId,firstName,phone ${label}`));
    const [feed] = (await readContact(homeOf(bench), 'c-1', bench.parts.workspace)).feeds;
    expect(feed?.said).toEqual([
      { field: 'firstName', value: 'Ann' },
      { field: 'phone.+14155550101', value: '+14155550101' },
    ]);
  });

  it('is found by its id, its phone number in any spelling, or its e-mail address; several or none are named', async () => {
    const bench = await openRunsBench();
    const columns = 'externalId,phone,email';
    await bench.import(
      'a.csv',
      csv(['c-1,+14155550101,Ann@Example.com', 'c-2,+14155550102,', 'c-3,+14155550102,'], columns),
    );
    const { id } = await bench.world.contactOf('c-1');
    for (const text of ['c-1', id, '+1 (415) 555-0101', 'ann@example.com'])
      expect(await findContactKey(bench.parts, text)).toBe('c-1');
    const several = findContactKey(bench.parts, '+14155550102');
    await expect(several).rejects.toMatchObject({
      code: 'contactAmbiguous',
      hint: expect.stringContaining('c-2, c-3'),
    });
    await expect(findContactKey(bench.parts, 'nobody')).rejects.toMatchObject({ code: 'noSuchContact' });
  });

  it('has the row that was read, not one of its key that the mapping leaves out', async () => {
    const keepRows = [{ column: 'role', equals: 'Lead' }];
    const bench = await openRunsBench({
      mapping: mapping({ name: 'k', key: 'externalId', fields: { firstName: 'firstName' }, keepRows }),
    });
    await bench.import('a.csv', csv(['c-1,Anna,Left,', 'c-1,Ann,Lead,'], header));
    const story = await readContact(homeOf(bench), 'c-1', bench.parts.workspace);
    expect(story.feeds[0]?.row).toMatchObject({ kind: 'found', explained: { line: 3, contact: { firstName: 'Ann' } } });
  });

  it('says that its cells are gone when the archive is, and decides by what the file said and what is held', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,'], header));
    const { id } = await bench.world.contactOf('c-1');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { role: 'Boss', firstName: 'Anna' } });
    await bench.import('b.csv', csv(['c-1,Ann,Buyer,'], header));
    await rm(join(bench.folder, 'import', '_done'), { recursive: true });
    const [feed] = (await readContact(homeOf(bench), 'c-1', null)).feeds;
    expect(feed).toMatchObject({
      row: { kind: 'gone', file: 'b.csv' },
      decisions: [
        { field: 'firstName', decision: 'keep', why: 'the file says what it said before', file: 'Ann', app: 'Anna' },
        { field: 'role', decision: 'hold', file: 'Buyer' },
      ],
    });
  });

  it('of a person who left: what is held since then is not said by the row that comes again', async () => {
    const bench = await openRunsBench({ configured: { crm: { onMissing: 'tag role=Left' } } });
    const columns = 'externalId,firstName';
    await bench.import('a.csv', csv(['c-1,Ann', 'c-2,Bea'], columns), { feed: 'crm' });
    const { id } = await bench.world.contactOf('c-1');
    await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { firstName: 'Ann', role: 'Boss' } });
    await bench.import('b.csv', csv(['c-2,Bea'], columns), { feed: 'crm' });
    const [feed] = (await readContact(homeOf(bench), 'c-1', bench.parts.workspace)).feeds;
    expect(feed).toMatchObject({ row: { kind: 'absent' }, held: [{ field: 'role', ours: 'Left', theirs: 'Boss' }] });
    expect(feed?.decisions).toMatchObject([{ field: 'firstName', decision: 'equal' }]);
  });

  it('that was only ever rejected has its letter and its row; a key made of several cells is found as well', async () => {
    const bench = await openRunsBench({
      mapping: mapping({
        key: { template: '{externalId}|{firstName}', transform: ['lowerCase'] },
        phones: [{ column: 'phone' }],
      }),
    });
    await bench.import('a.csv', csv(['C,Ann,Lead,', 'D,Bo,Chef,call me'], header));
    const made = await readContact(homeOf(bench), 'c|ann', bench.parts.workspace);
    expect(made.feeds).toMatchObject([{ row: { kind: 'found', explained: { line: 2 } } }]);
    expect(await findContactKey(bench.parts, 'd|bo')).toBe('d|bo');
    const rejected = await readContact(homeOf(bench), 'd|bo', bench.parts.workspace);
    expect(rejected.theirs.read).toBe('none');
    expect(rejected.feeds).toMatchObject([
      {
        row: { kind: 'found', desired: null, explained: { line: 3 } },
        letters: [{ code: 'phoneLetters' }],
        decisions: [],
      },
    ]);
  });
});
