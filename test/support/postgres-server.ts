/**
 * A PostgreSQL of this machine, where its programs are installed: a cluster of its own in a temporary folder, gone when it is closed.
 *
 * Unless it is asked to, it does not sync, so it may only be stopped, and never lose power. PostgreSQL refuses to run as root: there it runs as the user
 * `postgres`, or as nobody.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  appendFileSync,
  chownSync,
  constants,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export interface PostgresServer {
  readonly port: number;
  /** Of the database `patchbay`, whose owner needs no password. */
  url(parameters?: string): string;
  /** SQL as the superuser. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** `fast`: sessions are told and closed; `crash`: nobody is told, and what was not committed is gone. */
  stop(how: 'fast' | 'crash'): Promise<void>;
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

/** This user of the server needs a password. */
export const lockedUser = { name: 'locked', password: 'sesame-4711' };

/** The folder with `initdb` and `postgres`: that of POSTGRES_BIN, the newest that is packaged, or one on PATH; null where there is none. */
export function findPostgres(): string | null {
  const packaged = '/usr/lib/postgresql';
  let versions: string[] = [];
  try {
    versions = readdirSync(packaged).sort((one, other) => Number(other) - Number(one));
  } catch {
    // Not a system that keeps them there.
  }
  const folders = [
    process.env.POSTGRES_BIN ?? '',
    ...versions.map((version) => join(packaged, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  return (
    folders.find((folder) => {
      try {
        for (const program of ['initdb', 'postgres']) accessSync(join(folder, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }) ?? null
  );
}

export interface PostgresOptions {
  /** It writes to disk as a server does, for measurements. */
  readonly syncs?: boolean;
  /** Files of a server that encrypts. */
  readonly certificate?: string;
  readonly key?: string;
}

export async function startPostgres(
  programs: string,
  { syncs = false, certificate, key }: PostgresOptions = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'pb-postgres-'));
  const user = unprivileged();
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const spawned = { ...(user ?? {}), cwd: folder, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '--encoding=UTF8', '--locale=C', '--auth=trust', '--no-sync', '--no-instructions'],
    { ...spawned, stdio: 'ignore' },
  );
  const port = await freePort();
  writeFileSync(
    join(data, 'pg_hba.conf'),
    `host all ${lockedUser.name} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nlocal all all trust\n`,
  );
  appendFileSync(
    join(data, 'postgresql.conf'),
    [
      `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\nmax_connections = 80`,
      `${syncs ? '' : 'fsync = off\nfull_page_writes = off\n'}shared_buffers = 64MB\nmax_wal_size = 1GB\nlogging_collector = off\n`,
    ].join('\n'),
  );
  if (certificate !== undefined && key !== undefined) {
    for (const [from, name] of [
      [certificate, 'server.crt'],
      [key, 'server.key'],
    ] as const) {
      writeFileSync(join(data, name), readFileSync(from), { mode: 0o600 });
      if (user !== null) chownSync(join(data, name), user.uid, user.gid);
    }
    appendFileSync(join(data, 'postgresql.conf'), 'ssl = on\n');
  }
  const launch = () => spawn(join(programs, 'postgres'), ['-D', data], { ...spawned, stdio: 'ignore' });
  let child: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    let last = launch();
    child = last;
    await until('an answer of postgres', () => {
      // Right after a crash it refuses to start while a session of the one before is still ending.
      if (hasEnded(last)) last = child = launch();
      return query('SELECT 1').catch(() => null);
    });
  };
  const query = async (sql: string): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(sql)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const stop = async (how: 'fast' | 'crash'): Promise<void> => {
    const dying = child;
    child = null;
    if (dying === null || hasEnded(dying)) return;
    const gone = once(dying, 'exit');
    // Of the server's process alone: SIGQUIT makes it end its sessions at once, as after a crash.
    dying.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await gone;
  };
  await start();
  await query('CREATE ROLE patchbay LOGIN');
  await query(`CREATE ROLE ${lockedUser.name} LOGIN PASSWORD '${lockedUser.password}'`);
  await query('CREATE DATABASE patchbay OWNER patchbay');
  return {
    port,
    url: (parameters = '') => `postgres://patchbay@127.0.0.1:${port}/patchbay?sslmode=disable${parameters}`,
    query,
    stop,
    startAgain: start,
    close: async () => {
      await stop('crash');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Null where this process may run it itself. */
function unprivileged(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] =
      new RegExp(`^${name}:(.*)$`, 'm').exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('there is no user that could run PostgreSQL');
}
