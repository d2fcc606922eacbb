/** `patchbay doctor` names what no client can close, with the figures in force. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '#test/support/journey.ts';

test('doctor tells the windows that no client can close, as facts with today’s figures', async ({ journey }) => {
  await journey.service();
  const env = { PATCHBAY_UPSERT_LATEST_COMMIT: '25s', PATCHBAY_UPSERT_VISIBILITY_LAG: '7s' };
  const { code, stdout } = await journey.call(['doctor'], env);
  expect(code).toBe(0);
  const [, windows] = stdout.split('Risks that no client can rule out:\n');
  expect(
    windows,
  ).toBe(`  - an edit in the app between Patchbay's read and its update, at most 2s apart: it is overwritten
  - a write that the service commits more than 25s after it was sent (upsert.latestCommit)
  - another program that creates a contact with the same externalId between a look-up and the create
  - a list that shows a contact more than 7s after it was committed (upsert.visibilityLag)
  - a process that freezes just before it sends a write, for longer than its lease (45s, upsert.lease) and the time a late write may take
`);
  const { documents } = await journey.call(['doctor', '--json'], env);
  expect(documents[0].windows).toHaveLength(5);
  expect(documents[0].checks.every(({ ok }: { ok: boolean }) => ok)).toBe(true);
});

test('doctor reads the secrets of notices, and says which cannot be read', async ({ journey }) => {
  await journey.service();
  const secret = journey.file('secret', 'a secret that cannot be used\n');
  chmodSync(secret, 0o600);
  const noticesOf = async (file: string) => {
    const env = { PATCHBAY_NOTIFY_URL: 'https://hooks.example.com/x', PATCHBAY_NOTIFY_SECRET_FILE: file };
    const { code, documents } = await journey.call(['doctor', '--json'], env);
    const found = documents[0].checks.find(({ check }: { check: string }) => check === 'notices');
    return { code, ...found };
  };
  expect(await noticesOf(`${secret}-that-is-missing`)).toMatchObject({
    ...{ code: 2, ok: false },
    detail: expect.stringContaining(`the secret file ${secret}-that-is-missing cannot be read. Put the secret`),
  });
  expect(await noticesOf(secret)).toMatchObject({ code: 2, ok: false });
  writeFileSync(secret, 'a-secret-of-enough-characters\n');
  expect(await noticesOf(secret)).toMatchObject({ code: 0, ok: true });
});

test('doctor, which changes nothing, refuses another workspace as an import does, and status points to it', async ({
  journey,
}) => {
  const own = await journey.service();
  const file = journey.file('a.csv', 'externalId,firstName\nc-1,Ann\n');
  expect((await journey.call(['import', file])).code).toBe(0);
  const serviceOf = async (env = {}) => {
    const { code, documents } = await journey.call(['doctor', '--json'], env);
    return { code, ...documents[0].checks.find(({ check }: { check: string }) => check === 'service') };
  };
  const troublesNow = async () => (await journey.call(['status', '--json'])).documents[0].surroundings.troubles;
  expect(await serviceOf()).toMatchObject({ code: 0, ok: true });
  expect(await troublesNow()).toEqual([]);
  const other = await journey.service();
  const refused = expect.stringContaining(
    `the data folder belongs to the workspace at ${own.origin}, and ${other.origin} is another one. Use another`,
  );
  expect(await serviceOf()).toMatchObject({ code: 2, ok: false, detail: refused });
  expect(await troublesNow()).toEqual([
    expect.stringContaining(`${other.origin} is configured: if that is another workspace`),
  ]);
  expect(await journey.call(['import', file])).toMatchObject({ code: 2 });
  // It was not bound to the other one.
  expect(await serviceOf({ PATCHBAY_BASE_URL: own.origin, PATCHBAY_API_KEY: own.key })).toMatchObject({
    code: 0,
    ok: true,
  });
});

test('doctor fails where the data folder belongs to a service that nothing names, as start does', async ({
  journey,
}) => {
  const { origin } = await journey.service();
  expect((await journey.call(['import', journey.file('a.csv', 'externalId,firstName\nc-1,Ann\n')])).code).toBe(0);
  const empty = { PATCHBAY_BASE_URL: '', PATCHBAY_API_KEY: '', PATCHBAY_CONFIG: journey.file('patchbay.yaml', '') };
  const { code, stdout } = await journey.call(['doctor'], empty);
  expect(stdout).toContain(
    `FAIL service      the data folder belongs to the workspace at ${origin}, and PATCHBAY_BASE_URL is not set. Set`,
  );
  expect(code).toBe(2);
  const sandbox = await journey.call(['doctor', '--sandbox'], empty);
  expect(sandbox).toMatchObject({ code: 0, stdout: expect.stringContaining('ok   service      the sandbox') });
});

test('doctor checks all the others where the file of the ledger cannot be used', async ({ journey }) => {
  await journey.service();
  mkdirSync(join(journey.data, 'ledger.sqlite'), { recursive: true });
  const { code, documents } = await journey.call(['doctor', '--json']);
  expect(code).toBe(2);
  const checks = documents[0].checks as readonly {
    readonly check: string;
    readonly ok: boolean;
    readonly detail: string;
  }[];
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([
    { check: 'ledger', detail: expect.stringContaining('ledger.sqlite cannot be opened') },
  ]);
  expect(checks.find(({ check }) => check === 'service')).toMatchObject({ ok: true });
});

test('doctor names the setting of an import folder elsewhere that cannot be used', async ({ journey }) => {
  await journey.service();
  const folder = join(journey.file('no-folder', 'a file\n'), 'drop');
  const { code, documents } = await journey.call(['doctor', '--json'], { PATCHBAY_IMPORT: folder });
  const found = documents[0].checks.find(({ check }: { check: string }) => check === 'data folder');
  expect({ code, ...found }).toMatchObject({ code: 2, ok: false });
  expect(found.detail).toContain(`${folder} cannot be used: `);
  expect(found.detail).toContain('Name a folder (data.importFolder, PATCHBAY_IMPORT) that this user may make');
});

test('doctor says why a data folder cannot be used, and checks what it can', async ({ journey }) => {
  await journey.service();
  const data = join(journey.file('no-folder', 'a file\n'), 'data');
  const { code, documents } = await journey.call(['doctor', '--json'], { PATCHBAY_DATA: data });
  expect(code).toBe(2);
  expect(documents[0].checks).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        check: 'data folder',
        ok: false,
        detail: expect.stringContaining('is a file, not a folder'),
      }),
      expect.objectContaining({ check: 'disk', ok: false }),
      expect.objectContaining({ check: 'service', ok: true }),
    ]),
  );
});

test('doctor names a folder within the data folder that this user may not write to', async ({ journey }) => {
  await journey.service();
  // Tests run as root, who may write everywhere, and enter no file.
  const fix = journey.file(join('data', 'import', '_fix'), 'as if another user had it\n');
  const { code, documents } = await journey.call(['doctor', '--json'], {
    PATCHBAY_DATA: join(fix, '..', '..', '..', 'data'),
  });
  const found = documents[0].checks.find(({ check }: { check: string }) => check === 'data folder');
  expect({ code, ...found }).toMatchObject({ code: 2, ok: false });
  expect(found.detail).toContain(`${fix} cannot be used: `);
  expect(found.detail).toContain('give it to the user who runs Patchbay');
});

test('doctor says that a proxy is not used where the service cannot be reached', async ({ journey }) => {
  const { code, documents } = await journey.call(['doctor', '--json'], {
    ...{ PATCHBAY_BASE_URL: 'http://127.0.0.1:9', PATCHBAY_API_KEY: 'key' },
    HTTPS_PROXY: 'http://127.0.0.1:3128',
  });
  const found = documents[0].checks.find(({ check }: { check: string }) => check === 'service');
  expect({ code, ...found }).toMatchObject({ code: 6, ok: false });
  expect(found.detail).toMatch(
    / HTTPS_PROXY is set, and Patchbay uses no proxy: it must reach the service directly\.$/,
  );
});
