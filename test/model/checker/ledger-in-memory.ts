/**
 * The real ledger of the product, in memory: the same SQL as on disk, with what a schedule needs besides. All schedules of a
 * thread share one database, which is put back to the scenario's beginning before each.
 *
 * A power cut leaves what the last synced transaction left: in the log of the real file everything before it is synced too.
 */
import type { Ledger } from '#src/ledger/port.ts';
import { createConnection } from '#src/ledger/sqlite/connection.ts';
import { type Database, openDatabase, type ResultRow } from '#src/ledger/sqlite/database.ts';
import { sqliteLedger } from '#src/ledger/sqlite/ledger.ts';

/** All rows of all tables that have any. */
export type Contents = ReadonlyMap<string, readonly ResultRow[]>;

/** A batch that has rows to do. */
export interface WaitingBatch {
  readonly runId: string;
  readonly batch: number;
  readonly generation: number;
  readonly dueAtMs: number;
}

/** Of a key: who holds it, and until when; times are monotonic, of the boot that the ledger's clock knows. */
export interface KeyRow {
  readonly key: string;
  readonly state: string;
  readonly contactId: string | null;
  readonly owner: string | null;
  readonly leaseUntilMs: number | null;
  readonly horizonMs: number | null;
  readonly bootId: string | null;
}

/** What of a row is known at its end. */
export interface RowEnd {
  readonly runId: string;
  readonly key: string;
  readonly line: number;
  readonly outcome: string;
}

export interface MemoryLedger {
  /** For guards that are taken away, and for looking. */
  readonly db: Database;
  /** One process's own view of it. */
  open(): Ledger;
  contents(): Contents;
  /** Puts everything back. `intentIsDurable`: whether a power cut leaves synced transactions in place. */
  restore(contents: Contents, intentIsDurable?: boolean): void;
  cutPower(): void;
  /** In the order in which they are taken at that moment. */
  waitingBatches(moment: { readonly wallMs: number; readonly monotonicMs: number; readonly bootId: string }): {
    readonly nowMs: number;
    readonly batches: readonly WaitingBatch[];
  };
  keyRows(): readonly KeyRow[];
  keyRow(key: string): KeyRow | null;
  rowEnds(): readonly RowEnd[];
}

/** The table that a statement changes; null for one that only reads. */
function changedTable(sql: string): string | null {
  if (!/^\s*(INSERT|UPDATE|DELETE)\b/i.test(sql)) return null;
  return /\b(?:INTO|UPDATE|FROM)\s+"?(\w+)/i.exec(sql)?.[1] ?? null;
}

