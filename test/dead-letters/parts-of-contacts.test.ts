/** Dead letters of parts of a contact: of held fields, of an undo, of a repair, and of people who left. Their rows are no rows of a file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redrive } from '#src/dead-letters/redrive.ts';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { listHeld, takeHeld } from '#src/operations/held-fields.ts';
import { editLetter } from '#src/operations/mend-letters.ts';
import { undoRun } from '#test/plans/support/undo-runs.ts';
import { csv, expectCounts, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

const refusing = (bench: RunsBench, status = 403) => bench.world.faults(`update:status=${status}`);

async function retry(bench: RunsBench, choice: Partial<Parameters<typeof redrive>[1]> = {}): Promise<RunRecord> {
  const [run, ...others] = await redrive(bench.parts, { remap: false, ...choice });
  if (run === undefined || others.length > 0) throw new Error('one run was expected');
  return bench.carryOut(run);
}

async function takeFile(bench: RunsBench): Promise<RunRecord> {
  const identity = identifyProcess(bench.parts.clock.bootId);
  const home = { submit: bench.parts, actor: bench.parts.actor, identity, config: { upsert: bench.parts } };
  const [run] = (await takeHeld(home, 'file', await listHeld(bench.parts, {}))).runs;
  if (run === undefined) throw new Error('a run was expected');
  return bench.finish(await bench.apply(run));
}

async function edit(bench: RunsBench, key: string, fields: Readonly<Record<string, unknown>>): Promise<void> {
  const { id } = await bench.world.contactOf(key);
  await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: fields });
}

const fieldsOf = async ({ world }: RunsBench, key: string) => (await world.contactOf(key)).defaultFields;
const statesOf = async (bench: RunsBench) =>
  (await bench.letters()).map(({ code, state }) => `${code} ${state}`).sort();
const idOf = async (bench: RunsBench, code: string) => {
  const found = (await bench.letters()).find((letter) => letter.code === code && letter.state === 'open');
  if (found === undefined) throw new Error(`no open letter ${code}`);
  return found.id;
};

const wide = 'externalId,firstName,role,phone mobile';

describe('a letter of held fields', () => {
  /** The role of c-1 is held; the next row of c-1 is rejected; the decision for the file's role is refused. */
  async function refusedDecision(): Promise<RunsBench> {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,X,'], wide));
    await edit(bench, 'c-1', { role: 'Y' });
    await bench.import('b.csv', csv(['c-1,Ann,Z,'], wide));
    await bench.import('c.csv', csv(['c-1,Anne,Z,call me'], wide));
    await refusing(bench);
    expectCounts(await takeFile(bench), { rows: 1, dead: 1 });
    expect(await statesOf(bench)).toEqual(['phoneLetters open', 'refused403 open']);
    await bench.world.faults();
    return bench;
  }

  it('does not close that of the whole row when it is tried again', async () => {
    const bench = await refusedDecision();
    expectCounts(await retry(bench, { ids: [await idOf(bench, 'refused403')] }), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: 'Ann', role: 'Z' });
    expect(await statesOf(bench)).toEqual(['phoneLetters open', 'refused403 closed']);
  });

  it('goes in beside a row of its contact that is rejected again in the same run', async () => {
    const bench = await refusedDecision();
    expectCounts(await retry(bench), { rows: 2, updated: 1, dead: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: 'Ann', role: 'Z' });
    expect(await statesOf(bench)).toEqual(['phoneLetters open', 'refused403 closed']);
  });

  it('keeps its own cells apart from those of a row that was rejected for the same reason', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,X,'], wide));
    await edit(bench, 'c-1', { role: 'Y' });
    await bench.import('b.csv', csv(['c-1,Ann,Z,'], wide));
    await refusing(bench);
    await bench.import('c.csv', csv(['c-1,Anne,Z,'], wide));
    expectCounts(await takeFile(bench), { rows: 1, dead: 1 });
    const [whole] = (await bench.letters()).filter(({ desired }) => desired?.taken === undefined);
    const held = (await bench.letters()).find(({ desired }) => desired?.taken !== undefined);
    expectCounts(await retry(bench, { ids: [held?.id ?? ''] }), { rows: 1, dead: 1 });
    expect((await bench.letters()).find(({ id }) => id === whole?.id)).toEqual(whole);
    await bench.world.faults();
    // The row names the field: it gives its value, too, and both are done with.
    expectCounts(await retry(bench), { rows: 2, updated: 1, skipped: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: 'Anne', role: 'Z' });
    expect(await statesOf(bench)).toEqual(['refused403 closed', 'refused403 closed']);
  });

  it('stays open when a row goes in that says nothing of the field, and is closed by one that does', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,X']));
    await edit(bench, 'c-1', { role: 'Y' });
    await bench.import('b.csv', csv(['c-1,Ann,Z']));
    await refusing(bench);
    expectCounts(await takeFile(bench), { rows: 1, dead: 1 });
    await bench.world.faults();
    const without = csv(['c-1,Anne'], 'externalId,firstName');
    expectCounts(await bench.import('c.csv', without), { rows: 1, updated: 1 });
    expectCounts(await bench.import('d.csv', without), { rows: 1, unchanged: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: 'Anne', role: 'Y' });
    expect(await statesOf(bench)).toEqual(['refused403 open']);
    await bench.import('e.csv', csv(['c-1,Anne,Z']));
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ role: 'Z' });
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
  });

  it('is not tried again once a newer row has gone in, and the note says what writes the field', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,X']));
    await edit(bench, 'c-1', { role: 'Y' });
    await bench.import('b.csv', csv(['c-1,Ann,Z']));
    await refusing(bench);
    await takeFile(bench);
    await bench.world.faults();
    await bench.import('c.csv', csv(['c-1,Anne'], 'externalId,firstName'));
    const run = await retry(bench);
    expectCounts(run, { rows: 1, skipped: 1 });
    expect(run.notes).toEqual([
      '1 decision about held fields was skipped (superseded): a later file has set its contact since. The next row of the feed that names these fields writes them, and closes the dead letter; or set them in the workspace, and drop the dead letter.',
    ]);
    expect((await bench.report(run)).outcomes).toMatchObject([
      { code: 'superseded', message: 'decided before a later file that has set its contact' },
    ]);
    expect(await statesOf(bench)).toEqual(['refused403 open']);
    expectCounts(await bench.import('d.csv', csv(['c-1,Anne,Z'])), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ role: 'Z' });
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
  });

  it('is tried again as the decision that it is, whatever the policy of the field is by then', async () => {
    const named = (policy: string) => mapping({ fields: { firstName: 'firstName', role: { column: 'role', policy } } });
    const bench = await openRunsBench({ mapping: named('seed') });
    const shared = { mapping: named('shared') };
    await bench.import('a.csv', csv(['c-1,Ann,X']), shared);
    await edit(bench, 'c-1', { role: 'Y' });
    await bench.import('b.csv', csv(['c-1,Ann,Z']), shared);
    await refusing(bench);
    await takeFile(bench);
    await bench.world.faults();
    expectCounts(await retry(bench, { remap: true }), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ role: 'Z' });
  });
});

