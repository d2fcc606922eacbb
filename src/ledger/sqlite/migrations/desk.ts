/** Migration 6, second design: schedules, snapshots, takes, deliveries and audits. */
import type { MigrationStep } from './step.ts';

/**
 * Small records of many kinds; `src/ledger/tables/desk.ts` says what the columns mean and which lists the indexes are for. The
 * document is JSON text. A number is never given twice.
 */
const recordTable = `
  CREATE TABLE records (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT,
    state TEXT NOT NULL,
    at INTEGER,
    document TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX records_by_id ON records (kind, id);
  CREATE INDEX records_of_owner ON records (kind, owner) WHERE owner IS NOT NULL;
  CREATE INDEX records_of_owner_in_state ON records (kind, owner, state) WHERE owner IS NOT NULL;
  CREATE INDEX records_in_state ON records (kind, state);
  CREATE INDEX records_due ON records (kind, state, at) WHERE at IS NOT NULL;
  CREATE INDEX records_latest ON records (kind, owner, state, at, id) WHERE owner IS NOT NULL AND at IS NOT NULL;
`;

const scheduleRecords = `
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'schedule', name, NULL, '', NULL, json_object('name', name, 'work', work, 'rule', json(rule), 'dueAtMs', due_at,
      'pausedAtMs', paused_at, 'pauseReason', pause_reason, 'resumedAtMs', resumed_at, 'createdAtMs', created_at)
    FROM schedules ORDER BY name;
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'tick', id, schedule, CASE WHEN state <> 'ended' THEN state WHEN user IS NULL THEN outcome ELSE 'ofUser' END, ended_at,
      json_object('id', id, 'schedule', schedule, 'work', work, 'trigger', trigger, 'state', state, 'user', user,
      'dueAtMs', due_at, 'startedAtMs', started_at, 'endedAtMs', ended_at, 'attempts', attempts, 'outcome', outcome,
      'runIds', json(run_ids), 'takenAtMs', taken_at, 'code', code, 'kind', kind, 'message', message, 'hint', hint)
    FROM ticks ORDER BY number;
  DROP TABLE ticks;
  DROP TABLE schedules;
`;

const deliveryRecords = `
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'delivery', id, feed, CASE WHEN state = 'waiting' THEN kind || 'Waits' ELSE state END,
      CASE WHEN state = 'waiting' THEN due_at ELSE ended_at END,
      json_object('id', id, 'kind', kind, 'type', type, 'feed', feed, 'data', json(data), 'atMs', at, 'state', state,
      'attempts', attempts, 'dueAtMs', due_at, 'endedAtMs', ended_at, 'code', code, 'message', message, 'waitsSinceMs', waits_since)
    FROM deliveries ORDER BY number;
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'condition', feed, NULL, '', NULL,
      json_object('feed', feed, 'troubles', json(troubles), 'sinceMs', since, 'knownSinceMs', known_since)
    FROM feed_conditions ORDER BY feed;
  DROP TABLE deliveries;
  DROP TABLE feed_conditions;
`;

/** The versions of the numbers stay as they are (`snapshotTables` in `first-design.ts`). */
const snapshotRecords = `
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'snapshot', series || ' ' || taken_at, series, '', taken_at,
      json_object('series', series, 'takenAtMs', taken_at, 'count', "count", 'pages', pages,
      'changed', json(iif(content_of = taken_at, 'true', 'false')), 'added', added, 'removed', removed,
      'changedNumbers', changed_numbers, 'contentOfMs', content_of, 'shown', shown)
    FROM snapshots ORDER BY taken_at;
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT DISTINCT 'series', series, NULL, '', NULL, json_object('series', series) FROM snapshots ORDER BY series;
  DROP TABLE snapshots;
`;