export function openMemoryLedger(): MemoryLedger {
  const real = openDatabase(':memory:');
  real.run('PRAGMA foreign_keys = OFF');
  const inserts = new Map(
    real
      .all("SELECT name FROM sqlite_master WHERE type = 'table'")
      .map((row) => String(row.name))
      .map((name) => {
        const columns = real.all(`PRAGMA table_info("${name}")`).map((row) => `"${String(row.name)}"`);
        const places = columns.map(() => '?').join(', ');
        return [name, `INSERT INTO "${name}" (${columns.join(', ')}) VALUES (${places})`] as const;
      }),
  );
  const rowsOf = (name: string): readonly ResultRow[] => real.all(`SELECT * FROM "${name}"`);
  const contents = (): Contents =>
    new Map(
      [...inserts.keys()].flatMap((name) => {
        const rows = rowsOf(name);
        return rows.length === 0 ? [] : [[name, rows] as const];
      }),
    );
  /** As a power cut would leave it, but for those that the last sync left as they were. */
  let synced = new Map<string, readonly ResultRow[]>();
  let base: Contents = new Map();
  /** Tables that differ from `base`, and those that were changed since the last sync. */
  const changed = new Set<string>();
  const unsynced = new Set<string>();
  /** What was read for the scheduler, until the table changes. */
  const lastReads = new Map<string, readonly ResultRow[]>();
  let isDurable = true;

  const tables = new Map<string, string | null>();
  const marked = (sql: string): string => {
    let table = tables.get(sql);
    if (table === undefined) {
      table = changedTable(sql);
      tables.set(sql, table);
    }
    if (table !== null) {
      changed.add(table);
      unsynced.add(table);
      lastReads.delete(table);
    }
    return sql;
  };
  const put = (names: Iterable<string>, wanted: (name: string) => readonly ResultRow[]): void => {
    for (const name of names) {
      real.run(`DELETE FROM "${name}"`);
      for (const row of wanted(name)) real.run(inserts.get(name) ?? '', ...Object.values(row));
    }
  };
  const last = (name: string): readonly ResultRow[] => {
    let rows = lastReads.get(name);
    if (rows === undefined) {
      rows = rowsOf(name);
      lastReads.set(name, rows);
    }
    return rows;
  };
  const sync = (): void => {
    if (!isDurable) return;
    for (const name of unsynced) synced.set(name, rowsOf(name));
    unsynced.clear();
  };
  const db: Database = {
    ...real,
    run: (sql, ...given) => real.run(marked(sql), ...given),
    runMany: (sql, rows) => real.runMany(marked(sql), rows),
    get: (sql, ...given) => real.get(marked(sql), ...given),
    all: (sql, ...given) => real.all(marked(sql), ...given),
    durable: (work) => {
      // What a sync costs is no matter here.
      const result = real.transaction(work);
      sync();
      return result;
    },
    begin: () => real.begin(true),
    synced: async () => sync(),
  };
  // One for all processes: each of their transactions is one effect.
  const connection = createConnection(db);
  const fresh = sqliteLedger(db, connection);
  base = contents();

  return {
    db,
    open: () => ({ ...sqliteLedger(db, connection), close: async () => undefined, id: fresh.id }),
    contents,
    restore: (wanted, intentIsDurable = true) => {
      const names = wanted === base ? changed : inserts.keys();
      real.transaction(() => put(names, (name) => wanted.get(name) ?? []));
      base = wanted;
      synced = new Map();
      changed.clear();
      unsynced.clear();
      lastReads.clear();
      isDurable = intentIsDurable;
    },
    cutPower: () => {
      real.transaction(() => put(unsynced, (name) => synced.get(name) ?? base.get(name) ?? []));
      unsynced.clear();
      lastReads.clear();
    },
    waitingBatches: ({ wallMs, monotonicMs, bootId }) => {
      const known = clockOf(last);
      // In a new boot everything is due, and the first process to look says so.
      const nowMs =
        known === null ? wallMs : known.bootId === bootId ? known.atMs + monotonicMs : Number.MAX_SAFE_INTEGER;
      const sequences = new Map(
        last('runs').flatMap((row) =>
          row.state === 'applying' ? [[Number(row.sequence), String(row.id)] as const] : [],
        ),
      );
      const waiting = last('batches')
        .filter((row) => row.done === 0 && sequences.has(Number(row.run_sequence)))
        .map((row) => ({
          sequence: Number(row.run_sequence),
          runId: sequences.get(Number(row.run_sequence)) ?? '',
          batch: Number(row.batch),
          generation: Number(row.generation),
          dueAtMs: Number(row.due_at),
        }));
      const place = ({ sequence, batch, dueAtMs }: (typeof waiting)[number]): readonly number[] => [
        Number(dueAtMs > nowMs),
        sequence,
        batch,
      ];
      return { nowMs, batches: waiting.toSorted((one, two) => compare(place(one), place(two))) };
    },
    keyRows: () => {
      const keys = new Set([...last('contacts'), ...last('flights')].map((row) => String(row.key)));
      return [...keys].map((key) => keyRow(last, key));
    },
    keyRow: (key) => {
      const isThere = [...last('contacts'), ...last('flights')].some((row) => row.key === key);
      return isThere ? keyRow(last, key) : null;
    },
    rowEnds: () => {
      const lines = new Map(rowsOf('staged_content').map((row) => [row.place, Number(row.line)]));
      const ids = new Map(last('runs').map((row) => [Number(row.sequence), String(row.id)]));
      return rowsOf('staged').flatMap((row) => {
        if (row.outcome === null) return [];
        const runId = ids.get(Math.floor(Number(row.place) / 2 ** 23)) ?? '';
        return [{ runId, key: String(row.key), line: lines.get(row.place) ?? 0, outcome: String(row.outcome) }];
      });
    },
  };
}

