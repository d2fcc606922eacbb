/** `patchbay ledger check` and `ledger backup`, while an engine works and after it. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { pendingCount } from '#src/ledger/runs.ts';
import { checkLedger } from '#src/ledger/sqlite/check.ts';
import { openSqliteLedger } from '#src/ledger/sqlite/ledger.ts';
import { damageTables } from '#test/support/damage-ledger.ts';
import { test } from '#test/support/journey.ts';
import { peopleCsv } from '#test/support/people.ts';
import { until } from '#test/support/until.ts';

describe('while an engine imports', () => {
  test('the ledger is sound at each look, and each backup is consistent in itself', async ({ journey }) => {
    const service = await journey.service(['create:latency=50ms']);
    const engine = journey.start(['start', '--json']);
    await engine.firstLine();
    journey.file('data/import/people.csv', peopleCsv(400, { more: ['p-900,Nobody,x,letters'] }));
    const folder = join(journey.data, '..', 'backups');
    journey.file('backups/note.txt', '');
    const pendings = new Set<number>();
    for (let taken = 0, ended = false; !ended; taken += 1) {
      const check = await journey.call(['ledger', 'check', '--json']);
      expect(check.documents[0], check.stderr).toMatchObject({ state: 'sound', findings: [], exitCode: 0 });
      const target = join(folder, `${taken}.sqlite`);
      const backup = await journey.call(['ledger', 'backup', target, '--json']);
      expect(backup.code, backup.stderr).toBe(0);
      expect(backup.documents[0]).toMatchObject({
        file: target,
        ledger: join(journey.data, 'ledger.sqlite'),
        state: 'sound',
      });
      expect(statSync(target).mode & 0o777).toBe(0o600);
      expect(checkLedger(target)).toMatchObject({ state: 'sound', notes: [] });
      const ledger = openSqliteLedger(target);
      for (const { id, state, counts } of await ledger.runs.list({ limit: 10 })) {
        pendings.add(pendingCount(counts));
        if (state === 'applying') expect(await ledger.runs.pendingCount(id)).toBe(pendingCount(counts));
        ended = state === 'doneWithDead';
      }
      await ledger.close();
    }
    expect([...pendings].filter((count) => count > 0 && count < 400).length, 'in the middle of it').toBeGreaterThan(1);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(service.createCount()).toBe(400);
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(143);
  });

  test('damage that the check finds stops it', async ({ journey }) => {
    await journey.service();
    await journey.run(['import', '--quiet', journey.file('people.csv', peopleCsv(5))]);
    const engine = journey.start(['start', '--json']);
    await engine.firstLine();
    damageTables(join(journey.data, 'ledger.sqlite'), ['dead_rows']);
    const { code, documents } = await journey.call(['ledger', 'check', '--json']);
    expect(code).toBe(1);
    expect(documents[0]).toMatchObject({
      state: 'damaged',
      findings: [{ check: 'pages' }],
      hint: expect.stringContaining('Backup and restore'),
    });
    await until('the word on stderr', () => engine.stderr.includes('patchbay: the ledger'));
    engine.signal('SIGTERM');
    expect((await engine.ended()).code).toBe(1);
  });
});

describe('status and doctor', () => {
  test('tell the state of the ledger in one line', async ({ journey }) => {
    await journey.service();
    const file = join(journey.data, 'ledger.sqlite');
    await journey.call(['import', '--quiet', journey.file('people.csv', peopleCsv(5))]);
    expect((await journey.call(['status'])).stdout).toMatch(/^ledger {8}no damage known$/m);
    const { documents } = await journey.call(['status', '--json']);
    expect(documents[0].ledger).toEqual({ file, bytes: expect.any(Number), state: 'noDamageKnown' });
    expect((await journey.call(['doctor'])).stdout).toMatch(/^ok {3}ledger {7}\d+\.\d MB, no damage found$/m);

    damageTables(file, ['dead_rows']);
    const { code, stdout } = await journey.call(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL ledger {7}the ledger \S+ledger\.sqlite is damaged: .+patchbay ledger check/m);
    expect(stdout, 'the other checks').toMatch(/^ok {3}service/m);
    // Known from now on.
    expect((await journey.call(['status'])).stderr).toContain('is damaged');
  });
});

describe('a backup', () => {
  test('is not written over anything, and says in words what it is', async ({ journey }) => {
    await journey.run(['import', '--sandbox', '--quiet', 'config/samples/contacts.csv']);
    const target = join(journey.data, 'backup.sqlite');
    const first = await journey.call(['ledger', 'backup', target]);
    expect(first.stdout).toMatch(/^backup \S+backup\.sqlite, \d+\.\d MB: sound\n$/);
    const second = await journey.call(['ledger', 'backup', target]);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('is there already [backupExists]');
    const check = await journey.call(['ledger', 'check']);
    expect(check.stdout).toMatch(/^ledger \S+sandbox\/ledger\.sqlite, \d+\.\d MB: sound\n$/);
  });

  test('put in the place of a damaged ledger is taken without further ado', async ({ journey }) => {
    const service = await journey.service();
    const file = join(journey.data, 'ledger.sqlite');
    const people = journey.file('people.csv', peopleCsv(20));
    await journey.run(['import', '--quiet', people]);
    const backup = journey.file('kept/note.txt', '').replace('note.txt', 'b.sqlite');
    await journey.call(['ledger', 'backup', backup]);
    damageTables(file, ['contacts']);
    const refused = await journey.run(['import', '--json', people]);
    expect(refused.documents.at(-1)).toMatchObject({ error: { code: 'ledgerDamaged' }, exitCode: 1 });
    journey.restore(backup);
    const again = await journey.run(['import', '--json', people]);
    expect(again.documents[0]).toMatchObject({ state: 'done', rows: 20, unchanged: 20 });
    expect(service.createCount()).toBe(20);
  });
});
