/** Hosts, over the records of the desk. */
import type { HostLedger, HostRecord } from '#src/ledger/hosts.ts';
import { entryOf, inherited } from '#src/ledger/rules/hosts.ts';
import { openRunStates } from '#src/ledger/runs.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { enterAct } from './acts.ts';
import { allMax, inTransactions, recordsOf, sliceMax } from './records.ts';

const hostsIn = recordsOf<HostRecord>('host', ({ id }) => ({ id, owner: null, state: '', atMs: null }));
const queueIn = recordsOf<{ readonly id: string }>('queue', () => ({
  id: 'queue',
  owner: null,
  state: '',
  atMs: null,
}));

export function hostsOver(store: Store): HostLedger {
  const { reads, transact } = store;
  const all = async (tables: Pick<Tables, 'desk'>): Promise<readonly HostRecord[]> =>
    (await hostsIn(tables).list({ order: 'id', limit: allMax })).map(({ document }) => document);
  const queueId = async (tables: Pick<Tables, 'desk'>): Promise<string | null> =>
    (await queueIn(tables).get('queue'))?.id ?? null;
  /** Changes the entry where it is of that session. @returns whether it is. */
  const changed = (id: string, session: string, change: (known: HostRecord) => HostRecord): Promise<boolean> =>
    transact(async (tables) => {
      const known = await hostsIn(tables).get(id);
      if (known?.session !== session) return false;
      await hostsIn(tables).put(change(known));
      return true;
    });

  return {
    enter: (host, freshQueueId, isDead) =>
      transact(async (tables) => {
        const known = await queueId(tables);
        const entry = entryOf(host, await all(tables), isDead, known, freshQueueId);
        if (entry.kind !== 'entered') return entry;
        await hostsIn(tables).put(host);
        if (entry.queueId !== known) await queueIn(tables).put({ id: entry.queueId });
        return entry;
      }, 'durable'),

    renew: (host) => changed(host.id, host.session, () => host),

    leave: async (id, session) => {
      await changed(id, session, (known) => ({ ...known, leads: false, hasLeft: true }));
    },

    list: () => all(reads),
    queueId: () => queueId(reads),

    forget: async (id, heir, atMs, act) => {
      // Ends: each slice leaves fewer runs of that host.
      const count = await inTransactions(store, async (tables) => {
        const host = await hostsIn(tables).get(id);
        const runs = await tables.runs.findRuns({ states: openRunStates, hosts: [id] }, sliceMax, true);
        if (host === null) return { count: 0, isLast: true };
        for (const run of runs) await tables.runs.changeRun(run.sequence, inherited(run, host, heir, atMs));
        return { count: runs.length, isLast: runs.length < sliceMax };
      });
      await transact(async (tables) => {
        const removed = await hostsIn(tables).remove(id);
        // Another process may have been faster: then it is its act.
        if (removed > 0) await enterAct(tables, act, { facts: { host: id, heir, runs: count } });
      });
      return count;
    },
  };
}
