/** Forgets people, over the tables of any database. */
import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ForgettingLedger, Forgotten } from '#src/ledger/forgetting.ts';
import { openRunStates } from '#src/ledger/runs.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { enterAct } from './acts.ts';
import { allMax, recordsOf } from './records.ts';

/** The salt of the ledger, under an id of its own, or the hash of a key. */
interface ForgottenRecord {
  readonly id: string;
  readonly text: string;
  readonly atMs: number;
}

const forgottenIn = recordsOf<ForgottenRecord>('forgotten', ({ id, atMs }) => ({
  ...{ id, owner: null, state: id === saltId ? 'salt' : 'forgotten', atMs },
}));
const saltId = 'salt';

/** Salted for each ledger, so that no list of hashes tells the keys. @param salt in hex. */
function forgottenHash(salt: string, key: string): string {
  return createHash('sha256').update(`${salt}\n${key}`).digest('hex');
}

/** Rows looked through at a time. */
const rowsPerSlice = 2_000;
/** More runs than ever wait at once. */
const openRunsMax = 1_000;

export function forgettingOver(store: Store): Pick<ForgettingLedger, 'forgottenPeople' | 'forgetPerson'> {
  const { reads } = store;
  return {
    forgottenPeople: async () => {
      const salt = await forgottenIn(reads).get(saltId);
      if (salt === null) return null;
      const known = await forgottenIn(reads).list({ state: 'forgotten', order: 'oldest', limit: allMax });
      const hashes = new Set(known.map(({ document }) => document.text));
      return { count: hashes.size, has: (key) => hashes.has(forgottenHash(salt.text, key)) };
    },

    forgetPerson: async (person, act) => {
      const { key } = person;
      const busy = await runWithKey(reads, key);
      if (busy !== null) return busy;
      return store.transact(async (tables) => {
        // What began since: a file that is being read, or work on the key.
        const [reading] = await tables.runs.findRuns({ states: ['staging'] }, 1);
        const at = (await tables.keys.read([key], [])).get(key);
        if (reading !== undefined || (at !== undefined && at.flight !== null))
          return { kind: 'busy', runId: reading?.id ?? null };
        const rows = await tables.keys.forget(person, allMax);
        const { atMs } = act;
        const salt = (await forgottenIn(tables).get(saltId)) ?? {
          id: saltId,
          text: randomBytes(16).toString('hex'),
          atMs,
        };
        const text = forgottenHash(salt.text, key);
        await forgottenIn(tables).put(salt, { id: text, text, atMs });
        await enterAct(tables, act, { facts: { rows } });
        return { kind: 'done', rows };
      }, 'durable');
    },
  };
}

/** A run that has not ended: what it has staged of the key would be written, or must add up at its end. */
async function runWithKey({ runs }: Tables, key: string): Promise<Extract<Forgotten, { kind: 'busy' }> | null> {
  for (const { id, state } of await runs.findRuns({ states: openRunStates }, openRunsMax, true)) {
    if (state === 'staging') return { kind: 'busy', runId: id };
    const place = await runs.place(id);
    // Ends behind the last position.
    for (let first = 1; place !== null && first <= place.lastPosition; first += rowsPerSlice) {
      const last = Math.min(place.lastPosition, first + rowsPerSlice - 1);
      const rows = await runs.rowStates(place.sequence, { first, last });
      if (rows.some((row) => row.key === key)) return { kind: 'busy', runId: id };
      await nextTurn();
    }
  }
  return null;
}
