/** Undo: what a run wrote is taken back where it is still as the run left it, by a run like any other. */
import { describe, expect, it } from 'vitest';
import { carryOutAudit } from '#src/audits/carry-out-audit.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { beginUndo, planUndoOf } from '#src/operations/undo.ts';
import { planView } from '#src/plans/show/plan-view.ts';
import type { Contact } from '#src/wire/contact.ts';
import { csv, expectCounts, fillers } from '../runs/support/runs-bench.ts';
import { defaultGuards } from '../runs/support/tallies.ts';
import { openPlanBench, type PlanBench } from './support/plan-bench.ts';
import { readWhole } from './support/read-plan.ts';
import { actor, enterUndo, stageEntered, undoRun } from './support/undo-runs.ts';

const enter = ({ bench }: PlanBench, ...rest: Tail<typeof enterUndo>) => enterUndo(bench, ...rest);
const stage = ({ bench }: PlanBench, run: RunRecord) => stageEntered(bench, run);
const undo = ({ bench }: PlanBench, ...rest: Tail<typeof undoRun>) => undoRun(bench, ...rest);
type Tail<Act extends (bench: never, ...rest: never) => unknown> = Act extends (
  bench: never,
  ...rest: infer Rest
) => unknown
  ? Rest
  : never;

const header = 'externalId,firstName,lastName,role,company,phone mobile,phone work,email,custom.CF';

async function audited({ bench: { parts, ledger } }: PlanBench, { id }: RunRecord) {
  const first = async () => (await ledger.audits.ofRun(id)).find(({ kind }) => kind === 'first');
  await carryOutAudit(parts, (await first())?.id ?? '', new AbortController().signal);
  return first();
}

/** Files A and B in every kind of field and item, and the custom field that they fill. */
async function openTwoNights(patchMode: 'merge' | 'replace', onGone: 'skip' | 'recreate' = 'skip') {
  const planned = await openPlanBench({ patchMode, limits: { onGoneOf: () => onGone } });
  const field = (await planned.bench.parts.workspace.listCustomFields())?.find(({ type }) => type === 'string');
  const named = header.replace('CF', field?.key ?? '');
  const fileA = csv(
    ['c-1,Ann,Lee,Lead,Pier,+14155550101,+14155550111,ann@example.com,gold', 'c-2,Bob,,Buyer,,,,bob@example.com,'],
    named,
  );
  const fileB = csv(
    [
      'c-1,Ann,#CLEAR,Chief,Pier,+14155550102,+14155550111,#CLEAR,silver',
      'c-2,Bob,Ray,Buyer,Quay,+14155550120,,bob@example.com,tin',
    ],
    named,
  );
  const runA = await planned.bench.import('people.csv', fileA);
  const asA = await planned.bench.world.contacts();
  const runB = await planned.bench.import('people.csv', fileB);
  return { planned, bench: planned.bench, world: planned.bench.world, named, fileA, fileB, runA, runB, asA };
}

/** All that a contact holds, without ids and instants. */
const contents = (contacts: readonly Contact[]) =>
  Object.fromEntries(
    contacts.map(({ externalId, defaultFields, customFields }) => {
      const { emails, phoneNumbers, ...scalars } = defaultFields;
      const items = (list: readonly { name: string | null; value: string | null }[]) =>
        list.map(({ name, value }) => `${name}: ${value}`).sort();
      const filled = customFields.filter(({ value }) => value !== null && value !== '');
      return [
        externalId,
        { scalars, emails: items(emails), phones: items(phoneNumbers), custom: filled.map(({ value }) => value) },
      ];
    }),
  );

async function edit(
  { bench }: Pick<PlanBench, 'bench'>,
  key: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { id, defaultFields, customFields } = await bench.world.contactOf(key);
  const body = { defaultFields: { ...defaultFields, ...fields }, customFields };
  await bench.world.byHand('PATCH', `/v1/contacts/${id}`, body);
}

