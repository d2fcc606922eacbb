/** A plan says what an import would write, and writes nothing; carried out, it writes that and nothing else. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { findMapping } from '#src/feeds/feeds.ts';
import { contactDocument } from '#src/operations/plan.ts';
import { approveRun } from '#src/operations/run-acts.ts';
import { exitCodeOfRun, exitCodes } from '#src/runs/exit-code.ts';
import { csv, expectCounts, fillers } from '../runs/support/runs-bench.ts';
import { defaultGuards } from '../runs/support/tallies.ts';
import { openPlanBench, type PlanBench } from './support/plan-bench.ts';

const wide = 'externalId,firstName,role,company,phone mobile,email';
const before = csv(
  ['c-1,Ann,Lead,Pier,+14155550101,ann@example.com', 'c-2,Bob,Buyer,Pier,+14155550102,', 'c-3,Cyn,Buyer,Pier,,'],
  wide,
);
const after = csv(
  [
    'c-1,Ann,Chief,Pier,#CLEAR,ann@example.com',
    'c-2,Bob,Buyer,Quay,+14155550102,',
    'c-4,Dan,New,Pier,+14155550104,',
    'c-5,,,,call me,',
  ],
  wide,
);

async function edit(
  { bench }: PlanBench,
  key: string,
  defaultFields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { id, defaultFields: there } = await bench.world.contactOf(key);
  await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...there, ...defaultFields } });
}

const deeds = ({ contacts }: Awaited<ReturnType<PlanBench['plan']>>) =>
  Object.fromEntries(
    contacts.map(({ key, deed, changes, held }) => [
      key,
      [
        deed,
        ...changes.map(({ field, from, to }) => `${field}: ${from} → ${to}`),
        ...held.map(({ field, ours, theirs }) => `${field}: ${ours} | ${theirs}`),
      ],
    ]),
  );

describe('a plan of contacts that were written a moment ago', () => {
  it('waits once, and says what reads show then: what people did meanwhile, too', async () => {
    const lagMs = 60_000;
    const planned = await openPlanBench({ limits: { visibilityLagMs: lagMs } });
    const { clock } = planned.bench.world;
    vi.spyOn(clock, 'sleep').mockImplementation(async (ms) => clock.advance(ms));
    await planned.bench.import('a.csv', before);
    await edit(planned, 'c-1', { role: 'Edited' });
    await edit(planned, 'c-2', { company: 'Dock' });
    const waits: number[] = [];
    const made = await planned.plan('b.csv', after, { onWait: (ms) => waits.push(ms) });
    expect(waits).toEqual([lagMs]);
    expect(made).toMatchObject({ unsure: 0, unread: 0 });
    expect(deeds(made)).toMatchObject({
      'c-1': ['update', 'phone.+14155550101: +14155550101 → null', 'role: Chief | Edited'],
      'c-2': ['none', 'company: Quay | Dock'],
    });
    expect((await planned.plan('b.csv', after, { onWait: (ms) => waits.push(ms) })).unsure).toBe(0);
    expect(waits).toHaveLength(1);
  });

  it('ends where the wait is ended, and leaves nothing', async () => {
    const planned = await openPlanBench({ limits: { visibilityLagMs: 60_000 } });
    await planned.bench.import('a.csv', before);
    await edit(planned, 'c-1', { role: 'Edited' });
    const interrupt = new AbortController();
    const options = { signal: interrupt.signal, onWait: () => interrupt.abort(new Error('Ctrl-C')) };
    await expect(planned.plan('b.csv', after, options)).rejects.toThrow('Ctrl-C');
    expect(await planned.bench.ledger.plans.list({ limit: 9 })).toEqual([]);
  });
});

describe('a plan', () => {
  it('tells of a field that is held already what it told before: what the file had said, the name and the contact', async () => {
    const planned = await openPlanBench();
    await planned.bench.import('a.csv', before);
    await edit(planned, 'c-1', { role: 'Owner', firstName: 'Anna' });
    const said = before.replace(',Lead,', ',Chief,');
    const documents = async () => (await planned.plan('b.csv', said)).contacts.map((one) => contactDocument(one, true));
    const first = await documents();
    expect(first).toMatchObject([
      {
        name: 'Ann',
        held: [{ field: 'role', said: 'Lead', file: 'Chief', app: 'Owner' }],
        contact: expect.any(String),
      },
    ]);
    expect((await planned.bench.import('b.csv', said)).counts.heldFields).toBe(1);
    expect(await documents()).toEqual(first);
  });

  it('says of each contact what is created, changed, cleared, removed and held, and of rows what is rejected', async () => {
    const planned = await openPlanBench();
    await planned.bench.import('a.csv', before);
    await edit(planned, 'c-2', { company: 'Dock' });
    const made = await planned.plan('b.csv', after);
    expect(deeds(made)).toEqual({
      'c-1': ['update', 'role: Lead → Chief', 'phone.+14155550101: +14155550101 → null'],
      'c-2': ['none', 'company: Quay | Dock'],
      'c-4': [
        'create',
        'firstName: null → Dan',
        'company: null → Pier',
        'role: null → New',
        'phone.+14155550104: null → +14155550104',
      ],
    });
    expect(made.problems).toMatchObject([{ line: 5, field: 'phone mobile' }]);
    const { totals } = made.plan;
    expect(totals).toMatchObject({ changed: 1, removed: 1, cleared: 0, added: 4, heldFields: 1 });
    expect(totals.rows).toEqual({ rows: 4, created: 1, updated: 1, unchanged: 1, skipped: 0, dead: 1 });
    expect(totals.requests).toMatchObject({ post: 1, patch: 1 });
    expect(totals.seconds).toBeGreaterThan(0);
  });

  it('changes nothing: not the contacts, not the ledger but for the plan itself, no file', async () => {
    const planned = await openPlanBench();
    await planned.bench.import('a.csv', before);
    await edit(planned, 'c-1', { role: 'Edited' });
    await planned.bench.write('b.csv', after);
    const was = await planned.everything();
    const made = await planned.plan('b.csv', after);
    expect(made.isKept).toBe(true);
    expect(await planned.everything()).toEqual(was);
  });

  it('counts every row as the import then does', async () => {
    const planned = await openPlanBench();
    await planned.bench.import('a.csv', before);
    await edit(planned, 'c-2', { company: 'Dock' });
    const { totals } = (await planned.plan('b.csv', after)).plan;
    const { counts } = await planned.bench.import('b.csv', after);
    expect(counts).toMatchObject({
      ...totals.rows,
      heldFields: totals.heldFields,
      removedValues: totals.cleared + totals.removed,
    });
  });

  it('of an unreadable file says why, and leaves nothing behind', async () => {
    const planned = await openPlanBench();
    await expect(planned.plan('x.csv', 'name;mail\nAnn;ann@example.com\n')).rejects.toMatchObject({
      kind: 'file',
      code: 'keyColumnMissing',
    });
    expect(await planned.bench.names('drafts')).toEqual([]);
    expect(await planned.bench.ledger.plans.list({ limit: 10 })).toEqual([]);
  });

  it('that is interrupted is not kept', async () => {
    const planned = await openPlanBench();
    const stop = new AbortController();
    await expect(
      planned.plan('a.csv', csv(fillers(400)), { signal: stop.signal, onProgress: () => stop.abort() }),
    ).rejects.toThrow();
    expect(await planned.bench.ledger.plans.list({ limit: 10 })).toEqual([]);
    expect(await planned.bench.names('drafts')).toEqual([]);
  });

  it('of some contacts looks up no others, and is not kept', async () => {
    const planned = await openPlanBench();
    const made = await planned.plan('a.csv', before, { only: ['c-2'] });
    expect(Object.keys(deeds(made))).toEqual(['c-2']);
    expect(made).toMatchObject({ isKept: false, plan: { totals: { rows: { rows: 1, created: 1 } } } });
    expect(await planned.bench.ledger.plans.list({ limit: 10 })).toEqual([]);
  });

  it('of some contacts tells what is held and rejected of them, of no others, and which keys no row has', async () => {
    const planned = await openPlanBench();
    const { bench } = planned;
    await bench.import(
      'a.csv',
      csv(['c-1,Ann,A,', 'c-2,Bob,A,', 'c-3,Cy,A,'], 'externalId,firstName,role,phone mobile'),
    );
    for (const key of ['c-1', 'c-3']) await edit(planned, key, { role: 'Edited' });
    const file = csv(
      ['c-1,Ann,B,', 'c-2,Bob,A,', 'c-3,Cy,B,', 'c-4,Di,A,call me', 'c-5,Ed,A,call me'],
      'externalId,firstName,role,phone mobile',
    );
    await bench.import('b.csv', file);
    const of = async (only: readonly string[], options = {}) => {
      const made = await planned.plan('b.csv', file, { only, options });
      return {
        ...made,
        keys: Object.keys(deeds(made)),
        rows: made.plan.totals.rows,
        held: made.plan.totals.heldFields,
      };
    };
    expect(await of(['c-1'])).toMatchObject({
      keys: ['c-1'],
      rows: { rows: 1, unchanged: 1, dead: 0 },
      held: 1,
      notes: [],
    });
    expect(await of(['c-4'])).toMatchObject({ keys: [], rows: { rows: 1, dead: 1 }, held: 0, problemCount: 1 });
    const { notes, ...unknown } = await of(['c-2', 'nokey']);
    expect(unknown).toMatchObject({ keys: [], rows: { rows: 1, unchanged: 1 }, held: 0, problemCount: 0 });
    expect(notes).toEqual(['no row has the key "nokey" (--only)']);
    const verified = await planned.plan('b.csv', file, { options: { verify: true, only: ['c-1'] } });
    expect([Object.keys(deeds(verified)), verified.plan.totals.heldFields]).toEqual([['c-1'], 1]);
  });

  it('of some contacts counts those whose rows are unchanged, and no others', async () => {
    const planned = await openPlanBench();
    await planned.bench.import('a.csv', csv(['c-1,Ann,A', 'c-2,Bob,A', 'c-3,Cy,A', 'c-4,Di,A']));
    const file = csv(['c-1,Ann,B', 'c-2,Bob,A', 'c-3,Cy,A', 'c-4,Di,A', 'c-5,Ed,A']);
    const rowsOf = async (...only: readonly string[]) => (await planned.plan('b.csv', file, { only })).plan.totals.rows;
    const none = { created: 0, updated: 0, skipped: 0, dead: 0 };
    expect(await rowsOf('c-2')).toEqual({ ...none, rows: 1, unchanged: 1 });
    expect(await rowsOf('c-1', 'c-2', 'c-5')).toEqual({ ...none, rows: 3, created: 1, updated: 1, unchanged: 1 });
    expect(await rowsOf('nokey')).toEqual({ ...none, rows: 0, unchanged: 0 });
    const created = await planned.plan('b.csv', file, { only: ['c-1', 'c-2'], options: { createOnly: true } });
    expect(created.plan.totals.rows).toEqual({ ...none, rows: 1, unchanged: 1 });
    expect(created.notes).toContain('1 row was left out by --create-only');
  });

  it('lists every rejected row and every contact, however many there are', async () => {
    const planned = await openPlanBench();
    const rejected = Array.from({ length: 1_200 }, (_, index) => `x-${index},Ann,,,call me,`);
    const made = await planned.plan('a.csv', csv(['c-1,Ann,,,,', ...rejected, 'c-2,Bob,,,,'], wide));
    expect(made.problems.map(({ line }) => line)).toEqual(rejected.map((_, index) => index + 3));
    expect(made).toMatchObject({ problemCount: 1_200, contactCount: 2, plan: { totals: { rows: { dead: 1_200 } } } });
    expect(Object.keys(deeds(made))).toEqual(['c-1', 'c-2']);
  });

  it('tells the guard that would stop the import, with a command that passes it', async () => {
    const planned = await openPlanBench({ guards: defaultGuards });
    await planned.bench.import('a.csv', csv(fillers(20)));
    const made = await planned.plan('b.csv', csv(fillers(20)).replaceAll('Engineer', 'Pilot'));
    expect(made.plan.stop).toMatchObject({ code: 'guardUpdates' });
    expect(made.plan.stop?.hint).toContain(`patchbay import --plan ${made.plan.id} --accept`);
    expect((await planned.carryOut(made)).state).toBe('stopped');
    expectCounts(await planned.carryOut(made, { accept: true }), { rows: 20, updated: 20 });
  });

  it.each([{ accept: true }, { maxChange: 1 }])(
    'with %j the plan passes the guard, and so does its import',
    async (given) => {
      const planned = await openPlanBench({ guards: defaultGuards });
      await planned.bench.import('a.csv', csv(fillers(20)));
      const changed = csv(fillers(20)).replaceAll('Engineer', 'Pilot');
      const made = await planned.plan('b.csv', changed, { options: given });
      expect(made.plan.stop).toBeNull();
      expectCounts(await planned.carryOut(made), { rows: 20, updated: 20 });
    },
  );

  it('names the limits that it was given where the file has to be planned again', async () => {
    const planned = await openPlanBench({ guards: defaultGuards });
    await planned.bench.import('a.csv', csv(fillers(20)));
    const changed = csv(fillers(20)).replaceAll('Engineer', 'Pilot');
    const made = await planned.plan('b.csv', changed, { options: { maxChange: 0.55, maxDead: 0.07 }, only: ['f-1'] });
    expect(made.plan.stop?.hint).toContain('patchbay import --max-change 55% --max-dead 7% --accept');
  });
});

describe.each(['merge', 'replace'] as const)('a plan that is carried out, where PATCH means %s', (patchMode) => {
  it('writes what it said, and leaves alone what changed since: those contacts are skipped and listed', async () => {
    const planned = await openPlanBench({ patchMode });
    const { bench } = planned;
    await bench.import('a.csv', before);
    const made = await planned.plan('b.csv', after);
    await edit(planned, 'c-1', { role: 'Edited', lastName: 'Edit' });
    const run = await planned.carryOut(made);
    expect(run.counts).toMatchObject({ rows: 4, created: 1, updated: 1, skipped: 1, moved: 1, dead: 1 });
    expect((await bench.world.contactOf('c-1')).defaultFields).toMatchObject({
      role: 'Edited',
      phoneNumbers: [{ value: '+14155550101' }],
    });
    const report = await bench.report(run);
    expect(report).toMatchObject({ exitCode: 5, moved: 1 });
    expect(report.outcomes).toContainEqual(
      expect.objectContaining({ kind: 'skipped', code: 'moved', key: 'c-1', line: 2 }),
    );
    // What was skipped is still to be done.
    const night = await bench.import('b.csv', after);
    expect(night.counts).toMatchObject({ heldFields: 1, updated: 1 });
    await bench.world.expectSound();
  });

  it('writes a contact that was edited elsewhere only: the plan for it is the same', async () => {
    const planned = await openPlanBench({ patchMode });
    await planned.bench.import('a.csv', before);
    const made = await planned.plan('b.csv', csv(['c-2,Bob,Buyer,Quay,+14155550102,'], wide));
    const { defaultFields, id } = await planned.bench.world.contactOf('c-2');
    const emails = [{ name: 'home', value: 'bob@example.com' }];
    await planned.bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields: { ...defaultFields, emails } });
    expectCounts(await planned.carryOut(made), { rows: 1, updated: 1 });
    expect((await planned.bench.world.contactOf('c-2')).defaultFields).toMatchObject({ company: 'Quay', emails });
  });

  it('makes no contact that is there by then, and none that was gone', async () => {
    const planned = await openPlanBench({ patchMode });
    const { world } = planned.bench;
    await planned.bench.import('a.csv', before);
    const made = await planned.plan('b.csv', after);
    await world.byHand('POST', '/v1/contacts', { externalId: 'c-4', defaultFields: { firstName: 'Dan' } });
    await world.byHand('DELETE', `/v1/contacts/${(await world.contactOf('c-2')).id}`);
    const run = await planned.carryOut(made);
    expect(run.counts).toMatchObject({ created: 0, updated: 1, skipped: 2, moved: 2, dead: 1 });
    const { exitCode, outcomes } = await planned.bench.report(run);
    expect(exitCode).toBe(5);
    expect(outcomes).toContainEqual(expect.objectContaining({ kind: 'skipped', code: 'moved', key: 'c-2' }));
    expect((await world.contacts()).map(({ externalId }) => externalId).sort()).toEqual(['c-1', 'c-3', 'c-4']);
  });

  it('leaves out a contact that is deleted right before it is written', async () => {
    const planned = await openPlanBench({ patchMode });
    const { world } = planned.bench;
    await planned.bench.import('a.csv', before);
    const made = await planned.plan('b.csv', csv(['c-2,Bob,Buyer,Quay,+14155550102,'], wide));
    await world.faults('update:status=404');
    expect((await planned.carryOut(made)).counts).toMatchObject({ skipped: 1, moved: 1 });
  });

  it('makes no contact again that was deleted since, where the feed makes deleted contacts again', async () => {
    const planned = await openPlanBench({ patchMode, limits: { onGoneOf: () => 'recreate' } });
    const { world } = planned.bench;
    await planned.bench.import('a.csv', before);
    const made = await planned.plan('b.csv', csv(['c-2,Bob,Buyer,Quay,+14155550102,'], wide));
    await world.byHand('DELETE', `/v1/contacts/${(await world.contactOf('c-2')).id}`);
    expect((await planned.carryOut(made)).counts).toMatchObject({ created: 0, skipped: 1, moved: 1 });
    expect((await world.contacts()).map(({ externalId }) => externalId).sort()).toEqual(['c-1', 'c-3']);
    // Shown, it is made.
    const again = await planned.plan('b.csv', csv(['c-2,Bob,Buyer,Quay,+14155550102,'], wide));
    expectCounts(await planned.carryOut(again), { rows: 1, created: 1 });
  });

  it('skips what it showed as gone as the plan did', async () => {
    const planned = await openPlanBench({ patchMode });
    const { world } = planned.bench;
    await planned.bench.import('a.csv', before);
    await world.byHand('DELETE', `/v1/contacts/${(await world.contactOf('c-2')).id}`);
    const made = await planned.plan('b.csv', after);
    const run = await planned.carryOut(made);
    expect(run.counts).toMatchObject({ skipped: 1, moved: 0 });
    expect((await planned.bench.report(run)).outcomes).toContainEqual(
      expect.objectContaining({ kind: 'skipped', code: 'gone', key: 'c-2' }),
    );
  });

  it('goes on after writes whose answers were lost: they are part of the plan', async () => {
    const planned = await openPlanBench({ patchMode });
    const { world } = planned.bench;
    await planned.bench.import('a.csv', before);
    const made = await planned.plan('b.csv', after);
    await world.faults('create:dropAfter', 'update:dropAfter');
    const run = await planned.bench.stage(await planned.submitPlan(made));
    await world.workOnce(run);
    await world.faults();
    const ended = await planned.bench.finish(await planned.bench.apply(run));
    expect(ended.counts).toMatchObject({ created: 1, updated: 2, skipped: 0, moved: 0, dead: 1 });
    await world.expectSound();
  });
});

describe('a plan is refused as a whole', () => {
  it('where the file has other content, or is gone', async () => {
    const planned = await openPlanBench();
    const made = await planned.plan('a.csv', before);
    await planned.bench.write('a.csv', after);
    await expect(planned.carryOut(made)).rejects.toMatchObject({
      kind: 'guard',
      code: 'planMoved',
      hint: `Nothing was written. Make a new plan with: patchbay plan ${join(planned.bench.folder, 'a.csv')}`,
    });
    expect(await planned.bench.world.contacts()).toEqual([]);
  });

  it('where it is not there any more', async () => {
    const planned = await openPlanBench();
    const made = await planned.plan('a.csv', before);
    await planned.bench.ledger.forget(planned.bench.world.clock.nowMs() + 1_000, 0);
    await expect(planned.carryOut(made)).rejects.toMatchObject({ kind: 'usage', code: 'noSuchPlan' });
  });
});

describe('a plan of which another run has met a row meanwhile', () => {
  const header = 'externalId,firstName,role,company';
  const first = csv(['c-1,Ann,X,Pier', 'c-2,Bob,X,Pier'], header);
  const second = csv(['c-1,Ann,Y,Pier', 'c-2,Bob,X,Quay'], header);

  it('skips the row where it is held since, as one that would not be written any more', async () => {
    const planned = await openPlanBench();
    await planned.bench.import('a.csv', first);
    const made = await planned.plan('b.csv', second);
    await edit(planned, 'c-1', { role: 'Z' });
    const other = await planned.bench.import('other.csv', `${second}\r\n`);
    expectCounts(other, { rows: 2, updated: 1, unchanged: 1 });
    expect(other.counts.heldFields).toBe(1);
    const run = await planned.carryOut(made);
    // What the other run wrote is what the plan wanted.
    expectCounts(run, { rows: 2, unchanged: 1, skipped: 1 });
    expect(run.counts.moved).toBe(1);
    expect(exitCodeOfRun(run)).toBe(exitCodes.guard);
  });

  it('leaves the row held that was held between the same values when the plan was made', async () => {
    const planned = await openPlanBench();
    await planned.bench.import('a.csv', first);
    await edit(planned, 'c-1', { role: 'Z' });
    const made = await planned.plan('b.csv', second);
    expect(deeds(made)).toMatchObject({ 'c-1': ['none', 'role: Y | Z'] });
    await planned.bench.import('other.csv', `${second}\r\n`);
    const run = await planned.carryOut(made);
    expectCounts(run, { rows: 2, unchanged: 2 });
    expect(run.counts.heldFields).toBe(1);
    expect(exitCodeOfRun(run)).toBe(exitCodes.done);
  });
});

describe('what to type for a new plan', () => {
  const named = 'name: crm\nkey: externalId\nfields:\n  firstName: firstName\n  role: role\n';

  it('names feed, mapping and file as words of a shell', async () => {
    const planned = await openPlanBench();
    const place = join(planned.bench.folder, 'my mapping.yaml');
    await writeFile(place, named);
    const given = { feed: 'crm', mapping: await findMapping(place), mappingNamed: place };
    const made = await planned.plan("Ann's export.csv", before, given);
    await planned.bench.write("Ann's export.csv", after);
    await expect(planned.carryOut(made)).rejects.toMatchObject({
      hint: expect.stringContaining(
        `patchbay plan --feed crm --mapping '${place}' '${planned.bench.folder}/Ann'\\''s export.csv'`,
      ),
    });
  });

  it('names the file where a guard would stop an import whose plan is not kept', async () => {
    const planned = await openPlanBench({ guards: defaultGuards });
    await planned.bench.import('a.csv', csv(fillers(20)));
    const changed = csv(fillers(20)).replaceAll('Engineer', 'Pilot');
    const made = await planned.plan('b.csv', changed, { only: ['f-1'] });
    expect(made.plan.stop?.hint).toContain(`patchbay import --accept ${join(planned.bench.folder, 'b.csv')}`);
  });
});

describe('a run that a guard has stopped', () => {
  it('shows its plan, is approved with it, and skips what moved since', async () => {
    const planned = await openPlanBench({ guards: defaultGuards });
    const { bench } = planned;
    await bench.import('a.csv', csv(fillers(20)));
    const stopped = await bench.import('b.csv', csv(fillers(20)).replaceAll('Engineer', 'Pilot'));
    expect(stopped.state).toBe('stopped');
    const made = await planned.planRun(stopped);
    expect(made).toMatchObject({ isKept: true, plan: { runId: stopped.id, totals: { changed: 20 } } });
    const some = await planned.planRun(stopped, ['f-7']);
    expect(some).toMatchObject({ isKept: false, contactCount: 1, plan: { totals: { changed: 1 } }, notes: [] });
    await edit(planned, 'f-7', { firstName: 'Ann', role: 'Edited' });
    await approveRun(bench.parts, stopped, 'expected', null, made.plan);
    const run = await bench.finish(await bench.apply(await bench.again(stopped)));
    expectCounts(run, { rows: 20, updated: 19, skipped: 1 });
    expect((await bench.report(run)).approvals).toMatchObject([
      { plan: { id: made.plan.id, checksum: made.plan.checksum } },
    ]);
    expect((await bench.world.contactOf('f-7')).defaultFields.role).toBe('Edited');
  });

  it('tells of which of the chosen contacts no row waits or was rejected', async () => {
    const planned = await openPlanBench({ guards: defaultGuards });
    const { bench } = planned;
    await bench.import('a.csv', csv(fillers(22)));
    const file = csv([...fillers(20), ...fillers(1, 22)]).replaceAll('Engineer', 'Pilot');
    const stopped = await bench.import('b.csv', `${file}f-21,Ann,Engineer\r\n`);
    expect(stopped.state).toBe('stopped');
    const some = await planned.planRun(stopped, ['f-7', 'f-21', 'nokey']);
    expect(some.plan.totals.rows).toMatchObject({ rows: 1, updated: 1 });
    expect(some.notes).toEqual(['no row of this run that waits or was rejected has the keys "f-21", "nokey" (--only)']);
  });
});
