/** Connections that are encrypted, and certificates that are checked as `sslmode` says. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAddress } from '#src/ledger/postgres/address.ts';
import { openPostgresLedger } from '#src/ledger/postgres/ledger.ts';
import { onceConnected } from '#src/ledger/postgres/once-connected.ts';
import { findPostgres, type PostgresServer, startPostgres } from '#test/support/postgres-server.ts';
import { newSchema } from './support/postgres-ledgers.ts';

const programs = findPostgres();
const hasOpenssl = isThere('openssl');
const reason = programs === null || !hasOpenssl ? ' (skipped: no PostgreSQL, or no openssl, is installed)' : '';

describe.skipIf(programs === null || !hasOpenssl)(`an encrypted PostgreSQL${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-keys-'));
  const [certificate, key] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  let server: PostgresServer | null = null;
  beforeAll(async () => {
    // Its own root, for the name `localhost` alone.
    execFileSync(
      'openssl',
      [
        ...[
          'req',
          '-new',
          '-x509',
          '-days',
          '30',
          '-nodes',
          '-subj',
          '/CN=localhost',
          '-addext',
          'subjectAltName=DNS:localhost',
        ],
        ...['-out', certificate, '-keyout', key],
      ],
      { stdio: 'ignore' },
    );
    server = await startPostgres(programs ?? '', { certificate, key });
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (host: string, query: string) =>
    `postgres://patchbay@${host}:${server?.port}/patchbay?schema=${schema}&${query}`;
  const schema = newSchema();
  /** Whether the connection is encrypted, or the code of the error. */
  const outcome = async (host: string, query: string): Promise<boolean | string> => {
    try {
      const ledger = await openPostgresLedger(urlOf(host, query));
      await ledger.counts();
      await ledger.close();
      return await onceConnected(parseAddress(urlOf(host, query)), async (client) => {
        const { rows } = await client.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
        return rows[0]?.ssl === true;
      });
    } catch (error) {
      return (error as { readonly code: string }).code;
    }
  };

  test('prefer and require encrypt, and check nothing; disable does not encrypt', async () => {
    expect(await outcome('127.0.0.1', '')).toBe(true);
    expect(await outcome('127.0.0.1', 'sslmode=require')).toBe(true);
    expect(await outcome('127.0.0.1', 'sslmode=disable')).toBe(false);
  });

  test('verify-ca checks who vouches for the server, verify-full its name, too', async () => {
    const root = `sslrootcert=${certificate}`;
    expect(await outcome('127.0.0.1', `sslmode=verify-ca&${root}`)).toBe(true);
    expect(await outcome('localhost', `sslmode=verify-full&${root}`)).toBe(true);
    expect(await outcome('127.0.0.1', `sslmode=verify-full&${root}`)).toBe('ledgerCertificate');
    expect(await outcome('localhost', 'sslmode=verify-full')).toBe('ledgerCertificate');
  });
});

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
