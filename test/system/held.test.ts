/** Held fields: `held ls`, `held take file|app`, and what a night in between makes of them. */
import { dirname } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { readDocument } from '#test/docs/support/read-document.ts';
import { fits, inToday, type Names, stepsOf, tidyOutput } from '#test/docs/support/session.ts';
import { type Journey, test } from '#test/support/journey.ts';
import type { JourneyService } from '#test/support/journey-service.ts';

interface Person {
  readonly id: string;
  readonly externalId: string;
  readonly defaultFields: { readonly role: string | null; readonly company: string | null };
}

async function ask<Reply>(service: JourneyService, path: string, init: RequestInit = {}): Promise<Reply> {
  const headers = { authorization: service.key, 'content-type': 'application/json' };
  const reply = await fetch(`${service.origin}/v1/contacts${path}`, { ...init, headers });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Reply;
}

async function person(service: JourneyService, key = 'h-1'): Promise<Person> {
  const { data } = await ask<{ data: readonly Person[] }>(service, `?externalIds=${key}&maxResults=10`);
  const found = data.find((one) => one.externalId === key);
  if (found === undefined) throw new Error(`no contact ${key}`);
  return found;
}

/** What somebody types in the app. */
async function edit(service: JourneyService, fields: { readonly role?: string }, key = 'h-1'): Promise<void> {
  const { id } = await person(service, key);
  await ask(service, `/${id}`, { method: 'PATCH', body: JSON.stringify({ defaultFields: fields }) });
}

const night = (journey: Journey, role: string, company = 'Harbor', key = 'h-1') =>
  journey.call([
    ...['import', '--json'],
    journey.file('people.csv', `externalId,firstName,role,company\n${key},Ann,${role},${company}\n`),
  ]);

/** Review 4.2: the base says X, somebody makes it Y, and the file makes it Z. */
async function heldRole(journey: Journey): Promise<JourneyService> {
  const service = await journey.service();
  expect((await night(journey, 'X')).documents[0]).toMatchObject({ created: 1 });
  await edit(service, { role: 'Y' });
  expect((await night(journey, 'Z')).documents[0]).toMatchObject({ heldFields: 1 });
  return service;
}

const roleOf = async (service: JourneyService, key?: string) => (await person(service, key)).defaultFields.role;

