/**
 * Part of migration 4. An old ledger's agreements are derived when a key is met first (`agreementsOf`); what it knew of
 * owned items stays, by value; an update in doubt is judged by what the service holds.
 */
export const agreedTables = `
  ALTER TABLE contacts ADD COLUMN agreed TEXT;
  ALTER TABLE contacts ADD COLUMN stamps TEXT;
  ALTER TABLE contacts ADD COLUMN written_at INTEGER;
  ALTER TABLE contacts ADD COLUMN written_boot TEXT;
  ALTER TABLE contacts DROP COLUMN written_sequence;
  UPDATE contacts SET claim = NULL WHERE claim IS NOT NULL;
  UPDATE contacts SET owned = json_object(
    'emails', (SELECT json_group_array(json_extract(value, '$.value')) FROM json_each(owned, '$.emails')),
    'phones', (SELECT json_group_array(json_extract(value, '$.value')) FROM json_each(owned, '$.phones')),
    'customFields', (SELECT json_group_array(json_object('key', json_extract(seen_field.value, '$.key'),
        'value', json(seen_field.value -> '$.value')))
      FROM json_each(seen, '$.customFields') AS seen_field
      WHERE json_extract(seen_field.value, '$.key') IN (
        SELECT json_extract(value, '$.key') FROM json_each(owned, '$.customFields')))) WHERE owned IS NOT NULL;

  ALTER TABLE said ADD COLUMN spoken INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE said ADD COLUMN held_count INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE said ADD COLUMN tried TEXT;
  UPDATE said SET spoken = sequence;

  CREATE TABLE held (
    feed TEXT NOT NULL,
    key TEXT NOT NULL,
    field TEXT NOT NULL,
    said TEXT NOT NULL,
    ours TEXT NOT NULL,
    theirs TEXT NOT NULL,
    run_id TEXT NOT NULL,
    line INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (feed, key, field)
  ) STRICT, WITHOUT ROWID;
`;
