/**
 * Each guard of the core, with a way to take it away. The checker must find harm then: a guard whose loss it does not
 * notice would mean that the model is too weak, or the guard of no use.
 *
 * A guard is taken away at a port, a limit or the reducer; the core's code stays as it is.
 */
import type { PatchbayError } from '#src/errors.ts';
import type { Ledger } from '#src/ledger/port.ts';
import { type KeyEvent, type KeyState, type Step, stepKey } from '#src/upsert/key-machine.ts';
import type { CallOptions, LookUp, Workspace } from '#src/workspace/port.ts';
import type { DepartureKind } from './departure.ts';
import { type LedgerRules, noSeams, realRules, type Seams } from './seams.ts';
import type { ViolationKind } from './violation.ts';

export interface Guard {
  readonly name: string;
  /** What the core does without it. */
  readonly without: string;
  readonly seams: Seams;
  /** Where its loss shows, by how many departures of which kinds, and as what. */
  readonly scenario: string;
  readonly departuresMax: number;
  readonly only: readonly DepartureKind[];
  readonly harm: ViolationKind;
}

const withRules = (rules: Partial<LedgerRules>): Seams => ({ ...noSeams, rules: { ...realRules, ...rules } });

/** The rule of leases, looking at other facts: the columns are set like that. */
const withFacts = (set: string): Seams => withRules({ beforeLease: (db) => void db.run(`UPDATE flights SET ${set}`) });

const withStep = (mutate: (state: KeyState, event: KeyEvent) => Step | null): Seams => ({
  ...noSeams,
  step: (state, event) => mutate(state, event) ?? stepKey(state, event),
});

const withWorkspace = (wrap: (workspace: Workspace) => Partial<Workspace>): Seams => ({
  ...noSeams,
  ports: ({ ledger, workspace }) => ({ ledger, workspace: { ...workspace, ...wrap(workspace) } }),
});

/** The horizon of a dead process goes like its leases. */
const withDeadOwners: Seams = withRules({
  beforeLease: (db, { isOwnerDead }) => {
    for (const { owner } of db.all('SELECT DISTINCT owner FROM flights WHERE owner IS NOT NULL')) {
      if (isOwnerDead(String(owner))) db.run('UPDATE flights SET horizon = NULL WHERE owner = ?', String(owner));
    }
  },
});

