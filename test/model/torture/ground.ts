/**
 * The ground of a torture: a temp folder, the faulty service, perhaps a real Redis, and the commands on it.
 *
 * Invariant: whatever was started here is gone when it is closed; the folder stays only where somebody has to look at it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PatchbayProcess, startPatchbay } from '#test/support/patchbay-process.ts';
import { findPostgres, type PostgresServer, startPostgres } from '#test/support/postgres-server.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { type FaultyService, startFaultyService } from './faulty-service.ts';

/** Which queue the commands work with. */
export type QueueKind = 'embedded' | 'redis';

export interface Ground {
  /** Its path is short, so that the queue's socket lies in the data folders below it. */
  readonly folder: string;
  readonly service: FaultyService;
  /** Null where the queue is embedded. */
  readonly redis: RedisServer | null;
  /** Null where each data folder has a ledger of its own. */
  readonly postgres: PostgresServer | null;
  /** Starts a command on a data folder. */
  start(args: readonly string[], data: string, env?: Readonly<Record<string, string>>): PatchbayProcess;
  close(keepFolder: boolean): Promise<void>;
}

export interface GroundOptions {
  readonly seed: number;
  readonly queue: QueueKind;
  readonly faults: readonly string[];
  readonly requestsPerSecond: number;
  readonly waits: Waits;
  /** All data folders share a ledger in PostgreSQL. */
  readonly sharesLedger?: boolean;
}

/** D and V of the rules, which late commits and list lag of the faults must stay below, and the lease. */
export interface Waits {
  readonly latestCommitMs: number;
  readonly visibilityLagMs: number;
  readonly leaseMs: number;
}

export const longWaits: Waits = { latestCommitMs: 2_000, visibilityLagMs: 1_000, leaseMs: 20_000 };
/** For faults that commit at once or never, and list at once. */
export const shortWaits: Waits = { latestCommitMs: 300, visibilityLagMs: 0, leaseMs: 20_000 };

/** From a commit of the intent to the first look-up that may prove absence: with the start guard of a second. */
export function horizonMs({ latestCommitMs, visibilityLagMs }: Waits): number {
  return 1_000 + latestCommitMs + visibilityLagMs;
}

/** The guards are about files, which are meant here. */
const guardsOff = ['UPDATES', 'CREATES', 'CLEARS', 'ADOPTIONS'].map((name) => [`PATCHBAY_GUARDS_${name}_MAX`, '100%']);

export async function openGround(options: GroundOptions): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'pb-tort-'));
  const service = await startFaultyService(options.faults, options.seed);
  const redis = options.queue === 'redis' ? await startRedisServer(redisServer()) : null;
  const postgres = options.sharesLedger === true ? await startPostgres(postgresPrograms()) : null;
  const processes = new Set<PatchbayProcess>();
  const { latestCommitMs, visibilityLagMs, leaseMs } = options.waits;
  const env = {
    PATCHBAY_BASE_URL: service.origin,
    PATCHBAY_API_KEY: service.key,
    PATCHBAY_RATE: `${options.requestsPerSecond}`,
    PATCHBAY_UPSERT_LATEST_COMMIT: `${latestCommitMs}ms`,
    PATCHBAY_UPSERT_VISIBILITY_LAG: `${visibilityLagMs}ms`,
    PATCHBAY_UPSERT_LEASE: `${leaseMs}ms`,
    PATCHBAY_UPSERT_ROWS_PER_BATCH: '25',
    PORT: '0',
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
    ...(postgres === null ? {} : { DATABASE_URL: postgres.url() }),
    ...Object.fromEntries(guardsOff),
  };
  return {
    folder,
    service,
    redis,
    postgres,
    start: (args, data, more = {}) => {
      for (const one of processes) if (!one.running) processes.delete(one);
      const started = startPatchbay(args, { ...env, PATCHBAY_DATA: data, ...more });
      processes.add(started);
      return started;
    },
    close: async (keepFolder) => {
      // One that was frozen when a proof failed dies of SIGKILL all the same.
      for (const one of processes) if (one.running) await one.kill();
      await redis?.close();
      await postgres?.close();
      await service.close();
      if (!keepFolder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function postgresPrograms(): string {
  const programs = findPostgres();
  if (programs === null) throw new Error('there is no PostgreSQL: set POSTGRES_BIN, or leave this part out');
  return programs;
}

function redisServer(): string {
  const binary = findRedisServer();
  if (binary === null) throw new Error('there is no redis-server on PATH: leave --redis away');
  return binary;
}
