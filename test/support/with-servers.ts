/** One PostgreSQL and one Redis of this machine for the tests of a file: what several hosts share. */
import { afterAll, beforeAll, describe } from 'vitest';
import { findPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';
import { findRedisServer, type RedisServer, startRedisServer } from './redis-server.ts';

export interface Servers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
}

const programs = findPostgres();
const binary = findRedisServer();
const missing = [...(programs === null ? ['PostgreSQL'] : []), ...(binary === null ? ['redis-server'] : [])];
const reason = missing.length === 0 ? '' : ` (skipped: no ${missing.join(' and no ')} is installed)`;

/** Skipped by name where one is missing. `servers` answers them, once the tests run. */
export function describeOnServers(name: string, tests: (servers: () => Servers) => void): void {
  describe.skipIf(missing.length > 0)(`${name}${reason}`, () => {
    let started: Servers | null = null;
    beforeAll(async () => {
      started = { postgres: await startPostgres(programs ?? ''), redis: await startRedisServer(binary ?? '') };
    });
    afterAll(async () => {
      await started?.redis.close();
      await started?.postgres.close();
    });
    tests(() => {
      if (started === null) throw new Error('the servers run while tests do');
      return started;
    });
  });
}
