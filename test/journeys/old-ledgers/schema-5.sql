CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE feeds (name TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
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
  , source_label TEXT, refusal TEXT, stopped_at INTEGER, stopped_ms INTEGER NOT NULL DEFAULT 0, approvals TEXT NOT NULL DEFAULT '[]', look TEXT, linked INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE run_keys (
    run_id TEXT NOT NULL,
    key TEXT NOT NULL,
    line INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (run_id, key)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE staged (
    run_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    line INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    key TEXT NOT NULL,
    row_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    mapping_version TEXT NOT NULL,
    desired TEXT NOT NULL,
    "row" TEXT NOT NULL,
    letter_id TEXT,
    outcome TEXT,
    not_before INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0, link TEXT,
    PRIMARY KEY (run_id, position)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE batches (
    run_id TEXT NOT NULL,
    batch INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, batch)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE contacts (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'none',
    contact_id TEXT,
    seen TEXT,
    owned TEXT,
    owner TEXT,
    lease_until INTEGER,
    lease_boot TEXT,
    horizon INTEGER,
    horizon_boot TEXT,
    intent_run TEXT,
    attempts INTEGER NOT NULL DEFAULT 0
  , bound_run TEXT, bound_at INTEGER, claim TEXT, agreed TEXT, stamps TEXT, written_at INTEGER, written_boot TEXT, linked_to TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE said (
    feed TEXT NOT NULL,
    key TEXT NOT NULL,
    said TEXT NOT NULL,
    row_hash TEXT,
    fingerprint TEXT,
    mapping_version TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    settled_at INTEGER NOT NULL, spoken INTEGER NOT NULL DEFAULT 0, held_count INTEGER NOT NULL DEFAULT 0, tried TEXT,
    PRIMARY KEY (feed, key)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE dead_letters (
    id TEXT PRIMARY KEY,
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
    message TEXT NOT NULL,
    hint TEXT NOT NULL,
    "row" TEXT,
    desired TEXT,
    answer TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    seen_count INTEGER NOT NULL DEFAULT 1,
    state TEXT NOT NULL DEFAULT 'open',
    redrive_run_id TEXT,
    sequence INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    UNIQUE (feed, identity, code)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE dead_rows (
    run_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    letter_id TEXT NOT NULL,
    dead TEXT NOT NULL,
    PRIMARY KEY (run_id, ordinal)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE run_events (
    run_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run_id, ordinal)
  ) STRICT, WITHOUT ROWID;
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
CREATE TABLE audits (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run_id TEXT NOT NULL,
    run_sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    state TEXT NOT NULL,
    entered_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    finished_at INTEGER,
    key_count INTEGER NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    checked INTEGER NOT NULL DEFAULT 0,
    duplicates INTEGER NOT NULL DEFAULT 0,
    missing INTEGER NOT NULL DEFAULT 0,
    unchecked INTEGER NOT NULL DEFAULT 0,
    "get" INTEGER NOT NULL DEFAULT 0,
    retried INTEGER NOT NULL DEFAULT 0,
    rateLimited INTEGER NOT NULL DEFAULT 0
  ) STRICT;
CREATE TABLE audit_findings (
    audit_number INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    finding TEXT NOT NULL,
    PRIMARY KEY (audit_number, ordinal)
  ) STRICT, WITHOUT ROWID;
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
CREATE TABLE snapshots (
    series TEXT NOT NULL,
    taken_at INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    changed_numbers INTEGER NOT NULL,
    content_of INTEGER NOT NULL,
    shown TEXT,
    PRIMARY KEY (series, taken_at)
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
CREATE TABLE taken_files (
    feed TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    modified_at INTEGER NOT NULL,
    sha256 TEXT,
    taken_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (feed, path)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE taken_urls (
    feed TEXT PRIMARY KEY,
    url_hash TEXT NOT NULL,
    answered_hash TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    sha256 TEXT NOT NULL,
    taken_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE takes_begun (
    feed TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    begun_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
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
CREATE TABLE feed_conditions (
    feed TEXT PRIMARY KEY,
    troubles TEXT NOT NULL,
    since INTEGER NOT NULL,
    known_since INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
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
CREATE TABLE redriven_letters (
    run_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    letter_id TEXT NOT NULL,
    PRIMARY KEY (run_id, ordinal)
  ) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES ('binding', '{"origin":"{{service}}","keyHash":"2476b776139ff278e5508e736047c968","phoneNumberIds":["PN7378d5a552"]}');
INSERT INTO "meta" VALUES ('clock', '{"bootId":"ae666b33-9e70-4570-8171-f83299919956","atMs":1795689426109}');
INSERT INTO "meta" VALUES ('engine', '{"identity":"vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/302/1377012#51d4b237","serviceOrigin":"{{service}}","queue":{"kind":"socket","path":"queue/valkey.sock"},"startedAtMs":1795703200235}');
INSERT INTO "meta" VALUES ('id', 'be1a0d9c');
INSERT INTO "feeds" VALUES ('crm', 1795703193682);
INSERT INTO "feeds" VALUES ('main', 1795703167818);
INSERT INTO "feeds" VALUES ('shop', 1795703199167);
INSERT INTO "runs" VALUES (1, '20261126T142607Z-59066e', 'main', 'file', 'people.csv', '{{folder}}/data/handed-over/20261126T142607Z-59066e__people.csv', '{{folder}}/data/import', '7d7d2f8fa3bacbb89b6a9bc61cdb432980f0e5309fe17c107864b4f086696d0f', 357, 'done', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/people.csv","remap":false,"acceptReason":null}', NULL, NULL, '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703167818, 1795703170279, 1795703171585, 12, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 2, 12, 0, 0, 0, NULL, NULL, NULL, 0, '[]', '{"contacts":0,"unkeyed":0,"pages":1,"matched":0,"unclear":0,"decided":0,"creates":12,"end":"whole"}', 0);
INSERT INTO "runs" VALUES (2, '20261126T142616Z-502214', 'main', 'file', 'mixed.csv', '{{folder}}/data/handed-over/20261126T142616Z-502214__mixed.csv', '{{folder}}/data/import', '9c57ae85515a4737113ac99cb904ec0d40050958ad8043c2a081b44972755214', 374, 'doneWithDead', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":true,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/mixed.csv","remap":false,"acceptReason":null}', NULL, NULL, '["1 number has no country code. The numbers of your workspace are in the United States (US): if this one is, too, import again with --default-country US"]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703176067, 1795703178500, 1795703179847, 13, 0, 0, 12, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, NULL, NULL, NULL, 0, '[]', NULL, 0);
INSERT INTO "runs" VALUES (3, '20261126T142623Z-e079b1', 'main', 'file', 'moved.csv', '{{folder}}/data/handed-over/20261126T142623Z-e079b1__moved.csv', '{{folder}}/data/import', '6ee9797a7a8348464f333129d4c1c00645c589aef10599a1394482bdef83ca2a', 357, 'stopped', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/moved.csv","remap":false,"acceptReason":null}', NULL, '{"code":"guardUpdates","message":"stopped before the first write: the file changes 11 of the 12 contacts it had before (91.7%; your limit is 30%: guards.updatesMax)","facts":{"updatesCount":11,"updatesBase":12,"updatesLimit":0.3},"hint":"Check the file. If this is expected, import it again with --max-change 92% or --accept, or approve the run: patchbay runs approve 20261126T142623Z-e079b1"}', '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703183210, 1795703184972, NULL, 12, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 1795703186757, 0, '[]', NULL, 0);
INSERT INTO "runs" VALUES (4, '20261126T142633Z-8ab1fc', 'crm', 'file', 'crm.csv', '{{folder}}/data/handed-over/20261126T142633Z-8ab1fc__crm.csv', '{{folder}}/data/import', '8a68e0fcb35a4274c0127e27ca8832d385ded4cf2356abd8486c008daf298fcf', 197, 'applying', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/crm.csv","remap":false,"acceptReason":null}', NULL, NULL, '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"],"leftOut":[]}', 1795703193682, 1795703195682, NULL, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 1, 0, 0, 0, 0, NULL, NULL, NULL, 0, '[]', '{"contacts":12,"unkeyed":0,"pages":1,"matched":0,"unclear":0,"decided":0,"creates":6,"end":"whole"}', 0);
INSERT INTO "runs" VALUES (5, '20261126T142639Z-73115b', 'shop', 'file', 'shop.csv', '{{folder}}/data/handed-over/20261126T142639Z-73115b__shop.csv', '{{folder}}/data/import', '868c4481859f4aa4771b7b5cf84d38c3d82c8d48d8b7e190c8adbb4a8f5f69f7', 197, 'staging', '{"delimiter":null,"encoding":null,"defaultCountry":null,"onBlank":null,"maxChange":null,"maxDead":null,"accept":false,"adopt":false,"createAnyway":false,"recognise":true,"path":"{{folder}}/shop.csv","remap":false,"acceptReason":null}', NULL, NULL, '[]', '{"format":"csv","columns":["externalId","firstName","lastName","phone work"],"delimiter":",","mapped":["externalId","firstName","lastName","phone work"]}', 1795703199167, 1795703200573, NULL, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, '[]', NULL, 0);
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-0', 2, 'aab5e72402e213a954d3ef5fbb73a951e6dff56830d8dac8ebf2231c62343040', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-1', 3, '0b8864feda6406e74b98f1246a1db4362355bfa25b754537c347affff7b6bf1f', 'unchanged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-10', 12, '3937451c7d107743836a44c4ac303b70b51bc286495e946882318f9c6a9fb520', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-11', 13, 'aaf5669cc75dff26f6608e081696fe74311d952562dd3c82d1bddc2d307e5931', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-2', 4, 'c8d8a4ab54665f650def2305c20db16f5804483c8d9e9e390cc49e62c0482b29', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-3', 5, '7e6ecd96c10509b6b2100fab7af0b8e7ef3cfb18a0fe49aa438c6238189577dc', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-4', 6, '8f2641662782614b400d2b82a42a6dfef43892fbfa1455b24455a6975a932dcc', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-5', 7, 'a914cad7123a5e3c816f83abf2c9e7ec3dfcf9f1abb546d0160e65b199ac7df7', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-6', 8, 'a6336bdff8162623ecb7a44bbd66304e921cad9acf52586a8cd19303c8d498d3', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-7', 9, '5b6d30bb46d03f045489fe946269d62cdfd736687ac3e2213af7bbb8f7595ebb', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-8', 10, '72c53ef65ba2bfca4578313e5603add6ff782db4f07f02857b3797bc466d763a', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142623Z-e079b1', 'p-9', 11, '32f033c4757cca78787191b6062b3b6a627b19c240f434e6e38001f21167b089', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142633Z-8ab1fc', 'c-0', 2, '94478a39cb022b877d3684a95324198d78aaa40db90be1b95797de3f69ed23ed', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142633Z-8ab1fc', 'c-1', 3, 'ddab3ba39d87deb28ce4e5bb672f0e9011a8b0c3de9ebf7fb1077e759a13177a', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142633Z-8ab1fc', 'c-2', 4, 'e2e030f1a65025f89cdbfae60ba6c1583bbd7846599df06cd4d37dae013e6f33', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142633Z-8ab1fc', 'c-3', 5, '56cc67e0f0bc41bd31305960e5bb7a8574ce9d17412bd7cc689ed1affe348376', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142633Z-8ab1fc', 'c-4', 6, 'fc16914713ace06577d27b897c3eec73d19fc338e73cc6aeb880a50b15ffb8c3', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142633Z-8ab1fc', 'c-5', 7, 'd323d1f678d4cff536343e91e34381be84950fbc377c571abec94eb4b5c7426a', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142639Z-73115b', 's-0', 2, 'fb0461d451834583de9ca68bdbafbad356f61a3764a3997063feeac49898452c', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142639Z-73115b', 's-1', 3, '96ebb11e671ee7ea9062a4a75b2778faf1c26f51f0b0e9e64706cb6b04d65da7', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142639Z-73115b', 's-2', 4, '10199848467caa9a096229b8788540a99baf48ff5f4c5796b5c57a4181266739', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142639Z-73115b', 's-3', 5, '3ed4817394b7e97bcba62d26fb0fd9e55aefc6d9bb70fc926667e76e265c65d4', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142639Z-73115b', 's-4', 6, '5afdec1f3f42300baad3f897edb733a777997e6d66ee49c1e94824e73b92aecb', 'staged');
INSERT INTO "run_keys" VALUES ('20261126T142639Z-73115b', 's-5', 7, '745c020a031ad5ef236de05d0abbea8d243bfb059019561394752e3bd11e006d', 'staged');
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 1, 1, 2, 3, 'p-0', 'mj83AlWzOmxHrgS1Z-pv0j', 'aab5e72402e213a954d3ef5fbb73a951e6dff56830d8dac8ebf2231c62343040', '5fd9e5e0472c1f3f', '{"key":"p-0","scalars":{"firstName":"Bea0","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550110"}]}],"customFields":[]}', '{"kind":"cells","line":2,"record":1,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-0","Bea0","Old","+14155550110"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 2, 1, 4, 3, 'p-2', '-0-q-vy6nqTqaeSpLrrOU1', 'c8d8a4ab54665f650def2305c20db16f5804483c8d9e9e390cc49e62c0482b29', '5fd9e5e0472c1f3f', '{"key":"p-2","scalars":{"firstName":"Bea2","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550112"}]}],"customFields":[]}', '{"kind":"cells","line":4,"record":3,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-2","Bea2","Old","+14155550112"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 3, 1, 5, 3, 'p-3', '0tVCO_Hey6rrL543mluhiZ', '7e6ecd96c10509b6b2100fab7af0b8e7ef3cfb18a0fe49aa438c6238189577dc', '5fd9e5e0472c1f3f', '{"key":"p-3","scalars":{"firstName":"Bea3","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550113"}]}],"customFields":[]}', '{"kind":"cells","line":5,"record":4,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-3","Bea3","Old","+14155550113"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 4, 1, 6, 3, 'p-4', 'TqszQ4UlZ_sZPo20Prh_MA', '8f2641662782614b400d2b82a42a6dfef43892fbfa1455b24455a6975a932dcc', '5fd9e5e0472c1f3f', '{"key":"p-4","scalars":{"firstName":"Bea4","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550114"}]}],"customFields":[]}', '{"kind":"cells","line":6,"record":5,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-4","Bea4","Old","+14155550114"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 5, 1, 7, 3, 'p-5', 'IPQAcXnaw213N1NtvHC6T7', 'a914cad7123a5e3c816f83abf2c9e7ec3dfcf9f1abb546d0160e65b199ac7df7', '5fd9e5e0472c1f3f', '{"key":"p-5","scalars":{"firstName":"Bea5","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550115"}]}],"customFields":[]}', '{"kind":"cells","line":7,"record":6,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-5","Bea5","Old","+14155550115"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 6, 1, 8, 3, 'p-6', 'W6JjnTQjotikZPSL3GEnJK', 'a6336bdff8162623ecb7a44bbd66304e921cad9acf52586a8cd19303c8d498d3', '5fd9e5e0472c1f3f', '{"key":"p-6","scalars":{"firstName":"Bea6","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550116"}]}],"customFields":[]}', '{"kind":"cells","line":8,"record":7,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-6","Bea6","Old","+14155550116"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 7, 1, 9, 3, 'p-7', '70PI5FasnjQCOmWhbjQ_Xf', '5b6d30bb46d03f045489fe946269d62cdfd736687ac3e2213af7bbb8f7595ebb', '5fd9e5e0472c1f3f', '{"key":"p-7","scalars":{"firstName":"Bea7","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550117"}]}],"customFields":[]}', '{"kind":"cells","line":9,"record":8,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-7","Bea7","Old","+14155550117"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 8, 1, 10, 3, 'p-8', '6jbmrfHFyzstRapWI5msvd', '72c53ef65ba2bfca4578313e5603add6ff782db4f07f02857b3797bc466d763a', '5fd9e5e0472c1f3f', '{"key":"p-8","scalars":{"firstName":"Bea8","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550118"}]}],"customFields":[]}', '{"kind":"cells","line":10,"record":9,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-8","Bea8","Old","+14155550118"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 9, 1, 11, 3, 'p-9', 'HGYJq2-dsDUBiA-9CkRRCA', '32f033c4757cca78787191b6062b3b6a627b19c240f434e6e38001f21167b089', '5fd9e5e0472c1f3f', '{"key":"p-9","scalars":{"firstName":"Bea9","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550119"}]}],"customFields":[]}', '{"kind":"cells","line":11,"record":10,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-9","Bea9","Old","+14155550119"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 10, 1, 12, 3, 'p-10', '70R6MWRov7MxuquqokVlk5', '3937451c7d107743836a44c4ac303b70b51bc286495e946882318f9c6a9fb520', '5fd9e5e0472c1f3f', '{"key":"p-10","scalars":{"firstName":"Bea10","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550120"}]}],"customFields":[]}', '{"kind":"cells","line":12,"record":11,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-10","Bea10","Old","+14155550120"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142623Z-e079b1', 11, 1, 13, 3, 'p-11', 'DOJ8y3jc00DJSkAfvf3mb0', 'aaf5669cc75dff26f6608e081696fe74311d952562dd3c82d1bddc2d307e5931', '5fd9e5e0472c1f3f', '{"key":"p-11","scalars":{"firstName":"Bea11","lastName":"Old"},"source":"patchbay","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550121"}]}],"customFields":[]}', '{"kind":"cells","line":13,"record":12,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-11","Bea11","Old","+14155550121"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142633Z-8ab1fc', 1, 1, 2, 4, 'c-0', 'mF-S1Qg-9QYZvM6P0kVICv', '94478a39cb022b877d3684a95324198d78aaa40db90be1b95797de3f69ed23ed', '5fd9e5e0472c1f3f', '{"key":"c-0","scalars":{"firstName":"Cyn0","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550130"}]}],"customFields":[]}', '{"kind":"cells","line":2,"record":1,"columns":["externalId","firstName","lastName","phone work"],"cells":["c-0","Cyn0","Old","+14155550130"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142633Z-8ab1fc', 2, 1, 3, 4, 'c-1', 'WTEFbxSC01DRwFM8fdxSdQ', 'ddab3ba39d87deb28ce4e5bb672f0e9011a8b0c3de9ebf7fb1077e759a13177a', '5fd9e5e0472c1f3f', '{"key":"c-1","scalars":{"firstName":"Cyn1","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550131"}]}],"customFields":[]}', '{"kind":"cells","line":3,"record":2,"columns":["externalId","firstName","lastName","phone work"],"cells":["c-1","Cyn1","Old","+14155550131"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142633Z-8ab1fc', 3, 1, 4, 4, 'c-2', 'eMQHV2VUCPlwZJn8ViiAI_', 'e2e030f1a65025f89cdbfae60ba6c1583bbd7846599df06cd4d37dae013e6f33', '5fd9e5e0472c1f3f', '{"key":"c-2","scalars":{"firstName":"Cyn2","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550132"}]}],"customFields":[]}', '{"kind":"cells","line":4,"record":3,"columns":["externalId","firstName","lastName","phone work"],"cells":["c-2","Cyn2","Old","+14155550132"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142633Z-8ab1fc', 4, 1, 5, 4, 'c-3', 'Dewkxmm6Fm8-kJuCgFTPGc', '56cc67e0f0bc41bd31305960e5bb7a8574ce9d17412bd7cc689ed1affe348376', '5fd9e5e0472c1f3f', '{"key":"c-3","scalars":{"firstName":"Cyn3","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550133"}]}],"customFields":[]}', '{"kind":"cells","line":5,"record":4,"columns":["externalId","firstName","lastName","phone work"],"cells":["c-3","Cyn3","Old","+14155550133"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142633Z-8ab1fc', 5, 1, 6, 4, 'c-4', '_gFrvzyH_JIwiYuCXEt2Zh', 'fc16914713ace06577d27b897c3eec73d19fc338e73cc6aeb880a50b15ffb8c3', '5fd9e5e0472c1f3f', '{"key":"c-4","scalars":{"firstName":"Cyn4","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550134"}]}],"customFields":[]}', '{"kind":"cells","line":6,"record":5,"columns":["externalId","firstName","lastName","phone work"],"cells":["c-4","Cyn4","Old","+14155550134"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142633Z-8ab1fc', 6, 1, 7, 4, 'c-5', '0bPFFAsIAW1QqQ3hQx-QCR', 'd323d1f678d4cff536343e91e34381be84950fbc377c571abec94eb4b5c7426a', '5fd9e5e0472c1f3f', '{"key":"c-5","scalars":{"firstName":"Cyn5","lastName":"Old"},"source":"crm","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550135"}]}],"customFields":[]}', '{"kind":"cells","line":7,"record":6,"columns":["externalId","firstName","lastName","phone work"],"cells":["c-5","Cyn5","Old","+14155550135"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142639Z-73115b', 1, 1, 2, 5, 's-0', '_zjMRIvLDRbOh0XrkrLQaP', 'fb0461d451834583de9ca68bdbafbad356f61a3764a3997063feeac49898452c', '5fd9e5e0472c1f3f', '{"key":"s-0","scalars":{"firstName":"Sam0","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550150"}]}],"customFields":[]}', '{"kind":"cells","line":2,"record":1,"columns":["externalId","firstName","lastName","phone work"],"cells":["s-0","Sam0","Old","+14155550150"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142639Z-73115b', 2, 1, 3, 5, 's-1', 'hWP5Ombi-MkSZW7uk3WxGS', '96ebb11e671ee7ea9062a4a75b2778faf1c26f51f0b0e9e64706cb6b04d65da7', '5fd9e5e0472c1f3f', '{"key":"s-1","scalars":{"firstName":"Sam1","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550151"}]}],"customFields":[]}', '{"kind":"cells","line":3,"record":2,"columns":["externalId","firstName","lastName","phone work"],"cells":["s-1","Sam1","Old","+14155550151"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142639Z-73115b', 3, 1, 4, 5, 's-2', 'ZOf7EZEl4GmwkqEBcPssH1', '10199848467caa9a096229b8788540a99baf48ff5f4c5796b5c57a4181266739', '5fd9e5e0472c1f3f', '{"key":"s-2","scalars":{"firstName":"Sam2","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550152"}]}],"customFields":[]}', '{"kind":"cells","line":4,"record":3,"columns":["externalId","firstName","lastName","phone work"],"cells":["s-2","Sam2","Old","+14155550152"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142639Z-73115b', 4, 1, 5, 5, 's-3', 'DSZzybts_-DKB6dzhC3mDZ', '3ed4817394b7e97bcba62d26fb0fd9e55aefc6d9bb70fc926667e76e265c65d4', '5fd9e5e0472c1f3f', '{"key":"s-3","scalars":{"firstName":"Sam3","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550153"}]}],"customFields":[]}', '{"kind":"cells","line":5,"record":4,"columns":["externalId","firstName","lastName","phone work"],"cells":["s-3","Sam3","Old","+14155550153"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142639Z-73115b', 5, 1, 6, 5, 's-4', 'PyGkSydqipIbKkLAtYP_jq', '5afdec1f3f42300baad3f897edb733a777997e6d66ee49c1e94824e73b92aecb', '5fd9e5e0472c1f3f', '{"key":"s-4","scalars":{"firstName":"Sam4","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550154"}]}],"customFields":[]}', '{"kind":"cells","line":6,"record":5,"columns":["externalId","firstName","lastName","phone work"],"cells":["s-4","Sam4","Old","+14155550154"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "staged" VALUES ('20261126T142639Z-73115b', 6, 1, 7, 5, 's-5', 'UTWJ_KyrxYFZmN4kqPk4_I', '745c020a031ad5ef236de05d0abbea8d243bfb059019561394752e3bd11e006d', '5fd9e5e0472c1f3f', '{"key":"s-5","scalars":{"firstName":"Sam5","lastName":"Old"},"source":"shop","emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550155"}]}],"customFields":[]}', '{"kind":"cells","line":7,"record":6,"columns":["externalId","firstName","lastName","phone work"],"cells":["s-5","Sam5","Old","+14155550155"]}', NULL, NULL, 0, 0, 0, NULL);
INSERT INTO "batches" VALUES ('20261126T142623Z-e079b1', 1, 0, 0, 0);
INSERT INTO "batches" VALUES ('20261126T142633Z-8ab1fc', 1, 0, 0, 0);
INSERT INTO "batches" VALUES ('20261126T142639Z-73115b', 1, 0, 0, 0);
INSERT INTO "contacts" VALUES ('c-0', 'intent', NULL, NULL, '{"emails":[],"phones":["+14155550130"],"customFields":[]}', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/302/1377012#8ebb1685', 13819501, 'ae666b33-9e70-4570-8171-f83299919956', 13772886, 'ae666b33-9e70-4570-8171-f83299919956', '20261126T142633Z-8ab1fc', 0, NULL, NULL, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn0"},{"field":"lastName","from":null,"to":"Old"}],"said":{"scalars":{"firstName":"Cyn0","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550130"}]}],"customFields":[],"held":[]}}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO "contacts" VALUES ('c-1', 'intent', NULL, NULL, '{"emails":[],"phones":["+14155550131"],"customFields":[]}', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/302/1377012#8ebb1685', 13819501, 'ae666b33-9e70-4570-8171-f83299919956', 13772886, 'ae666b33-9e70-4570-8171-f83299919956', '20261126T142633Z-8ab1fc', 0, NULL, NULL, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn1"},{"field":"lastName","from":null,"to":"Old"}],"said":{"scalars":{"firstName":"Cyn1","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550131"}]}],"customFields":[],"held":[]}}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO "contacts" VALUES ('c-2', 'intent', NULL, NULL, '{"emails":[],"phones":["+14155550132"],"customFields":[]}', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/302/1377012#8ebb1685', 13819501, 'ae666b33-9e70-4570-8171-f83299919956', 13772886, 'ae666b33-9e70-4570-8171-f83299919956', '20261126T142633Z-8ab1fc', 0, NULL, NULL, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn2"},{"field":"lastName","from":null,"to":"Old"}],"said":{"scalars":{"firstName":"Cyn2","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550132"}]}],"customFields":[],"held":[]}}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO "contacts" VALUES ('c-3', 'intent', NULL, NULL, '{"emails":[],"phones":["+14155550133"],"customFields":[]}', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/302/1377012#8ebb1685', 13819501, 'ae666b33-9e70-4570-8171-f83299919956', 13772886, 'ae666b33-9e70-4570-8171-f83299919956', '20261126T142633Z-8ab1fc', 0, NULL, NULL, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn3"},{"field":"lastName","from":null,"to":"Old"}],"said":{"scalars":{"firstName":"Cyn3","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550133"}]}],"customFields":[],"held":[]}}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO "contacts" VALUES ('c-4', 'intent', NULL, NULL, '{"emails":[],"phones":["+14155550134"],"customFields":[]}', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/302/1377012#8ebb1685', 13819501, 'ae666b33-9e70-4570-8171-f83299919956', 13772886, 'ae666b33-9e70-4570-8171-f83299919956', '20261126T142633Z-8ab1fc', 0, NULL, NULL, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn4"},{"field":"lastName","from":null,"to":"Old"}],"said":{"scalars":{"firstName":"Cyn4","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550134"}]}],"customFields":[],"held":[]}}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO "contacts" VALUES ('c-5', 'intent', NULL, NULL, '{"emails":[],"phones":["+14155550135"],"customFields":[]}', 'vm:4026531836/ae666b33-9e70-4570-8171-f83299919956/302/1377012#8ebb1685', 13819501, 'ae666b33-9e70-4570-8171-f83299919956', 13772886, 'ae666b33-9e70-4570-8171-f83299919956', '20261126T142633Z-8ab1fc', 0, NULL, NULL, '{"kind":"create","feed":"crm","sequence":4,"source":"crm","fields":[{"field":"firstName","from":null,"to":"Cyn5"},{"field":"lastName","from":null,"to":"Old"}],"said":{"scalars":{"firstName":"Cyn5","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550135"}]}],"customFields":[],"held":[]}}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO "contacts" VALUES ('p-0', 'bound', '01a2183fe9560000830ee881', '{"id":"01a2183fe9560000830ee881","externalId":"p-0","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann0","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"b44aebce21a67d9da42b760b","name":"work","value":"+14155550110"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.414Z","updatedAt":"2026-11-26T14:26:11.414Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550110"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann0"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745369, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-1', 'bound', '01a2183fe97a0000d5c13d8e', '{"id":"01a2183fe97a0000d5c13d8e","externalId":"p-1","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Annie","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"0ebf340d4355b138ea9b234a","name":"work","value":"+14155550111"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.450Z","updatedAt":"2026-11-26T14:26:12.611Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550111"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann1"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745376, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-10', 'bound', '01a2183fe9d80000c58a4c78', '{"id":"01a2183fe9d80000c58a4c78","externalId":"p-10","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann10","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"b5ee962853092ed0f3975ff3","name":"work","value":"+14155550120"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.544Z","updatedAt":"2026-11-26T14:26:11.544Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550120"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann10"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745449, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-11', 'bound', '01a2183fe9e7000099299856', '{"id":"01a2183fe9e7000099299856","externalId":"p-11","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann11","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"5de8860063aeee931655be44","name":"work","value":"+14155550121"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.559Z","updatedAt":"2026-11-26T14:26:11.559Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550121"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann11"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745464, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-2', 'bound', '01a2183fe982000086cad071', '{"id":"01a2183fe982000086cad071","externalId":"p-2","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann2","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"6846639a9d2ac7ba87306710","name":"work","value":"+14155550112"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.458Z","updatedAt":"2026-11-26T14:26:11.458Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550112"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann2"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745380, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-3', 'bound', '01a2183fe98a000089b1d5ed', '{"id":"01a2183fe98a000089b1d5ed","externalId":"p-3","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann3","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"5a4ad7859071e03c1a1ce945","name":"work","value":"+14155550113"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.466Z","updatedAt":"2026-11-26T14:26:11.466Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550113"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann3"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745405, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-4', 'bound', '01a2183fe99e0000facfa627', '{"id":"01a2183fe99e0000facfa627","externalId":"p-4","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann4","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"8615231cca17763279f404de","name":"work","value":"+14155550114"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.486Z","updatedAt":"2026-11-26T14:26:11.486Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550114"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann4"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745405, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-5', 'bound', '01a2183fe9a30000682df3c1', '{"id":"01a2183fe9a30000682df3c1","externalId":"p-5","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann5","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"8e0bed444475af1a7f623059","name":"work","value":"+14155550115"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.491Z","updatedAt":"2026-11-26T14:26:11.491Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550115"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann5"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745439, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-6', 'bound', '01a2183fe9ac00000eb21a00', '{"id":"01a2183fe9ac00000eb21a00","externalId":"p-6","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann6","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"ea0028f5dfc0e65d1e6fe5bd","name":"work","value":"+14155550116"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.500Z","updatedAt":"2026-11-26T14:26:11.500Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550116"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann6"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745440, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-7', 'bound', '01a2183fe9bc0000ee405776', '{"id":"01a2183fe9bc0000ee405776","externalId":"p-7","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann7","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"2505d0245de6414462b0bb45","name":"work","value":"+14155550117"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.516Z","updatedAt":"2026-11-26T14:26:11.516Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550117"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann7"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745441, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-8', 'bound', '01a2183fe9c600001a630229', '{"id":"01a2183fe9c600001a630229","externalId":"p-8","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann8","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"580c2193f93d129f12846cb0","name":"work","value":"+14155550118"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.526Z","updatedAt":"2026-11-26T14:26:11.526Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550118"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann8"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745442, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "contacts" VALUES ('p-9', 'bound', '01a2183fe9d70000b106e13f', '{"id":"01a2183fe9d70000b106e13f","externalId":"p-9","source":"patchbay","sourceUrl":null,"defaultFields":{"firstName":"Ann9","lastName":"Old","company":null,"role":null,"emails":[],"phoneNumbers":[{"id":"67cdfff2e34858f3fb2c50a7","name":"work","value":"+14155550119"}]},"customFields":[],"createdAt":"2026-11-26T14:26:11.543Z","updatedAt":"2026-11-26T14:26:11.543Z","createdByUserId":"USeb920256d8"}', '{"emails":[],"phones":["+14155550119"],"customFields":[]}', NULL, NULL, NULL, NULL, NULL, NULL, 0, '20261126T142607Z-59066e', 1795703171573, NULL, '[{"feed":null,"values":[{"field":"firstName","value":"Ann9"},{"field":"lastName","value":"Old"}]}]', '[{"feed":"main","sequence":1,"fields":["firstName","lastName"]}]', 13745449, 'ae666b33-9e70-4570-8171-f83299919956', NULL);
INSERT INTO "said" VALUES ('main', 'p-0', '{"scalars":{"firstName":"Ann0","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550110"}]}],"customFields":[],"held":[]}', '8DIfy1dvR-AUlOnsFqZvCb', '437f811407b0ff078fcdb7fc5061cb22e161878efc5e44880972e6556e933cf1', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-1', '{"scalars":{"firstName":"Ann1","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550111"}]}],"customFields":[],"held":["firstName"]}', '8mMqk7rRqEAntq7nQvcPK9', '0b8864feda6406e74b98f1246a1db4362355bfa25b754537c347affff7b6bf1f', '5fd9e5e0472c1f3f', 2, 1795703179719, 3, 1, NULL);
INSERT INTO "said" VALUES ('main', 'p-10', '{"scalars":{"firstName":"Ann10","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550120"}]}],"customFields":[],"held":[]}', 'of_1d_AcmtvsVbc47Xfbu_', '884eae5845037acbfb97e0798c7c44286ef9feb9f5c1bf3ac24a6fcb840054fb', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-11', '{"scalars":{"firstName":"Ann11","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550121"}]}],"customFields":[],"held":[]}', 'ZS4mQw3bbpx-9rp-31Kyyh', 'ce6df8b401be9f5f844c4e7a5c309be77ed97a8c5c365878b2e4ad83119a6e29', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-2', '{"scalars":{"firstName":"Ann2","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550112"}]}],"customFields":[],"held":[]}', 'kC3esP6L2OlC0RcbG_sokb', '01ca1d8e5608e98e22230a325784834b58d2a2faa1f11144cd616003cca68245', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-3', '{"scalars":{"firstName":"Ann3","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550113"}]}],"customFields":[],"held":[]}', 'KT8qggYeDqRqQNS3UGSQZU', 'cc545276ab363f59dafdc74aa849768aa768bb3e5e799680cdd57bee77b2c20f', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-4', '{"scalars":{"firstName":"Ann4","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550114"}]}],"customFields":[],"held":[]}', '4MW5oh12RYSArNla_CXXh6', 'c12df89fea51e50953d95b494473a967e412fe5eee784e3442b0d26f15cb0f4a', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-5', '{"scalars":{"firstName":"Ann5","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550115"}]}],"customFields":[],"held":[]}', 'trpvQAGDTvrzvOTD5evpk-', '9a5fcfe82df2bdac532da551ba3e6579b2647d7ad13af9e94aeeaf4764d9ae4a', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-6', '{"scalars":{"firstName":"Ann6","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550116"}]}],"customFields":[],"held":[]}', 'qjIAZBkh3Iao3ZmaYTkKLL', '8257dc17d9f857b5c0cc36c04df9448398abd0a331bc5db9c983e18633220ea8', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-7', '{"scalars":{"firstName":"Ann7","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550117"}]}],"customFields":[],"held":[]}', 'rXFZOev7ocF7CQupoLMbra', 'b056fcd08a4ed9b6616ed495e9faa94d67c3df3cef14d2e43afe184c9cfe1d29', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-8', '{"scalars":{"firstName":"Ann8","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550118"}]}],"customFields":[],"held":[]}', 'xtfQLtVn2cQxq9UdscBAqJ', '0c175820ff148113b28465c0b6a8f9baa19753fdc5f13154102e337eab92c651', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "said" VALUES ('main', 'p-9', '{"scalars":{"firstName":"Ann9","lastName":"Old"},"emails":[],"phones":[{"slot":"phonework","items":[{"label":"work","value":"+14155550119"}]}],"customFields":[],"held":[]}', '0svIF8Vvd6I8b_xOILsIaO', 'f28a6065d113f29755dd0c4f5432f9377f227d37efaf1b2964c4213b2aaba7fe', '5fd9e5e0472c1f3f', 1, 1795703171573, 2, 0, NULL);
INSERT INTO "dead_letters" VALUES ('d8d522cc192ba', 'main', 'p-bad', 'phoneCountryMissing', 'p-bad', 'invalid', '20261126T142616Z-502214', '20261126T142616Z-502214', 'mixed.csv', 14, 'phone work', 'the phone number has no country code', 'If it is a number in the United States (US), as those of your workspace are, import again with --default-country US; otherwise write it with + and its country code.', '{"kind":"cells","line":14,"record":13,"columns":["externalId","firstName","lastName","phone work"],"cells":["p-bad","Bad","Old","12"]}', NULL, NULL, 0, 1, 'open', NULL, 2, 1795703179454, 1795703179454);
INSERT INTO "run_events" VALUES ('20261126T142623Z-e079b1', 1, '{"kind":"held","line":3,"key":"p-1","code":"held","field":"firstName","message":"the file and the app differ: kept the app''s value","file":"Anna","app":"Annie"}');
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
INSERT INTO "audits" VALUES (1, 'ac4f916f75a5f', '20261126T142607Z-59066e', 1, 'first', 'touched', 'done', 1795703171585, 1795703172590, 1795703179414, 12, 12, 12, 0, 0, 0, 1, 0, 0);
INSERT INTO "audits" VALUES (2, 'ae83090b451c1', '20261126T142616Z-502214', 2, 'first', 'touched', 'done', 1795703179847, 1795703180953, 1795703185032, 1, 1, 1, 0, 0, 0, 1, 0, 0);
INSERT INTO "schedules" VALUES ('nightly', 'take', '{"kind":"every","everyMs":86400000}', 1795789565654, NULL, NULL, NULL, 1795703165654);
INSERT INTO "ticks" VALUES (1, 't63dd05a47b39', 'nightly', 'take', 'due', 'ended', NULL, 1795703165654, 1795703170290, 1795703171258, 1, 'nothingNew', '[]', NULL, 'fileMissing', NULL, 'no file matches {{folder}}/drop/*.csv', NULL);
INSERT INTO "feed_conditions" VALUES ('main', '["guard"]', 1795703180111, 1795703180111);
INSERT INTO "feed_conditions" VALUES ('nightly', '[]', 1795703171770, 1795703171770);
INSERT INTO "held" VALUES ('main', 'p-1', 'firstName', '"Ann1"', '"Anna"', '"Annie"', '20261126T142616Z-502214', 3, 1795703179719);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES ('ticks', 1);
INSERT INTO sqlite_sequence VALUES ('runs', 5);
INSERT INTO sqlite_sequence VALUES ('audits', 2);
CREATE INDEX runs_by_state ON runs (state, sequence);
CREATE INDEX runs_by_content ON runs (feed, sha256);
CREATE INDEX staged_pending ON staged (run_id, batch, position) WHERE outcome IS NULL;
CREATE INDEX staged_by_key ON staged (run_id, key);
CREATE INDEX batches_due ON batches (due_at) WHERE done = 0;
CREATE INDEX said_by_row ON said (feed, row_hash) WHERE row_hash IS NOT NULL;
CREATE INDEX dead_letters_by_key ON dead_letters (feed, key) WHERE key IS NOT NULL;
CREATE INDEX dead_letters_by_state ON dead_letters (state, last_at);
CREATE INDEX key_events_by_run ON key_events (run_id, kind);
CREATE INDEX touched_keys_in_doubt ON touched_keys (run_sequence, position) WHERE in_doubt = 1;
CREATE UNIQUE INDEX audits_after_run ON audits (run_id, kind) WHERE kind <> 'demand';
CREATE INDEX audits_by_run ON audits (run_id, number);
CREATE INDEX audits_waiting ON audits (due_at) WHERE state = 'waiting';
CREATE INDEX ticks_by_schedule ON ticks (schedule, number);
CREATE INDEX ticks_open ON ticks (state, schedule, number) WHERE ended_at IS NULL;
CREATE INDEX number_versions_open ON number_versions (number_key) WHERE until_at IS NULL;
CREATE INDEX number_versions_ended ON number_versions (until_at) WHERE until_at IS NOT NULL;
CREATE INDEX taken_files_newest ON taken_files (feed, modified_at, path) WHERE sha256 IS NOT NULL;
CREATE INDEX deliveries_waiting ON deliveries (kind, due_at, number) WHERE state = 'waiting';
CREATE INDEX deliveries_waiting_of_feed ON deliveries (feed, kind, number) WHERE state = 'waiting';
CREATE INDEX deliveries_by_state ON deliveries (state, ended_at);
CREATE INDEX runs_by_feed ON runs (feed, kind, state, sequence);
CREATE INDEX dead_letters_open ON dead_letters (feed, sequence) WHERE state IN ('open', 'redriven');
CREATE INDEX staged_parked ON staged (not_before) WHERE outcome IS NULL AND not_before > 0;
CREATE INDEX dead_letters_by_redrive ON dead_letters (redrive_run_id) WHERE redrive_run_id IS NOT NULL;
CREATE INDEX dead_letters_without_key ON dead_letters (feed, sequence) WHERE key IS NULL AND state = 'open';
CREATE UNIQUE INDEX contacts_by_link ON contacts (linked_to) WHERE linked_to IS NOT NULL;
CREATE INDEX contacts_by_folded_key ON contacts (lower(key));
PRAGMA user_version = 5;
