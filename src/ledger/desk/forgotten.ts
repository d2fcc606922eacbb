/** Forgets people, over the tables of any database. */
import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ForgettingLedger, Forgotten } from '#src/ledger/forgetting.ts';
import { eachRunIn } from '#src/ledger/paged-lists.ts';
import { notesWith } from '#src/ledger/rules/runs.ts';
import { openRunStates } from '#src/ledger/runs.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';
import { enterAct } from './acts.ts';
import { reasonsNaming } from './given-reasons.ts';
import { allMax, recordsOf } from './records.ts';

/** The salt of the ledger, under an id of its own, or the hash of a key. */
interface ForgottenRecord {
  readonly id: string;
  readonly text: string;
  readonly atMs: number;
  /** Of a hash: the hosts whose files were searched. */
  readonly hosts: readonly string[];
  /** Of a hash: later files may bring the person again. It is kept, so that counts only grow. */
  readonly isAllowed: boolean;
  /** Of a hash: how often the person was forgotten and was not before. */
  readonly times: number;
}

const forgottenIn = recordsOf<ForgottenRecord>(
  'forgotten',
  ({ id, isAllowed, atMs }) => {
    return { id, owner: null, state: id === saltId ? 'salt' : isAllowed ? 'allowed' : 'forgotten', atMs };
  },
  // Entered before hosts were noted: none is known to have been searched.
  (stored) => ({ ...stored, ...{ hosts: [], isAllowed: false, times: 1, ...(stored as Partial<ForgottenRecord>) } }),
);
const saltId = 'salt';

/** Salted for each ledger, so that no list of hashes tells the keys. @param salt in hex. */
function forgottenHash(salt: string, key: string): string {
  return createHash('sha256').update(`${salt}\n${key}`).digest('hex');
}

/** Rows looked through at a time. */
const rowsPerSlice = 2_000;

export function forgettingOver(
  store: Store,
): Pick<ForgettingLedger, 'forgottenPeople' | 'isInOpenRuns' | 'forgetPerson' | 'allowAgain' | 'searchedOn'> {
  const { reads } = store;
  return {
    forgottenPeople: async () => {
      const salt = await forgottenIn(reads).get(saltId);
      if (salt === null) return null;
      const inState = async (state: 'forgotten' | 'allowed'): Promise<readonly ForgottenRecord[]> =>
        (await forgottenIn(reads).list({ state, order: 'oldest', limit: allMax })).map(({ document }) => document);
      // In this order a person who is allowed again meanwhile is not counted twice.
      const [allowed, known] = [await inState('allowed'), await inState('forgotten')];
      const hashes = new Set(known.map(({ text }) => text));
      const count = [...known, ...allowed].reduce((sum, { times }) => sum + times, 0);
      return { count, has: (key) => hashes.has(forgottenHash(salt.text, key)) };
    },

    isInOpenRuns: async (key) => {
      const found = await rowsOfOpenRuns(reads, key);
      return found.kind === 'busy' || found.rows.length > 0;
    },

    forgetPerson: async (person, act) => {
      const { key } = person;
      const waiting = await rowsOfOpenRuns(reads, key);
      if (waiting.kind === 'busy') return waiting;
      const naming = await reasonsNaming(reads, person);
      return store.transact(async (tables) => {
        // What began since: a file that is being read, a stopped run that goes on, or work on the key.
        const [reading] = await tables.runs.findRuns({ states: ['staging'] }, 1);
        const at = (await tables.keys.read([key], [])).get(key);
        if (reading !== undefined || (at !== undefined && at.flight !== null))
          return { kind: 'busy', runId: reading?.id ?? null };
        for (const { runId } of waiting.rows)
          if ((await tables.runs.place(runId))?.state !== 'stopped') return { kind: 'busy', runId };
        for (const rows of waiting.rows) await skipRows(tables, rows);
        const deleted = await tables.keys.forget(person, allMax);
        const reasons = await naming.erase(tables);
        const { atMs } = act;
        const made = { atMs, hosts: [], isAllowed: false };
        const salt = (await forgottenIn(tables).get(saltId)) ?? {
          ...{ ...made, id: saltId, text: randomBytes(16).toString('hex'), times: 0 },
        };
        const text = forgottenHash(salt.text, key);
        const before = await forgottenIn(tables).get(text);
        // Of one who came back the files are to be searched anew.
        const after =
          before === null || before.isAllowed
            ? { ...made, id: text, text, times: (before?.times ?? 0) + 1 }
            : { ...before, atMs };
        await forgottenIn(tables).put(salt, after);
        await enterAct(tables, act, { facts: { rows: deleted } });
        return { kind: 'done', rows: deleted, reasons };
      }, 'durable');
    },

    allowAgain: (key, act) =>
      store.transact(async (tables) => {
        const salt = await forgottenIn(tables).get(saltId);
        const known = salt === null ? null : await forgottenIn(tables).get(forgottenHash(salt.text, key));
        if (known === null || known.isAllowed) return false;
        await forgottenIn(tables).put({ ...known, isAllowed: true });
        await enterAct(tables, act, {});
        return true;
      }, 'durable'),

    searchedOn: (key, host) =>
      store.transact(async (tables) => {
        const salt = await forgottenIn(tables).get(saltId);
        const known = salt === null ? null : await forgottenIn(tables).get(forgottenHash(salt.text, key));
        if (known === null || known.isAllowed) return [];
        const hosts = host === null ? known.hosts : [...new Set([...known.hosts, host])];
        if (hosts.length > known.hosts.length) await forgottenIn(tables).put({ ...known, hosts });
        return hosts;
      }, 'durable'),
  };
}

