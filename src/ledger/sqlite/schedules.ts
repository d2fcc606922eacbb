/**
 * The ledger's part for schedules, in SQLite. Ticks are numbered in the order of their entry; those that have not ended are
 * found by `ended_at IS NULL`, for which there is an index.
 */
import { type ErrorKind, PatchbayError } from '#src/errors.ts';
import { endOfInterrupted, forgettableTicks, mayBegin, resultOf } from '#src/ledger/rules/ticks.ts';
import {
  type NewTick,
  type ScheduleLedger,
  type ScheduleRecord,
  type ScheduleRule,
  type ScheduleWork,
  type TickEnd,
  type TickOutcome,
  type TickRecord,
  type TickTrigger,
  ticksKeptMax,
} from '#src/ledger/schedules.ts';
import { type Database, numberOrNull, parseJson, type ResultRow, textOrNull } from './database.ts';

/** As the index wants it said. */
const isOpen = "ended_at IS NULL AND state IN ('waiting', 'working')";

export function sqliteSchedules(db: Database): ScheduleLedger {
  const schedule = (name: string): ScheduleRecord | null => {
    const row = db.get('SELECT * FROM schedules WHERE name = ?', name);
    return row === null ? null : toSchedule(row);
  };
  const tick = (id: string): TickRecord | null => {
    const row = db.get('SELECT * FROM ticks WHERE id = ?', id);
    return row === null ? null : toTick(row);
  };
  const openTicks = (): readonly TickRecord[] =>
    db.all(`SELECT * FROM ticks WHERE ${isOpen} ORDER BY number`).map(toTick);
  return {
    list: async () => db.all('SELECT * FROM schedules ORDER BY name').map(toSchedule),

    get: async (name) => schedule(name),

    put: async ({ name, work, rule, dueAtMs, createdAtMs }) => {
      db.durable(() =>
        db.run(
          `INSERT INTO schedules (name, work, rule, due_at, created_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (name) DO UPDATE SET work = excluded.work, rule = excluded.rule, due_at = excluded.due_at`,
          name,
          work,
          rule === null ? null : JSON.stringify(rule),
          dueAtMs,
          createdAtMs,
        ),
      );
    },

    remove: async (name) => {
      db.transaction(() => {
        db.run('DELETE FROM ticks WHERE schedule = ?', name);
        db.run('DELETE FROM schedules WHERE name = ?', name);
      });
    },

    advance: async (name, fromMs, toMs, newTick, skipped) =>
      db.durable(() => {
        const moved = db.run(
          'UPDATE schedules SET due_at = ? WHERE name = ? AND due_at = ? AND paused_at IS NULL',
          toMs,
          name,
          fromMs,
        );
        if (moved === 0) return false;
        enter(db, newTick, schedule(name)?.work ?? 'take');
        if (skipped !== null) {
          write(db, newTick.id, skipped.atMs, skipped.end);
          forgetOld(db, name);
        }
        return true;
      }),

    request: async (newTick) =>
      db.durable(() => {
        const known = db.get(
          "SELECT * FROM ticks WHERE schedule = ? AND ended_at IS NULL AND state = 'waiting' AND user IS ? ORDER BY number LIMIT 1",
          newTick.schedule,
          newTick.user,
        );
        if (known !== null) return toTick(known);
        const work = schedule(newTick.schedule)?.work;
        if (work === undefined) throw noSuchSchedule(newTick.schedule);
        return enter(db, newTick, work);
      }),

    setPaused: async (name, pausedAtMs, dueAtMs, reason = null) =>
      db.durable(
        () =>
          db.run(
            'UPDATE schedules SET paused_at = ?, due_at = ?, pause_reason = ? WHERE name = ?',
            pausedAtMs,
            dueAtMs,
            reason,
            name,
          ) === 1,
      ),

    resume: async (name, atMs, dueAtMs) =>
      db.durable(
        () =>
          db.run(
            'UPDATE schedules SET paused_at = NULL, pause_reason = NULL, resumed_at = ?, due_at = ? WHERE name = ?',
            atMs,
            dueAtMs,
            name,
          ) === 1,
      ),

    setDue: async (name, fromMs, toMs) =>
      db.durable(
        () => db.run('UPDATE schedules SET due_at = ? WHERE name = ? AND due_at = ?', toMs, name, fromMs) === 1,
      ),

    tick: async (id) => tick(id),

    ticks: async (name, limit) =>
      db.all('SELECT * FROM ticks WHERE schedule = ? ORDER BY number DESC LIMIT ?', name, limit).map(toTick),

    lastEnded: async (name, outcomes) => {
      const row = db.get(
        `SELECT * FROM ticks WHERE schedule = ? AND user IS NULL AND outcome IN (${outcomes.map(() => '?').join(', ')})
         ORDER BY number DESC LIMIT 1`,
        name,
        ...outcomes,
      );
      return row === null ? null : toTick(row);
    },

    openTicks: async () => openTicks(),

    begin: async (id, atMs) =>
      db.transaction(() => {
        const name = tick(id)?.schedule;
        if (
          !mayBegin(
            id,
            openTicks().filter(({ schedule: other }) => other === name),
          )
        )
          return false;
        db.run("UPDATE ticks SET state = 'working', started_at = ?, attempts = attempts + 1 WHERE id = ?", atMs, id);
        return true;
      }),

    end: async (id, atMs, end) =>
      db.durable(() => {
        const ended = tick(id);
        if (ended?.state !== 'working') return false;
        write(db, id, atMs, end);
        forgetOld(db, ended.schedule);
        return true;
      }),

    release: async (id) =>
      db.transaction(
        () =>
          db.run(
            "UPDATE ticks SET state = 'waiting', attempts = attempts - 1 WHERE id = ? AND state = 'working'",
            id,
          ) === 1,
      ),

    reopen: async (atMs, attemptsMax, underWay) => {
      const left = openTicks().filter(({ id, state }) => state === 'working' && !underWay.has(id));
      // Called at each sweep: nothing is written where there is nothing to do.
      if (left.length === 0) return 0;
      return db.durable(() => {
        for (const one of left) {
          const end = endOfInterrupted(one, attemptsMax);
          if (end === null) db.run("UPDATE ticks SET state = 'waiting' WHERE id = ? AND state = 'working'", one.id);
          else write(db, one.id, atMs, end);
        }
        return left.length;
      });
    },
  };
}

