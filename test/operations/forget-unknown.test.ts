/** A key that nothing knows: where another form of it is known that one is meant, and forgetting it would erase nothing and block the next one with that key. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { HostRecord } from '#src/ledger/hosts.ts';
import { allowAgain, forgetPerson, isGone, knowPerson, lettersOf } from '#src/operations/forget.ts';
import { acquaintanceOf, keyUnknown } from '#src/operations/forget-unknown.ts';
import { csv, mapping, openRunsBench, type RunsBench } from '#test/runs/support/runs-bench.ts';

function homeOf({ parts, folder }: RunsBench) {
  return { ...parts, folders: { root: folder, watched: parts.folders.importFolders }, runFolders: parts.folders };
}

async function meet(bench: RunsBench, key: string) {
  return acquaintanceOf({ ...homeOf(bench), host: null }, await knowPerson(bench.parts, key));
}

const prefixed = mapping({
  ...{ key: 'Id', keyPrefix: 'hub-', fields: { firstName: 'Name' }, emails: [{ column: 'Mail' }] },
});
const rows = ['51,Zelda,zelda@example.com', 'C-9,Bea,bea@example.com', '00077,Cleo,cleo@example.com'];

it('names the keys that may be meant: with the prefix, in another case, with zeros, of an address', async () => {
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(rows, 'Id,Name,Mail'), { mapping: prefixed });
  expect(await meet(bench, 'hub-51')).toEqual({ by: 'ledger', others: [] });
  expect(await meet(bench, '51')).toEqual({ by: 'nothing', others: ['hub-51'] });
  expect(await meet(bench, 'hub-c-9')).toEqual({ by: 'nothing', others: ['hub-C-9'] });
  expect(await meet(bench, '77')).toEqual({ by: 'nothing', others: ['hub-00077'] });
  expect(await meet(bench, 'Zelda@Example.com')).toEqual({ by: 'nothing', others: ['hub-51'] });
  expect(await meet(bench, 'somebody-else')).toEqual({ by: 'nothing', others: [] });
  expect(keyUnknown({ key: '51' }, ['hub-51']).hint).toMatch(/^Known is hub-51: give the key that is meant\./);
});

it('a key that was forgotten before, or that a file names alone, is no unknown one', async () => {
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(rows, 'Id,Name,Mail'), { mapping: prefixed });
  const home = { ...homeOf(bench), host: null };
  await forgetPerson(home, await knowPerson(bench.parts, 'hub-51'), 'request 7');
  expect(await meet(bench, 'hub-51')).toEqual({ by: 'forgotten', others: [] });
  const waiting = join(bench.folder, 'import', 'later.csv');
  await writeFile(waiting, csv(['9,Dora,Clerk']));
  const folders = { ...home.folders, watched: [join(bench.folder, 'import')] };
  const feeds = { get: async () => ({ mapping: null, source: null, recognise: false }) } as never;
  const person = await knowPerson(bench.parts, '9');
  expect((await acquaintanceOf({ ...home, folders, feeds }, person)).by).toBe('files');
  await rm(waiting);
  expect((await acquaintanceOf({ ...home, folders, feeds }, person)).by).toBe('nothing');
});

it('an address that a run has taken away since is searched for, too: older files may hold it', async () => {
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(rows, 'Id,Name,Mail'), { mapping: prefixed });
  await bench.import('b.csv', csv(['51,Zelda,z@example.org'], 'Id,Name,Mail'), { mapping: prefixed });
  const { texts } = await knowPerson(bench.parts, 'hub-51');
  expect(texts).toEqual(expect.arrayContaining(['hub-51', 'z@example.org', 'zelda@example.com']));
});

it('a letter of rows that shared the key is not the person’s: one of them may be another person’s by now', async () => {
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(['51,Zelda,Clerk', '51,Omar,Clerk', '52,Bea,Clerk,x']));
  const [other, shared] = (await bench.letters()).toSorted((one, next) => (one.code < next.code ? -1 : 1));
  expect([other, shared]).toMatchObject([{ code: 'cellCount' }, { code: 'duplicateKey', key: '51' }]);
  expect((await lettersOf(bench.ledger, await knowPerson(bench.parts, '51'))).named).toEqual([]);
});

it('a row that waits in a stopped run is meant, though another form of its key is known, and though the key is short', async () => {
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(rows, 'Id,Name,Mail'), { mapping: prefixed });
  const run = await bench.stage(await bench.submit('b.csv', csv(['51,Omar,Clerk', 'A-7,Dora,Clerk'])));
  await bench.ledger.runs.move(run.id, ['applying'], 'stopped', { atMs: 1 });
  await rm(run.claimedPath);
  expect(await meet(bench, '51')).toEqual({ by: 'files', others: [] });
  expect(await meet(bench, 'A-7')).toEqual({ by: 'files', others: [] });
});

it('a run that still reads its file is told of, as before, and no other form of the key', async () => {
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(rows, 'Id,Name,Mail'), { mapping: prefixed });
  const run = await bench.submit('b.csv', csv(['52,Omar,Clerk']));
  await bench.ledger.runs.beginStaging(run.id, 1);
  expect((await meet(bench, '51')).by).toBe('files');
  const forgetting = forgetPerson({ ...homeOf(bench), host: null }, await knowPerson(bench.parts, '51'), 'request 7');
  await expect(forgetting).rejects.toMatchObject({ code: 'forgetBusy' });
});

it.each([
  ['with a prefix that no file has', 'hubspot-51000777', '51000777,Omar,o@example.com', 'b.csv'],
  ['short', 'hubspot-A-7', 'A-7,Omar,o@example.com', 'b.csv'],
  ['in a compressed file', 'hubspot-51000777', '51000777,Omar,o@example.com', 'b.csv.gz'],
])('a key is found %s in an archived file, and nothing else is meant', async (_what, key, row, name) => {
  const bench = await openRunsBench();
  const bare = mapping({ key: 'Id', fields: { firstName: 'Name' }, emails: [{ column: 'Mail' }] });
  await bench.import('a.csv', csv([row.replace('o@', 'other@')], 'Id,Name,Mail'), { mapping: bare });
  const text = csv([row], 'Id,Name,Mail');
  const ofHub = mapping({
    key: 'Id',
    keyPrefix: 'hubspot-',
    fields: { firstName: 'Name' },
    emails: [{ column: 'Mail' }],
  });
  const content = name.endsWith('.gz') ? gzipSync(text) : text;
  const run = await bench.stage(await bench.submit(name, content, { mapping: ofHub }));
  await bench.ledger.runs.move(run.id, ['applying'], 'cancelling', { atMs: 1 });
  await bench.finish(run);
  await bench.ledger.runs.prune(run.id);
  expect(await meet(bench, key)).toEqual({ by: 'files', others: [] });
  const unknown = `hubspot-${'9'.repeat(key.length)}`;
  expect(await meet(bench, unknown)).toEqual({ by: 'nothing', others: [] });
  const forgotten = await forgetPerson(
    { ...homeOf(bench), host: null },
    await knowPerson(bench.parts, key),
    'request 7',
  );
  expect(forgotten.files).toHaveLength(1);
  expect(await meet(bench, key)).toEqual({ by: 'forgotten', others: [] });
});

it('each other host is named until the person was forgotten there, too', async () => {
  const bench = await openRunsBench();
  await bench.import('a.csv', csv(['person-77,Zelda,Clerk']));
  const hosts = ['h0000000000aa', 'h0000000000bb'].map((id) => ({ id, name: `${id}:/srv` }));
  for (const host of hosts) await bench.ledger.hosts.enter(hostRecord(host), 'queue', () => true);
  const [one, two] = hosts;
  const forgetOn = async (host: { readonly id: string; readonly name: string } | null) =>
    forgetPerson({ ...homeOf(bench), host }, await knowPerson(bench.parts, 'person-77'), 'request 7');
  const first = await forgetOn(one ?? null);
  expect(first.otherHosts).toEqual([{ host: two?.id, name: two?.name }]);
  const allow = async () => allowAgain(homeOf(bench), await knowPerson(bench.parts, 'person-77'), 'a customer again');
  await expect(allow()).rejects.toMatchObject({
    ...{ kind: 'usage', code: 'forgettingUnfinished' },
    message: expect.stringContaining('not forgotten yet on the host h0000000000bb:/srv'),
  });
  const second = await forgetOn(two ?? null);
  expect(second.otherHosts).toEqual([]);
  await allow();
  expect((await bench.ledger.forgetting.forgottenPeople())?.has('person-77')).toBe(false);
  const nothing = { left: { tables: [], files: [] }, waiting: [], unsearched: [] };
  expect([first, second].map(({ otherHosts }) => isGone({ ...nothing, otherHosts }))).toEqual([false, true]);
});

function hostRecord(host: { readonly id: string; readonly name: string }): HostRecord {
  return {
    ...{ ...host, session: `${host.id}-1`, engine: null, queue: 'redis', isSandbox: false, runsSchedules: true },
    ...{ leads: false, feeds: [], startedAtMs: 0, seenAtMs: 0, hasLeft: true },
  };
}