/** Rows of the key that a stopped run would write once it is approved. */
interface WaitingRows {
  readonly runId: string;
  readonly sequence: number;
  readonly positions: readonly number[];
}

type OfOpenRuns = Extract<Forgotten, { kind: 'busy' }> | { readonly kind: 'waiting'; readonly rows: WaitingRows[] };

/**
 * A stopped run can do without its rows of the key. Busy is a run that is at work on such a row or reads a file, and one that was stopped
 * after such a row had its outcome, which must add up at its end.
 */
async function rowsOfOpenRuns({ runs }: Tables, key: string): Promise<OfOpenRuns> {
  const waiting: WaitingRows[] = [];
  for await (const { id, state } of eachRunIn(runs, { states: openRunStates })) {
    if (state === 'staging') return { kind: 'busy', runId: id };
    const place = await runs.place(id);
    const positions: number[] = [];
    // Ends behind the last position.
    for (let first = 1; place !== null && first <= place.lastPosition; first += rowsPerSlice) {
      const last = Math.min(place.lastPosition, first + rowsPerSlice - 1);
      const rows = (await runs.rowStates(place.sequence, { first, last })).filter((row) => row.key === key);
      const canGo = state === 'stopped' && rows.every(({ outcome }) => outcome === null || outcome === 'withdrawn');
      if (rows.length > 0 && !canGo) return { kind: 'busy', runId: id };
      positions.push(...rows.flatMap(({ outcome, position }) => (outcome === null ? [position] : [])));
      await nextTurn();
    }
    if (place !== null && positions.length > 0) waiting.push({ runId: id, sequence: place.sequence, positions });
  }
  return { kind: 'waiting', rows: waiting };
}

/** Before they are deleted: so the run adds up without them. */
async function skipRows({ runs }: Tables, { runId, sequence, positions }: WaitingRows): Promise<void> {
  const changes = positions.map((position) => ({ position, outcome: 'withdrawn' as const }));
  const skipped = await runs.changeRows(sequence, changes);
  const [run] = await runs.findRuns({ ids: [runId] }, 1);
  const note = `${skipped === 1 ? '1 waiting row was' : `${skipped} waiting rows were`} skipped: forgotten`;
  await runs.changeRun(sequence, { notes: notesWith(run?.notes ?? [], [note]) }, { skipped });
}