export const guards: readonly Guard[] = [
  {
    name: 'compare-and-set of the lease',
    without: 'whoever asks gets the lease',
    seams: withFacts('owner = NULL'),
    scenario: 'update',
    departuresMax: 1,
    only: ['switch'],
    harm: 'staleValue',
  },
  {
    name: 'horizon',
    without: 'a key is leased before a create in doubt can be told to have failed',
    seams: withFacts('horizon = NULL'),
    scenario: 'redelivery',
    departuresMax: 2,
    only: ['landsLate', 'crash'],
    harm: 'duplicate',
  },
  {
    name: 'horizon of an update',
    without: 'a key is leased before an update in doubt has landed or never will',
    seams: withFacts('horizon = NULL'),
    scenario: 'update',
    departuresMax: 1,
    only: ['landsLate'],
    harm: 'staleValue',
  },
  {
    name: 'horizon of a dead owner',
    without: 'the horizon of a dead process is void like its leases',
    seams: withDeadOwners,
    scenario: 'redelivery',
    departuresMax: 2,
    only: ['landsLate', 'crash'],
    harm: 'duplicate',
  },
  {
    name: 'horizon of an earlier boot',
    without: 'a horizon is void, like a lease, once the system was started again',
    seams: withRules({ afterBoot: (db) => void db.run('UPDATE flights SET horizon = NULL') }),
    scenario: 'redelivery',
    departuresMax: 2,
    only: ['landsLate', 'powerCut'],
    harm: 'duplicate',
  },
  {
    name: 'lease check before sending',
    without: 'a request is sent however short the lease still is',
    seams: { ...noSeams, limits: { requestMs: Number.NEGATIVE_INFINITY } },
    scenario: 'update',
    departuresMax: 2,
    only: ['switch', 'leaseEnds'],
    harm: 'staleValue',
  },
  {
    name: 'start guard',
    without: 'a create is sent however long ago its intent was committed',
    seams: withWorkspace((workspace) => ({
      createContact: (body, options = {}) =>
        workspace.createContact(body, { ...options, beforeSend: () => exceptFor('startedTooLate', options) }),
    })),
    scenario: 'redelivery',
    departuresMax: 3,
    only: ['landsLate', 'requestJustFits'],
    harm: 'duplicate',
  },
  {
    name: 'durable intent',
    without: 'an intent may be lost when the power is cut',
    seams: withRules({ intentIsDurable: false }),
    scenario: 'redelivery',
    departuresMax: 2,
    only: ['landsLate', 'powerCut'],
    harm: 'duplicate',
  },
  {
    name: 'look-up after the lease',
    without: 'absence is taken from a look-up that was made before the lease',
    seams: { ...noSeams, ports: lookUpBeforeLease },
    scenario: 'redelivery',
    departuresMax: 3,
    only: ['switch', 'crash', 'horizonPasses'],
    harm: 'duplicate',
  },
  {
    name: 'fencing at settling',
    without: 'an owner that lost its lease settles all the same',
    seams: withRules({ settleIsFenced: false }),
    scenario: 'two runs',
    departuresMax: 2,
    only: ['switch', 'leaseEnds'],
    harm: 'brokenRule',
  },
  {
    name: 'look-up after a create that was not sent',
    without: 'it is sent again at once',
    seams: withStep((state, { kind }) =>
      state.phase === 'creating' && kind === 'notSent'
        ? { state, effects: [{ do: 'withdraw' }, { do: 'create' }] }
        : null,
    ),
    scenario: 'redelivery',
    departuresMax: 3,
    only: ['notSent', 'landsLate', 'crash'],
    harm: 'duplicate',
  },
  {
    name: 'look-up after 409',
    without: 'the row dies of the refusal',
    seams: withStep((state, { kind }) =>
      state.phase === 'creating' && kind === 'taken' ? stepKey(state, { kind: 'refused' }) : null,
    ),
    scenario: 'taken',
    departuresMax: 1,
    only: ['outside'],
    harm: 'unjustDeath',
  },
  {
    name: 'doubt',
    without: 'a create in doubt counts as not sent',
    seams: withStep((state, { kind }) =>
      state.phase === 'creating' && kind === 'doubt' ? stepKey(state, { kind: 'notSent' }) : null,
    ),
    scenario: 'redelivery',
    departuresMax: 1,
    only: ['landsLate'],
    harm: 'duplicate',
  },
  {
    name: 'sequence',
    without: 'an older run writes after a newer one',
    seams: withRules({ beforeLease: (db) => void db.run('UPDATE known SET spoken = 0') }),
    scenario: 'two runs',
    departuresMax: 1,
    only: ['switch'],
    harm: 'brokenRule',
  },
  {
    name: 'conflict',
    without: 'of two contacts with one key the first is taken',
    seams: withWorkspace((workspace) => ({
      listByExternalIds: async (keys, options) => firstOfEach(await workspace.listByExternalIds(keys, options)),
    })),
    scenario: 'conflict',
    departuresMax: 0,
    only: [],
    harm: 'conflictTaken',
  },
  {
    name: 'reading again after an update in doubt',
    without: 'the same update is sent again',
    seams: withWorkspace((workspace) => ({
      updateContact: async (id, body, options) => {
        const result = await workspace.updateContact(id, body, options);
        return result.kind === 'doubt' ? await workspace.updateContact(id, body) : result;
      },
    })),
    scenario: 'edit',
    departuresMax: 3,
    only: ['answerLost', 'outside', 'readGrowsOld'],
    harm: 'lostEdit',
  },
  {
    name: 'age of the read before an update',
    without: 'an update is sent however old its read is',
    seams: { ...noSeams, limits: { readAgeMaxMs: 600_000 } },
    scenario: 'edit',
    departuresMax: 2,
    only: ['outside', 'readGrowsOld'],
    harm: 'lostEdit',
  },
  {
    name: 'link instead of a create',
    without: 'a row that is to be linked makes a contact where no contact has its key',
    seams: withStep((state, event) =>
      state.phase === 'lookingUp' && event.kind === 'foundNone' && state.link === 'contact'
        ? stepKey({ ...state, link: 'none' }, event)
        : null,
    ),
    scenario: 'link',
    departuresMax: 0,
    only: [],
    harm: 'duplicate',
  },
  {
    name: 'link in place of a contact that is gone',
    without: 'a row that is to be linked makes a contact again where that of its key is gone',
    seams: withStep((state, event) =>
      state.phase === 'fetching' && event.kind === 'foundNone' && state.link === 'contact'
        ? stepKey({ ...state, link: 'again' }, event)
        : null,
    ),
    scenario: 'link in place',
    departuresMax: 0,
    only: [],
    harm: 'duplicate',
  },
  {
    name: 'no attempt burned in an outage',
    without: 'every doubt counts',
    seams: { ...noSeams, health: (health) => ({ ...health, succeededSince: () => true }) },
    scenario: 'outage',
    departuresMax: 0,
    only: [],
    harm: 'unjustDeath',
  },
];

/** The last check, without one of its reasons. */
function exceptFor(code: string, { beforeSend }: CallOptions): void {
  try {
    void beforeSend?.();
  } catch (error) {
    // The checks throw nothing else.
    if ((error as PatchbayError).code !== code) throw error;
  }
}

function firstOfEach({ contacts, readAtMs }: LookUp): LookUp {
  const keys = new Set(contacts.map((contact) => contact.externalId));
  return { readAtMs, contacts: [...keys].flatMap((key) => contacts.find((one) => one.externalId === key) ?? []) };
}

/** The look-up is made as soon as it is known which keys are next. */
function lookUpBeforeLease({ ledger, workspace }: { ledger: Ledger; workspace: Workspace }) {
  let early: LookUp | null = null;
  const { runs } = ledger;
  const pendingRecords: typeof runs.pendingRecords = async (...page) => {
    const records = await runs.pendingRecords(...page);
    if (records.length === 0) return records;
    const keys = records.map((one) => one.key);
    early = await workspace.listByExternalIds(keys);
    // A place to be held up at, before the lease is asked for by the time of that moment.
    await ledger.contacts.get(keys);
    return records;
  };
  const listByExternalIds: Workspace['listByExternalIds'] = async (keys, options) =>
    early ?? (await workspace.listByExternalIds(keys, options));
  return {
    ledger: { ...ledger, runs: { ...runs, pendingRecords } },
    workspace: { ...workspace, listByExternalIds },
  };
}
