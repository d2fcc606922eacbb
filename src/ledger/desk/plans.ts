/** Plans over the records of the desk: a record for each plan, and one for each contact of it. */
import type { PlannedContact } from '#src/contacts/planned.ts';
import { type PlanLedger, type PlanRecord, plansKeptMax } from '#src/ledger/plans.ts';
import { wholeOptions } from '#src/ledger/runs.ts';
import type { Store } from '#src/ledger/tables.ts';
import { allMax, type Entry, inTransactions, recordsOf, sliceMax } from './records.ts';

const plansIn = recordsOf<KeptPlan>(
  'plan',
  ({ id, createdAtMs }) => ({ ...{ id, owner: null, state: '', atMs: createdAtMs } }),
  (stored) => (stored.plan === null ? stored : { ...stored, plan: wholePlan(stored.plan) }),
);
const contactsIn = recordsOf<PlannedEntry>('planned', ({ planId, contact }) => ({
  ...{ id: idOf(planId, contact.key), owner: planId, state: '', atMs: null },
}));

interface KeptPlan {
  readonly id: string;
  readonly createdAtMs: number;
  /** Null while it is being made, and for ever where its process died. */
  readonly plan: PlanRecord | null;
}

/** Older versions knew no undo, and not every option of today. */
function wholePlan(stored: PlanRecord): PlanRecord {
  const { undoes = null, totals, reading } = stored;
  const { deleted = 0, requests } = totals;
  const { delete: deletions = 0 } = requests;
  return {
    ...stored,
    undoes,
    totals: { ...totals, deleted, requests: { ...requests, delete: deletions } },
    reading: reading === null ? null : { ...reading, options: wholeOptions(reading.options) },
  };
}

interface PlannedEntry {
  readonly planId: string;
  readonly contact: PlannedContact;
}

/** No id of a plan holds a blank. */
const idOf = (planId: string, key: string): string => `${planId} ${key}`;

export function plansOver(store: Store): PlanLedger {
  const { reads } = store;
  return {
    begin: (id, createdAtMs) => store.transact((tables) => plansIn(tables).put({ id, createdAtMs, plan: null })),

    enter: async (planId, contacts) => {
      for (let start = 0; start < contacts.length; start += sliceMax) {
        const slice = contacts.slice(start, start + sliceMax).map((contact) => ({ planId, contact }));
        await store.transact((tables) => contactsIn(tables).put(...slice));
      }
    },

    keep: async (plan) => {
      const { id: kept, createdAtMs } = plan;
      await store.transact((tables) => plansIn(tables).put({ id: kept, createdAtMs, plan }), 'durable');
      for (const { id } of (await newestFirst(store)).slice(plansKeptMax)) await removePlan(store, id);
    },

    get: async (id) => (await plansIn(reads).get(id))?.plan ?? null,

    list: async ({ runId, limit }) =>
      (await newestFirst(store))
        .flatMap(({ plan }) => (plan === null || (runId !== undefined && plan.runId !== runId) ? [] : [plan]))
        .slice(0, limit),

    contacts: async function* (planId) {
      // Ends with the first short page.
      for (let last: Entry<PlannedEntry> | undefined, isLast = false; !isLast; ) {
        const page = await contactsIn(reads).list({ owner: planId, order: 'oldest', after: last, limit: sliceMax });
        for (const { document } of page) yield document.contact;
        isLast = page.length < sliceMax;
        last = page.at(-1);
      }
    },

    digests: async (planId, keys) => {
      const entries = await contactsIn(reads).many(keys.map((key) => idOf(planId, key)));
      return new Map([...entries.values()].map(({ contact: { key, digest } }) => [key, digest]));
    },

    remove: (planId) => removePlan(store, planId),
  };
}

/** Ids of plans begin with their instant. There are never more than are kept, and one that is just kept. */
async function newestFirst({ reads }: Store): Promise<readonly KeptPlan[]> {
  const plans = await plansIn(reads).list({ order: 'id', limit: allMax });
  return plans.map(({ document }) => document).toReversed();
}

/** The plan itself first: what is left of it can no longer be carried out. */
async function removePlan(store: Store, planId: string): Promise<void> {
  await store.transact((tables) => plansIn(tables).remove(planId));
  await inTransactions(store, async (tables) => {
    const page = await contactsIn(tables).list({ owner: planId, order: 'oldest', limit: sliceMax });
    const count = await contactsIn(tables).remove(...page.map(({ id }) => id));
    return { count, isLast: page.length < sliceMax };
  });
}

/** Plans that were made before that instant: they hold personal data. */
export async function forgetPlans(store: Store, beforeMs: number): Promise<void> {
  for (const { id, createdAtMs } of await newestFirst(store)) if (createdAtMs < beforeMs) await removePlan(store, id);
}
