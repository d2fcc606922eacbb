/** A person takes the file's value of held fields, beside other feeds, waiting rows and dead letters. */

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { identifyProcess } from '#src/ledger/process-identity.ts';
import type { RunRecord } from '#src/ledger/runs.ts';
import { retryLetters } from '#src/operations/dead-letters.ts';
import {
  choiceOfListed,
  exportHeld,
  type HeldOfFile,
  heldByFeed,
  heldBySeveral,
  heldDocument,
  heldTakeCommand,
  listHeld,
  readHeldPage,
  takeHeld,
} from '#src/operations/held-fields.ts';
import { csv, expectCounts, openRunsBench, type RunsBench } from '../runs/support/runs-bench.ts';

const wide = 'externalId,firstName,role,company';

async function take(bench: RunsBench, side: 'file' | 'app', choice = {}): Promise<readonly RunRecord[]> {
  const identity = identifyProcess(bench.parts.clock.bootId);
  const { runs } = await takeHeld(
    { submit: bench.parts, actor: bench.parts.actor, identity, config: { upsert: bench.parts } },
    side,
    await listHeld(bench.parts, choice),
  );
  return runs;
}

async function taken(bench: RunsBench, choice = {}): Promise<RunRecord> {
  const [run, ...others] = await take(bench, 'file', choice);
  if (run === undefined || others.length > 0) throw new Error('one run was expected');
  return run;
}

async function edit(bench: RunsBench, defaultFields: Readonly<Record<string, string>>): Promise<void> {
  const { id } = await bench.world.contactOf('c-1');
  await bench.world.byHand('PATCH', `/v1/contacts/${id}`, { defaultFields });
}

const fieldsOf = async (bench: RunsBench) => (await bench.world.contactOf('c-1')).defaultFields;

const placeOf = ({ field, sourceFile, line }: HeldOfFile) => `${field} ${sourceFile}:${line}`;

/** The role is held: X before, Y in the app, Z in the file. */
async function openWithHold(): Promise<RunsBench> {
  const bench = await openRunsBench({ configured: { shop: {} } });
  await bench.import('a.csv', csv(['c-1,Ann,X,Pier'], wide));
  await edit(bench, { role: 'Y' });
  expect((await bench.import('b.csv', csv(['c-1,Ann,Z,Pier'], wide))).counts.heldFields).toBe(1);
  return bench;
}

