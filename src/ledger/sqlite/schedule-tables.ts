/** The tables of schedules: part of migration 3. */
export const scheduleTables = `
  CREATE TABLE schedules (
    name TEXT PRIMARY KEY,
    work TEXT NOT NULL,
    rule TEXT,
    due_at INTEGER,
    paused_at INTEGER,
    pause_reason TEXT,
    resumed_at INTEGER,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ticks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    schedule TEXT NOT NULL,
    work TEXT NOT NULL,
    trigger TEXT NOT NULL,
    state TEXT NOT NULL,
    user TEXT,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    run_ids TEXT NOT NULL DEFAULT '[]',
    taken_at INTEGER,
    code TEXT,
    kind TEXT,
    message TEXT,
    hint TEXT
  ) STRICT;
  CREATE INDEX ticks_by_schedule ON ticks (schedule, number);
  CREATE INDEX ticks_open ON ticks (state, schedule, number) WHERE ended_at IS NULL;
`;