describe('a letter that is tried again', () => {
  it('closes none of a newer row of its contact', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,X,'], wide));
    await refusing(bench);
    await bench.import('b.csv', csv(['c-1,Ann,Y,'], wide));
    await bench.world.faults();
    await bench.import('c.csv', csv(['c-1,Ann,Z,call me'], wide));
    expectCounts(await retry(bench, { ids: [await idOf(bench, 'refused403')] }), { rows: 1, updated: 1 });
    expect(await statesOf(bench)).toEqual(['phoneLetters open', 'refused403 closed']);
  });
});

describe('a letter of an undo', () => {
  const header = 'externalId,firstName,role,email';
  const fileA = csv(['c-1,Old,,', 'c-2,Bob,Buyer,'], header);
  const fileB = csv(['c-1,New,Chief,ann@example.com', 'c-2,Bob,Buyer,'], header);

  async function refusedUndo(status = 403): Promise<{ bench: RunsBench; undone: RunRecord; undo: RunRecord }> {
    const bench = await openRunsBench();
    await bench.import('people.csv', fileA);
    const undone = await bench.import('people.csv', fileB);
    await refusing(bench, status);
    const undo = await undoRun(bench, undone);
    expectCounts(undo, { rows: 1, dead: 1 });
    await bench.world.faults();
    return { bench, undone, undo };
  }

  const isBack = { firstName: 'Old', role: null, emails: [] };

  it('stays open when the same file comes the next night, and can be tried again', async () => {
    const { bench } = await refusedUndo();
    expectCounts(await bench.import('people.csv', fileB), { rows: 2, unchanged: 2 });
    expect(await statesOf(bench)).toEqual(['refused403 open']);
    expectCounts(await retry(bench), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject(isBack);
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
    expectCounts(await bench.import('people.csv', fileB), { rows: 2, unchanged: 2 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject(isBack);
  });

  it('stays open when a changed row of its contact goes in', async () => {
    const { bench } = await refusedUndo();
    await bench.import('people.csv', fileB.replace('Chief', 'Boss'));
    expect(await statesOf(bench)).toEqual(['refused403 open']);
  });

  it('is closed by a further undo of the same run', async () => {
    const { bench, undone } = await refusedUndo();
    expectCounts(await undoRun(bench, undone), { rows: 1, updated: 1 });
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
  });

  it('is another one than that of the undo of another run', async () => {
    const bench = await openRunsBench();
    const first = await bench.import('people.csv', fileA.replace('Old,,', 'Old,Lead,'));
    const second = await bench.import('people.csv', fileA.replace('Old,,', 'New,Lead,'));
    const third = await bench.import('people.csv', fileA.replace('Old,,', 'New,Chief,'));
    expect(first.state).toBe('done');
    await refusing(bench);
    await undoRun(bench, third);
    await undoRun(bench, second);
    await bench.world.faults();
    expect(await statesOf(bench)).toEqual(['refused403 open', 'refused403 open']);
    // One at a time: a run has each contact once.
    expectCounts(await retry(bench), { rows: 2, updated: 1, skipped: 1 });
    expectCounts(await retry(bench), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: 'Old', role: 'Lead' });
    expect(await statesOf(bench)).toEqual(['refused403 closed', 'refused403 closed']);
  });

  it.each(['the fix-file', 'a retry by today’s mapping'])('is an undo in %s, too: no file has said it', async (how) => {
    const { bench, undo } = await refusedUndo(422);
    expect((await bench.letters())[0]?.hint).not.toContain('drop the fix-file in again');
    const run =
      how === 'the fix-file'
        ? await bench.import('fixed.ndjson', (await bench.fixFile(undo)).text)
        : await retry(bench, { remap: true });
    expectCounts(run, { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject(isBack);
    expect(await statesOf(bench)).toEqual(['refused422 closed']);
    expectCounts(await bench.import('people.csv', fileB), { rows: 2, unchanged: 2 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject(isBack);
  });

  it('is not done a second time by an old fix-file, once a newer row has gone in', async () => {
    const { bench, undo } = await refusedUndo(422);
    const { text } = await bench.fixFile(undo);
    await bench.import('fixed.ndjson', text);
    await bench.import('people.csv', fileB.replace('Chief', 'Boss'));
    await bench.import('people.csv', fileB.replace('New', 'Newer'));
    expectCounts(await bench.import('again.ndjson', text), { rows: 1, skipped: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: 'Newer', role: 'Chief' });
  });

  it('takes no other values from the fix-file, and says so', async () => {
    const { bench, undo } = await refusedUndo(422);
    const text = (await bench.fixFile(undo)).text.replace('"Old"', '"Older"');
    const run = await bench.import('fixed.ndjson', text);
    expectCounts(run, { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject(isBack);
    expect((await bench.report(run)).outcomes).toContainEqual(
      expect.objectContaining({ kind: 'warning', code: 'notOfFile', field: 'firstName', value: 'Older' }),
    );
  });

  it('cannot be edited: there is no row', async () => {
    const { bench } = await refusedUndo(422);
    const home = { submit: bench.parts, actor: bench.parts.actor };
    await expect(editLetter(home, await idOf(bench, 'refused422'), ['firstName=Older'], null)).rejects.toMatchObject({
      code: 'rowGone',
    });
  });
});

const crm = mapping({
  name: 'crm',
  key: 'Id',
  fields: { firstName: 'Name', role: 'Role' },
  phones: [{ column: 'Phone', label: 'work' }],
});
const crmFile = (...rows: readonly string[]) => csv(rows, 'Id,Name,Role,Phone');
const inFeed = { feed: 'crm', mapping: crm };

async function openCrm(rules: { readonly onMissing?: string } = {}): Promise<RunsBench> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-parts-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'crm.yaml');
  await writeFile(file, JSON.stringify(crm));
  return openRunsBench({ configured: { crm: { ...rules, mapping: file } } });
}

describe('a letter of a person who left', () => {
  /** c-1 has left, and could not be cleared; c-2 has a bad phone. */
  async function refusedClearing(): Promise<{ bench: RunsBench; run: RunRecord }> {
    const bench = await openCrm({ onMissing: 'clear firstName, role' });
    await bench.import('a.csv', crmFile('c-1,Ann,Buyer,', 'c-2,Bea,Buyer,'), inFeed);
    await refusing(bench);
    const run = await bench.import('b.csv', crmFile('c-2,Bea,Buyer,call me'), inFeed);
    await bench.world.faults();
    expect(await statesOf(bench)).toEqual(['phoneLetters open', 'refused403 open']);
    return { bench, run };
  }

  it('lets the other rows of a fix-file in, and is cleared with it', async () => {
    const { bench, run } = await refusedClearing();
    const text = (await bench.fixFile(run)).text.replace('call me', '+14155550123');
    expectCounts(await bench.import('fixed.csv', text, inFeed), { rows: 2, updated: 2 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: null, role: null });
    expect(await statesOf(bench)).toEqual(['phoneLetters closed', 'refused403 closed']);
  });

  it('is cleared by the fix-file of a feed without a mapping, too', async () => {
    const bench = await openRunsBench({ configured: { crm: { onMissing: 'clear firstName, role' } } });
    const inPlain = { feed: 'crm' };
    await bench.import('a.csv', csv(['c-1,Ann,Buyer', 'c-2,Bea,Buyer']), inPlain);
    await refusing(bench);
    const run = await bench.import('b.csv', csv(['c-2,Bea,Buyer']), inPlain);
    await bench.world.faults();
    expectCounts(await bench.import('fixed.csv', (await bench.fixFile(run)).text, inPlain), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: null, role: null });
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
  });

  it('is cleared by a retry with today’s mapping', async () => {
    const { bench } = await refusedClearing();
    expectCounts(await retry(bench, { remap: true }), { rows: 2, updated: 1, dead: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ firstName: null, role: null });
    expect(await statesOf(bench)).toEqual(['phoneLetters open', 'refused403 closed']);
  });

  it('is closed when the person is back', async () => {
    const { bench } = await refusedClearing();
    await bench.import('c.csv', crmFile('c-1,Ann,Buyer,', 'c-2,Bea,Buyer,call me'), inFeed);
    expect(await statesOf(bench)).toEqual(['phoneLetters open', 'refused403 closed']);
  });
});

describe('a letter of a repair', () => {
  const file = crmFile('c-1,Ann,Buyer,', 'c-2,Bea,Buyer,');

  async function refusedRepair(): Promise<{ bench: RunsBench; run: RunRecord }> {
    const bench = await openCrm();
    await bench.import('a.csv', file, inFeed);
    await edit(bench, 'c-1', { role: 'Chief' });
    await refusing(bench);
    const run = await bench.import('b.csv', file, { ...inFeed, options: { repair: true } });
    await bench.world.faults();
    expect(await statesOf(bench)).toEqual(['refused403 open']);
    return { bench, run };
  }

  it.each(['a retry', 'a retry by today’s mapping', 'the fix-file'])('repairs in %s', async (how) => {
    const { bench, run } = await refusedRepair();
    const again =
      how === 'the fix-file'
        ? await bench.import('fixed.csv', (await bench.fixFile(run)).text, inFeed)
        : await retry(bench, { remap: how !== 'a retry' });
    expectCounts(again, { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ role: 'Buyer' });
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
    expectCounts(await bench.import('c.csv', file, inFeed), { rows: 2, unchanged: 2 });
  });

  it.each(['a retry', 'the fix-file'])('repairs in %s after files that say the same', async (how) => {
    const { bench, run } = await refusedRepair();
    for (const name of ['c.csv', 'd.csv']) await bench.import(name, file, inFeed);
    const again =
      how === 'a retry' ? await retry(bench) : await bench.import('fixed.csv', (await bench.fixFile(run)).text, inFeed);
    expectCounts(again, { rows: 1, updated: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ role: 'Buyer' });
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
  });

  it('writes nothing over what a newer file says, and stays open', async () => {
    const { bench } = await refusedRepair();
    await bench.import('c.csv', file.replaceAll('Buyer', 'Seller'), inFeed);
    const before = await fieldsOf(bench, 'c-1');
    expectCounts(await retry(bench), { rows: 1, skipped: 1 });
    expect(await fieldsOf(bench, 'c-1')).toEqual(before);
    expect(await statesOf(bench)).toEqual(['refused403 open']);
  });

  const addresses = 'externalId,firstName,role,email';

  /** The file says a@example.com and Buyer, people changed both, and the repair was refused. */
  async function refusedRepairOfBoth(): Promise<RunsBench> {
    const bench = await openRunsBench();
    const said = csv(['c-1,Ann,Buyer,a@example.com'], addresses);
    await bench.import('a.csv', said);
    const emails = (await bench.world.contactOf('c-1')).defaultFields.emails.map((one) => ({ ...one, value: null }));
    await edit(bench, 'c-1', { role: 'Chief', emails });
    await refusing(bench);
    await bench.import('b.csv', said, { options: { repair: true } });
    await bench.world.faults();
    expect(await statesOf(bench)).toEqual(['refused403 open']);
    return bench;
  }

  it.each([
    { now: 'another address', row: 'c-1,Ann,Buyer,b@example.com' },
    { now: 'a value that is held', row: 'c-1,Ann,Seller,a@example.com' },
  ])('writes nothing older over $now, also after a file that says the same as that', async ({ row }) => {
    const bench = await refusedRepairOfBoth();
    const newer = csv([row], addresses);
    await bench.import('c.csv', newer);
    expectCounts(await bench.import('d.csv', newer), { rows: 1, unchanged: 1 });
    const before = await fieldsOf(bench, 'c-1');
    const held = await listHeld(bench.parts, {});
    expectCounts(await retry(bench), { rows: 1, skipped: 1 });
    expect(await fieldsOf(bench, 'c-1')).toEqual(before);
    expect(await listHeld(bench.parts, {})).toEqual(held);
    expect(await statesOf(bench)).toEqual(['refused403 open']);
  });

  it('writes nothing over what a person decided for, also after files that say the same as that', async () => {
    const bench = await refusedRepairOfBoth();
    const newer = csv(['c-1,Ann,Seller,a@example.com'], addresses);
    await bench.import('c.csv', newer);
    expectCounts(await takeFile(bench), { rows: 1, updated: 1 });
    for (const name of ['d.csv', 'e.csv']) await bench.import(name, newer);
    expectCounts(await retry(bench), { rows: 1, skipped: 1 });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ role: 'Seller' });
    expect(await statesOf(bench)).toEqual(['refused403 open']);
  });

  it('stays open when the same file comes without --repair, and is closed by one with it', async () => {
    const { bench } = await refusedRepair();
    await bench.import('c.csv', file, inFeed);
    expect(await statesOf(bench)).toEqual(['refused403 open']);
    await bench.import('d.csv', file, { ...inFeed, options: { repair: true } });
    expect(await fieldsOf(bench, 'c-1')).toMatchObject({ role: 'Buyer' });
    expect(await statesOf(bench)).toEqual(['refused403 closed']);
  });
});
