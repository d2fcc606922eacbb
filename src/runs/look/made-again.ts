/**
 * Rows whose contacts people have deleted, where the feed, or the person who imports, says `recreate`. They are found before the guards decide, so that the
 * workspace is looked through for contacts that people made again by hand (`look.ts`). A row that is not found here makes no contact
 * again, though its contact is deleted later: the next file does.
 */
import type { Ledger } from '#src/ledger/port.ts';
import type { RequestTotals, RunRecord } from '#src/ledger/runs.ts';
import type { StagedRecord } from '#src/ledger/staging.ts';
import { makesGoneAgain, type UpsertParts } from '#src/upsert/chunk.ts';
import { type PlannedRecord, planStagedPages } from '#src/upsert/plan-records.ts';

export interface GoneParts {
  readonly ledger: Ledger;
  readonly upsert: UpsertParts;
}

/**
 * Looks up the contacts of the changed rows whose keys are bound, with one request for each 20, and enters which of them are gone.
 * @returns the positions of their rows; none where the feed leaves such contacts alone; null if the run was cancelled meanwhile.
 * @throws as reads do (`workspace/port.ts`); the signal's reason.
 */
export async function findGone(
  { ledger, upsert }: GoneParts,
  run: RunRecord,
  signal: AbortSignal,
): Promise<readonly number[] | null> {
  if (!makesGoneAgain(upsert.limits, run)) return [];
  const requests = new Map<keyof RequestTotals, number>();
  const onRequest = (kind: keyof RequestTotals): void => void requests.set(kind, (requests.get(kind) ?? 0) + 1);
  const choose = async (records: readonly StagedRecord[]): Promise<readonly StagedRecord[]> => {
    // What is not a row of the file says too little to make a contact of: a tag, or what drifted.
    const rows = records.filter(({ line }) => line > 0);
    const contacts = await ledger.contacts.get(rows.map(({ key }) => key));
    return rows.filter(({ key }) => (contacts.get(key)?.contactId ?? null) !== null);
  };
  const gone: number[] = [];
  for await (const page of planStagedPages({ ...upsert, ledger }, run, choose, { signal, onRequest })) {
    const positions = page.filter(isGone).map(({ record }) => record.position);
    gone.push(...positions);
    await ledger.runs.linkRows(
      run.id,
      positions.map((position) => ({ position, link: { kind: 'again' } as const })),
    );
    if (requests.size === 0) continue;
    const totals = Object.fromEntries(requests);
    requests.clear();
    await ledger.runs.record(run.id, { requests: totals });
    if ((await ledger.runs.get(run.id))?.state !== 'staging') return null;
  }
  return gone;
}

function isGone(one: PlannedRecord): boolean {
  return one.is === 'ended' && one.end.outcome === 'skipped' && one.end.reason === 'gone';
}