const takeRecords = `
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'takenFile', feed || ' ' || path, feed, iif(sha256 IS NULL, 'passedOver', 'taken'), modified_at,
      json_object('feed', feed, 'path', path, 'fingerprint', fingerprint, 'modifiedAtMs', modified_at, 'sha256', sha256,
      'takenAtMs', taken_at, 'seenAtMs', seen_at)
    FROM taken_files;
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'takenUrl', feed, NULL, '', NULL, json_object('feed', feed, 'urlHash', url_hash, 'answeredHash', answered_hash,
      'etag', etag, 'lastModified', last_modified, 'sha256', sha256, 'takenAtMs', taken_at) FROM taken_urls;
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'takeBegun', feed, NULL, '', NULL, json_object('feed', feed, 'sha256', sha256, 'begunAtMs', begun_at) FROM takes_begun;
  DROP TABLE taken_files;
  DROP TABLE taken_urls;
  DROP TABLE takes_begun;
`;

/** What is left in `meta` is of the file itself: its id and its clock. */
const presenceRecords = `
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT name, name, NULL, '', NULL, value FROM meta WHERE name IN ('binding', 'pause', 'engine');
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'worker', substr(name, length('worker ') + 1), NULL, '', NULL, value FROM meta WHERE name LIKE 'worker %';
  DELETE FROM meta WHERE name IN ('binding', 'pause', 'engine') OR name LIKE 'worker %';
`;

/** The keys that runs touched stay as they are; that those of a run are there, a record says. */
const auditRecords = `
  CREATE TEMP TABLE standing AS SELECT number FROM audits WHERE duplicates > 0 AND number IN (
    SELECT max(number) FROM audits WHERE state = 'done' GROUP BY run_id);
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'audit', id, run_id,
      CASE WHEN state = 'waiting' THEN iif(kind = 'demand', 'asked', 'waiting') WHEN stands THEN 'standing'
        WHEN found THEN 'found' ELSE 'done' END,
      iif(state = 'waiting', due_at, finished_at),
      json_object('id', id, 'runId', run_id, 'runSequence', run_sequence, 'kind', kind, 'scope', scope, 'state', state,
      'enteredAtMs', entered_at, 'dueAtMs', due_at, 'finishedAtMs', finished_at, 'keyCount', key_count, 'position', position,
      'checked', checked, 'duplicates', duplicates, 'missing', missing, 'unchecked', unchecked,
      'requests', json_object('get', "get", 'retried', retried, 'rateLimited', rateLimited),
      'stands', json(iif(stands, 'true', 'false')), 'hasFindings', json(iif(found, 'true', 'false')))
    FROM (SELECT *, number IN (SELECT number FROM standing) AS stands,
      EXISTS (SELECT 1 FROM audit_findings WHERE audit_number = number) AS found FROM audits) ORDER BY number;
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'finding', audits.id || ' ' || audit_findings.kind || ' ' || ordinal, audits.id, audit_findings.kind, NULL, finding
    FROM audit_findings JOIN audits ON number = audit_number ORDER BY audit_number, ordinal;
  INSERT INTO records (kind, id, owner, state, at, document)
    SELECT 'touched', runs.id, NULL, 'kept', entered_at,
      json_object('runId', runs.id, 'runSequence', sequence, 'keyCount', keys, 'enteredAtMs', entered_at, 'isGoing', json('false'))
    FROM (SELECT run_sequence, count(*) AS keys FROM touched_keys GROUP BY run_sequence) AS kept
    JOIN runs ON sequence = kept.run_sequence
    JOIN (SELECT run_sequence, max(entered_at) AS entered_at FROM audits GROUP BY run_sequence) AS entered
      ON entered.run_sequence = kept.run_sequence;
  DROP TABLE standing;
  DROP TABLE audit_findings;
  DROP TABLE audits;
`;

export const deskSteps: readonly MigrationStep[] = [
  ...[recordTable, scheduleRecords, deliveryRecords, snapshotRecords, takeRecords, presenceRecords, auditRecords],
];