/** An undo that is to make contacts again, of which another feed has said the same. */
async function openMakingAgain(patchMode: 'merge' | 'replace') {
  let isThere = false;
  const limits = { ownsItems: () => isThere };
  const planned = await openPlanBench({ patchMode, configured: { crm: {} }, limits });
  const { bench } = planned;
  const file = csv(
    ['c-1,Ann,Lead,Pier,+14155550101', 'c-2,Bob,Buyer,Quay,+14155550102'],
    'externalId,firstName,role,company,phone mobile',
  );
  const made = await bench.import('people.csv', file);
  expectCounts(await bench.import('crm.csv', file, { feed: 'crm' }), { rows: 2, unchanged: 2 });
  // The contacts that its file names can be deleted while the feed is not there.
  const deleted = await undo(planned, made, { deleteCreated: true });
  isThere = true;
  const making = await stage(planned, await enter(planned, deleted));
  return { planned, bench, world: bench.world, file, making };
}

describe.each(['merge', 'replace'] as const)('undoing a run, where PATCH means %s', (patchMode) => {
  it('brings every kind of field and item back to what it was, labels too', async () => {
    const { planned, world, runB, asA } = await openTwoNights(patchMode);
    const run = await undo(planned, runB);
    expectCounts(run, { rows: 2, updated: 2 });
    expect(run).toMatchObject({ kind: 'undo', state: 'done', fileName: 'undo of people.csv' });
    expect(contents(await world.contacts())).toEqual(contents(asA));
    await world.expectSound();
  });

  it('is not done again by the same file the next night, and a really changed file writes', async () => {
    const { planned, bench, world, named, runB, fileB, asA } = await openTwoNights(patchMode);
    await undo(planned, runB);
    expectCounts(await bench.import('people.csv', fileB), { rows: 2, unchanged: 2 });
    expect(contents(await world.contacts())).toEqual(contents(asA));
    const changed = fileB.replace(',Chief,', ',Boss,').replace(',tin', ',lead');
    const night = await bench.import('people.csv', changed);
    expect(night.counts).toMatchObject({ updated: 2, heldFields: 0 });
    expect((await world.contactOf('c-1')).defaultFields).toMatchObject({ role: 'Boss', lastName: 'Lee' });
    expect((await world.contactOf('c-2')).customFields.map(({ value }) => value)).toContain('lead');
    expect(named).toContain('custom.');
  });

  it('holds what people changed since, with both values, and takes back the rest of the contact', async () => {
    const { planned, bench, world, runB } = await openTwoNights(patchMode);
    const { defaultFields } = await world.contactOf('c-1');
    await edit(planned, 'c-1', {
      role: 'Edited',
      phoneNumbers: [...defaultFields.phoneNumbers, { name: 'home', value: '+14155550199' }],
    });
    const run = await undo(planned, runB);
    expect(run.counts).toMatchObject({ rows: 2, updated: 2, heldFields: 1 });
    expect((await bench.report(run)).outcomes).toContainEqual(
      expect.objectContaining({
        kind: 'held',
        code: 'changedSince',
        key: 'c-1',
        field: 'role',
        file: 'Lead',
        app: 'Edited',
      }),
    );
    const after = (await world.contactOf('c-1')).defaultFields;
    expect(after).toMatchObject({ role: 'Edited', lastName: 'Lee' });
    expect(after.phoneNumbers.map(({ value }) => value).sort()).toEqual([
      '+14155550101',
      '+14155550111',
      '+14155550199',
    ]);
    expect(await bench.ledger.contacts.held({ limit: 10 })).toEqual([]);
  });

  it('leaves a number that a later run relabelled, and lists it', async () => {
    const { planned, bench, world, runB, fileB } = await openTwoNights(patchMode);
    const later = await bench.import('people.csv', fileB.replace(',+14155550120,,', ',,+14155550120,'));
    expect(later.counts).toMatchObject({ updated: 1 });
    const run = await undo(planned, runB);
    const held = { kind: 'held', code: 'changedSince', key: 'c-2', field: 'phone.+14155550120' };
    expect((await bench.report(run)).outcomes).toContainEqual(expect.objectContaining(held));
    const { phoneNumbers } = (await world.contactOf('c-2')).defaultFields;
    expect(phoneNumbers).toMatchObject([{ name: 'work', value: '+14155550120' }]);
  });

  it('can be undone itself', async () => {
    const { planned, bench, world, runB, fileB } = await openTwoNights(patchMode);
    const asB = contents(await world.contacts());
    const undone = await undo(planned, runB);
    expectCounts(await undo(planned, undone), { rows: 2, updated: 2 });
    expect(contents(await world.contacts())).toEqual(asB);
    expectCounts(await bench.import('people.csv', fileB), { rows: 2, unchanged: 2 });
    // What the file owns it owns again: another number takes the place of the one that was put back.
    await bench.import('people.csv', fileB.replace('+14155550102', '+14155550103'));
    const { phoneNumbers } = (await world.contactOf('c-1')).defaultFields;
    expect(phoneNumbers.map(({ value }) => value).sort()).toEqual(['+14155550103', '+14155550111']);
  });

  it('leaves contacts alone that the run made, and says so; with deleteCreated it deletes those that did not change', async () => {
    const { planned, bench, world, runA, runB } = await openTwoNights(patchMode);
    await undo(planned, runB);
    const looking = { signal: new AbortController().signal, onProgress: () => undefined };
    await using shown = await planUndoOf(planned.service, bench.parts, runA, { deleteCreated: false }, looking);
    expect(planView(shown, { limit: 9, values: true }).notes).toContain(
      '2 rows skipped: created by the run that is being undone; deleted only with --delete-created',
    );
    const told = await undo(planned, runA);
    expectCounts(told, { rows: 2, skipped: 2 });
    expect((await bench.report(told)).outcomes).toMatchObject([
      { code: 'made', key: 'c-1' },
      { code: 'made', key: 'c-2' },
    ]);
    await edit(planned, 'c-2', { role: 'Edited' });
    const run = await undo(planned, runA, { deleteCreated: true });
    expect(run.counts).toMatchObject({ rows: 2, updated: 1, deleted: 1, unchanged: 1, heldFields: 1 });
    expect((await world.contacts()).map(({ externalId }) => externalId)).toEqual(['c-2']);
    expect(run.requests).toMatchObject({ delete: 1 });
    // What an undo deleted is not missing.
    expect(await audited(planned, run)).toMatchObject({ state: 'done', checked: 2, missing: 0 });
    expect(await audited(planned, runA)).toMatchObject({ state: 'done', missing: 0 });
    await world.expectSound();
  });

  it('does not delete a contact of which people have changed a label alone, or removed an item and typed it in again', async () => {
    const { planned, bench, world, runA, runB } = await openTwoNights(patchMode);
    await undo(planned, runB);
    const [phone, ...others] = (await world.contactOf('c-1')).defaultFields.phoneNumbers;
    await edit(planned, 'c-1', { phoneNumbers: [{ ...phone, name: 'private' }, ...others] });
    await edit(planned, 'c-2', { emails: [] });
    await edit(planned, 'c-2', { emails: [{ name: 'private', value: 'bob@example.com' }] });
    const run = await undo(planned, runA, { deleteCreated: true });
    expect(run.counts).toMatchObject({ rows: 2, deleted: 0, unchanged: 2, heldFields: 2 });
    expect((await bench.report(run)).outcomes).toContainEqual(
      expect.objectContaining({ kind: 'held', code: 'changedSince', key: 'c-2', field: 'email.bob@example.com' }),
    );
    expect(await world.contacts()).toHaveLength(2);
  });

  it('does not delete a contact of which people have changed a label or the source, whatever has read it since', async () => {
    const { planned, bench, world, runA, runB, fileB } = await openTwoNights(patchMode);
    await undo(planned, runB);
    const { id, defaultFields, customFields } = await world.contactOf('c-1');
    const [phone, ...others] = defaultFields.phoneNumbers;
    const phoneNumbers = [{ ...phone, name: 'do not call' }, ...others];
    await world.byHand('PATCH', `/v1/contacts/${id}`, {
      defaultFields: { ...defaultFields, phoneNumbers },
      customFields,
    });
    const { id: second, ...whole } = await world.contactOf('c-2');
    const body = { defaultFields: whole.defaultFields, customFields: whole.customFields, source: 'by-hand' };
    await world.byHand('PATCH', `/v1/contacts/${second}`, body);
    // Both are read, written and undone once more.
    await undo(planned, await bench.import('people.csv', fileB.replaceAll(/Chief|Quay/g, 'Another')));
    const run = await undo(planned, runA, { deleteCreated: true });
    expect(run.counts).toMatchObject({ rows: 2, deleted: 0, unchanged: 2 });
    const { outcomes } = await bench.report(run);
    for (const [key, field] of [
      ['c-1', `phone.${phone?.value}`],
      ['c-2', 'source'],
    ])
      expect(outcomes).toContainEqual(expect.objectContaining({ kind: 'held', code: 'changedSince', key, field }));
    expect(await world.contacts()).toHaveLength(2);
  });

  it.each(['skip', 'recreate'] as const)('makes a contact again that an undo deleted (onGone: %s)', async (onGone) => {
    const { planned, bench, world, runA, runB, fileB, asA } = await openTwoNights(patchMode, onGone);
    await undo(planned, runB);
    const deleted = await undo(planned, runA, { deleteCreated: true });
    expect(await world.contacts()).toEqual([]);
    // A change of a contact that is gone is taken back nowhere, whatever the feed says of such rows.
    expectCounts(await undo(planned, runB), { rows: 2, skipped: 2 });

    const looking = { signal: new AbortController().signal, onProgress: () => undefined };
    const open = await planUndoOf(planned.service, bench.parts, deleted, { deleteCreated: false }, looking);
    const { groups, summary } = planView(open, { limit: 9, values: true });
    const [shown] = (await readWhole(open)).contacts;
    // It is in no file.
    expect(shown).toMatchObject({ key: 'c-1', deed: 'create', line: 0 });
    expect(groups.map(({ title }) => title)).toEqual(['2 contacts to make again: the run that is undone deleted them']);
    expect(summary).toContain('2 rows: 2 to make again');
    const back = await undo(planned, deleted);
    expectCounts(back, { rows: 2, created: 2 });
    expect(contents(await world.contacts())).toEqual(contents(asA));
    expectCounts(await undo(planned, deleted), { rows: 2, unchanged: 2 });
    expect(contents(await world.contacts())).toEqual(contents(asA));
    // Another file goes on from there.
    await bench.import('people.csv', fileB.replaceAll('Chief', 'President'));
    expect((await world.contactOf('c-1')).defaultFields).toMatchObject({ role: 'President', company: 'Pier' });
    await world.expectSound();
  });

  it.each(['none', 'create:dropAfter'])(
    'makes contacts again and moves nothing that another feed has said (fault: %s)',
    async (fault) => {
      const { bench, world, file, making } = await openMakingAgain(patchMode);
      await world.faults(...(fault === 'none' ? [] : [fault]));
      await world.workOnce(making);
      await world.faults();
      expectCounts(await bench.finish(await bench.apply(making)), { rows: 2, created: 2 });

      const { id, defaultFields, customFields } = await world.contactOf('c-1');
      const edited = { ...defaultFields, role: 'Edited', phoneNumbers: [] };
      await world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: edited, customFields });
      const kept = contents(await world.contacts());
      for (const feed of ['crm', 'main']) {
        const { counts } = await bench.import(`${feed}.csv`, file, { feed });
        expect(counts).toMatchObject({ rows: 2, unchanged: 2, heldFields: 0 });
      }
      expect(contents(await world.contacts())).toEqual(kept);
      // What the other feed says anew is written as ever.
      expectCounts(await bench.import('crm.csv', file.replace('Quay', 'Dock'), { feed: 'crm' }), {
        rows: 2,
        updated: 1,
        unchanged: 1,
      });
      await world.expectSound();
    },
  );

  it('moves nothing that another feed has said, also where a run of that feed finds the contact first', async () => {
    const { bench, world, file, making } = await openMakingAgain(patchMode);
    await world.faults('create:dropAfter');
    await world.workOnce(making);
    await world.faults();
    await edit({ bench }, 'c-2', { role: 'Edited' });
    const asked = await bench.import('crm.csv', file.replace('Quay', 'Dock'), { feed: 'crm' });
    expect(asked.counts).toMatchObject({ created: 2, heldFields: 0 });
    expect((await world.contactOf('c-2')).defaultFields).toMatchObject({ role: 'Edited', company: 'Dock' });
    expectCounts(await bench.finish(await bench.apply(making)), { rows: 2, unchanged: 2 });
    const { counts } = await bench.import('people.csv', file);
    expect(counts).toMatchObject({ rows: 2, unchanged: 2, heldFields: 0 });
    await world.expectSound();
  });

  it('goes on where answers are lost, and enters each write once', async () => {
    const { planned, bench, world, runA, runB, asA } = await openTwoNights(patchMode);
    const staged = await stage(planned, await enter(planned, runB));
    await world.faults('update:dropAfter');
    await world.workOnce(staged);
    await world.faults();
    const run = await bench.finish(await bench.apply(staged));
    expect(run.counts).toMatchObject({ rows: 2, updated: 2, heldFields: 0 });
    expect(contents(await world.contacts())).toEqual(contents(asA));
    expect(await bench.ledger.contacts.journal({ runId: run.id, limit: 10 })).toHaveLength(2);
    const deleting = await stage(planned, await enter(planned, runA, { deleteCreated: true }));
    await world.faults('delete:dropAfter');
    await world.workOnce(deleting);
    await world.faults();
    const deleted = await bench.finish(await bench.apply(deleting));
    expect(deleted.counts).toMatchObject({ rows: 2, updated: 2, deleted: 2 });
    expect(await world.contacts()).toEqual([]);
    expect(await bench.ledger.contacts.journal({ runId: deleted.id, limit: 10 })).toMatchObject([
      { kind: 'delete' },
      { kind: 'delete' },
    ]);
    await world.expectSound();
  });

  it('counts a contact as unchanged that people edited when its deletion had been sent and had not landed', async () => {
    const { planned, bench, world, runA, runB } = await openTwoNights(patchMode);
    await undo(planned, runB);
    const deleting = await stage(planned, await enter(planned, runA, { deleteCreated: true }));
    await world.faults('delete:dropBefore');
    await world.workOnce(deleting);
    await world.faults();
    await edit(planned, 'c-2', { role: 'Edited' });
    const run = await bench.finish(await bench.apply(deleting));
    expect(run.counts).toMatchObject({ rows: 2, updated: 1, deleted: 1, unchanged: 1, heldFields: 1 });
    expect(await bench.ledger.contacts.journal({ runId: run.id, limit: 10 })).toMatchObject([
      { key: 'c-1', kind: 'delete' },
    ]);
    expect((await world.contacts()).map(({ externalId }) => externalId)).toEqual(['c-2']);
    await world.expectSound();
  });
});

