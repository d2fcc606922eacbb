/** `patchbay contact KEY` on a real service: one read, at the rate that is shared. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { test } from '#test/support/journey.ts';

describe('contact', () => {
  test('asks the service once, or not at all with --offline, and leaves it as it is', async ({ journey }) => {
    const service = await journey.service();
    const file = journey.file('a.csv', 'externalId,firstName,role\nc-1,Ann,Lead\n');
    await journey.call(['import', file]);
    await service.edit('c-1', { role: 'Boss' });
    const writes = service.writeCount();
    const shown = await journey.call(['contact', 'c-1']);
    expect(shown.code, shown.stderr).toBe(0);
    expect(shown.stdout).toMatch(/the app holds \(read now\)\n {2}firstName: Ann\n {2}role: Boss\n/);
    expect(shown.stdout).toMatch(/role +keep +the file says what it said before +Lead +Boss\n/);
    expect(shown.stdout).toMatch(/writes: 1\n.*\n {4}c-1: created, firstName Ann, role Lead\n/);
    await service.setFaults(['list:status=400']);
    const refused = await journey.call(['contact', 'c-1']);
    expect(refused.code, refused.stderr).toBe(0);
    expect(refused.stdout).toMatch(/the app held, when it last answered\n.*\n {2}role: Lead\n/);
    expect(refused.stdout).toMatch(/role +keep +the service refuses every look-up: the run waits/);
    await service.setFaults(['*:status=500']);
    const offline = await journey.call(['--json', 'contact', 'c-1', '--offline']);
    expect([offline.code, offline.documents[0]]).toMatchObject([0, { key: 'c-1', app: { read: 'remembered' } }]);
    await service.setFaults([]);
    expect(service.writeCount()).toBe(writes);
    const unknown = await journey.call(['--json', 'contact', 'nobody@example.com', '--offline']);
    expect([unknown.code, unknown.documents[0].error.code]).toEqual([2, 'noSuchContact']);
    expect((await journey.call(['contact', 'c-1', '--no-values'])).code).toBe(2);
  });

  test('shows an id of the service without what would move the cursor', async ({ journey }) => {
    await journey.service();
    await journey.call(['import', journey.file('a.csv', 'externalId,firstName\nc-1,Ann\n')]);
    const ledger = new DatabaseSync(join(journey.data, 'ledger.sqlite'));
    ledger.prepare('UPDATE contacts SET contact_id = ?').run('\u001b[31mred');
    ledger.close();
    const { stdout } = await journey.call(['contact', 'c-1', '--offline']);
    expect(stdout).toMatch(/^c-1: contact \ufffd\[31mred\n/);
  });
});
