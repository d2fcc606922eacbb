CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    feed TEXT NOT NULL REFERENCES feeds (name),
    kind TEXT NOT NULL,
    file_name TEXT NOT NULL,
    claimed_path TEXT NOT NULL,
    import_folder TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    state TEXT NOT NULL,
    options TEXT NOT NULL,
    mapping TEXT,
    reason TEXT,
    notes TEXT NOT NULL DEFAULT '[]',
    shape TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    "rows" INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    adopted INTEGER NOT NULL DEFAULT 0,
    heldFields INTEGER NOT NULL DEFAULT 0,
    removedValues INTEGER NOT NULL DEFAULT 0,
    deadNew INTEGER NOT NULL DEFAULT 0,
    warnings INTEGER NOT NULL DEFAULT 0,
    lookedUp INTEGER NOT NULL DEFAULT 0,
    foundUnknown INTEGER NOT NULL DEFAULT 0,
    "get" INTEGER NOT NULL DEFAULT 0,
    post INTEGER NOT NULL DEFAULT 0,
    patch INTEGER NOT NULL DEFAULT 0,
    retried INTEGER NOT NULL DEFAULT 0,
    rateLimited INTEGER NOT NULL DEFAULT 0
  , source_label TEXT, refusal TEXT, stopped_at INTEGER, stopped_ms INTEGER NOT NULL DEFAULT 0, approvals TEXT NOT NULL DEFAULT '[]', look TEXT, linked INTEGER NOT NULL DEFAULT 0, pending INTEGER NOT NULL DEFAULT 0, key_prefix TEXT, pruned INTEGER NOT NULL DEFAULT 0, host TEXT NOT NULL DEFAULT '', moved INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE key_events (
    key TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    at INTEGER NOT NULL,
    run_id TEXT,
    kind TEXT NOT NULL,
    contact_id TEXT,
    detail TEXT,
    PRIMARY KEY (key, ordinal)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE touched_keys (
    run_sequence INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    in_doubt INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_sequence, position)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot_numbers (
    number_key INTEGER PRIMARY KEY,
    series TEXT NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (series, id)
  ) STRICT;
CREATE TABLE number_versions (
    number_key INTEGER NOT NULL,
    from_at INTEGER NOT NULL,
    until_at INTEGER,
    document TEXT NOT NULL,
    UNIQUE (number_key, from_at)
  ) STRICT;
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
CREATE TABLE headers (
    run_sequence INTEGER NOT NULL,
    number INTEGER NOT NULL,
    columns TEXT NOT NULL,
    PRIMARY KEY (run_sequence, number)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE staged_content (
    place INTEGER PRIMARY KEY,
    line INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    row_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    mapping_version TEXT NOT NULL,
    letter_id TEXT,
    header INTEGER,
    record INTEGER NOT NULL,
    desired TEXT NOT NULL,
    content TEXT NOT NULL,
    beyond TEXT
  ) STRICT;
CREATE TABLE "staged" (
    place INTEGER PRIMARY KEY,
    outcome TEXT,
    not_before INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    key TEXT NOT NULL,
    link TEXT
  ) STRICT;
CREATE TABLE "batches" (
    run_sequence INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_sequence, batch)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE "run_events" (
    run_sequence INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run_sequence, ordinal)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE bitmaps (
    run_sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    bits BLOB NOT NULL,
    PRIMARY KEY (run_sequence, kind)
  ) STRICT;
CREATE TABLE feeds (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0
  ) STRICT;
CREATE TABLE contacts (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    contact_id TEXT,
    document TEXT,
    linked_to TEXT,
    bound_run INTEGER,
    bound_at INTEGER,
    written_at INTEGER
  ) STRICT;
CREATE TABLE flights (
    key TEXT PRIMARY KEY,
    owner TEXT,
    lease_until INTEGER,
    horizon INTEGER,
    horizon_span INTEGER,
    claim TEXT,
    intent_run TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    owned TEXT
  ) STRICT, WITHOUT ROWID;
CREATE TABLE known (
    feed_number INTEGER NOT NULL,
    number INTEGER NOT NULL,
    row_hash BLOB,
    fingerprint BLOB,
    tried BLOB,
    sequence INTEGER NOT NULL,
    spoken INTEGER NOT NULL,
    held_count INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (feed_number, number)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    run_sequence INTEGER NOT NULL,
    key TEXT NOT NULL,
    contact_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    changes TEXT NOT NULL
  ) STRICT;
CREATE TABLE letter_headers (number INTEGER PRIMARY KEY, columns TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE letters (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    feed TEXT NOT NULL,
    identity TEXT NOT NULL,
    code TEXT NOT NULL,
    key TEXT,
    class TEXT NOT NULL,
    run_id TEXT NOT NULL,
    first_run_id TEXT NOT NULL,
    file TEXT NOT NULL,
    line INTEGER NOT NULL,
    field TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    seen_count INTEGER NOT NULL DEFAULT 1,
    state TEXT NOT NULL DEFAULT 'open',
    settled INTEGER NOT NULL DEFAULT 0,
    redrive_run_id TEXT,
    sequence INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    header INTEGER REFERENCES letter_headers (number),
    message TEXT NOT NULL,
    hint TEXT NOT NULL,
    "row" TEXT,
    desired TEXT,
    answer TEXT,
    UNIQUE (feed, identity, code)
  ) STRICT;
CREATE TABLE letter_counts (
    state TEXT NOT NULL,
    code TEXT NOT NULL,
    class TEXT NOT NULL,
    field TEXT NOT NULL,
    run_id TEXT NOT NULL,
    feed TEXT NOT NULL,
    letters INTEGER NOT NULL,
    PRIMARY KEY (state, code, class, field, run_id, feed)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE letter_revision (revision INTEGER NOT NULL) STRICT;
CREATE TABLE redrives (
    run_id TEXT PRIMARY KEY,
    feed TEXT NOT NULL,
    choice TEXT NOT NULL,
    after TEXT,
    is_taking INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE dead_rows (
    run_sequence INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    letter_id TEXT NOT NULL,
    header INTEGER REFERENCES letter_headers (number),
    dead TEXT NOT NULL,
    PRIMARY KEY (run_sequence, ordinal)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE dead_row_counts (
    run_sequence INTEGER NOT NULL,
    class TEXT NOT NULL,
    code TEXT NOT NULL,
    "rows" INTEGER NOT NULL,
    PRIMARY KEY (run_sequence, class, code)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE records (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    owner TEXT,
    state TEXT NOT NULL,
    at INTEGER,
    document TEXT NOT NULL
  ) STRICT;
INSERT INTO "meta" VALUES ('clock', '{"bootId":"ae666b33-9e70-4570-8171-f83299919956","atMs":1795689426109}');
INSERT INTO "meta" VALUES ('id', '89c49a71');
INSERT INTO "meta" VALUES ('written', '1795703222743');
INSERT INTO "runs" VALUES (1, '20261126T142659Z-10bb3d', 'main', 'file', 'people.csv', '{{folder}}/data/handed-over/20261126T142659Z-10bb3d__people.csv', '{{folder}}/data/import', '7d7d2f8fa3bacbb89b6a9bc61cdb432980f0e5309fe17c107864b4f086696d0f', 357, 'done', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/people.csv","remap":false,"planId":null,"acceptReason":null,"origin":"command"}', NULL, NULL, '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703219354, 1795703221857, 1795703222990, 12, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 2, 12, 0, 0, 0, NULL, NULL, NULL, 0, '[]', '{"contacts":0,"unkeyed":0,"pages":1,"matched":0,"unclear":0,"decided":0,"creates":12,"end":"whole"}', 0, 0, NULL, 1, '', 0);
INSERT INTO "runs" VALUES (2, '20261126T142706Z-91c89c', 'main', 'file', 'mixed.csv', '{{folder}}/data/handed-over/20261126T142706Z-91c89c__mixed.csv', '{{folder}}/data/import', '9c57ae85515a4737113ac99cb904ec0d40050958ad8043c2a081b44972755214', 374, 'doneWithDead', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":true,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/mixed.csv","remap":false,"planId":null,"acceptReason":null,"origin":"command"}', NULL, NULL, '["1 number has no country code. The numbers of your workspace are in the United States (US): if this one is, too, import again with --default-country US"]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703226173, 1795703227376, 1795703228148, 13, 0, 0, 12, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, NULL, NULL, NULL, 0, '[]', NULL, 0, 0, NULL, 1, '', 0);
INSERT INTO "runs" VALUES (3, '20261126T142711Z-6a4af1', 'main', 'file', 'moved.csv', '{{folder}}/data/handed-over/20261126T142711Z-6a4af1__moved.csv', '{{folder}}/data/import', '6ee9797a7a8348464f333129d4c1c00645c589aef10599a1394482bdef83ca2a', 357, 'stopped', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/moved.csv","remap":false,"planId":null,"acceptReason":null,"origin":"command"}', NULL, '{"code":"guardUpdates","message":"stopped before the first write: the file changes 11 of the 12 contacts it had before (91.7%; your limit is 30%: guards.updatesMax)","facts":{"updatesCount":11,"updatesBase":12,"updatesLimit":0.3},"hint":"Check the file. If this is expected, import it again with --max-change 92% or --accept, or approve the run: patchbay runs approve 20261126T142711Z-6a4af1"}', '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703231340, 1795703232969, NULL, 12, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 1795703233118, 0, '[]', NULL, 0, 11, NULL, 0, '', 0);
INSERT INTO "runs" VALUES (4, '20261126T142724Z-13ff9a', 'crm', 'file', 'crm.csv', '{{folder}}/data/handed-over/20261126T142724Z-13ff9a__crm.csv', '{{folder}}/data/import', '8a68e0fcb35a4274c0127e27ca8832d385ded4cf2356abd8486c008daf298fcf', 197, 'applying', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/crm.csv","remap":false,"planId":null,"acceptReason":null,"origin":"command"}', NULL, NULL, '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703244888, 1795703245763, NULL, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 1, 0, 0, 0, 0, NULL, NULL, NULL, 0, '[]', '{"contacts":12,"unkeyed":0,"pages":1,"matched":0,"unclear":0,"decided":0,"creates":6,"end":"whole"}', 0, 6, NULL, 0, '', 0);
INSERT INTO "runs" VALUES (5, '20261126T142728Z-d7d46b', 'shop', 'file', 'shop.csv', '{{folder}}/data/handed-over/20261126T142728Z-d7d46b__shop.csv', '{{folder}}/data/import', '868c4481859f4aa4771b7b5cf84d38c3d82c8d48d8b7e190c8adbb4a8f5f69f7', 197, 'staging', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/shop.csv","remap":false,"planId":null,"acceptReason":null,"origin":"command"}', NULL, NULL, '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703248601, 1795703249927, NULL, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, '[]', NULL, 0, 6, NULL, 0, '', 0);
INSERT INTO "touched_keys" VALUES (1, 1, 'p-0', 0);
INSERT INTO "touched_keys" VALUES (1, 2, 'p-1', 0);
INSERT INTO "touched_keys" VALUES (1, 3, 'p-2', 0);
INSERT INTO "touched_keys" VALUES (1, 4, 'p-3', 0);
INSERT INTO "touched_keys" VALUES (1, 5, 'p-4', 0);
INSERT INTO "touched_keys" VALUES (1, 6, 'p-5', 0);
INSERT INTO "touched_keys" VALUES (1, 7, 'p-6', 0);
INSERT INTO "touched_keys" VALUES (1, 8, 'p-7', 0);
INSERT INTO "touched_keys" VALUES (1, 9, 'p-8', 0);
INSERT INTO "touched_keys" VALUES (1, 10, 'p-9', 0);
INSERT INTO "touched_keys" VALUES (1, 11, 'p-10', 0);
INSERT INTO "touched_keys" VALUES (1, 12, 'p-11', 0);
INSERT INTO "touched_keys" VALUES (2, 1, 'p-1', 0);
INSERT INTO "held" VALUES ('main', 'p-1', 'firstName', '"Ann1"', '"Anna"', '"Annie"', '20261126T142706Z-91c89c', 3, 1795703228133);
INSERT INTO "headers" VALUES (3, 1, '["externalId","firstName","lastName","phone work"]');
INSERT INTO "headers" VALUES (4, 1, '["externalId","firstName","lastName","phone work"]');
INSERT INTO "headers" VALUES (5, 1, '["externalId","firstName","lastName","phone work"]');
INSERT INTO "staged_content" VALUES (25165825, 2, 3, 'JjPr8VPGdGx-aT0ukpyFeA', 'qrXnJALiE6lU0-9fu3OpUQ', '5fd9e5e0472c1f3f', NULL, 1, 1, '{"key":"p-0","scalars":{"firstName":"Bea0","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550110"}]}],"customFields":[]}', '["p-0","Bea0","Old","+14155550110"]', NULL);
INSERT INTO "staged_content" VALUES (25165826, 4, 3, 'xFsJLvJXZBiHpPIT9xlRuA', 'yNikq1RmX2UN7yMFwg2xbw', '5fd9e5e0472c1f3f', NULL, 1, 3, '{"key":"p-2","scalars":{"firstName":"Bea2","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550112"}]}],"customFields":[]}', '["p-2","Bea2","Old","+14155550112"]', NULL);
INSERT INTO "staged_content" VALUES (25165827, 5, 3, '6PKqB4i3xj0klI_FL13zJQ', 'fm7NlsEFCbayEA-revC45w', '5fd9e5e0472c1f3f', NULL, 1, 4, '{"key":"p-3","scalars":{"firstName":"Bea3","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550113"}]}],"customFields":[]}', '["p-3","Bea3","Old","+14155550113"]', NULL);
INSERT INTO "staged_content" VALUES (25165828, 6, 3, 'eIFIX1p2BtHRuVx43ssriQ', 'jyZBZieCYUtADSuCpCpt_g', '5fd9e5e0472c1f3f', NULL, 1, 5, '{"key":"p-4","scalars":{"firstName":"Bea4","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550114"}]}],"customFields":[]}', '["p-4","Bea4","Old","+14155550114"]', NULL);
INSERT INTO "staged_content" VALUES (25165829, 7, 3, '9xhgic0z1UfyeNpv6mVdSA', 'qRTK1xI6XjyBb4Or8snn7A', '5fd9e5e0472c1f3f', NULL, 1, 6, '{"key":"p-5","scalars":{"firstName":"Bea5","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550115"}]}],"customFields":[]}', '["p-5","Bea5","Old","+14155550115"]', NULL);
INSERT INTO "staged_content" VALUES (25165830, 8, 3, 'G-MdMVaiBioCDF9QjbZ0Ag', 'pjNr3_gWJiPst6RLvWYwTg', '5fd9e5e0472c1f3f', NULL, 1, 7, '{"key":"p-6","scalars":{"firstName":"Bea6","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550116"}]}],"customFields":[]}', '["p-6","Bea6","Old","+14155550116"]', NULL);
INSERT INTO "staged_content" VALUES (25165831, 9, 3, 'zpkavaX-LVGIk7Ly5QXdHA', 'W20wu0bQPwRUif6UYmnWLA', '5fd9e5e0472c1f3f', NULL, 1, 8, '{"key":"p-7","scalars":{"firstName":"Bea7","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550117"}]}],"customFields":[]}', '["p-7","Bea7","Old","+14155550117"]', NULL);
INSERT INTO "staged_content" VALUES (25165832, 10, 3, 'jyJWTDLwpCDh-v7iP8fUGw', 'csU-9luiv8pFeDE-VgOt1g', '5fd9e5e0472c1f3f', NULL, 1, 9, '{"key":"p-8","scalars":{"firstName":"Bea8","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550118"}]}],"customFields":[]}', '["p-8","Bea8","Old","+14155550118"]', NULL);
INSERT INTO "staged_content" VALUES (25165833, 11, 3, 'kW1pQCtVzKT8hpE364SX-Q', 'MvAzxHV8ynh4cZG2Bis7ag', '5fd9e5e0472c1f3f', NULL, 1, 10, '{"key":"p-9","scalars":{"firstName":"Bea9","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550119"}]}],"customFields":[]}', '["p-9","Bea9","Old","+14155550119"]', NULL);
INSERT INTO "staged_content" VALUES (25165834, 12, 3, 'hhHOPXpAAKZ_M4YkrZnjSA', 'OTdFHH0Qd0ODakTErDA7cA', '5fd9e5e0472c1f3f', NULL, 1, 11, '{"key":"p-10","scalars":{"firstName":"Bea10","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550120"}]}],"customFields":[]}', '["p-10","Bea10","Old","+14155550120"]', NULL);
INSERT INTO "staged_content" VALUES (25165835, 13, 3, 'eeaKtcdsOGyUvj-TvvAbZw', 'qvVmnMdd_yb2YI4IFpb-dA', '5fd9e5e0472c1f3f', NULL, 1, 12, '{"key":"p-11","scalars":{"firstName":"Bea11","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550121"}]}],"customFields":[]}', '["p-11","Bea11","Old","+14155550121"]', NULL);
INSERT INTO "staged_content" VALUES (33554433, 2, 4, 'RHP9EIAaicgGhAsjS_sjZQ', 'lEeKOcsCK4d9NoSpUyQZjQ', '5fd9e5e0472c1f3f', NULL, 1, 1, '{"key":"c-0","scalars":{"firstName":"Cyn0","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550130"}]}],"customFields":[]}', '["c-0","Cyn0","Old","+14155550130"]', NULL);
INSERT INTO "staged_content" VALUES (33554434, 3, 4, '03Pq3quRzgIsAU9DLgs5Zg', '3as7o52H3rKM5OW7Zy8OkA', '5fd9e5e0472c1f3f', NULL, 1, 2, '{"key":"c-1","scalars":{"firstName":"Cyn1","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550131"}]}],"customFields":[]}', '["c-1","Cyn1","Old","+14155550131"]', NULL);
INSERT INTO "staged_content" VALUES (33554435, 4, 4, 'SfgXo55cf37q1vb7Ix1jpA', '4uAw8aZQJfic2_rmC6bBWA', '5fd9e5e0472c1f3f', NULL, 1, 3, '{"key":"c-2","scalars":{"firstName":"Cyn2","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550132"}]}],"customFields":[]}', '["c-2","Cyn2","Old","+14155550132"]', NULL);
INSERT INTO "staged_content" VALUES (33554436, 5, 4, '0tYR3nwHfHYBMfK7gwFFGg', 'Vsxn4PC8Qb0xMFlg5bt6hQ', '5fd9e5e0472c1f3f', NULL, 1, 4, '{"key":"c-3","scalars":{"firstName":"Cyn3","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550133"}]}],"customFields":[]}', '["c-3","Cyn3","Old","+14155550133"]', NULL);
INSERT INTO "staged_content" VALUES (33554437, 6, 4, 'yxLCrt31QlHc0n0XqRFaWQ', '_BaRRxOs4GV30nuJfD7scw', '5fd9e5e0472c1f3f', NULL, 1, 5, '{"key":"c-4","scalars":{"firstName":"Cyn4","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550134"}]}],"customFields":[]}', '["c-4","Cyn4","Old","+14155550134"]', NULL);
INSERT INTO "staged_content" VALUES (33554438, 7, 4, 'xxoHFvP33okGvEZTHhzbFg', '0yPR9njUz_U2ND6R40OBvg', '5fd9e5e0472c1f3f', NULL, 1, 6, '{"key":"c-5","scalars":{"firstName":"Cyn5","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550135"}]}],"customFields":[]}', '["c-5","Cyn5","Old","+14155550135"]', NULL);
INSERT INTO "staged_content" VALUES (41943041, 2, 5, 'Q1il8y1o9uj4v61eXX-6Dg', '-wRh1FGDRYPenKaL26-60w', '5fd9e5e0472c1f3f', NULL, 1, 1, '{"key":"s-0","scalars":{"firstName":"Sam0","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550150"}]}],"customFields":[]}', '["s-0","Sam0","Old","+14155550150"]', NULL);
INSERT INTO "staged_content" VALUES (41943042, 3, 5, '3RVGnx6RjdkqRT-CEzgLnw', 'luuxHmce5-qQYqSnWyd4-g', '5fd9e5e0472c1f3f', NULL, 1, 2, '{"key":"s-1","scalars":{"firstName":"Sam1","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550151"}]}],"customFields":[]}', '["s-1","Sam1","Old","+14155550151"]', NULL);
INSERT INTO "staged_content" VALUES (41943043, 4, 5, 'MECU1UUzbQQRT89rx5h-dg', 'EBmYSEZ8qpoJYim4eIVAqQ', '5fd9e5e0472c1f3f', NULL, 1, 3, '{"key":"s-2","scalars":{"firstName":"Sam2","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550152"}]}],"customFields":[]}', '["s-2","Sam2","Old","+14155550152"]', NULL);
INSERT INTO "staged_content" VALUES (41943044, 5, 5, 'FrXk1PzMoI5OiL0vTTCULQ', 'PtSBc5S36XvLpi0m-w_Z5Q', '5fd9e5e0472c1f3f', NULL, 1, 4, '{"key":"s-3","scalars":{"firstName":"Sam3","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550153"}]}],"customFields":[]}', '["s-3","Sam3","Old","+14155550153"]', NULL);
INSERT INTO "staged_content" VALUES (41943045, 6, 5, 'DAUK56wZmG7v95hVKsTyFQ', 'Wv3sHz9CMAuq0_iX7bczpw', '5fd9e5e0472c1f3f', NULL, 1, 5, '{"key":"s-4","scalars":{"firstName":"Sam4","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550154"}]}],"customFields":[]}', '["s-4","Sam4","Old","+14155550154"]', NULL);
INSERT INTO "staged_content" VALUES (41943046, 7, 5, 'DHXYpLYUFcLkqlCQHOJlFg', 'dFwCCgMa1e8jbeBdCrvqjQ', '5fd9e5e0472c1f3f', NULL, 1, 6, '{"key":"s-5","scalars":{"firstName":"Sam5","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550155"}]}],"customFields":[]}', '["s-5","Sam5","Old","+14155550155"]', NULL);
INSERT INTO "staged" VALUES (25165825, NULL, 0, 0, 0, 'p-0', NULL);
INSERT INTO "staged" VALUES (25165826, NULL, 0, 0, 0, 'p-2', NULL);
INSERT INTO "staged" VALUES (25165827, NULL, 0, 0, 0, 'p-3', NULL);
INSERT INTO "staged" VALUES (25165828, NULL, 0, 0, 0, 'p-4', NULL);
INSERT INTO "staged" VALUES (25165829, NULL, 0, 0, 0, 'p-5', NULL);
INSERT INTO "staged" VALUES (25165830, NULL, 0, 0, 0, 'p-6', NULL);
INSERT INTO "staged" VALUES (25165831, NULL, 0, 0, 0, 'p-7', NULL);
INSERT INTO "staged" VALUES (25165832, NULL, 0, 0, 0, 'p-8', NULL);
INSERT INTO "staged" VALUES (25165833, NULL, 0, 0, 0, 'p-9', NULL);
INSERT INTO "staged" VALUES (25165834, NULL, 0, 0, 0, 'p-10', NULL);
INSERT INTO "staged" VALUES (25165835, NULL, 0, 0, 0, 'p-11', NULL);
INSERT INTO "staged" VALUES (33554433, NULL, 0, 0, 0, 'c-0', NULL);
INSERT INTO "staged" VALUES (33554434, NULL, 0, 0, 0, 'c-1', NULL);
INSERT INTO "staged" VALUES (33554435, NULL, 0, 0, 0, 'c-2', NULL);
INSERT INTO "staged" VALUES (33554436, NULL, 0, 0, 0, 'c-3', NULL);
INSERT INTO "staged" VALUES (33554437, NULL, 0, 0, 0, 'c-4', NULL);
INSERT INTO "staged" VALUES (33554438, NULL, 0, 0, 0, 'c-5', NULL);
INSERT INTO "staged" VALUES (41943041, NULL, 0, 0, 0, 's-0', NULL);
INSERT INTO "staged" VALUES (41943042, NULL, 0, 0, 0, 's-1', NULL);
INSERT INTO "staged" VALUES (41943043, NULL, 0, 0, 0, 's-2', NULL);
INSERT INTO "staged" VALUES (41943044, NULL, 0, 0, 0, 's-3', NULL);
INSERT INTO "staged" VALUES (41943045, NULL, 0, 0, 0, 's-4', NULL);
INSERT INTO "staged" VALUES (41943046, NULL, 0, 0, 0, 's-5', NULL);
INSERT INTO "batches" VALUES (3, 1, 1, 11, 0, 0, 0);
INSERT INTO "batches" VALUES (4, 1, 1, 6, 0, 0, 0);
INSERT INTO "batches" VALUES (5, 1, 1, 6, 0, 0, 0);
INSERT INTO "run_events" VALUES (3, 1, '{"kind":"held","line":3,"key":"p-1","code":"held","field":"firstName","message":"the file and the app differ: kept the app''s value","file":"Anna","app":"Annie"}');
INSERT INTO "bitmaps" VALUES (3, 'unchanged', X'0400');
INSERT INTO "bitmaps" VALUES (3, 'met', X'fe1f');
INSERT INTO "bitmaps" VALUES (4, 'unchanged', X'00');
INSERT INTO "bitmaps" VALUES (4, 'met', X'00');
INSERT INTO "bitmaps" VALUES (5, 'unchanged', X'00');
INSERT INTO "bitmaps" VALUES (5, 'met', X'00');
INSERT INTO "feeds" VALUES (1, 'main', 1795703219354, 2);
INSERT INTO "feeds" VALUES (2, 'crm', 1795703244888, 0);
INSERT INTO "feeds" VALUES (3, 'shop', 1795703248601, 0);
INSERT INTO "contacts" VALUES (1, 'p-0', 'bound', '01a21840b15a00000bd8593a', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLFaAAAL2Fk6p-0Ann0OldvbplQxDPKZxqdU5o+14155550110mwxnc28qUS8f4f774610phonework', NULL, 1, 1795703222743, 1795703222704);
INSERT INTO "contacts" VALUES (2, 'p-1', 'bound', '01a21840b15e000099f71c65', '1($#E"##""!"$0#!&&#(!"K!(""#!#"I("2"#!""2(OI!!!!"#"0K!!"!AaIYQLFeAACZ9xxlp-1AnnieOldEDEuvpsC7NsVNZIF+14155550111mwxnc28umwxnc3maUS8f4f774610Ann1phonework', NULL, 1, 1795703222743, 1795703222741);
INSERT INTO "contacts" VALUES (3, 'p-2', 'bound', '01a21840b1660000cb4bd0e8', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLFmAADLS9Dop-2Ann2Old0KxqvWVRlArtW5l3+14155550112mwxnc292US8f4f774610phonework', NULL, 1, 1795703222743, 1795703222741);
INSERT INTO "contacts" VALUES (4, 'p-3', 'bound', '01a21840b16f0000490a48b3', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLFvAABJCkizp-3Ann3OlduyCNz86F0WYYwctM+14155550113mwxnc29bUS8f4f774610phonework', NULL, 1, 1795703222743, 1795703222741);
INSERT INTO "contacts" VALUES (5, 'p-4', 'bound', '01a21840b1780000fb556313', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLF4AAD7VWMTp-4Ann4Old0Yy_HbUF07JQH6U_+14155550114mwxnc29kUS8f4f774610phonework', NULL, 1, 1795703222743, 1795703222742);
INSERT INTO "contacts" VALUES (6, 'p-5', 'bound', '01a21840b1820000114f018c', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLGCAAARTwGMp-5Ann5OldnOzLohhZmzaZDSOW+14155550115mwxnc29uUS8f4f774610phonework', NULL, 1, 1795703222743, 1795703222742);
INSERT INTO "contacts" VALUES (7, 'p-6', 'bound', '01a21840b18800002417c5b6', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLGIAAAkF8W2p-6Ann6OldQF2j8I6hMHr9sJQL+14155550116mwxnc2a0US8f4f774610phonework', NULL, 1, 1795703222743, 1795703222742);
INSERT INTO "contacts" VALUES (8, 'p-7', 'bound', '01a21840b1890000e78d3507', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLGJAADnjTUHp-7Ann7OldhR6EOdDmTDP350Yd+14155550117mwxnc2a1US8f4f774610phonework', NULL, 1, 1795703222743, 1795703222742);
INSERT INTO "contacts" VALUES (9, 'p-8', 'bound', '01a21840b18d0000e3fb6f4e', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLGNAADj-29Op-8Ann8Oldp-gfUOvdhqB54DP_+14155550118mwxnc2a5US8f4f774610phonework', NULL, 1, 1795703222743, 1795703222743);
INSERT INTO "contacts" VALUES (10, 'p-9', 'bound', '01a21840b18e000001a78af5', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLGOAAABp4r1p-9Ann9OldFxagBfB0gUJQQSuK+14155550119mwxnc2a6US8f4f774610phonework', NULL, 1, 1795703222743, 1795703222743);
INSERT INTO "contacts" VALUES (11, 'p-10', 'bound', '01a21840b191000057087362', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLGRAABXCHNip-10Ann10OldRZFWlSdP_0UnIOfk+14155550120mwxnc2a9US8f4f774610phonework', NULL, 1, 1795703222743, 1795703222743);
INSERT INTO "contacts" VALUES (12, 'p-11', 'bound', '01a21840b1920000cbc107ab', '1($#E"##""!"$0#!&L#(!"K!(""#!H"I("2"#!""2(HI!!!!"#"0K!!!AaIYQLGSAADLwQerp-11Ann11OldUMp-QE26dWEM04oF+14155550121mwxnc2aaUS8f4f774610phonework', NULL, 1, 1795703222743, 1795703222743);
INSERT INTO "flights" VALUES ('c-0', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/1018/1382008#820d84db', 1795703295050, 1795703249012, 3000, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn0"},{"field":"lastName","from":null,"to":"Old"}],"items":[{"field":"phone.+14155550130","from":null,"to":"+14155550130","why":"added"}],"said":{"scalars":{"firstName":"Cyn0","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550130"}]}],"customFields":[],"held":[]},"runId":"20261126T142724Z-13ff9a"}', '20261126T142724Z-13ff9a', 0, '{"emails":[],"phones":["+14155550130"],"customFields":[]}');
INSERT INTO "flights" VALUES ('c-1', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/1018/1382008#820d84db', 1795703295050, 1795703249012, 3000, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn1"},{"field":"lastName","from":null,"to":"Old"}],"items":[{"field":"phone.+14155550131","from":null,"to":"+14155550131","why":"added"}],"said":{"scalars":{"firstName":"Cyn1","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550131"}]}],"customFields":[],"held":[]},"runId":"20261126T142724Z-13ff9a"}', '20261126T142724Z-13ff9a', 0, '{"emails":[],"phones":["+14155550131"],"customFields":[]}');
INSERT INTO "flights" VALUES ('c-2', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/1018/1382008#820d84db', 1795703295050, 1795703249012, 3000, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn2"},{"field":"lastName","from":null,"to":"Old"}],"items":[{"field":"phone.+14155550132","from":null,"to":"+14155550132","why":"added"}],"said":{"scalars":{"firstName":"Cyn2","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550132"}]}],"customFields":[],"held":[]},"runId":"20261126T142724Z-13ff9a"}', '20261126T142724Z-13ff9a', 0, '{"emails":[],"phones":["+14155550132"],"customFields":[]}');
INSERT INTO "flights" VALUES ('c-3', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/1018/1382008#820d84db', 1795703295050, 1795703249012, 3000, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn3"},{"field":"lastName","from":null,"to":"Old"}],"items":[{"field":"phone.+14155550133","from":null,"to":"+14155550133","why":"added"}],"said":{"scalars":{"firstName":"Cyn3","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550133"}]}],"customFields":[],"held":[]},"runId":"20261126T142724Z-13ff9a"}', '20261126T142724Z-13ff9a', 0, '{"emails":[],"phones":["+14155550133"],"customFields":[]}');
INSERT INTO "flights" VALUES ('c-4', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/1018/1382008#820d84db', 1795703295050, 1795703249012, 3000, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn4"},{"field":"lastName","from":null,"to":"Old"}],"items":[{"field":"phone.+14155550134","from":null,"to":"+14155550134","why":"added"}],"said":{"scalars":{"firstName":"Cyn4","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550134"}]}],"customFields":[],"held":[]},"runId":"20261126T142724Z-13ff9a"}', '20261126T142724Z-13ff9a', 0, '{"emails":[],"phones":["+14155550134"],"customFields":[]}');
INSERT INTO "flights" VALUES ('c-5', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/1018/1382008#820d84db', 1795703295050, 1795703249012, 3000, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn5"},{"field":"lastName","from":null,"to":"Old"}],"items":[{"field":"phone.+14155550135","from":null,"to":"+14155550135","why":"added"}],"said":{"scalars":{"firstName":"Cyn5","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550135"}]}],"customFields":[],"held":[]},"runId":"20261126T142724Z-13ff9a"}', '20261126T142724Z-13ff9a', 0, '{"emails":[],"phones":["+14155550135"],"customFields":[]}');
INSERT INTO "known" VALUES (1, 1, X'ad7e44d6c79b867d83dc277e8654096d', X'437f811407b0ff078fcdb7fc5061cb22', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 2, X'de92807af0823989a4ffc20cfa5924d5', X'0b8864feda6406e74b98f1246a1db436', NULL, 2, 2, 1);
INSERT INTO "known" VALUES (1, 3, X'825a317538328b950f4123ae2996e78d', X'01ca1d8e5608e98e22230a325784834b', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 4, X'c24b0c8d3774b1175d2acaf0f1c625fd', X'cc545276ab363f59dafdc74aa849768a', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 5, X'a9249173f2d3cd085b76af3200ecdc31', X'c12df89fea51e50953d95b494473a967', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 6, X'bd3f942724330f815e68ab6eee5103f2', X'9a5fcfe82df2bdac532da551ba3e6579', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 7, X'417b851ede84eb09de5ccbb474fd6090', X'8257dc17d9f857b5c0cc36c04df94483', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 8, X'b6b339e594ce2c40ea81f2817b250699', X'b056fcd08a4ed9b6616ed495e9faa94d', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 9, X'86b5c8d643058461fd9135d5284b1281', X'0c175820ff148113b28465c0b6a8f9ba', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 10, X'd9ab1a82063ed804e2ac89ff96823463', X'f28a6065d113f29755dd0c4f5432f937', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 11, X'fbabdbfecdbc1fb9d25cea843708641a', X'884eae5845037acbfb97e0798c7c4428', NULL, 1, 1, 0);
INSERT INTO "known" VALUES (1, 12, X'dd5092f0afb2484a455c655515e89b07', X'ce6df8b401be9f5f844c4e7a5c309be7', NULL, 1, 1, 0);
INSERT INTO "journal" VALUES (1, 1, 'p-0', '01a21840b15a00000bd8593a', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann0Old+14155550110');
INSERT INTO "journal" VALUES (2, 1, 'p-1', '01a21840b15e000099f71c65', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann1Old+14155550111');
INSERT INTO "journal" VALUES (3, 1, 'p-2', '01a21840b1660000cb4bd0e8', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann2Old+14155550112');
INSERT INTO "journal" VALUES (4, 1, 'p-3', '01a21840b16f0000490a48b3', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann3Old+14155550113');
INSERT INTO "journal" VALUES (5, 1, 'p-4', '01a21840b1780000fb556313', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann4Old+14155550114');
INSERT INTO "journal" VALUES (6, 1, 'p-5', '01a21840b1820000114f018c', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann5Old+14155550115');
INSERT INTO "journal" VALUES (7, 1, 'p-6', '01a21840b18800002417c5b6', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann6Old+14155550116');
INSERT INTO "journal" VALUES (8, 1, 'p-7', '01a21840b1890000e78d3507', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann7Old+14155550117');
INSERT INTO "journal" VALUES (9, 1, 'p-8', '01a21840b18d0000e3fb6f4e', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann8Old+14155550118');
INSERT INTO "journal" VALUES (10, 1, 'p-9', '01a21840b18e000001a78af5', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann9Old+14155550119');
INSERT INTO "journal" VALUES (11, 1, 'p-10', '01a21840b191000057087362', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann10Old+14155550120');
INSERT INTO "journal" VALUES (12, 1, 'p-11', '01a21840b1920000cbc107ab', 1795703222743, 'create', '1($!"#!""#!(#"H!Ann11Old+14155550121');
INSERT INTO "letter_headers" VALUES (1, '["externalId","firstName","lastName","phone work"]');
INSERT INTO "letters" VALUES (1, 'dc4135656ed0e', 'main', 'p-bad', 'phoneCountryMissing', 'p-bad', 'invalid', '20261126T142706Z-91c89c', '20261126T142706Z-91c89c', 'mixed.csv', 14, 'phone work', 0, 1, 'open', 0, NULL, 2, 1795703228005, 1795703228005, 1, 'the phone number has no country code', 'If it is a number in the United States (US), as those of your workspace are, import again with --default-country US; otherwise write it with + and its country code.', '{"kind":"cells","line":14,"record":13,"cells":["p-bad","Bad","Old","12"]}', NULL, NULL);
INSERT INTO "letter_counts" VALUES ('open', 'phoneCountryMissing', 'invalid', 'phone work', '20261126T142706Z-91c89c', 'main', 1);
INSERT INTO "letter_revision" VALUES (1);
INSERT INTO "records" VALUES (1, 'binding', 'binding', NULL, '', NULL, '{"origin":"{{service}}","keyHash":"c1fe3fbeaec314f98215f51a7e5f3c3c","phoneNumberIds":["PNf62c1256c2"]}');
INSERT INTO "records" VALUES (2, 'schedule', 'nightly', NULL, '', NULL, '{"pausedAtMs":null,"pauseReason":null,"resumedAtMs":null,"createdAtMs":1795703216364,"name":"nightly","work":"take","rule":{"kind":"every","everyMs":86400000},"dueAtMs":1795789616364}');
INSERT INTO "records" VALUES (4, 'tick', 't540ab7d52cec', 'nightly', 'nothingNew', 1795703222235, '{"id":"t540ab7d52cec","schedule":"nightly","work":"take","trigger":"due","user":null,"dueAtMs":1795703216364,"state":"ended","startedAtMs":1795703222043,"endedAtMs":1795703222235,"attempts":1,"outcome":"nothingNew","runIds":[],"takenAtMs":null,"code":"fileMissing","kind":null,"hint":null,"message":"no file matches {{folder}}/drop/*.csv"}');
INSERT INTO "records" VALUES (5, 'act', 'a3676c335dc2f', '20261126T142659Z-10bb3d', 'done', 1795703219317, '{"id":"a3676c335dc2f","who":"root","by":"command","kind":"import","reason":null,"atMs":1795703219317,"ledgerAtMs":1795703219317,"facts":{},"run":"20261126T142659Z-10bb3d","feed":"main","schedule":null}');
INSERT INTO "records" VALUES (10, 'audit', 'a867563b9a763', '20261126T142659Z-10bb3d', 'done', 1795703227960, '{"id":"a867563b9a763","runId":"20261126T142659Z-10bb3d","runSequence":1,"kind":"first","scope":"touched","enteredAtMs":1795703222990,"dueAtMs":1795703224069,"keyCount":12,"state":"done","finishedAtMs":1795703227960,"position":12,"checked":12,"duplicates":0,"missing":0,"unchecked":0,"requests":{"get":1,"retried":0,"rateLimited":0},"stands":false,"hasFindings":false}');
INSERT INTO "records" VALUES (11, 'touched', '20261126T142659Z-10bb3d', NULL, 'kept', 1795703222990, '{"runId":"20261126T142659Z-10bb3d","runSequence":1,"keyCount":12,"enteredAtMs":1795703222990,"isGoing":false}');
INSERT INTO "records" VALUES (12, 'condition', 'nightly', NULL, '', NULL, '{"feed":"nightly","troubles":[],"sinceMs":1795703223201,"knownSinceMs":1795703223201}');
INSERT INTO "records" VALUES (13, 'act', 'a6964a09cb6c2', '20261126T142706Z-91c89c', 'done', 1795703226106, '{"id":"a6964a09cb6c2","who":"root","by":"command","kind":"import","reason":null,"atMs":1795703226106,"ledgerAtMs":1795703226106,"facts":{"accept":true},"run":"20261126T142706Z-91c89c","feed":"main","schedule":null}');
INSERT INTO "records" VALUES (18, 'audit', 'a5d5e788c593a', '20261126T142706Z-91c89c', 'done', 1795703233111, '{"id":"a5d5e788c593a","runId":"20261126T142706Z-91c89c","runSequence":2,"kind":"first","scope":"touched","enteredAtMs":1795703228148,"dueAtMs":1795703229339,"keyCount":1,"state":"done","finishedAtMs":1795703233111,"position":1,"checked":1,"duplicates":0,"missing":0,"unchecked":0,"requests":{"get":1,"retried":0,"rateLimited":0},"stands":false,"hasFindings":false}');
INSERT INTO "records" VALUES (19, 'touched', '20261126T142706Z-91c89c', NULL, 'kept', 1795703228148, '{"runId":"20261126T142706Z-91c89c","runSequence":2,"keyCount":1,"enteredAtMs":1795703228148,"isGoing":false}');
INSERT INTO "records" VALUES (20, 'condition', 'main', NULL, '', NULL, '{"feed":"main","troubles":["guard"],"sinceMs":1795703228502,"knownSinceMs":1795703228502}');
INSERT INTO "records" VALUES (21, 'act', 'aaef1f7faa288', '20261126T142711Z-6a4af1', 'done', 1795703231317, '{"id":"aaef1f7faa288","who":"root","by":"command","kind":"import","reason":null,"atMs":1795703231317,"ledgerAtMs":1795703231317,"facts":{},"run":"20261126T142711Z-6a4af1","feed":"main","schedule":null}');
INSERT INTO "records" VALUES (28, 'plan', '20261126T142717Z-39aff2', NULL, '', 1795703237992, '{"id":"20261126T142717Z-39aff2","createdAtMs":1795703237992,"plan":{"id":"20261126T142717Z-39aff2","feed":"main","runId":"20261126T142711Z-6a4af1","path":null,"reading":null,"mappingNamed":null,"fileName":"moved.csv","sha256":"6ee9797a7a8348464f333129d4c1c00645c589aef10599a1394482bdef83ca2a","service":"{{service}}","totals":{"rows":{"rows":12,"created":0,"updated":11,"unchanged":1,"skipped":0,"dead":0},"linked":0,"added":0,"changed":11,"cleared":0,"removed":0,"relabelled":0,"heldFields":1,"requests":{"get":1,"post":0,"patch":11},"seconds":1},"stop":{"code":"guardUpdates","message":"stopped before the first write: the file changes 11 of the 12 contacts it had before (91.7%; your limit is 30%: guards.updatesMax)","facts":{"updatesCount":11,"updatesBase":12,"updatesLimit":0.3},"hint":"Check the file. If this is expected, import it again with --max-change 92% or --accept, or approve the run: patchbay runs approve 20261126T142711Z-6a4af1"},"checksum":"BmFh6KyytnZAABVFFcWsxc","createdAtMs":1795703237992}}');
INSERT INTO "records" VALUES (29, 'planned', '20261126T142717Z-39aff2 p-0', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-0","line":2,"name":"Bea0 Old","contactId":"01a21840b15a00000bd8593a","deed":"update","changes":[{"field":"firstName","from":"Ann0","to":"Bea0","why":"changed"}],"held":[],"notes":[],"digest":"nLPmKvMF4nYuh6sYD6wVRE"}}');
INSERT INTO "records" VALUES (30, 'planned', '20261126T142717Z-39aff2 p-2', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-2","line":4,"name":"Bea2 Old","contactId":"01a21840b1660000cb4bd0e8","deed":"update","changes":[{"field":"firstName","from":"Ann2","to":"Bea2","why":"changed"}],"held":[],"notes":[],"digest":"NRmVhfTaJBm_fC6cd3mr3x"}}');
INSERT INTO "records" VALUES (31, 'planned', '20261126T142717Z-39aff2 p-3', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-3","line":5,"name":"Bea3 Old","contactId":"01a21840b16f0000490a48b3","deed":"update","changes":[{"field":"firstName","from":"Ann3","to":"Bea3","why":"changed"}],"held":[],"notes":[],"digest":"mSE5tzaGWTTTwXsGxGivxe"}}');
INSERT INTO "records" VALUES (32, 'planned', '20261126T142717Z-39aff2 p-4', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-4","line":6,"name":"Bea4 Old","contactId":"01a21840b1780000fb556313","deed":"update","changes":[{"field":"firstName","from":"Ann4","to":"Bea4","why":"changed"}],"held":[],"notes":[],"digest":"XxvJL22bKa5Kw_4Gso_IDX"}}');
INSERT INTO "records" VALUES (33, 'planned', '20261126T142717Z-39aff2 p-5', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-5","line":7,"name":"Bea5 Old","contactId":"01a21840b1820000114f018c","deed":"update","changes":[{"field":"firstName","from":"Ann5","to":"Bea5","why":"changed"}],"held":[],"notes":[],"digest":"YJF7j5LdCKDU8AuYGbTgBF"}}');
INSERT INTO "records" VALUES (34, 'planned', '20261126T142717Z-39aff2 p-6', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-6","line":8,"name":"Bea6 Old","contactId":"01a21840b18800002417c5b6","deed":"update","changes":[{"field":"firstName","from":"Ann6","to":"Bea6","why":"changed"}],"held":[],"notes":[],"digest":"uWtrPm9k0v72qK2PGJJEoX"}}');
INSERT INTO "records" VALUES (35, 'planned', '20261126T142717Z-39aff2 p-7', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-7","line":9,"name":"Bea7 Old","contactId":"01a21840b1890000e78d3507","deed":"update","changes":[{"field":"firstName","from":"Ann7","to":"Bea7","why":"changed"}],"held":[],"notes":[],"digest":"C6HopEZZp66Gw_-f1120cR"}}');
INSERT INTO "records" VALUES (36, 'planned', '20261126T142717Z-39aff2 p-8', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-8","line":10,"name":"Bea8 Old","contactId":"01a21840b18d0000e3fb6f4e","deed":"update","changes":[{"field":"firstName","from":"Ann8","to":"Bea8","why":"changed"}],"held":[],"notes":[],"digest":"3xBgEhNWgzd_FKZrWiwLQ8"}}');
INSERT INTO "records" VALUES (37, 'planned', '20261126T142717Z-39aff2 p-9', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-9","line":11,"name":"Bea9 Old","contactId":"01a21840b18e000001a78af5","deed":"update","changes":[{"field":"firstName","from":"Ann9","to":"Bea9","why":"changed"}],"held":[],"notes":[],"digest":"syk1Ebik0hwv_I_8mXFfTy"}}');
INSERT INTO "records" VALUES (38, 'planned', '20261126T142717Z-39aff2 p-10', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-10","line":12,"name":"Bea10 Old","contactId":"01a21840b191000057087362","deed":"update","changes":[{"field":"firstName","from":"Ann10","to":"Bea10","why":"changed"}],"held":[],"notes":[],"digest":"ioJP1OvAPGOcrhn735gFrS"}}');
INSERT INTO "records" VALUES (39, 'planned', '20261126T142717Z-39aff2 p-11', '20261126T142717Z-39aff2', '', NULL, '{"planId":"20261126T142717Z-39aff2","contact":{"key":"p-11","line":13,"name":"Bea11 Old","contactId":"01a21840b1920000cbc107ab","deed":"update","changes":[{"field":"firstName","from":"Ann11","to":"Bea11","why":"changed"}],"held":[],"notes":[],"digest":"dTyRa7Yt0Tu2Qpkmvmx-iL"}}');
INSERT INTO "records" VALUES (42, 'plan', '20261126T142722Z-aed724', NULL, '', 1795703242644, '{"id":"20261126T142722Z-aed724","createdAtMs":1795703242644,"plan":{"id":"20261126T142722Z-aed724","feed":"main","runId":null,"path":"{{folder}}/later.csv","reading":{"mapping":null,"sourceLabel":null,"options":{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":null,"remap":false,"planId":null,"acceptReason":null,"origin":null},"defaults":{"defaultCountry":null,"onBlank":"keep"}},"mappingNamed":null,"fileName":"later.csv","sha256":"227efd56337409e00e55f85d7961b1f25cfa0d4681fd0d17b65d993f7ea19b3f","service":"{{service}}","totals":{"rows":{"rows":3,"created":3,"updated":0,"unchanged":0,"skipped":0,"dead":0},"linked":0,"added":9,"changed":0,"cleared":0,"removed":0,"relabelled":0,"heldFields":0,"requests":{"get":2,"post":3,"patch":0},"seconds":1},"stop":null,"checksum":"y-aYuE2BNgyBzItgpdQtSx","createdAtMs":1795703242644}}');
INSERT INTO "records" VALUES (43, 'planned', '20261126T142722Z-aed724 l-0', '20261126T142722Z-aed724', '', NULL, '{"planId":"20261126T142722Z-aed724","contact":{"key":"l-0","line":2,"name":"Lea0 Old","contactId":null,"deed":"create","changes":[{"field":"firstName","from":null,"to":"Lea0","why":"added"},{"field":"lastName","from":null,"to":"Old","why":"added"},{"field":"phone.+14155550170","from":null,"to":"+14155550170","why":"added"}],"held":[],"notes":[],"digest":"l09S1tW88L8o20eHyivJ0z"}}');
INSERT INTO "records" VALUES (44, 'planned', '20261126T142722Z-aed724 l-1', '20261126T142722Z-aed724', '', NULL, '{"planId":"20261126T142722Z-aed724","contact":{"key":"l-1","line":3,"name":"Lea1 Old","contactId":null,"deed":"create","changes":[{"field":"firstName","from":null,"to":"Lea1","why":"added"},{"field":"lastName","from":null,"to":"Old","why":"added"},{"field":"phone.+14155550171","from":null,"to":"+14155550171","why":"added"}],"held":[],"notes":[],"digest":"VHvUj9JkonE6R22AuwZzH-"}}');
INSERT INTO "records" VALUES (45, 'planned', '20261126T142722Z-aed724 l-2', '20261126T142722Z-aed724', '', NULL, '{"planId":"20261126T142722Z-aed724","contact":{"key":"l-2","line":4,"name":"Lea2 Old","contactId":null,"deed":"create","changes":[{"field":"firstName","from":null,"to":"Lea2","why":"added"},{"field":"lastName","from":null,"to":"Old","why":"added"},{"field":"phone.+14155550172","from":null,"to":"+14155550172","why":"added"}],"held":[],"notes":[],"digest":"0cCDVkbsaShAMwu_imJQpV"}}');
INSERT INTO "records" VALUES (47, 'act', 'a104c3f6496d7', '20261126T142724Z-13ff9a', 'done', 1795703244850, '{"id":"a104c3f6496d7","who":"root","by":"command","kind":"import","reason":null,"atMs":1795703244850,"ledgerAtMs":1795703244850,"facts":{},"run":"20261126T142724Z-13ff9a","feed":"crm","schedule":null}');
INSERT INTO "records" VALUES (49, 'engine', 'engine', NULL, '', NULL, '{"identity":"vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/1018/1382008#96ba0131","serviceOrigin":"{{service}}","queue":{"kind":"socket","path":"queue/valkey.sock"},"startedAtMs":1795703249593}');
INSERT INTO "records" VALUES (50, 'act', 'a9fbdaa6f7c5b', '20261126T142728Z-d7d46b', 'done', 1795703248567, '{"id":"a9fbdaa6f7c5b","who":"root","by":"command","kind":"import","reason":null,"atMs":1795703248567,"ledgerAtMs":1795703248567,"facts":{},"run":"20261126T142728Z-d7d46b","feed":"shop","schedule":null}');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES ('records', 52);
INSERT INTO sqlite_sequence VALUES ('runs', 5);
CREATE INDEX runs_by_state ON runs (state, sequence);
CREATE INDEX runs_by_content ON runs (feed, sha256);
CREATE INDEX key_events_by_run ON key_events (run_id, kind);
CREATE INDEX touched_keys_in_doubt ON touched_keys (run_sequence, position) WHERE in_doubt = 1;
CREATE INDEX number_versions_open ON number_versions (number_key) WHERE until_at IS NULL;
CREATE INDEX number_versions_ended ON number_versions (until_at) WHERE until_at IS NOT NULL;
CREATE INDEX runs_by_feed ON runs (feed, kind, state, sequence);
CREATE INDEX runs_unpruned ON runs (sequence) WHERE pruned = 0 AND finished_at IS NOT NULL;
CREATE INDEX runs_by_prefix ON runs (key_prefix, sequence) WHERE key_prefix IS NOT NULL;
CREATE INDEX runs_in_line ON runs (feed, sequence) WHERE state IN ('queued', 'staging', 'applying');
CREATE INDEX runs_of_feed ON runs (feed, sequence);
CREATE INDEX runs_with_look ON runs (feed, sequence) WHERE look IS NOT NULL;
CREATE INDEX batches_due ON batches (run_sequence, batch) WHERE done = 0;
CREATE INDEX staged_parked ON staged (not_before) WHERE outcome IS NULL AND not_before > 0;
CREATE UNIQUE INDEX contacts_by_link ON contacts (linked_to) WHERE linked_to IS NOT NULL;
CREATE INDEX contacts_by_folded_key ON contacts (lower(key));
CREATE INDEX journal_by_run ON journal (run_sequence);
CREATE INDEX journal_by_key ON journal (key);
CREATE INDEX letters_listed ON letters (settled, last_at DESC, line, id, state, code, run_id, feed);
CREATE INDEX letters_by_key ON letters (feed, key) WHERE key IS NOT NULL;
CREATE INDEX letters_met ON letters (feed, sequence, line, id, state) WHERE settled = 0;
CREATE INDEX letters_without_key ON letters (feed, sequence, line, id) WHERE key IS NULL AND settled = 0;
CREATE INDEX letters_by_redrive ON letters (redrive_run_id, sequence, line, id) WHERE redrive_run_id IS NOT NULL;
CREATE INDEX letters_by_reason ON letters (code, class, field, state) WHERE settled = 0;
CREATE INDEX letters_by_header ON letters (header) WHERE header IS NOT NULL;
CREATE INDEX dead_rows_by_header ON dead_rows (header) WHERE header IS NOT NULL;
CREATE TRIGGER letters_counted_in AFTER INSERT ON letters BEGIN INSERT INTO letter_counts (state, code, class, field, run_id, feed, letters) VALUES (new.state, new.code, new.class, coalesce(new.field, ''), new.run_id, new.feed, 1)
    ON CONFLICT DO UPDATE SET letters = letters + 1; UPDATE letter_revision SET revision = revision + 1; END;
CREATE TRIGGER letters_counted_out AFTER DELETE ON letters BEGIN UPDATE letter_counts SET letters = letters - 1 WHERE (state, code, class, field, run_id, feed) = (old.state, old.code, old.class, coalesce(old.field, ''), old.run_id, old.feed); UPDATE letter_revision SET revision = revision + 1; END;
CREATE TRIGGER letters_counted_anew AFTER UPDATE OF state, code, class, field, run_id, feed ON letters WHEN (new.state, new.code, new.class, coalesce(new.field, ''), new.run_id, new.feed) IS NOT (old.state, old.code, old.class, coalesce(old.field, ''), old.run_id, old.feed) BEGIN UPDATE letter_counts SET letters = letters - 1 WHERE (state, code, class, field, run_id, feed) = (old.state, old.code, old.class, coalesce(old.field, ''), old.run_id, old.feed); INSERT INTO letter_counts (state, code, class, field, run_id, feed, letters) VALUES (new.state, new.code, new.class, coalesce(new.field, ''), new.run_id, new.feed, 1)
    ON CONFLICT DO UPDATE SET letters = letters + 1; UPDATE letter_revision SET revision = revision + 1; END;
CREATE TRIGGER letter_counts_none AFTER UPDATE ON letter_counts WHEN new.letters = 0 BEGIN
     DELETE FROM letter_counts WHERE (state, code, class, field, run_id, feed) = (new.state, new.code, new.class, new.field, new.run_id, new.feed); END;
CREATE UNIQUE INDEX records_by_id ON records (kind, id);
CREATE INDEX records_of_owner ON records (kind, owner) WHERE owner IS NOT NULL;
CREATE INDEX records_of_owner_in_state ON records (kind, owner, state) WHERE owner IS NOT NULL;
CREATE INDEX records_in_state ON records (kind, state);
CREATE INDEX records_due ON records (kind, state, at) WHERE at IS NOT NULL;
CREATE INDEX records_latest ON records (kind, owner, state, at, id) WHERE owner IS NOT NULL AND at IS NOT NULL;
PRAGMA user_version = 8;
