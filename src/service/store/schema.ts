/**
 * The tables of a workspace.
 *
 * A contact is one JSON document, as a read shows it; beside it stand the columns that are searched. `seq` grows with every insert and
 * is never used twice, so that a page token survives inserts and deletes.
 */

const contactsAndNumbers = `
CREATE TABLE workspace (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  owner_user_id TEXT NOT NULL
) STRICT;
CREATE TABLE contacts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  external_id TEXT,
  source TEXT,
  created_ms INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX contacts_by_external_id ON contacts (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX contacts_by_source ON contacts (source, seq) WHERE source IS NOT NULL;
CREATE TABLE custom_fields (
  seq INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  type TEXT NOT NULL
) STRICT;
CREATE TABLE phone_numbers (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL
) STRICT;
CREATE TABLE phone_number_users (
  phone_number_seq INTEGER NOT NULL REFERENCES phone_numbers (seq),
  user_id TEXT NOT NULL,
  PRIMARY KEY (user_id, phone_number_seq)
) STRICT, WITHOUT ROWID;
`;

/**
 * Users, API keys, calls, recordings and messages. The users of an older store are those who stand with its numbers,
 * in the order in which they first appear there. Before them comes the owner, where no number names them: an older
 * store knows only their id, and a made-up record is always the same, so that two dumps of one store are.
 */
const callsAndMessages = `
CREATE TABLE users (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL
) STRICT;
INSERT INTO users (id, document)
  SELECT owner_user_id, json_object(
    'id', owner_user_id, 'email', 'owner@example.com', 'firstName', NULL, 'lastName', NULL,
    'role', 'owner', 'groupId', 'GR' || substr(owner_user_id, 3)
  )
  FROM workspace WHERE owner_user_id NOT IN (
    SELECT value ->> 'id' FROM phone_numbers, json_each(phone_numbers.document, '$.users')
  );
INSERT INTO users (id, document)
  SELECT value ->> 'id', value
  FROM phone_numbers, json_each(phone_numbers.document, '$.users')
  GROUP BY value ->> 'id' ORDER BY min(phone_numbers.seq), min(json_each.id);
CREATE TABLE api_keys (
  place INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  salt BLOB NOT NULL,
  printed INTEGER NOT NULL CHECK (printed IN (0, 1))
) STRICT;
CREATE TABLE calls (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  phone_number_id TEXT NOT NULL,
  participant TEXT NOT NULL,
  user_id TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE INDEX calls_by_conversation ON calls (phone_number_id, participant, user_id, created_ms, seq);
CREATE TABLE recordings (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  call_id TEXT NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE INDEX recordings_by_call ON recordings (call_id, seq);
CREATE TABLE messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  phone_number_id TEXT NOT NULL,
  participants TEXT NOT NULL,
  user_id TEXT,
  created_ms INTEGER NOT NULL,
  document TEXT NOT NULL
) STRICT;
CREATE INDEX messages_by_conversation ON messages (phone_number_id, participants, created_ms, seq);
CREATE INDEX messages_by_user ON messages (phone_number_id, participants, user_id, created_ms, seq);
CREATE INDEX phone_numbers_by_number ON phone_numbers (document ->> 'number');
`;

/** What page tokens are checked with. It stays in the store: a walk goes on after a restart. */
const pageTokenSecret = `
ALTER TABLE workspace ADD COLUMN page_token_secret BLOB;
UPDATE workspace SET page_token_secret = randomblob(16);
`;

/** Documents of version 1 held id, key and value of a custom field; a read shows its name and type, too. */
const contactsAsReadsShowThem = `
UPDATE contacts SET document = json_set(document, '$.customFields', (
  SELECT json_group_array(json_object(
    'name', definition.name, 'key', definition.key, 'id', field.value ->> 'id',
    'type', definition.type, 'value', field.value -> 'value'
  ) ORDER BY field.id)
  FROM json_each(document, '$.customFields') AS field
  JOIN custom_fields AS definition ON definition.key = field.value ->> 'key'
)) WHERE document -> '$.customFields' <> '[]';
`;

/** The first version took an empty text for the id of a creator. A reply and a workspace file name a user. */
const creators = `
UPDATE contacts SET document = json_set(document, '$.createdByUserId', (SELECT owner_user_id FROM workspace))
  WHERE document ->> 'createdByUserId' = '';
`;

/** The n-th makes version n out of version n - 1; a published one is never changed. */
export const migrations: readonly string[] = [
  contactsAndNumbers,
  callsAndMessages + pageTokenSecret + contactsAsReadsShowThem + creators,
];

/** A newer file is refused. */
export const schemaVersion = migrations.length;
