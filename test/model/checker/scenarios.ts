/** The scenarios. Names and values are invented. */
import { emptyBase } from '#src/contacts/base.ts';
import type { DesiredContact } from '#src/contacts/desired.ts';
import { noOptions } from '#src/ledger/run-options.ts';
import { noClaim, noIntent, noLease } from './contact-store.ts';
import { createMemoryStore, type MemoryStore } from './memory-ledger.ts';
import { type Fields, newContact } from './model-service.ts';
import type { Scenario } from './scenario.ts';
import { nameOf } from './tables.ts';

interface StagedRun {
  readonly feed: string;
  readonly rows: Readonly<Record<string, Fields>>;
}

/** A ledger with these runs at work, the older first, one batch each. */
function ledgerWith(...runs: readonly StagedRun[]): MemoryStore {
  const store = createMemoryStore();
  runs.forEach(({ feed, rows }, index) => {
    const id = `run${index + 1}`;
    const file = { fileName: `${id}.csv`, claimedPath: '', importFolder: '', sha256: id, bytes: 1 };
    const run = { ...file, id, feed, kind: 'file', options: noOptions, mapping: null, createdAtMs: 0 } as const;
    const { sequence } = store.staging.createRun(run);
    const records = Object.entries(rows).map(([key, scalars], row) => {
      const desired: DesiredContact = { key, scalars, source: null, emails: [], phones: [], customFields: [] };
      const place = { line: row + 2, sequence, key, rowHash: `${id} ${key}`, fingerprint: `${id} ${key}` };
      const source = { kind: 'cells', line: row + 2, record: row + 1, columns: ['id'], cells: [key] } as const;
      return { ...place, mappingVersion: 'm1', desired, row: source };
    });
    const nothingElse = { traces: [], dead: [], withdrawn: [], events: [] };
    const counts = { rows: records.length };
    store.staging.stage({ runId: id, feed, rowsPerBatch: 20, records, counts, atMs: 0, ...nothingElse });
    store.staging.move(id, ['queued'], 'applying');
  });
  return store;
}

/** The key is bound to contact `c1`, as a run of the feed before wrote it. */
function bind(store: MemoryStore, key: string, feed: string, fields: Fields, saidFields: Fields): void {
  const seen = newContact('c1', key, fields, 'patchbay');
  const row = { key, state: 'bound', contactId: 'c1', seen, owned: emptyBase.owned, attempts: 0 } as const;
  store.tables.contacts.set(key, { ...row, ...noLease, ...noIntent, ...noClaim, writtenSequence: 0 });
  const said = { scalars: saidFields, emails: [], phones: [], customFields: [], held: [] };
  store.tables.said.set(nameOf(feed, key), { key, said, rowHash: 'row0', fingerprint: 'print0' });
}

const plain = {
  unique: false,
  redelivered: false,
  sameHost: true,
  outageWrites: 0,
  events: [],
  mayDie: [],
  contacts: [],
} as const;
const ours = { madeByOthers: 0, known: false };

const ann = { firstName: 'Ann', company: 'Fir' };
const older = { firstName: 'Ann', company: 'Old' };
const newer = { firstName: 'Ann', company: 'New' };
const before = { firstName: 'Ann', company: 'Past', role: 'Clerk' };

function boundLedger(...runs: readonly StagedRun[]): MemoryStore {
  const store = ledgerWith(...runs);
  bind(store, 'k1', 'main', before, { firstName: 'Ann', company: 'Past' });
  return store;
}

/** The newer run's create landed, nobody heard of it, and its horizon has passed. */
function ledgerInDoubt(): MemoryStore {
  const store = ledgerWith({ feed: 'main', rows: { k1: older } }, { feed: 'crm', rows: { k1: newer } });
  const row = { key: 'k1', state: 'intent', contactId: null, seen: null, owned: emptyBase.owned, attempts: 0 } as const;
  const intent = { intentRun: 'run2', horizonMs: 1, horizonBoot: 'boot-1' };
  store.tables.contacts.set('k1', { ...row, ...noLease, ...intent, ...noClaim, writtenSequence: 2 });
  return store;
}

