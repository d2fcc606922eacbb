/**
 * The ledger's clock in SQLite: what waits in the ledger waits by it, in whichever process of the machine.
 *
 * It is the monotonic clock, told from the instant that the wall clock showed when this boot first met the ledger. So it may be
 * read as a date, roughly, and goes on at its own pace however the wall clock is set meanwhile.
 *
 * Invariant: within one boot it never goes back, and all processes of the machine read the same. In a new boot nothing waits
 * for a moment of the old one for long: deferred rows are due at once, since their keys' horizons start again and
 * protect them; the rest waits an hour at most, which matters only where the machine came up with a clock that is behind.
 */
import { isSameBoot, type Moment } from '#src/clock.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { type Database, parseJson } from './database.ts';

/** Longer than any audit or delivery waits for its next turn but after hours of failing. */
const waitMsMax = 3_600_000;

/** The instant at which the monotonic clock of a boot would have been zero. */
interface Zero {
  readonly bootId: string;
  readonly atMs: number;
}

export function sqliteClock(db: Database): Pick<Ledger, 'nowMs' | 'bootId'> {
  /** By the boot id of a clock; a process meets one. */
  const zeros = new Map<string, Zero>();
  const zeroOf = (clock: Moment): Zero => {
    const { bootId } = clock;
    let zero = zeros.get(bootId);
    if (zero === undefined) {
      zero = db.transaction(() => knownZero(db, bootId) ?? newZero(db, clock));
      zeros.set(bootId, zero);
    }
    return zero;
  };
  return {
    nowMs: async (clock) => zeroOf(clock).atMs + clock.monotonicMs(),
    bootId: async (clock) => zeroOf(clock).bootId,
  };
}

function knownZero(db: Database, bootId: string): Zero | null {
  const zero = parseJson<Zero>(db.get("SELECT value FROM meta WHERE name = 'clock'")?.value);
  return zero !== null && isSameBoot(zero.bootId, bootId) ? zero : null;
}

function newZero(db: Database, { bootId, nowMs, monotonicMs }: Moment): Zero {
  const atMs = nowMs();
  const zero: Zero = { bootId, atMs: atMs - monotonicMs() };
  db.run(
    "INSERT INTO meta (name, value) VALUES ('clock', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    JSON.stringify(zero),
  );
  db.run('UPDATE staged INDEXED BY staged_parked SET not_before = 0 WHERE outcome IS NULL AND not_before > 0');
  db.run('UPDATE batches SET due_at = 0 WHERE done = 0 AND due_at > 0');
  db.run("UPDATE audits SET due_at = ?1 WHERE state = 'waiting' AND due_at > ?1", atMs + waitMsMax);
  db.run(
    `UPDATE records SET at = ?1, document = json_set(document, '$.dueAtMs', ?1)
     WHERE kind = 'delivery' AND state IN ('noticeWaits', 'changeWaits') AND at > ?1`,
    atMs + waitMsMax,
  );
  return zero;
}
