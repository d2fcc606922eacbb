/** What feeds know of keys, as staging asks for it, over the tables of any database. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SaidRecord } from '#src/ledger/contacts.ts';
import { unpackSaids } from '#src/ledger/packed-memory.ts';
import { countBits, countShared, emptyBitmap, enterBit, union } from '#src/ledger/rules/bitmap.ts';
import type { StagingLedger } from '#src/ledger/staging.ts';
import type { SaidRow } from '#src/ledger/tables/keys.ts';
import type { Store, Tables } from '#src/ledger/tables.ts';

type KnownKeys = Pick<
  StagingLedger,
  'saidOf' | 'knownKeyCount' | 'knownPage' | 'feedRevision' | 'numbersInDoubt' | 'keysAt' | 'sharedKeys' | 'keysOfRun'
>;

export function knownKeysOver({ reads }: Store): KnownKeys {
  const { keys } = reads;
  return {
    saidOf: async (feed, wanted) =>
      wanted.length === 0 ? new Map() : saidRecords(feed, await keys.said(feed, wanted)),
    knownKeyCount: (feed) => keys.knownCount(feed),
    knownPage: (feed, afterNumber, limit) => keys.knownPage(feed, afterNumber, limit),
    feedRevision: async (feed) => (await keys.feeds(feed)).at(0)?.revision ?? 0,
    numbersInDoubt: async () =>
      (await keys.inFlight({ isWriting: true }))
        .flatMap(({ number }) => number ?? [])
        .sort((one, other) => one - other),
    keysAt: (numbers) => keys.keysAt(numbers),
    keysOfRun: (runId) => keysOfRun(reads, runId),
    sharedKeys: async (runId, otherRunId) => {
      const before = await keysOfRun(reads, runId);
      const now = await keysOfRun(reads, otherRunId);
      return { keys: countBits(before), shared: countShared(before, now) };
    },
  };
}

/** By key. */
export function saidRecords(feed: string, rows: readonly SaidRow[]): ReadonlyMap<string, SaidRecord> {
  const known = new Map<string, SaidRecord>();
  for (const row of rows) {
    const record = saidRecord(feed, row);
    if (record !== null) known.set(row.key, record);
  }
  return known;
}

/** Null where the contact was given what it remembers by other feeds alone. */
function saidRecord(feed: string, row: SaidRow): SaidRecord | null {
  const said = unpackSaids(row.document).find((one) => one.feed === feed)?.said;
  if (said === undefined) return null;
  return {
    key: row.key,
    number: row.number,
    said,
    rowHash: row.rowHash,
    // While a write may still land, it cannot be said that a row is unchanged.
    fingerprint: row.isInDoubt ? null : row.fingerprint,
    triedFingerprint: row.tried,
    heldCount: row.heldCount,
  };
}

/** Numbers looked through at a time. */
const numbersPerPage = 20_000;

/** Keys that the feed knew when the run read its file, and those that it has come to know by it. */
async function keysOfRun({ keys, runs }: Tables, runId: string): Promise<Uint8Array> {
  const [run] = await runs.findRuns({ ids: [runId] }, 1);
  if (run === undefined) return emptyBitmap(0);
  const { feed, sequence, state, counts } = run;
  const bitmap = async (kind: 'met' | 'unchanged'): Promise<Uint8Array> =>
    (await runs.bitmaps(feed, kind, sequence, sequence)).at(0)?.bits ?? emptyBitmap(0);
  const met = await bitmap('met');
  // One that is staged still, or all of whose rows were unchanged, has settled nothing. Its staged rows do not tell: they go with its end.
  if (state === 'staging' || counts.rows === countBits(await bitmap('unchanged'))) return met;
  const last = (await keys.feeds(feed)).at(0)?.lastNumber ?? 0;
  const settled = emptyBitmap(last);
  // Ends behind the last number.
  for (let after = 0; after < last; after += numbersPerPage) {
    for (const number of await keys.settledIn(feed, sequence, after, after + numbersPerPage)) enterBit(settled, number);
    await nextTurn();
  }
  return union(met, settled);
}