describe('an undo', () => {
  it('is shown before it is done, writes nothing then, and what moved since is skipped', async () => {
    const { planned, bench, world, runB } = await openTwoNights('replace');
    const was = await planned.everything();
    await using made = await planUndoOf(
      planned.service,
      bench.parts,
      runB,
      { deleteCreated: false },
      { signal: new AbortController().signal, onProgress: () => undefined },
    );
    expect(await planned.everything()).toEqual(was);
    expect(made).toMatchObject({ isKept: true, plan: { undoes: runB.id, totals: { rows: { rows: 2, updated: 2 } } } });
    await edit(planned, 'c-2', { lastName: 'Edited' });
    const home = { ledger: bench.ledger, clock: bench.parts.clock, log: bench.parts.log, actor, submit: bench.parts };
    const { run: entered } = await beginUndo(home, runB, {
      deleteCreated: false,
      accept: false,
      reason: null,
      plan: made.plan,
    });
    const run = await bench.finish(await bench.apply(await stage(planned, entered)));
    expect(run.counts).toMatchObject({ rows: 2, updated: 1, skipped: 1, moved: 1 });
    expect((await world.contactOf('c-2')).defaultFields.lastName).toBe('Edited');
  });

  it('is stopped by the guards like any other run, and approved or accepted like it', async () => {
    const planned = await openPlanBench({ guards: defaultGuards });
    const { bench } = planned;
    await bench.import('a.csv', csv(fillers(20)));
    const run = await bench.import('b.csv', csv(fillers(20)).replaceAll('Engineer', 'Pilot'), {
      options: { accept: true },
    });
    const stopped = await stage(planned, await enter(planned, run));
    expect(stopped).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardUpdates', facts: { updatesCount: 20, updatesBase: 20 } },
    });
    expect(stopped.reason?.hint).toContain(`patchbay runs approve --sandbox ${stopped.id}`);
    // The same undo with `accept` is that approval, once, and no other run.
    const home = { ledger: bench.ledger, clock: bench.parts.clock, log: bench.parts.log, actor, submit: bench.parts };
    const accepting = { deleteCreated: false, accept: true, reason: 'wrong export' };
    const accepted = await beginUndo(home, run, accepting);
    expect(accepted).toMatchObject({ isNew: false, run: { id: stopped.id, state: 'applying' } });
    expect((await beginUndo(home, run, accepting)).run.id).toBe(stopped.id);
    expect(accepted.run.approvals).toMatchObject([{ reason: 'wrong export' }]);
    expect((await bench.ledger.acts.list({ limit: 1 })).at(0)).toMatchObject({ kind: 'approve' });
    expectCounts(await bench.finish(await bench.apply(accepted.run)), { rows: 20, updated: 20 });
    // Where none waits, one is entered that they do not stop.
    const back = await bench.import('c.csv', csv(fillers(20)).replaceAll('Engineer', 'Nurse'), {
      options: { accept: true },
    });
    expectCounts(await undo(planned, back, { accept: true }), { rows: 20, updated: 20 });
  });

  it('is stopped by the guard on changes where it would delete more contacts than that allows, however few the feed knows', async () => {
    const planned = await openPlanBench({ guards: defaultGuards });
    const { bench } = planned;
    await bench.import('a.csv', csv(fillers(20)));
    const text = csv([...fillers(20), ...Array.from({ length: 40 }, (_, index) => `new-${index},Ann,Engineer`)]);
    const run = await bench.import('b.csv', text, { options: { accept: true } });
    const stopped = await stage(planned, await enter(planned, run, { deleteCreated: true }));
    expect(stopped).toMatchObject({
      state: 'stopped',
      reason: { code: 'guardUpdates', facts: { updatesCount: 40, updatesBase: 60 } },
    });
    expect(stopped.reason?.message).toContain('it changes or deletes 40, and the feed knows 60 contacts');
    expect(await bench.world.contacts()).toHaveLength(60);
  });

  it('of a contact that was deleted since skips it, and makes none', async () => {
    const { planned, world, runB } = await openTwoNights('merge');
    await world.byHand('DELETE', `/v1/contacts/${(await world.contactOf('c-1')).id}`);
    expectCounts(await undo(planned, runB), { rows: 2, updated: 1, skipped: 1 });
    expect((await world.contacts()).map(({ externalId }) => externalId)).toEqual(['c-2']);
  });

  it('that has not ended is gone on with, and another one beside it is refused', async () => {
    const { planned, bench, runB } = await openTwoNights('merge');
    const entered = await enter(planned, runB);
    expect((await enter(planned, runB)).id).toBe(entered.id);
    await expect(enter(planned, runB, { deleteCreated: true })).rejects.toMatchObject({
      code: 'undoUnderWay',
      message: `run ${entered.id} undoes run ${runB.id} already: it is queued, and deletes nothing`,
    });
    // `accept` passes no guard that watches the writing.
    const reason = { code: 'guardRefusals', message: 'stopped', hint: null, facts: {} };
    await bench.ledger.runs.move(entered.id, ['queued'], 'stopped', { atMs: 1, reason });
    for (const accept of [false, true])
      expect(await enter(planned, runB, { accept })).toMatchObject({ id: entered.id, state: 'stopped' });
    await expect(enter(planned, runB, { accept: true, deleteCreated: true })).rejects.toMatchObject({
      code: 'undoUnderWay',
    });
  });

  it('of a run that wrote nothing, or has not ended, is refused', async () => {
    const { planned, bench, fileB } = await openTwoNights('merge');
    const idle = await bench.import('people.csv', fileB);
    await expect(enter(planned, idle)).rejects.toMatchObject({ kind: 'usage', code: 'nothingToUndo' });
    const waiting = await bench.stage(await bench.submit('c.csv', csv(['c-9,Zed,X'])));
    await expect(enter(planned, waiting)).rejects.toMatchObject({ kind: 'usage', code: 'runNotEnded' });
  });
});