function enter(db: Database, { id, schedule, trigger, user, dueAtMs }: NewTick, work: ScheduleWork): TickRecord {
  db.run(
    "INSERT INTO ticks (id, schedule, work, trigger, state, user, due_at) VALUES (?, ?, ?, ?, 'waiting', ?, ?)",
    id,
    schedule,
    work,
    trigger,
    user,
    dueAtMs,
  );
  return toTick(db.get('SELECT * FROM ticks WHERE id = ?', id) ?? {});
}

function write(db: Database, id: string, atMs: number, end: TickEnd): void {
  const { outcome, runIds, takenAtMs, code, kind, message, hint } = resultOf(end);
  db.run(
    `UPDATE ticks SET state = 'ended', ended_at = ?, outcome = ?, run_ids = ?, taken_at = ?, code = ?, kind = ?,
       message = ?, hint = ?
     WHERE id = ?`,
    atMs,
    outcome,
    JSON.stringify(runIds),
    takenAtMs,
    code,
    kind,
    message,
    hint,
    id,
  );
}

function forgetOld(db: Database, schedule: string): void {
  const beyond = db.all(
    "SELECT id FROM ticks WHERE schedule = ? AND state = 'ended' ORDER BY number DESC LIMIT -1 OFFSET ?",
    schedule,
    ticksKeptMax,
  );
  const newestRun = db.get(
    "SELECT id FROM ticks WHERE schedule = ? AND outcome = 'run' ORDER BY number DESC LIMIT 1",
    schedule,
  );
  const ids = beyond.map(({ id }) => String(id));
  for (const id of forgettableTicks(ids, textOrNull(newestRun?.id))) db.run('DELETE FROM ticks WHERE id = ?', id);
}

function noSuchSchedule(name: string): PatchbayError {
  return new PatchbayError('usage', 'noSuchSchedule', `there is no schedule ${name}`, { facts: { schedule: name } });
}

function toSchedule(row: ResultRow): ScheduleRecord {
  return {
    name: String(row.name),
    // Written by this ledger from values of these types.
    work: String(row.work) as ScheduleWork,
    rule: parseJson<ScheduleRule>(row.rule),
    dueAtMs: numberOrNull(row.due_at),
    pausedAtMs: numberOrNull(row.paused_at),
    pauseReason: textOrNull(row.pause_reason),
    resumedAtMs: numberOrNull(row.resumed_at),
    createdAtMs: Number(row.created_at),
  };
}

function toTick(row: ResultRow): TickRecord {
  return {
    id: String(row.id),
    schedule: String(row.schedule),
    work: String(row.work) as ScheduleWork,
    trigger: String(row.trigger) as TickTrigger,
    state: String(row.state) as TickRecord['state'],
    user: textOrNull(row.user),
    dueAtMs: Number(row.due_at),
    startedAtMs: numberOrNull(row.started_at),
    endedAtMs: numberOrNull(row.ended_at),
    attempts: Number(row.attempts),
    outcome: textOrNull(row.outcome) as TickOutcome | null,
    runIds: parseJson<string[]>(row.run_ids) ?? [],
    takenAtMs: numberOrNull(row.taken_at),
    code: textOrNull(row.code),
    kind: textOrNull(row.kind) as ErrorKind | null,
    message: textOrNull(row.message),
    hint: textOrNull(row.hint),
  };
}