const boundContacts = [newContact('c1', 'k1', before, 'patchbay')];
const editRole = {
  words: 'a person makes the role Boss',
  happen: (service: Parameters<Scenario['events'][number]['happen']>[0]) => service.edit('k1', 'role', 'Boss'),
};

export const scenarios: readonly Scenario[] = [
  {
    ...plain,
    name: 'redelivery',
    about: 'one new key; its batch is delivered to both workers',
    redelivered: true,
    keys: [{ ...ours, key: 'k1', newest: ann }],
    tables: ledgerWith({ feed: 'main', rows: { k1: ann } }).tables,
  },
  {
    ...plain,
    name: 'two machines',
    about: 'the same, and nobody sees that a worker of the other machine is dead',
    redelivered: true,
    sameHost: false,
    keys: [{ ...ours, key: 'k1', newest: ann }],
    tables: ledgerWith({ feed: 'main', rows: { k1: ann } }).tables,
  },
  {
    ...plain,
    name: 'two runs',
    about:
      'one new key in an older and a newer run of two feeds; from its intent on, the newer one supersedes the older',
    keys: [{ ...ours, key: 'k1', newest: newer }],
    tables: ledgerWith({ feed: 'main', rows: { k1: older } }, { feed: 'crm', rows: { k1: newer } }).tables,
  },
  {
    ...plain,
    name: 'newer doubt',
    about:
      'a create in doubt of the newer run has landed; both runs take the key up, and its intent supersedes the older',
    keys: [{ ...ours, key: 'k1', newest: newer }],
    tables: ledgerInDoubt().tables,
    contacts: [newContact('c1', 'k1', newer, 'crm')],
  },
  {
    ...plain,
    name: 'two keys',
    about: 'two new keys in one batch',
    redelivered: true,
    keys: [
      { ...ours, key: 'k1', newest: ann },
      { ...ours, key: 'k2', newest: newer },
    ],
    tables: ledgerWith({ feed: 'main', rows: { k1: ann, k2: newer } }).tables,
  },
  {
    ...plain,
    name: 'update',
    about:
      'a bound contact in an older and a newer run, which supersedes it from its claim on; a person edits a field that no file names',
    events: [editRole],
    keys: [{ key: 'k1', newest: newer, madeByOthers: 0, known: true }],
    tables: boundLedger({ feed: 'main', rows: { k1: older } }, { feed: 'crm', rows: { k1: newer } }).tables,
    contacts: boundContacts,
  },
  {
    ...plain,
    name: 'edit',
    about: 'a bound contact in one run; a person edits a field that the file does not name',
    redelivered: true,
    events: [editRole],
    keys: [{ key: 'k1', newest: newer, madeByOthers: 0, known: true }],
    tables: boundLedger({ feed: 'main', rows: { k1: newer } }).tables,
    contacts: boundContacts,
  },
  {
    ...plain,
    name: 'outage',
    about: 'one new key; the first three writes of all are lost',
    outageWrites: 3,
    keys: [{ ...ours, key: 'k1', newest: ann }],
    tables: ledgerWith({ feed: 'main', rows: { k1: ann } }).tables,
  },
  {
    ...plain,
    name: 'taken',
    about: 'a service that answers 409; somebody else makes the contact of the key meanwhile',
    unique: true,
    redelivered: true,
    events: [
      {
        words: 'somebody else makes a contact of k1',
        happen: (service) => service.add('k1', { firstName: 'Anna', company: 'Elm' }),
      },
    ],
    keys: [{ key: 'k1', newest: ann, madeByOthers: 1, known: false }],
    tables: ledgerWith({ feed: 'main', rows: { k1: ann } }).tables,
  },
  {
    ...plain,
    name: 'conflict',
    about: 'two contacts of the key are there',
    keys: [{ key: 'k1', newest: null, madeByOthers: 2, known: false }],
    mayDie: ['twoContacts'],
    tables: ledgerWith({ feed: 'main', rows: { k1: ann } }).tables,
    contacts: [newContact('c1', 'k1', before), newContact('c2', 'k1', older)],
  },
];

/** @throws Error for a name that there is not. */
export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`no scenario ${name}: ${scenarios.map((one) => one.name).join(', ')}`);
  return scenario;
}
