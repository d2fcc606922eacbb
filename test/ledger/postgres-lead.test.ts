/** The lead over PostgreSQL: one at a time, and another one soon after the end, also of a leader that says nothing any more. */
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import { stand } from '#test/contracts/host-contract.ts';
import type { PostgresServer } from '#test/support/postgres-server.ts';
import { until } from '#test/support/until.ts';
import { describeOnPostgres } from '#test/support/with-postgres.ts';
import { startCuttingProxy } from './support/cutting-proxy.ts';
import { newSchema } from './support/postgres-ledgers.ts';

/** Promised by `docs/operations.md`, "Many machines". */
const takeoverMsMax = 10_000;

async function openTwo(server: PostgresServer, firstPort = server.port) {
  const schema = newSchema();
  const url = server.url(`&schema=${schema}`);
  const one = await openPostgresLedger(url.replace(`:${server.port}/`, `:${firstPort}/`));
  const other = await openPostgresLedger(url);
  onTestFinished(async () => {
    await Promise.all([one.close(), other.close()]);
  });
  return { one, other };
}

describeOnPostgres('the lead over PostgreSQL', (server) => {
  test('has one at a time, and goes over when it is given back', async () => {
    const { one, other } = await openTwo(server());
    const first = stand(one);
    await first.led;
    const second = stand(other);
    await until('several questions of the second', () => server().query('SELECT pg_sleep(2)'));
    expect([first.candidacy.isLeading(), second.candidacy.isLeading()]).toEqual([true, false]);
    await first.candidacy.close();
    await second.led;
    expect([first.candidacy.isLeading(), second.candidacy.isLeading()]).toEqual([false, true]);
  });

  test('goes over when its holder would not have it any more', async () => {
    const { one, other } = await openTwo(server());
    let mayLead = true;
    const first = stand(one, () => mayLead);
    const lost = await first.led;
    const second = stand(other);
    mayLead = false;
    await second.led;
    expect(lost.aborted).toBe(true);
    expect(first.candidacy.isLeading()).toBe(false);
  });

  test('leaves a leader whose packets get lost: it notices first, and another one leads within ten seconds', async () => {
    const proxy = await startCuttingProxy(server().port);
    onTestFinished(() => proxy.close());
    const { one, other } = await openTwo(server(), proxy.port);
    const first = stand(one);
    const lost = await first.led;
    const second = stand(other);
    let lostAtMs = 0;
    lost.addEventListener('abort', () => {
      lostAtMs = performance.now();
    });
    // From this question on the connection is silent, and stays up. The listener asks the same words, less often.
    proxy.cutAt('SELECT 1', 'silent', true);
    await until('a connection that is cut', () => proxy.isRefusing());
    const cutAtMs = performance.now();
    await until(
      'the end of the first lead, or that of the second in vain',
      () => lost.aborted || second.candidacy.isLeading(),
    );
    expect(second.candidacy.isLeading(), 'nobody leads beside it').toBe(false);
    await second.led;
    expect(performance.now() - cutAtMs).toBeLessThan(takeoverMsMax);
    expect(lostAtMs).toBeGreaterThan(0);
    expect(first.candidacy.isLeading()).toBe(false);
  });

  test('comes back after a crash of the database', async () => {
    const { one } = await openTwo(server());
    const { candidacy, led } = stand(one);
    const lost = await led;
    await server().stop('crash');
    await until('the end of the lead', () => lost.aborted);
    expect(candidacy.isLeading()).toBe(false);
    await server().startAgain();
    await until('the lead again', () => candidacy.isLeading());
  });
});