function compare(one: readonly number[], two: readonly number[]): number {
  const index = one.findIndex((value, place) => value !== two[place]);
  return index < 0 ? 0 : (one[index] ?? 0) - (two[index] ?? 0);
}

type Reading = (table: string) => readonly ResultRow[];

function clockOf(read: Reading): { readonly bootId: string; readonly atMs: number } | null {
  const zero = read('meta').find((row) => row.name === 'clock');
  return zero === undefined ? null : (JSON.parse(String(zero.value)) as { bootId: string; atMs: number });
}

function keyRow(read: Reading, key: string): KeyRow {
  const contact = read('contacts').find((row) => row.key === key);
  const flight = read('flights').find((row) => row.key === key);
  const clock = clockOf(read);
  const text = (value: ResultRow[string] | undefined): string | null => (value == null ? null : String(value));
  const time = (value: ResultRow[string] | undefined): number | null =>
    value == null ? null : Number(value) - (clock?.atMs ?? 0);
  return {
    key,
    state: flight?.intent_run == null ? (text(contact?.state) ?? 'lookup') : 'intent',
    contactId: text(contact?.contact_id),
    owner: text(flight?.owner),
    leaseUntilMs: time(flight?.lease_until),
    horizonMs: time(flight?.horizon),
    bootId: clock?.bootId ?? null,
  };
}

let shared: MemoryLedger | null = null;
/** The one of this thread. */
export function memoryLedger(): MemoryLedger {
  shared ??= openMemoryLedger();
  return shared;
}

/** `read` and `write` touch what workers share; `quiet` matters to nobody else (counts, the run's own record). */
export type LedgerCall = 'read' | 'write' | 'quiet';
const shownCalls: Readonly<Record<string, LedgerCall>> = {
  'contacts.get': 'read',
  'contacts.lease': 'write',
  'contacts.intend': 'write',
  'contacts.claimItems': 'write',
  'contacts.unclaimItems': 'write',
  'contacts.withdrawIntents': 'write',
  'contacts.noteDoubt': 'write',
  'contacts.release': 'write',
  'runs.saidOf': 'read',
  'runs.pendingRecords': 'read',
  'runs.defer': 'write',
  'runs.releaseBatch': 'write',
  'runs.settle': 'write',
};

export type CallRunner = <Result>(name: string, call: LedgerCall, work: () => Promise<Result>) => Promise<Result>;

/** Every call goes through `run`, so that the model can hold it back, fail it, or lose the worker that made it. */
export function throughCalls<Port extends object>(port: Port, run: CallRunner, path = ''): Port {
  const wrapped = new Map<string | symbol, unknown>();
  return new Proxy(port, {
    get: (target, name) => {
      if (wrapped.has(name)) return wrapped.get(name);
      const member: unknown = Reflect.get(target, name);
      const full = `${path}${String(name)}`;
      let part = member;
      if (typeof member === 'function')
        part = (...given: unknown[]) =>
          run(String(name), shownCalls[full] ?? 'quiet', async () => Reflect.apply(member, target, given));
      else if (typeof member === 'object' && member !== null) part = throughCalls(member, run, `${full}.`);
      wrapped.set(name, part);
      return part;
    },
  });
}