describe.concurrent('a field that file and people changed', () => {
  test('is held with both values, over nights with other changes and with none', async ({ journey }) => {
    const service = await heldRole(journey);
    const listed = await journey.call(['held', 'ls', '--json']);
    expect(listed.documents).toEqual([
      {
        feed: 'main',
        key: 'h-1',
        field: 'role',
        file: 'Z',
        app: 'Y',
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        run: expect.any(String),
        sourceFile: 'people.csv',
        line: 2,
      },
    ]);
    expect((await night(journey, 'Z', 'Pier')).documents[0]).toMatchObject({ updated: 1, heldFields: 1 });
    expect((await night(journey, 'Z', 'Pier')).documents[0]).toMatchObject({ unchanged: 1, heldFields: 1 });
    expect((await person(service)).defaultFields).toMatchObject({ role: 'Y', company: 'Pier' });
    expect((await journey.call(['status', '--json'])).documents[0]).toMatchObject({ heldFields: 1 });
  });

  test('take file writes the file’s value now, and the next night finds it settled', async ({ journey }) => {
    const service = await heldRole(journey);
    const taken = await journey.call(['held', 'take', 'file', 'h-1', '--json']);
    expect(taken.code, taken.stderr).toBe(0);
    expect(taken.documents).toHaveLength(1);
    expect(taken.documents[0]).toMatchObject({ feed: 'main', state: 'done', rows: 1, updated: 1, heldFields: 0 });
    expect((await person(service)).defaultFields).toMatchObject({ role: 'Z', company: 'Harbor' });
    expect((await journey.call(['held', 'ls'])).stdout).toBe('no held fields\n');
    expect((await night(journey, 'Z')).documents[0]).toMatchObject({ unchanged: 1, heldFields: 0 });
    expect((await night(journey, 'W')).documents[0]).toMatchObject({ updated: 1, heldFields: 0 });
    expect(await roleOf(service)).toBe('W');
  });

  test('take app keeps the app’s value; the same file changes nothing, another value is held again', async ({
    journey,
  }) => {
    const service = await heldRole(journey);
    const writeCount = service.writeCount();
    const taken = await journey.call(['held', 'take', 'app', 'h-1', '--json']);
    expect(taken.code, taken.stderr).toBe(0);
    expect(taken.documents).toEqual([{ taken: 'app', fields: 1, moved: 0, exitCode: 0 }]);
    const [document] = (await night(journey, 'Z')).documents;
    expect(document).toMatchObject({ unchanged: 1, heldFields: 0, requests: { get: 0, patch: 0 } });
    expect(service.writeCount()).toBe(writeCount);
    expect((await night(journey, 'W')).documents[0]).toMatchObject({ heldFields: 1 });
    expect(await roleOf(service)).toBe('Y');
    expect((await journey.call(['held', 'ls', '--json'])).documents).toMatchObject([{ file: 'W', app: 'Y' }]);
  });

  test('take file holds it again where the app’s value has moved since it was shown', async ({ journey }) => {
    const service = await heldRole(journey);
    await edit(service, { role: 'Y2' });
    const { code, documents } = await journey.call(['held', 'take', 'file', '--all', '--json']);
    expect(code).toBe(0);
    expect(documents[0]).toMatchObject({ updated: 0, unchanged: 1, heldFields: 1 });
    expect(await roleOf(service)).toBe('Y2');
    expect((await journey.call(['held', 'ls', '--json'])).documents).toMatchObject([{ file: 'Z', app: 'Y2' }]);
    expect((await night(journey, 'Z')).documents[0]).toMatchObject({ unchanged: 1, heldFields: 1 });
    expect(await roleOf(service)).toBe('Y2');
  });

  test('is written by the next night where the run that was to write it was cancelled', async ({ journey }) => {
    const service = await heldRole(journey);
    const detached = await journey.call(['held', 'take', 'file', 'h-1', '--detach', '--json']);
    const named = { run: expect.any(String), feed: 'main', file: 'held fields', service: expect.any(String) };
    expect(detached.documents).toEqual([{ ...named, state: 'applying', exitCode: 0 }]);
    expect(await roleOf(service)).toBe('Y');
    const ledger = openSqliteLedger(`${journey.data}/ledger.sqlite`);
    onTestFinished(() => ledger.close());
    const { run } = detached.documents[0];
    expect(await ledger.runs.move(run, ['applying'], 'cancelling', { atMs: Date.now() })).toBe(true);
    expect((await night(journey, 'Z')).documents[0]).toMatchObject({ updated: 1, heldFields: 0 });
    expect(await roleOf(service)).toBe('Z');
    expect((await journey.runs()).map(({ kind, state }) => [kind, state])).toEqual([
      ['file', 'done'],
      ['file', 'done'],
      ['held', 'cancelled'],
      ['file', 'done'],
    ]);
  });

  test('is written by the next engine where the process that took it has died', async ({ journey }) => {
    const service = await heldRole(journey);
    await journey.call(['held', 'take', 'file', 'h-1', '--detach']);
    // Any one-shot becomes the engine, and ends when all runs have ended.
    await night(journey, 'Z', 'Harbor', 'other-1');
    expect(await roleOf(service)).toBe('Z');
  });

  test('whose write is refused ends with 3, and the next night tries it again', async ({ journey }) => {
    const service = await heldRole(journey);
    await service.setFaults(['update:status=422']);
    const { code, documents } = await journey.call(['held', 'take', 'file', 'h-1', '--json']);
    expect(code).toBe(3);
    expect(documents[0]).toMatchObject({ state: 'doneWithDead', dead: 1 });
    await service.setFaults([]);
    expect((await night(journey, 'Z')).documents[0]).toMatchObject({ updated: 1, dead: 0 });
    expect(await roleOf(service)).toBe('Z');
    expect((await journey.call(['dead', 'ls'])).stdout).toBe('no dead letters\n');
  });
});

