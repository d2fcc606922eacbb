/**
 * The ledger's clock in SQLite: what waits in the ledger waits by it, in whichever process of the machine.
 *
 * It is the monotonic clock, told from the instant that the wall clock showed when this boot first met the ledger. So it may be
 * read as a date, roughly, and goes on at its own pace however the wall clock is set meanwhile.
 *
 * Invariant: within one boot it never goes back, and all processes of the machine read the same; in a new boot it goes on behind the
 * last write that was answered. In a new boot leases are void,
 * since their owners are dead, and horizons start again in full, once, since the time that the machine was down is unknown. Nothing else
 * waits for a moment of the old one for long: deferred rows are due at once, and their keys' horizons protect them; the rest
 * waits an hour at most, which matters only where the machine came up with a clock that is behind.
 */
import { isSameBoot, type Moment } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { parseJson } from '#src/ledger/records/columns.ts';
import type { Connection, Statements } from './connection.ts';

/** Longer than any audit or delivery waits for its next turn but after hours of failing. */
const waitMsMax = 3_600_000;

/** The instant at which the monotonic clock of a boot would have been zero. */
interface Zero {
  readonly bootId: string;
  readonly atMs: number;
}

export function sqliteClock(connection: Connection): Pick<Ledger, 'nowMs' | 'bootId'> {
  /** By the boot id of a clock; a process meets one. */
  const zeros = new Map<string, Zero>();
  const zeroOf = async (clock: Moment): Promise<Zero> => {
    const { bootId } = clock;
    const known = zeros.get(bootId);
    if (known !== undefined) return known;
    const zero = await connection.transact(
      async (statements) => (await knownZero(statements, bootId)) ?? (await newZero(statements, clock)),
    );
    zeros.set(bootId, zero);
    return zero;
  };
  return {
    nowMs: async (clock) => (zeros.get(clock.bootId) ?? (await zeroOf(clock))).atMs + clock.monotonicMs(),
    bootId: async (clock) => (await zeroOf(clock)).bootId,
  };
}

async function knownZero(statements: Statements, bootId: string): Promise<Zero | null> {
  const zero = parseJson<Zero>((await statements.get("SELECT value FROM meta WHERE name = 'clock'"))?.value);
  return zero !== null && isSameBoot(zero.bootId, bootId) ? zero : null;
}

async function newZero(statements: Statements, { bootId, nowMs, monotonicMs }: Moment): Promise<Zero> {
  // Never before the last write, should this boot's wall clock be behind.
  const written = await statements.get("SELECT value FROM meta WHERE name = 'written'");
  const atMs = Math.max(nowMs(), Number(written?.value ?? 0));
  const zero: Zero = { bootId, atMs: atMs - monotonicMs() };
  await statements.run(
    "INSERT INTO meta (name, value) VALUES ('clock', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    JSON.stringify(zero),
  );
  await statements.run('UPDATE flights SET owner = NULL, lease_until = NULL WHERE owner IS NOT NULL');
  await statements.run('UPDATE flights SET horizon = ? + horizon_span WHERE horizon IS NOT NULL', atMs);
  await statements.run(
    'UPDATE staged INDEXED BY staged_parked SET not_before = 0 WHERE outcome IS NULL AND not_before > 0',
  );
  await statements.run('UPDATE batches SET due_at = 0 WHERE done = 0 AND due_at > 0');
  await statements.run(
    `UPDATE records SET at = ?1, document = json_set(document, '$.dueAtMs', ?1) WHERE at > ?1
       AND (kind = 'delivery' AND state IN ('noticeWaits', 'changeWaits') OR kind = 'audit' AND state IN ('asked', 'waiting'))`,
    atMs + waitMsMax,
  );
  return zero;
}
