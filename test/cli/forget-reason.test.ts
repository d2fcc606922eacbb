/** `patchbay forget`: the reason is kept where the person is not, so that it must not name the person. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forget, patienceNote, printForgotten } from '#src/cli/commands/forget.ts';
import { createOutput } from '#src/cli/output.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { knowPerson, requireUnnamed } from '#src/operations/forget.ts';
import { applyingRun, pendingOf, settleAs, settled } from '#test/contracts/support/build.ts';
import { tempFolder } from '#test/ledger/support/temp-ledger.ts';
import { csv, openRunsBench } from '#test/runs/support/runs-bench.ts';
import { captureOutput } from './support/captured-output.ts';

it('a reason that names the key is refused, and nothing is done', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  await openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite')).close();
  captureOutput();
  for (const [key, reason] of [
    ['crm-17', 'request of CRM-17'],
    ['17', 'customer 17, by phone'],
  ] as const) {
    await expect(forget({ data, sandbox: true, reason }, key)).rejects.toMatchObject({
      ...{ kind: 'usage', code: 'reasonNamesPerson' },
      message: expect.stringMatching(/Nothing was erased$/),
    });
  }
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  expect([await ledger.acts.list({ limit: 9 }), await ledger.forgetting.forgottenPeople()]).toEqual([[], null]);
  await ledger.close();
});

it('--allow lets later files bring a forgotten key again, for a reason; a key that was not forgotten is refused', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  await openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite')).close();
  const captured = captureOutput();
  const [place, allow] = [{ data, sandbox: true }, true];
  expect(await forget({ ...place, reason: 'they asked' }, 'crm-17')).toBe(0);
  await expect(forget({ ...place, allow }, 'crm-17')).rejects.toMatchObject({ code: 'reasonMissing' });
  const named = forget({ ...place, allow, reason: 'crm-17 again' }, 'crm-17');
  await expect(named).rejects.toMatchObject({ code: 'reasonNamesPerson' });
  expect(await forget({ ...place, allow, reason: 'a customer again' }, ' crm-17')).toBe(0);
  expect(captured.stdout()).toContain(
    'allowed: rows with the key crm-17 are read again from the next file that is taken',
  );
  const again = forget({ ...place, allow, reason: 'a customer again' }, 'crm-17');
  await expect(again).rejects.toMatchObject({ kind: 'usage', code: 'notForgotten' });
});

it('a key of which nothing is found, and no other form is known, is forgotten, and it says that nothing was erased', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  await openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite')).close();
  const captured = captureOutput();
  expect(await forget({ data, sandbox: true, reason: 'customer 2026-11-17' }, '17')).toBe(0);
  expect(captured.stdout()).toContain('nothing erased: nothing was found of the key 17');
  expect(captured.stdout()).toContain('a key has the prefix of its mapping: patchbay contact EMAIL shows it');
});

it('one of which another form is known is refused, unless a person has said yes', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  const open = () => openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  const known = open();
  const run = await applyingRun(known, 'r1', ['crm-0017']);
  for (const record of await pendingOf(known, run)) await settleAs(known, run, 'w1', [settled(record)]);
  await known.runs.move('r1', ['applying'], 'done', { atMs: 1 });
  await known.close();
  const captured = captureOutput();
  const asked = { data, sandbox: true, reason: 'customer 2026-11-17' };
  await expect(forget(asked, 'CRM-0017')).rejects.toMatchObject({ kind: 'usage', code: 'keyUnknown' });
  const ledger = open();
  expect([await ledger.acts.list({ limit: 9 }), await ledger.forgetting.forgottenPeople()]).toEqual([[], null]);
  await ledger.close();
  expect(await forget({ ...asked, yes: true }, 'CRM-0017')).toBe(0);
  expect(captured.stdout()).toContain('nothing erased: nothing was found of the key CRM-0017');
  expect(captured.stdout()).toContain('known: crm-0017');
});

it('what was erased is told also where nothing was found before', () => {
  const captured = captureOutput();
  const person = { key: '17', texts: [], contactId: null, feeds: [], isKnown: false };
  const files = [{ path: '/a.csv', removed: 1 }];
  const left = { tables: [], files: [] };
  const none = { rows: 0, reasons: 0, waiting: [], unsearched: [], otherHosts: [] };
  const forgotten = { ...none, files, left, scrubbed: 'overwritten' as const, searched: 1 };
  printForgotten(createOutput({ color: false }), person, { by: 'nothing', others: [] }, forgotten);
  expect(captured.stdout()).toContain('forgotten: 0 rows of the ledger, 1 file\n  /a.csv: without 1 entry');
  expect(captured.stdout()).not.toContain('nothing erased');
});

it('a reason with an address, a number or the id of the contact is refused, too; other words are not', async () => {
  const bench = await openRunsBench();
  const row = 'crm-17,Zelda,+14155550117,zelda.quorn@example.com';
  await bench.import('a.csv', csv([row], 'externalId,firstName,phone,email'));
  const person = await knowPerson(bench.parts, 'crm-17');
  const refusal = (reason: string) => () => requireUnnamed(person, reason);
  expect(refusal('mail of Zelda.Quorn@example.com')).toThrow(
    /address or number of the person, Zelda\.Quorn@example\.com/,
  );
  expect(refusal('call from +14155550117')).toThrow(/address or number/);
  expect(refusal(`contact ${person.contactId}`)).toThrow(/contact's id/);
  for (const reason of ['request of 2026-11-20', 'ticket crm-170', 'they asked']) expect(refusal(reason)).not.toThrow();
});

it('says what it does where erasing a person takes long', () => {
  expect(patienceNote(20_000_000)).toBe(null);
  expect(patienceNote(744_300_000)).toContain('the ledger (744 MB)');
});
