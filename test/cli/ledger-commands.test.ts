/** What `patchbay ledger` says where it cannot do its work: what is advised works. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adviceOnCopy, backUpTheLedger, checkTheLedger, copyTheLedger } from '#src/cli/commands/ledger.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';

async function dataFolder(): Promise<string> {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  await openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite')).close();
  return data;
}

it.each([
  ['asked for', { sandbox: true }],
  ['in effect, since nothing else is configured', {}],
])('a ledger of the sandbox that is not there advises no --sandbox, where that was %s', async (_which, options) => {
  const data = tempFolder();
  const all = [
    () => checkTheLedger({ data, ...options }),
    () => backUpTheLedger({ data, ...options }, join(data, 'backup.sqlite')),
    () => copyTheLedger({ data, ...options, to: 'postgres://127.0.0.1:1/patchbay' }),
  ];
  for (const command of all) {
    await expect(command()).rejects.toMatchObject({
      code: 'ledgerMissing',
      hint: expect.stringMatching(/^Check the name of the data folder \(--data\)(?!.*--sandbox).*patchbay start$/),
    });
  }
});

it('a copy names --to where its database does not answer, and is no database', async () => {
  const data = await dataFolder();
  const copy = (to: string) => copyTheLedger({ data, sandbox: true, to });
  await expect(copy('postgres://127.0.0.1:1/patchbay')).rejects.toMatchObject({
    code: 'ledgerAway',
    hint: expect.stringMatching(/^Check --to(?!.*DATABASE_URL)/),
  });
  await expect(copy('postgres:nothing')).rejects.toMatchObject({
    code: 'databaseUrlInvalid',
    message: expect.stringMatching(/^--to is not a URL/),
    hint: 'Set it so.',
  });
});

it('a copy beside the ledger of the data folder is to be put in its place, since that one is what commands use', () => {
  const own = { target: 'file', to: '/srv/data/ledger.sqlite', instead: null } as const;
  expect(adviceOnCopy(own)).toMatch(/^Work on it without DATABASE_URL/);
  const beside = { ...own, to: '/srv/data/back.sqlite', instead: '/srv/data/ledger.sqlite' };
  expect(adviceOnCopy(beside)).toMatch(
    /^Without DATABASE_URL, commands use \/srv\/data\/ledger\.sqlite\..* put \/srv\/data\/back\.sqlite in place of it/,
  );
});
