/** Where a ledger is, as several users of one PostgreSQL see it. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { isSamePlace } from '#src/engine/queue-ledger.ts';
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';
import { openInSchema } from './support/postgres-ledgers.ts';

describeOnPostgres('the place of a ledger in PostgreSQL', (server) => {
  test('is one for a user who may ask for the cluster and one who may not, and another one for another schema', async () => {
    // What users may call is a matter of each database.
    const admin = new pg.Client(server().url().replace('patchbay@', 'postgres@').replace('?sslmode=disable', ''));
    await admin.connect();
    await admin.query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
    await admin.query('CREATE ROLE knowing LOGIN IN ROLE patchbay');
    await admin.query('GRANT EXECUTE ON FUNCTION pg_control_system() TO knowing');
    await admin.end();
    const [opened, another] = [await openInSchema(server()), await openInSchema(server())];
    const known = await openPostgresLedger(opened.url.replace('patchbay@', 'knowing@'));
    onTestFinished(async () => {
      await known.close();
      for (const { close } of [opened, another]) await close();
    });
    const [limited, whole, elsewhere] = [
      await opened.ledger.placeId(),
      await known.placeId(),
      await another.ledger.placeId(),
    ];
    expect(limited).toMatch(/^\/\d+\/\d+$/);
    expect(whole).toMatch(/^\d+\/\d+\/\d+$/);
    expect([isSamePlace(limited, whole), isSamePlace(whole, limited)]).toEqual([true, true]);
    expect([isSamePlace(limited, elsewhere), isSamePlace(whole, elsewhere)]).toEqual([false, false]);
  });
});
