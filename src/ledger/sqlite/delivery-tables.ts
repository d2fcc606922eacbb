/** The tables of deliveries, and the indexes that tell how a feed stands: part of migration 3. */
export const deliveryTables = `
  CREATE TABLE deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    feed TEXT NOT NULL,
    data TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    attempts INTEGER NOT NULL DEFAULT 0,
    waits_since INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    ended_at INTEGER,
    code TEXT,
    message TEXT
  ) STRICT;
  CREATE INDEX deliveries_waiting ON deliveries (kind, due_at, number) WHERE state = 'waiting';
  CREATE INDEX deliveries_waiting_of_feed ON deliveries (feed, kind, number) WHERE state = 'waiting';
  CREATE INDEX deliveries_by_state ON deliveries (state, ended_at);

  CREATE TABLE feed_conditions (
    feed TEXT PRIMARY KEY,
    troubles TEXT NOT NULL,
    since INTEGER NOT NULL,
    known_since INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX runs_by_feed ON runs (feed, kind, state, sequence);
  CREATE INDEX dead_letters_open ON dead_letters (feed, sequence) WHERE state IN ('open', 'redriven');
`;
