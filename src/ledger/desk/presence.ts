/** What concerns the ledger as a whole: its workspace, the pause, and the processes that work on it, over the records of the desk. */
import type { EngineRegistration, WorkerRegistration } from '#src/ledger/engine-presence.ts';
import type { JobFailure, Ledger, Pause, ProcessRole, ServiceFailure, WorkspaceBinding } from '#src/ledger/port.ts';
import type { RecordKind, Store, Tables } from '#src/ledger/tables.ts';
import { enterAct } from './acts.ts';
import { allMax, type Records, recordsOf } from './records.ts';

type Presence = Pick<
  Ledger,
  | ('binding' | 'bind' | 'pause' | 'setPause' | 'serviceFailure' | 'noteServiceFailure')
  | ('jobFailures' | 'noteJobFailure' | 'endJobFailure')
  | ('registrations' | 'register' | 'unregister')
  | ('expiredAtMs' | 'noteExpired')
>;

/** A job begins again within seconds. */
const calmMs = 60_000;
const failuresMax = 100;

/** There is one of them, under the name of its kind. */
const oneOf = <Document>(kind: RecordKind): ((tables: Pick<Tables, 'desk'>) => Records<Document>) =>
  recordsOf<Document>(kind, () => ({ id: kind, owner: null, state: '', atMs: null }));

const bindingIn = oneOf<WorkspaceBinding>('binding');
const pauseIn = oneOf<Pause>('pause');
const failureIn = oneOf<ServiceFailure>('failure');
const failureId = ({ job, runId }: Pick<JobFailure, 'job' | 'runId'>): string => `${job} ${runId ?? ''}`;
const jobFailuresIn = recordsOf<JobFailure>(
  'defect',
  (failure) => ({ id: failureId(failure), owner: null, state: '', atMs: failure.atMs }),
  // Older versions noted errors of their own alone.
  (stored) => ({ ...stored, code: stored.code ?? 'unexpected' }),
);
const engineIn = oneOf<EngineRegistration>('engine');
const workersIn = recordsOf<WorkerRegistration>('worker', ({ identity }) => ({
  ...{ id: identity, owner: null, state: '', atMs: null },
}));
const expiriesIn = recordsOf<{ readonly of: string; readonly atMs: number }>('expiry', ({ of }) => ({
  ...{ id: of, owner: null, state: '', atMs: null },
}));

export function presenceOver(store: Store): Presence {
  const { reads } = store;
  return {
    binding: () => bindingIn(reads).get('binding'),
    bind: (binding, act) =>
      store.transact(async (tables) => {
        await bindingIn(tables).put(binding);
        await enterAct(tables, act, {});
      }, 'durable'),

    pause: () => pauseIn(reads).get('pause'),
    setPause: async (pause) => {
      await store.transact(async (tables) => {
        if (pause === null) await pauseIn(tables).remove('pause');
        else await pauseIn(tables).put(pause);
      });
    },

    serviceFailure: () => failureIn(reads).get('failure'),
    noteServiceFailure: async (failure) => {
      await store.transact((tables) => failureIn(tables).put(failure));
    },

    jobFailures: async () => {
      const failures = await jobFailuresIn(reads).list({ order: 'id', limit: allMax });
      return failures
        .map(({ document }) => document)
        .toSorted((a, b) => b.atMs - a.atMs)
        .slice(0, failuresMax);
    },
    noteJobFailure: async (failure) => {
      await store.transact(async (tables) => {
        const failures = jobFailuresIn(tables);
        const known = await failures.list({ order: 'id', limit: allMax });
        const isOver = ({ atMs }: JobFailure): boolean => failure.atMs - atMs >= calmMs;
        await failures.remove(...known.filter(({ document }) => isOver(document)).map(({ id }) => id));
        const before = known.find(({ id }) => id === failureId(failure))?.document;
        const goesOn = before !== undefined && before.code === failure.code && !isOver(before);
        const { count, sinceMs } = goesOn ? before : { count: 0, sinceMs: failure.atMs };
        await failures.put({ ...failure, count: count + 1, sinceMs });
      });
    },
    endJobFailure: async (of) => {
      await store.transact(async (tables) => {
        await jobFailuresIn(tables).remove(failureId(of));
      });
    },

    registrations: async () => {
      const workers = await workersIn(reads).list({ order: 'id', limit: allMax });
      return { engine: await engineIn(reads).get('engine'), workers: workers.map(({ document }) => document) };
    },

    register: <Role extends ProcessRole>(role: Role, registration: EngineRegistration | WorkerRegistration) =>
      store.transact(async (tables) => {
        if (isOfEngine(role, registration)) await engineIn(tables).put(registration);
        else await workersIn(tables).put(registration as WorkerRegistration);
      }),

    unregister: async (role, identity) => {
      await store.transact(async (tables) => {
        if (role === 'worker') return workersIn(tables).remove(identity);
        const engine = await engineIn(tables).get('engine');
        return engine?.identity === identity ? engineIn(tables).remove('engine') : 0;
      });
    },

    expiredAtMs: async (of) => (await expiriesIn(reads).get(of))?.atMs ?? null,
    noteExpired: async (of, atMs) => {
      await store.transact((tables) => expiriesIn(tables).put({ of, atMs }));
    },
  };
}

function isOfEngine(
  role: ProcessRole,
  _registration: EngineRegistration | WorkerRegistration,
): _registration is EngineRegistration {
  return role === 'engine';
}
