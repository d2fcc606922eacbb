/** One PostgreSQL of this machine for the tests of a file, started before the first and gone after the last. */
import { afterAll, beforeAll, describe } from 'vitest';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

const programs = findPostgres();
const reason = programs === null ? ' (skipped: no PostgreSQL is installed)' : '';

/** Skipped by name where there is none. `server` answers the server, once the tests run. */
export function describeOnPostgres(name: string, tests: (server: () => PostgresServer) => void): void {
  describe.skipIf(programs === null)(`${name}${reason}`, () => {
    let started: PostgresServer | null = null;
    beforeAll(async () => {
      started = await startPostgres(programs ?? '');
    });
    afterAll(async () => {
      await started?.close();
    });
    tests(() => {
      if (started === null) throw new Error('the server runs while tests do');
      return started;
    });
  });
}