describe.concurrent('held', () => {
  test('prints what docs/operations.md shows of it', async ({ journey }) => {
    const [, shown = ''] = /### Held fields\n[^`]*```text\n([^`]*)```/.exec(readDocument('docs/operations.md')) ?? [];
    const steps = stepsOf(`\`\`\`sh\n${shown}\`\`\``);
    expect(steps.length).toBe(3);
    const service = await journey.service();
    const crm = (role: string, company: string): string =>
      journey.file('crm.csv', `externalId,firstName,role,company\ndemo-1,Ann,${role},${company}\n`);
    await journey.call(['import', crm('Sales', 'Elm')]);
    await edit(service, { role: 'Head of Sales' }, 'demo-1');
    const path = crm('Sales Lead', 'Oak');
    const names: Names = new Map();
    for (const { command, expected } of steps) {
      const words = inToday(command, names).replace('crm.csv', path).split(' ').slice(1);
      const { code, stdout } = await journey.call(words);
      expect(code, command).toBe(0);
      const lines = tidyOutput(stdout.replace(service.origin, 'http://127.0.0.1:43045'), dirname(path));
      const wanted = expected.filter((line) => line !== '');
      if (!fits(wanted, lines, names)) expect(lines).toEqual(wanted);
    }
  });

  test('take file says beforehand whose value stays where several feeds hold the field', async ({ journey }) => {
    const service = await journey.service();
    const file = (feed: string, role: string) =>
      journey.call([
        ...['import', '--json', '--feed', feed],
        journey.file(`${feed}.csv`, `externalId,firstName,role\nh-1,Ann,${role}\n`),
      ]);
    for (const feed of ['crm', 'shop']) await file(feed, 'X');
    await edit(service, { role: 'Y' });
    expect((await file('crm', 'W')).documents[0]).toMatchObject({ heldFields: 1 });
    expect((await file('shop', 'Z')).documents[0]).toMatchObject({ heldFields: 1 });
    for (const [filter, feed] of [
      [[], 'crm'],
      [['--feed', 'shop'], 'shop'],
    ] as const) {
      const { stdout } = await journey.call(['held', 'ls', ...filter]);
      expect(stdout).toContain(`patchbay held take file --feed ${feed} --field role h-1\n`);
    }
    const { stderr } = await journey.call(['held', 'take', 'file', 'h-1', '--yes']);
    expect(stderr).toContain(
      '1 field is held for several feeds, and the value of the last one stays: shop; to decide for another feed alone: patchbay held take file --feed crm --field role',
    );
    expect(await roleOf(service)).toBe('Z');
  });

  test('take with nothing chosen, or nothing that fits, ends with 2 and says what to type', async ({ journey }) => {
    await heldRole(journey);
    const nothing = await journey.call(['held', 'take', 'file']);
    expect(nothing.code).toBe(2);
    expect(nothing.stderr).toContain('--all. List the held fields first: patchbay held ls');
    for (const choice of [['h-2'], ['--field', 'company'], ['--feed', 'crm']]) {
      const none = await journey.call(['held', 'take', 'app', ...choice]);
      expect(none.code, choice.join(' ')).toBe(2);
      expect(none.stderr).toContain('patchbay held ls');
    }
    expect((await journey.call(['held', 'take', 'neither', '--all'])).code).toBe(2);
    expect((await journey.call(['held', 'ls', '--json'])).documents).toHaveLength(1);
  });

  test('is shown with both values where the run is, and hidden with --no-values', async ({ journey }) => {
    await heldRole(journey);
    const file = journey.file('people.csv', 'externalId,firstName,role,company\nh-1,Ann,Z,Pier\n');
    const { stdout } = await journey.call(['import', file]);
    expect(stdout).toContain('line 2: role of h-1: the file says Z, the app Y');
    expect(stdout).toContain('patchbay held ls');
    const [run] = (await journey.runs()).toReversed();
    expect((await journey.call(['runs', 'show', run?.id ?? ''])).stdout).toContain('the file says Z, the app Y');

    const listed = await journey.call(['held', 'ls']);
    expect(listed.stdout).toMatch(/^feed +key +field +file +app +since +from/);
    expect(listed.stdout).toContain('patchbay held take file --field role h-1\n');
    expect((await journey.call(['status'])).stdout).toContain('held fields   1: main 1  patchbay held ls');

    const hidden = await journey.call(['held', 'ls', '--no-values']);
    expect(hidden.stdout).not.toMatch(/h-1|\bZ\b +|\bY\b/);
    const [document] = (await journey.call(['held', 'ls', '--json', '--no-values'])).documents;
    expect(document).toMatchObject({ key: null, file: null, app: null, field: 'role' });
  });
});
