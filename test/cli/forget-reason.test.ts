/** `patchbay forget`: the reason is kept where the person is not, so that it must not name the person. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forget } from '#src/cli/commands/forget.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { knowPerson, requireUnnamed } from '#src/operations/forget.ts';
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

it('a key that nothing knows is refused, unless a person has said yes', async () => {
  const data = tempFolder();
  mkdirSync(join(data, 'sandbox'));
  await openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite')).close();
  const captured = captureOutput();
  const asked = { data, sandbox: true, reason: 'customer 2026-11-17' };
  await expect(forget(asked, '17')).rejects.toMatchObject({ kind: 'usage', code: 'keyUnknown' });
  const ledger = openSqliteLedger(join(data, 'sandbox', 'ledger.sqlite'));
  expect([await ledger.acts.list({ limit: 9 }), await ledger.forgetting.forgottenPeople()]).toEqual([[], null]);
  await ledger.close();
  expect(await forget({ ...asked, yes: true }, '17')).toBe(0);
  expect(captured.stdout()).toContain('nothing erased: neither the ledger nor any file knew the key 17');
});

it('so is one with an address, a number or the id of the contact; other words are not', async () => {
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