describe('the file’s value of a held field', () => {
  it('is written by a run of its own that no guard stops, and touches nothing else', async () => {
    const bench = await openWithHold();
    const run = await taken(bench);
    expect(run).toMatchObject({ kind: 'held', state: 'applying', feed: 'main' });
    await edit(bench, { firstName: 'Anne' });
    expectCounts(await bench.finish(await bench.apply(run)), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Z', firstName: 'Anne', company: 'Pier' });
    expect(await listHeld(bench.parts, {})).toEqual([]);
  });

  it('waits for a run that holds the contact, and no longer than a minute: nothing is decided then', async () => {
    const bench = await openWithHold();
    const { ledger, clock } = bench.parts;
    const lease = { owner: 'w9', leaseMs: 90_000, isOwnerDead: () => false };
    const keys = [{ key: 'c-1', sequence: Number.MAX_SAFE_INTEGER }];
    await ledger.contacts.lease({ ...lease, feed: 'main', keys, nowMs: await ledger.nowMs(clock) });
    const identity = { ...identifyProcess(clock.bootId), isDead: () => false };
    let slept = 0;
    const sleep = async (ms: number): Promise<void> => {
      slept += ms;
      bench.world.clock.advance(ms);
    };
    const submit = { ...bench.parts, clock: { ...clock, sleep } };
    const home = { submit, actor: bench.parts.actor, identity, config: { upsert: bench.parts } };
    const shown = await listHeld(bench.parts, {});
    await expect(takeHeld(home, 'file', shown)).rejects.toMatchObject({ code: 'keysAtWork' });
    expect(slept).toBeGreaterThan(30_000);
    expect(slept).toBeLessThanOrEqual(60_100);
    expect(await listHeld(bench.parts, {})).toEqual(shown);
  });

  it('is written over what another feed’s later file had settled: a person has decided after it', async () => {
    const bench = await openWithHold();
    await bench.import('shop.csv', csv(['c-1,Y'], 'externalId,role'), { feed: 'shop' });
    expectCounts(await bench.import('shop.csv', csv(['c-1,V'], 'externalId,role'), { feed: 'shop' }), {
      rows: 1,
      updated: 1,
    });
    // The hold stays, and with it the value that was shown; V is what it waits against by now.
    expectCounts(await bench.finish(await bench.apply(await taken(bench))), { rows: 1, unchanged: 1 });
    expect(await listHeld(bench.parts, {})).toMatchObject([{ ours: 'Z', theirs: 'V' }]);
    expectCounts(await bench.finish(await bench.apply(await taken(bench))), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Z' });
  });

  it('is that of the last of several feeds that hold the field, which is known beforehand', async () => {
    const bench = await openRunsBench({ configured: { crm: {}, shop: {} } });
    const file = (role: string) => csv([`c-1,Ann,${role}`], 'externalId,firstName,role');
    await bench.import('a.csv', file('X'), { feed: 'crm' });
    await bench.import('b.csv', file('X'), { feed: 'shop' });
    await edit(bench, { role: 'Y' });
    await bench.import('c.csv', file('Z'), { feed: 'shop' });
    await bench.import('d.csv', file('Z'), { feed: 'crm' });
    expect(heldBySeveral(await listHeld(bench.parts, {}))).toEqual([]);
    await bench.import('e.csv', file('W'), { feed: 'crm' });
    const several = heldBySeveral(await listHeld(bench.parts, {}));
    expect(several.map((all) => all.map(({ feed, ours }) => [feed, ours]))).toEqual([
      [
        ['crm', 'W'],
        ['shop', 'Z'],
      ],
    ]);
    for (const run of (await take(bench, 'file')).toReversed()) await bench.finish(await bench.apply(run));
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Z' });
  });

  it('is decided by the command beside a list for the feed that is listed alone, where others hold it, too', async () => {
    const bench = await openWithHold();
    const commandOf = async (choice = {}) => {
      const [first] = await listHeld(bench.parts, choice);
      if (first === undefined) throw new Error('a held field was expected');
      return heldTakeCommand('file', first, true, await choiceOfListed(bench.parts, first, choice));
    };
    expect(await commandOf()).toBe('patchbay held take file --field role c-1');
    await bench.import('shop.csv', csv(['c-1,Y'], 'externalId,role'), { feed: 'shop' });
    await edit(bench, { role: 'W' });
    await bench.import('shop.csv', csv(['c-1,V'], 'externalId,role'), { feed: 'shop' });
    expect(await commandOf()).toBe('patchbay held take file --feed main --field role c-1');
    expect(await commandOf({ feed: 'shop' })).toBe('patchbay held take file --feed shop --field role c-1');
    const runId = (await listHeld(bench.parts, { feed: 'shop' }))[0]?.runId;
    expect(await commandOf({ runId })).toBe(`patchbay held take file --run ${runId} --field role c-1`);
  });

  it('is no newer than a row of its feed that waits: an approved run still writes its other fields', async () => {
    const bench = await openWithHold();
    const waiting = await bench.stage(await bench.submit('c.csv', csv(['c-1,Ann,Z,Quay'], wide)));
    await bench.finish(await bench.apply(await taken(bench)));
    expectCounts(await bench.finish(await bench.apply(waiting)), { rows: 1, updated: 1 });
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Z', company: 'Quay' });
  });

  it('closes no dead letter of the whole row, and takes nothing from it when it dies itself', async () => {
    const bench = await openWithHold();
    await bench.world.faults('update:status=422');
    await bench.import('c.csv', csv(['c-1,Ann,Z,Quay'], wide));
    const [letter] = await bench.letters();
    expect(letter).toMatchObject({ code: 'refused422', state: 'open', desired: { scalars: { company: 'Quay' } } });
    expectCounts(await bench.finish(await bench.apply(await taken(bench))), { rows: 1, dead: 1 });
    const letters = await bench.letters();
    expect(letters.filter(({ desired }) => desired?.taken === undefined)).toEqual([letter]);
    expect(letters.filter(({ desired }) => desired?.taken !== undefined)).toMatchObject([
      { state: 'open', key: 'c-1' },
    ]);
  });

  it('of a row with a dead letter is written, and the letter waits for the rest of the row', async () => {
    const bench = await openWithHold();
    await bench.world.faults('update:status=422');
    await bench.import('c.csv', csv(['c-1,Ann,Z,Quay'], wide));
    await bench.world.faults();
    expectCounts(await bench.finish(await bench.apply(await taken(bench))), { rows: 1, updated: 1 });
    expect(await bench.letters()).toMatchObject([{ state: 'open', desired: { scalars: { company: 'Quay' } } }]);
    expect(await fieldsOf(bench)).toMatchObject({ role: 'Z', company: 'Pier' });
  });

  it('is one run a feed', async () => {
    const bench = await openWithHold();
    await bench.import('shop.csv', csv(['c-1,S'], 'externalId,role'), { feed: 'shop' });
    const runs = await take(bench, 'file');
    expect(runs.map(({ feed, kind }) => [feed, kind])).toEqual([
      ['main', 'held'],
      ['shop', 'held'],
    ]);
  });

  it('of a contact that was deleted meanwhile is not written, and makes none', async () => {
    const bench = await openWithHold();
    const { id } = await bench.world.contactOf('c-1');
    await bench.world.byHand('DELETE', `/v1/contacts/${id}`);
    expectCounts(await bench.finish(await bench.apply(await taken(bench))), { rows: 1, skipped: 1 });
    expect(await bench.world.contacts()).toEqual([]);
  });
});

describe('a custom field that the file clears', () => {
  it('is cleared where a person takes the file’s side, and kept where the app’s', async () => {
    for (const side of ['file', 'app'] as const) {
      const bench = await openRunsBench();
      const header = 'externalId,firstName,custom.tier';
      const field = (await bench.parts.workspace.listCustomFields())?.find(({ type }) => type === 'string');
      const named = header.replace('tier', field?.key ?? '');
      await bench.import('a.csv', csv(['c-1,Ann,gold'], named));
      const before = await bench.world.contactOf('c-1');
      expect(before.customFields.map(({ value }) => value)).toContain('gold');
      const customFields = [{ id: before.customFields[0]?.id, key: field?.key, value: 'silver' }];
      await bench.world.byHand('PATCH', `/v1/contacts/${before.id}`, { customFields });
      expect((await bench.import('b.csv', csv(['c-1,Ann,#CLEAR'], named))).counts.heldFields).toBe(1);
      for (const run of await take(bench, side)) await bench.finish(await bench.apply(run));
      const values = (await bench.world.contactOf('c-1')).customFields.map(({ value }) => value);
      expect(values.includes('silver'), side).toBe(side === 'app');
      const night = await bench.import('b.csv', csv(['c-1,Ann,#CLEAR'], named));
      expect(night.counts.heldFields, side).toBe(0);
    }
  });
});

describe('a custom field that the file clears and another feed names', () => {
  const decided = async (limits: object = {}) => {
    const bench = await openRunsBench({ configured: { crm: {}, shop: {} }, limits });
    const field = (await bench.parts.workspace.listCustomFields())?.find(({ type }) => type === 'string');
    const file = (value: string) => csv([`c-1,Ann,${value}`], `externalId,firstName,custom.${field?.key}`);
    await bench.import('a.csv', file('gold'), { feed: 'crm' });
    const before = await bench.world.contactOf('c-1');
    const customFields = [{ id: before.customFields[0]?.id, key: field?.key, value: 'silver' }];
    await bench.world.byHand('PATCH', `/v1/contacts/${before.id}`, { customFields });
    await bench.import('b.csv', file('silver'), { feed: 'shop' });
    await bench.import('c.csv', file('#CLEAR'), { feed: 'crm' });
    const run = await bench.finish(await bench.apply(await taken(bench)));
    const { outcomes } = await bench.report(run);
    const values = (await bench.world.contactOf('c-1')).customFields.map(({ value }) => value);
    return { run, values, warnings: outcomes.filter(({ kind }: { kind: string }) => kind === 'warning') };
  };

  it('stays where a person takes the file’s side, with a warning that names the other feed', async () => {
    const { run, values, warnings } = await decided();
    expectCounts(run, { rows: 1, unchanged: 1 });
    expect(values).toContain('silver');
    const message = 'it stays, since the file of feed shop names it, too';
    expect(warnings).toMatchObject([
      { code: 'notCleared', key: 'c-1', field: expect.stringMatching(/^custom\./), message },
    ]);
  });

  it('stays where nothing is removed, with a warning that names the setting', async () => {
    const { warnings } = await decided({ itemRemoval: 'none' });
    expect(warnings).toMatchObject([{ message: 'it stays, since upsert.itemRemoval is none' }]);
  });
});

describe('held fields', () => {
  it('tell since when and from which file, are chosen by run, and go into a table', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,Lead,ACME', 'c-2,Bo,Chef,ACME'], wide));
    await edit(bench, { role: '=1+1', company: 'Else' });
    const run = await bench.import('b.csv', csv(['c-1,Ann,Buyer,Other', 'c-2,Bo,Chef,ACME'], wide));
    const { held } = await readHeldPage(bench.parts, { limit: 10, runId: run.id });
    expect(held.map((one) => heldDocument(one, true))).toEqual([
      {
        ...{ feed: 'main', key: 'c-1', field: 'company', file: 'Other', app: 'Else' },
        ...{ since: expect.stringMatching(/Z$/), run: run.id, sourceFile: 'b.csv', line: 2 },
      },
      expect.objectContaining({ field: 'role', file: 'Buyer', app: '=1+1', sourceFile: 'b.csv' }),
    ]);
    expect(await listHeld(bench.parts, { runId: 'another' })).toEqual([]);
    expect(await heldByFeed(bench.parts)).toEqual([{ feed: 'main', fields: 2 }]);

    const path = `${bench.folder}/held.csv`;
    expect(await exportHeld(bench.parts, { field: 'role' }, path)).toBe(1);
    const [header, line] = (await readFile(path, 'utf8')).split('\r\n');
    expect(header).toBe('\ufefffeed,key,field,file,app,since,source file,line,run');
    expect(line).toMatch(new RegExp(`^main,c-1,role,Buyer,'=1\\+1,[^,]*Z,b.csv,2,${run.id}$`));
    await expect(exportHeld(bench.parts, { field: 'lastName' }, path)).rejects.toMatchObject({ code: 'noHeldFields' });
  });

  it('that a decision found changed once more tell the file and line that said each, as before', async () => {
    const bench = await openWithHold();
    await edit(bench, { company: 'Else' });
    await bench.import('c.csv', csv(['c-2,ACME', 'c-1,Quay'], 'externalId,company'));
    const before = await readHeldPage(bench.parts, { limit: 10 });
    expect(before.held.map(placeOf)).toEqual(['company c.csv:3', 'role b.csv:2']);
    const run = await taken(bench);
    await edit(bench, { role: 'W', company: 'Third' });
    expectCounts(await bench.finish(await bench.apply(run)), { rows: 1, unchanged: 1 });
    const after = await readHeldPage(bench.parts, { limit: 10 });
    expect(after.held.map(placeOf)).toEqual(before.held.map(placeOf));
    expect(after.held.map(({ theirs, runId }) => [theirs, runId])).toEqual([
      ['Third', before.held[0]?.runId],
      ['W', before.held[1]?.runId],
    ]);
  });

  it('of a dead letter that was tried again tell the file and line of its row', async () => {
    const bench = await openRunsBench();
    await bench.import('a.csv', csv(['c-1,Ann,X,Pier'], wide));
    await bench.world.faults('update:status=422');
    await bench.import('b.csv', csv(['c-2,Bo,Chef,ACME', 'c-1,Ann,Z,Pier'], wide));
    await bench.world.faults();
    await edit(bench, { role: 'Y' });
    const [run] = await retryLetters({ submit: bench.parts, actor: bench.parts.actor }, { ids: [], all: true });
    if (run === undefined) throw new Error('one run was expected');
    expect((await bench.carryOut(run)).counts.heldFields).toBe(1);
    expect((await readHeldPage(bench.parts, { limit: 10 })).held.map(placeOf)).toEqual(['role b.csv:3']);
  });
});
