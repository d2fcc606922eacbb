/** Every contract of the ledger on PostgreSQL in a container. */
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { afterAll, beforeAll } from 'vitest';
import { describeOnEngine, startTimeoutMs } from '#test/containers/support/engine.ts';
import { ledgerContract } from '#test/contracts/ledger-contract.ts';
import { openInSchema } from './support/postgres-ledgers.ts';

const password = 'password-of-the-tests';

describeOnEngine('on PostgreSQL in a container', () => {
  let container: StartedTestContainer | null = null;
  beforeAll(async () => {
    container = await new GenericContainer('postgres:17-alpine')
      .withEnvironment({
        ...{ LANG: 'C.UTF-8', POSTGRES_DB: 'patchbay', POSTGRES_USER: 'patchbay', POSTGRES_PASSWORD: password },
      })
      .withExposedPorts(5432)
      // Over the network: the server that only prepares the database does not listen there.
      .withHealthCheck({
        test: ['CMD', 'pg_isready', '--host', '127.0.0.1', '--username', 'patchbay', '--dbname', 'patchbay'],
        ...{ interval: 1_000, timeout: 3_000, retries: 60 },
      })
      .withWaitStrategy(Wait.forHealthCheck())
      .start();
  }, startTimeoutMs);
  afterAll(async () => {
    await container?.stop();
  });

  const url = (parameters = ''): string =>
    `postgres://patchbay:${password}@${container?.getHost()}:${container?.getMappedPort(5432)}/patchbay?sslmode=disable${parameters}`;
  ledgerContract('the ledger in PostgreSQL', () => openInSchema({ url }));
});
